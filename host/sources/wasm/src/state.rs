//! What the host holds for one instance: its limits, its log, and the little that its imports can do.

use std::sync::Arc;
use std::time::{Duration, Instant};

use ringfence_core::call::{Progress, ProgressSink};
use ringfence_core::limit::{LimitExceeded, LimitKind, Limits};
use ringfence_core::onward::Onward;
use ringfence_core::permit::Permit;
use ringfence_package::Effective;
use ringfence_vault::{SecretName, Vault};
use wasmtime::component::ResourceTable;
use wasmtime::{ResourceLimiter, Result};
use wasmtime_wasi::{WasiCtx, WasiCtxView, WasiView};

use crate::bindings::ringfence::tool::{log, progress, types};
use crate::guest_log::GuestLog;
use crate::outlet::Outlet;
use crate::reach::Reach;
use crate::wasi::{self, World};
use crate::wasi_http::{InFlight, WasiHttp};

pub(crate) struct GuestState {
    pub(crate) limits: Limits,
    pub(crate) growth: Growth,
    pub(crate) log: GuestLog,
    progress: Option<Arc<dyn ProgressSink>>,
    /// The tool's name, for the operator's log.
    tool: String,
    /// What the call may reach beyond the instance.
    reach: Option<Arc<Reach>>,
    /// The network, where the call may use it.
    outlet: Option<Outlet>,
    /// The way to other tools.
    onward: Option<Onward>,
    /// How many of them the guest has called.
    tool_calls: u64,
    /// For whom the call is made.
    user: Option<String>,
    /// How often the guest has read or written what it keeps.
    state_calls: u64,
    /// How often the guest has used files.
    workspace_calls: u64,
    /// How many bytes it has had for writing into files.
    workspace_written: u64,
    /// Whether the guest has called the host.
    reached_out: bool,
    /// Since when the guest runs, or since it last let others run at the end of a host call.
    turn: Instant,
    /// Before the table, so that it goes first: a body whose stream ends with the instance is no whole one.
    wasi_http: WasiHttp,
    table: ResourceTable,
    world: World,
    /// Bytes of randomness that the call has had.
    random: u64,
    /// Made when the guest first asks for it; many guests never do.
    wasi: Option<WasiCtx>,
}

impl GuestState {
    /// For asking a component which tools it holds, and for an instance whose call is still to come.
    pub(crate) fn waiting(limits: &Limits) -> Self {
        let mut table = ResourceTable::new();
        table.set_max_capacity(limits.get_usize(LimitKind::Resources));
        Self {
            limits: limits.clone(),
            growth: Growth::new(limits),
            log: GuestLog::new("none", "none", limits, None),
            progress: None,
            tool: String::new(),
            reach: None,
            outlet: None,
            onward: None,
            tool_calls: 0,
            user: None,
            state_calls: 0,
            workspace_calls: 0,
            workspace_written: 0,
            reached_out: false,
            turn: Instant::now(),
            wasi_http: WasiHttp::new(),
            table,
            world: World::Frozen,
            random: 0,
            wasi: None,
        }
    }

    /// From now on the instance serves the call of `permit`.
    pub(crate) fn begin(&mut self, permit: &Permit, reach: &Arc<Reach>) {
        let call = permit.call();
        let (tool, id) = (call.tool().wire_name(), call.id().as_str());
        self.log = GuestLog::new(tool, id, &self.limits, call.context().scrubber());
        self.tool = tool.to_owned();
        self.reach = Some(reach.clone());
        self.outlet = reach.network.is_some().then(|| Outlet::new(tool, &self.log, reach, &self.limits));
        self.wasi_http.begin(self.outlet.clone());
        self.progress = call.context().progress.clone();
        self.onward = if reach.grant.calls_tools() { permit.onward() } else { None };
        self.user = call.context().caller.user.clone();
        self.world = World::Live;
        self.begin_turn();
    }

    /// The call is over: the instance lets go of all that it shares, before it is taken down beside other calls.
    pub(crate) fn end(&mut self) {
        (self.reach, self.outlet, self.progress, self.onward) = (None, None, None, None);
        self.wasi_http.begin(None);
    }

    /// From now on the guest runs, and others wait.
    pub(crate) fn begin_turn(&mut self) {
        self.turn = Instant::now();
    }

