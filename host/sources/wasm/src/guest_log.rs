//! What a guest says to the operator: log records, standard output and standard error, all from one budget.
//!
//! A record is one physical line of the host's log: control characters are escaped, so a guest can neither forge a
//! line nor steer a terminal, and the tool's name stands beside it.

use std::borrow::Cow;
use std::sync::{Arc, Mutex, PoisonError};

use ringfence_core::finish::current::CurrentScrubber;
use ringfence_core::limit::{LimitExceeded, LimitKind, Limits};

use crate::bindings::ringfence::tool::log::Level;

/// The longest record, in bytes; what is longer is cut. IronClaw's number.
const MAX_RECORD: usize = 4096;

/// How much of a message is looked at, in bytes: far more than is kept, so that what is kept was recognised.
const MAX_LOOKED_AT: usize = 16 * MAX_RECORD;

/// How much of what a guest prints on standard error may be its last words, in bytes. Some runtimes write a message line by
/// line, and a hint behind it.
const MAX_LAST_WORDS: usize = 2048;

/// The log of one call. Clones share the budget.
#[derive(Clone)]
pub(crate) struct GuestLog(Arc<Mutex<Records>>);

struct Records {
    tool: String,
    call: String,
    limits: Limits,
    scrubber: Option<Arc<CurrentScrubber>>,
    records: u64,
    bytes: u64,
    /// What the guest said last, on standard error or as its panic message.
    last_words: String,
}

impl GuestLog {
    pub(crate) fn new(tool: &str, call: &str, limits: &Limits, scrubber: Option<Arc<CurrentScrubber>>) -> Self {
        let (tool, call, limits) = (tool.to_owned(), call.to_owned(), limits.clone());
        let records = Records { tool, call, limits, scrubber, records: 0, bytes: 0, last_words: String::new() };
        Self(Arc::new(Mutex::new(records)))
    }

    /// Writes one record.
    ///
    /// # Errors
    /// When the call has used up its records or bytes. That ends the call.
    pub(crate) fn record(&self, level: Level, message: &str) -> Result<(), LimitExceeded> {
        let mut records = self.lock();
        let clean = records.clean(message);
        records.write(level, &clean)
    }

    /// Writes what the guest says before it crashes.
    ///
    /// # Errors
    /// As [`record`](Self::record).
    pub(crate) fn panicked(&self, message: &str) -> Result<(), LimitExceeded> {
        self.lock().last_words = message.to_owned();
        self.record(Level::Error, message)
    }

    /// Writes what the guest prints on standard error: its last words, if nothing follows.
    ///
    /// # Errors
    /// As [`record`](Self::record).
    pub(crate) fn printed(&self, text: &str) -> Result<(), LimitExceeded> {
        self.lock().follow(text);
        self.record(Level::Error, text)
    }

    /// `text`, in which something is that the guest wrote, as one line of the operator's log.
    pub(crate) fn shown(&self, text: &str) -> String {
        one_line(&self.lock().clean(text))
    }

    pub(crate) fn last_words(&self) -> Option<String> {
        let records = self.lock();
        // Escaped when it is clean: a secret with a `'` would not be recognised afterwards. Cut where errors are.
        let words = records.clean(&records.last_words);
        (!words.is_empty()).then(|| words.trim_end().escape_debug().to_string())
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Records> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Records {
    /// Adds `text` to the last words, and takes the first lines away where they are too many.
    fn follow(&mut self, text: &str) {
        self.last_words.push_str(text);
        while self.last_words.len() > MAX_LAST_WORDS {
            // Whole lines: half a secret would not be recognised.
            let Some(line) = self.last_words.find('\n') else { break };
            self.last_words.drain(..=line);
        }
        self.last_words.truncate(self.last_words.floor_char_boundary(MAX_LOOKED_AT));
    }

    /// The beginning of `message` without secrets. It is not cut further here: half a secret would not be recognised.
    fn clean<'a>(&self, message: &'a str) -> Cow<'a, str> {
        let near = &message[..message.floor_char_boundary(MAX_LOOKED_AT)];
        match &self.scrubber {
            Some(scrubber) => Cow::Owned(scrubber.get().text(near).into_owned()),
            None => Cow::Borrowed(near),
        }
    }

