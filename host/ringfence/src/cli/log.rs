//! What is told on standard error while a command runs: warnings to a person, or a log to whoever asked for one.

use std::fmt;
use std::io::IsTerminal as _;

use tracing::{Event, Level, Metadata, Subscriber};
use tracing_subscriber::EnvFilter;
use tracing_subscriber::filter::filter_fn;
use tracing_subscriber::fmt::format::{Format, FormatEvent, FormatFields, Writer};
use tracing_subscriber::fmt::{FmtContext, layer};
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::registry::LookupSpan;
use tracing_subscriber::util::SubscriberInitExt as _;

/// What the log tells where the operator says nothing else.
const LOGGED: &str = "warn,guest=info";

/// The targets of our own records.
const OURS: [&str; 6] = ["ringfence", "egress", "guest", "state", "tools", "vault"];

/// What tools log.
const GUEST: &str = "guest";

/// Standard error gets the log; standard output belongs to answers and to protocols. A person at a command reads our
/// warnings as they read its other messages, unless RINGFENCE_LOG asks for a log. What `serves` runs on, and its log
/// needs times.
pub(super) fn init(serves: bool) {
    let asked = crate::config::log_filter();
    let lines = Lines { told: asked.is_none() && !serves, logged: Format::default() };
    let lines = layer()
        .with_writer(std::io::stderr)
        // It would tell of a standard error that takes nothing on standard error, and panic.
        .log_internal_errors(false)
        .with_ansi(std::io::stderr().is_terminal())
        .event_format(lines);
    tracing_subscriber::registry()
        .with(lines)
        .with(EnvFilter::new(asked.as_deref().unwrap_or(LOGGED)))
        .with(filter_fn(may_be_logged))
        .init();
}

/// Whether a record can be shown at all. Libraries tell whole messages, and so what callers keep secret: of them only
/// errors are, whatever the operator asks for.
fn may_be_logged(record: &Metadata<'_>) -> bool {
    OURS.iter().any(|ours| record.target().starts_with(ours)) || *record.level() == Level::ERROR
}

/// How a record is written.
struct Lines {
    /// Whether our warnings and errors are told to a person.
    told: bool,
    /// How all else is.
    logged: Format,
}

impl<S, N> FormatEvent<S, N> for Lines
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(&self, context: &FmtContext<'_, S, N>, mut out: Writer<'_>, event: &Event<'_>) -> fmt::Result {
        let (word, colour) = match *event.metadata().level() {
            Level::ERROR => ("error:", "\x1b[1;31m"),
            Level::WARN => ("warning:", "\x1b[1;33m"),
            _ => return self.logged.format_event(context, out, event),
        };
        if !self.told || event.metadata().target() == GUEST {
            return self.logged.format_event(context, out, event);
        }
        match out.has_ansi_escapes() {
            true => write!(out, "{colour}{word}\x1b[0m ")?,
            false => write!(out, "{word} ")?,
        }
        context.format_fields(out.by_ref(), event)?;
        writeln!(out)
    }
}