    /// How long the guest runs already since it last let others run, as far as host calls know.
    pub(crate) fn turn(&self) -> Duration {
        self.turn.elapsed()
    }

    /// Whether the guest has called the host, for whatever.
    pub(crate) fn has_reached_out(&self) -> bool {
        self.reached_out
    }

    /// What the host call that the guest has just made may reach; `None` where there is no call, or its grant has ended.
    pub(crate) fn reach(&mut self) -> Option<&Reach> {
        self.reached_out = true;
        self.reach.as_deref().filter(|reach| !reach.grant.has_ended())
    }

    /// The network, for the host call that the guest has just made; `None` where there is no call, or none granted.
    pub(crate) fn outlet(&mut self) -> Option<Outlet> {
        self.reached_out = true;
        self.outlet.clone()
    }

    /// What a host call of `wasi:http` that the guest has just made works on.
    pub(crate) fn wasi_http(&mut self) -> (&mut WasiHttp, &mut ResourceTable) {
        self.reached_out = true;
        (&mut self.wasi_http, &mut self.table)
    }

    /// The requests that the guest has sent and that go on beside it.
    pub(crate) fn in_flight(&self) -> Option<InFlight> {
        self.wasi_http.in_flight()
    }

    /// Waits until something beside the guest goes over a limit of the call.
    pub(crate) fn until_exceeded(&self) -> impl Future<Output = LimitExceeded> + use<> {
        let outlet = self.outlet.clone();
        async move {
            match outlet {
                Some(outlet) => outlet.until_exceeded().await,
                None => std::future::pending().await,
            }
        }
    }

    /// The limit that something beside the guest went over.
    pub(crate) fn exceeded(&self) -> Option<LimitExceeded> {
        self.outlet.as_ref().and_then(Outlet::exceeded)
    }

    /// The vault, and `name` as it knows it, where `granted` says that the guest may use that secret.
    pub(crate) fn vault(
        &mut self,
        name: String,
        granted: impl Fn(&Effective, &str) -> bool,
    ) -> Option<(Arc<Vault>, SecretName)> {
        let reach = self.reach()?;
        let vault = reach.vault.clone()?;
        let name = SecretName::try_from(name).ok()?;
        granted(&reach.grant, name.as_str()).then_some((vault, name))
    }

    /// The tool's name.
    pub(crate) fn tool(&self) -> &str {
        &self.tool
    }

    /// The way to other tools; `None` where there is no call, or none of them was granted.
    pub(crate) fn onward(&self) -> Option<Onward> {
        self.onward.clone()
    }

    /// For whom the call is made.
    pub(crate) fn user(&self) -> Option<&str> {
        self.user.as_deref()
    }

    /// Takes one of the calls of other tools.
    ///
    /// # Errors
    /// When there is none left.
    pub(crate) fn take_tool_call(&mut self) -> Result<()> {
        take(&mut self.tool_calls, 1, LimitKind::ToolCalls, &self.limits)
    }

    /// Takes one of the uses of what is kept between calls.
    ///
    /// # Errors
    /// When there is none left.
    pub(crate) fn take_state_call(&mut self) -> Result<()> {
        take(&mut self.state_calls, 1, LimitKind::StateCalls, &self.limits)
    }

    /// Takes one of the uses of files.
    ///
    /// # Errors
    /// When there is none left.
    pub(crate) fn take_workspace_call(&mut self) -> Result<()> {
        take(&mut self.workspace_calls, 1, LimitKind::WorkspaceCalls, &self.limits)
    }

    /// Takes so many `bytes` of what may be written into files.
    ///
    /// # Errors
    /// When there are not so many left.
    pub(crate) fn take_workspace_write(&mut self, bytes: u64) -> Result<()> {
        take(&mut self.workspace_written, bytes, LimitKind::WorkspaceWriteBytes, &self.limits)
    }

    /// What the host call that the guest has just made may see of the world.
    pub(crate) fn world(&mut self) -> World {
        self.reached_out = true;
        self.world
    }

    /// Takes `bytes` of the call's randomness.
    ///
    /// # Errors
    /// When there is not so much left.
    pub(crate) fn take_randomness(&mut self, bytes: u64) -> Result<()> {
        self.reached_out = true;
        take(&mut self.random, bytes, LimitKind::Random, &self.limits)
    }
}

