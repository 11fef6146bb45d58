//! WASI 0.2, linked but empty: most guests import more of it than they use.
//!
//! There are clocks, randomness (bounded) and standard output and error (into the guest's log). There are no files, no
//! arguments, no input, no environment but what was granted, and every socket and name lookup is refused.

use std::hash::{BuildHasher as _, RandomState};
use std::time::Duration;

use bytes::Bytes;
use wasmtime::Result;
use wasmtime::component::{HasSelf, Linker};
use wasmtime_wasi::cli::{IsTerminal, StdoutStream};
use wasmtime_wasi::p2::bindings::random::{insecure, insecure_seed, random};
use wasmtime_wasi::p2::{OutputStream, Pollable, StreamError, StreamResult};
use wasmtime_wasi::{Deterministic, HostMonotonicClock, HostWallClock};
use wasmtime_wasi::{WasiCtx, WasiView as _};

use crate::bindings::ringfence::tool::log::Level;
use crate::guest_log::GuestLog;
use crate::reach::Reach;
use crate::state::GuestState;

/// Bytes that a guest may print at once. It bounds what the host buffers.
const WRITE_AT_ONCE: usize = 4096;

/// Links all of WASI, with randomness of our own: the bound of WASI's has no error that can be told apart, and the seed,
/// which the hash maps of most guests ask for, is not worth a whole context.
pub(crate) fn link(linker: &mut Linker<GuestState>) -> Result<()> {
    wasmtime_wasi::p2::add_to_linker_async(linker)?;
    linker.allow_shadowing(true);
    random::add_to_linker::<GuestState, HasSelf<GuestState>>(linker, |state| state)?;
    insecure::add_to_linker::<GuestState, HasSelf<GuestState>>(linker, |state| state)?;
    insecure_seed::add_to_linker::<GuestState, HasSelf<GuestState>>(linker, |state| state)?;
    linker.allow_shadowing(false);
    Ok(())
}

/// What WASI shows of the world.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum World {
    /// Real clocks and real randomness, for a call.
    Live,
    /// Clocks that stand still, the same seed and the same random bytes for ever: what a guest says of itself depends on
    /// nothing. An instance that has had any of it serves no call.
    Frozen,
}

/// A context with nothing in it but the granted environment, that prints to `log`.
pub(crate) fn empty(log: &GuestLog, world: World, reach: Option<&Reach>) -> WasiCtx {
    let mut builder = WasiCtx::builder();
    for (name, value) in reach.iter().flat_map(|reach| reach.grant.env()) {
        builder.env(name, value);
    }
    if world == World::Frozen {
        builder.wall_clock(Standstill).monotonic_clock(Standstill).secure_random(Deterministic::new(vec![0]));
    }
    builder
        .stdout(Printer { log: log.clone(), last_words: false })
        .stderr(Printer { log: log.clone(), last_words: true })
        .allow_tcp(false)
        .allow_udp(false)
        .allow_ip_name_lookup(false)
        .socket_addr_check(|_, _| Box::pin(async { false }))
        // The bound is ours and stands before this one, see `link`.
        .max_random_size(u64::MAX);
    builder.build()
}

impl random::Host for GuestState {
    fn get_random_bytes(&mut self, len: u64) -> Result<Vec<u8>> {
        self.take_randomness(len)?;
        random::Host::get_random_bytes(self.ctx().ctx.random(), len)
    }

    fn get_random_u64(&mut self) -> Result<u64> {
        self.take_randomness(8)?;
        random::Host::get_random_u64(self.ctx().ctx.random())
    }
}

/// Randomness that need not be good is as good as the other: one source, one budget.
impl insecure::Host for GuestState {
    fn get_insecure_random_bytes(&mut self, len: u64) -> Result<Vec<u8>> {
        random::Host::get_random_bytes(self, len)
    }

    fn get_insecure_random_u64(&mut self) -> Result<u64> {
        random::Host::get_random_u64(self)
    }
}

impl insecure_seed::Host for GuestState {
    fn insecure_seed(&mut self) -> Result<(u64, u64)> {
        if self.world() == World::Frozen {
            return Ok((0, 0));
        }
        // The keys of a `RandomState` are random for each thread and differ from one to the next.
        let seed = |half: u64| RandomState::new().hash_one(half);
        Ok((seed(0), seed(1)))
    }
}

/// A clock that shows the same time for ever.
struct Standstill;

impl HostWallClock for Standstill {
    fn resolution(&self) -> Duration {
        Duration::from_secs(1)
    }

    fn now(&self) -> Duration {
        Duration::ZERO
    }
}

impl HostMonotonicClock for Standstill {
    fn resolution(&self) -> u64 {
        1
    }

    fn now(&self) -> u64 {
        0
    }
}

/// Standard output or error. What is written at once is one record.
#[derive(Clone)]
struct Printer {
    log: GuestLog,
    /// Whether this may be a panic message, as it is on standard error.
    last_words: bool,
}

impl IsTerminal for Printer {
    fn is_terminal(&self) -> bool {
        false
    }
}

impl StdoutStream for Printer {
    fn async_stream(&self) -> Box<dyn tokio::io::AsyncWrite + Send + Sync> {
        // Only WASI 0.3 takes this door, and that is not linked.
        Box::new(tokio::io::sink())
    }

    fn p2_stream(&self) -> Box<dyn OutputStream> {
        Box::new(self.clone())
    }
}

#[wasmtime_wasi::async_trait]
impl Pollable for Printer {
    async fn ready(&mut self) {}
}

impl OutputStream for Printer {
    fn write(&mut self, bytes: Bytes) -> StreamResult<()> {
        let text = String::from_utf8_lossy(&bytes);
        if text.trim().is_empty() {
            return Ok(());
        }
        let written = if self.last_words { self.log.printed(&text) } else { self.log.record(Level::Info, &text) };
        written.map_err(|exceeded| StreamError::Trap(exceeded.into()))
    }

    fn flush(&mut self) -> StreamResult<()> {
        Ok(())
    }

    fn check_write(&mut self) -> StreamResult<usize> {
        Ok(WRITE_AT_ONCE)
    }
}