    fn write(&mut self, level: Level, clean: &str) -> Result<(), LimitExceeded> {
        let line = one_line(clean);
        self.take(line.len())?;
        let (tool, call) = (&self.tool, &self.call);
        match level {
            Level::Trace => tracing::trace!(target: "guest", %tool, %call, "{line}"),
            Level::Debug => tracing::debug!(target: "guest", %tool, %call, "{line}"),
            Level::Info => tracing::info!(target: "guest", %tool, %call, "{line}"),
            Level::Warn => tracing::warn!(target: "guest", %tool, %call, "{line}"),
            Level::Error => tracing::error!(target: "guest", %tool, %call, "{line}"),
        }
        Ok(())
    }

    fn take(&mut self, bytes: usize) -> Result<(), LimitExceeded> {
        self.records += 1;
        self.bytes += bytes as u64;
        for (kind, used) in [(LimitKind::LogRecords, self.records), (LimitKind::LogBytes, self.bytes)] {
            if used > self.limits.get(kind) {
                tracing::warn!(target: "guest", tool = %self.tool, call = %self.call, "over its limit of log: further records are dropped");
                return Err(self.limits.exceeded(kind, Some(used)));
            }
        }
        Ok(())
    }
}

/// `message` without control characters, cut to [`MAX_RECORD`].
fn one_line(message: &str) -> String {
    let mut line = String::with_capacity(message.len().min(MAX_RECORD) + 4);
    for c in message.trim_end().chars() {
        if line.len() >= MAX_RECORD {
            line.push('…');
            break;
        }
        if c.is_control()
            || matches!(c, '\u{200b}'..='\u{200f}' | '\u{feff}' | '\u{2028}' | '\u{2029}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
        {
            line.extend(c.escape_default());
        } else {
            line.push(c);
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use ringfence_core::finish::scrub::Scrubber;
    use ringfence_core::limit::LimitSet;
    use ringfence_core::secret::Secret;

    use super::*;

    #[test]
    fn a_forged_line_stays_one_line() {
        let line = one_line("ok\n2026-01-01 INFO audit: approved\u{1b}[2J");
        assert_eq!(line, "ok\\n2026-01-01 INFO audit: approved\\u{1b}[2J");
    }

    #[test]
    fn both_budgets_end() {
        let operator = LimitSet::default().with(LimitKind::LogRecords, 2).with(LimitKind::LogBytes, 10);
        let limits = Limits::effective(&LimitSet::default(), &operator);
        let log = GuestLog::new("t", "c", &limits, None);
        assert!(log.record(Level::Info, "a").is_ok() && log.record(Level::Info, "b").is_ok());
        assert_eq!(log.record(Level::Info, "c").unwrap_err().limit, "log_records");
        let log = GuestLog::new("t", "c", &limits, None);
        assert_eq!(log.record(Level::Info, "01234567890").unwrap_err().limit, "log");
    }

    #[test]
    fn last_words_hold_no_secret_however_it_is_spelled() {
        let secrets = vec![("key".to_owned(), Secret::new("it's-a-secret-value".into()))];
        let scrubber = CurrentScrubber::new(Scrubber::new(secrets).unwrap());
        let limits = Limits::effective(&LimitSet::default(), &LimitSet::default());
        let log = GuestLog::new("t", "c", &limits, Some(Arc::new(scrubber)));
        log.panicked("no entry:\tit's-a-secret-value").unwrap();
        let words = log.last_words().unwrap();
        assert!(words.contains(r"no entry:\t[REDACTED:key") && !words.contains("secret-value"), "{words}");
    }

    #[test]
    fn what_is_printed_line_by_line_is_one_last_word() {
        let limits = Limits::effective(&LimitSet::default(), &LimitSet::default());
        let log = GuestLog::new("t", "c", &limits, None);
        for number in 0..500 {
            log.printed(&format!("line {number}\n")).unwrap();
        }
        log.printed("why\n").unwrap();
        log.printed("a hint\n").unwrap();
        let words = log.last_words().unwrap();
        assert!(words.ends_with(r"line 499\nwhy\na hint") && words.starts_with("line "), "{words}");
        assert!(words.len() < 2 * MAX_LAST_WORDS, "{}", words.len());
    }

    proptest! {
        #[test]
        fn every_record_is_a_bounded_line(message in ".{0,6000}") {
            let line = one_line(&message);
            prop_assert!(line.len() <= MAX_RECORD + 16);
            prop_assert!(!line.chars().any(char::is_control));
        }
    }
}