/// Takes `more` of `kind`, of which `used` was used.
fn take(used: &mut u64, more: u64, kind: LimitKind, limits: &Limits) -> Result<()> {
    *used = used.saturating_add(more);
    if *used > limits.get(kind) {
        return Err(limits.exceeded(kind, Some(*used)).into());
    }
    Ok(())
}

/// There is nothing to do: the interface has types only.
impl types::Host for GuestState {}

impl log::Host for GuestState {
    fn log(&mut self, level: log::Level, message: String) -> Result<()> {
        self.reached_out = true;
        Ok(self.log.record(level, &message)?)
    }

    fn panicked(&mut self, message: String) -> Result<()> {
        self.reached_out = true;
        Ok(self.log.panicked(&message)?)
    }
}

impl progress::Host for GuestState {
    fn report(&mut self, done: f64, total: Option<f64>, message: Option<String>) -> Result<()> {
        self.reached_out = true;
        if let Some(sink) = &self.progress {
            sink.report(Progress { done, total, message });
        }
        Ok(())
    }
}

impl WasiView for GuestState {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        let world = self.world();
        let ctx = self.wasi.get_or_insert_with(|| wasi::empty(&self.log, world, self.reach.as_deref()));
        WasiCtxView { ctx, table: &mut self.table }
    }
}

/// What an instance has grown to, over all its memories and tables.
pub(crate) struct Growth {
    limits: Limits,
    memory: u64,
    table: u64,
    refused: Option<LimitExceeded>,
}

impl Growth {
    fn new(limits: &Limits) -> Self {
        Self { limits: limits.clone(), memory: 0, table: 0, refused: None }
    }

    /// Bytes of all memories. They never shrink, so it is the peak as well.
    pub(crate) fn peak_memory(&self) -> u64 {
        self.memory
    }

    /// The first growth that was refused.
    pub(crate) fn refused(&self) -> Option<LimitExceeded> {
        self.refused.clone()
    }

    /// Whether a total may grow by `desired - current`; remembers the first refusal.
    fn allow(&mut self, kind: LimitKind, total: u64, current: usize, desired: usize) -> Option<u64> {
        let new = total.saturating_add(desired.saturating_sub(current) as u64);
        if new <= self.limits.get(kind) {
            return Some(new);
        }
        let exceeded = self.limits.exceeded(kind, Some(new));
        self.refused.get_or_insert(exceeded);
        None
    }
}

impl ResourceLimiter for Growth {
    fn memory_growing(&mut self, current: usize, desired: usize, _maximum: Option<usize>) -> Result<bool> {
        let allowed = self.allow(LimitKind::Memory, self.memory, current, desired);
        self.memory = allowed.unwrap_or(self.memory);
        Ok(allowed.is_some())
    }

    fn table_growing(&mut self, current: usize, desired: usize, _maximum: Option<usize>) -> Result<bool> {
        let allowed = self.allow(LimitKind::Table, self.table, current, desired);
        self.table = allowed.unwrap_or(self.table);
        Ok(allowed.is_some())
    }

    fn instances(&self) -> usize {
        self.limits.get_usize(LimitKind::Instances)
    }
}

#[cfg(test)]
mod tests {
    use ringfence_core::limit::LimitSet;

    use super::*;

    #[test]
    fn all_memories_share_one_limit_and_so_do_all_tables() {
        let asked = LimitSet::default().with(LimitKind::Memory, 100).with(LimitKind::Table, 10);
        let mut growth = Growth::new(&Limits::effective(&LimitSet::default(), &asked));
        assert!(growth.memory_growing(0, 60, None).unwrap());
        assert!(!growth.memory_growing(0, 60, None).unwrap(), "a second memory");
        assert!(growth.memory_growing(0, 40, None).unwrap());
        assert!(!growth.memory_growing(60, 61, None).unwrap(), "the first one again");
        assert_eq!(growth.peak_memory(), 100);
        assert!(growth.table_growing(0, 6, None).unwrap());
        assert!(!growth.table_growing(0, 6, None).unwrap(), "a second table");
        assert!(growth.table_growing(6, 10, None).unwrap());
        assert_eq!(growth.refused().unwrap().limit, "memory", "what was refused first is the reason");
    }
}
