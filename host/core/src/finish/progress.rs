//! Progress of a call, on its way to whoever waits for it.

use std::sync::Arc;

use crate::call::{Progress, ProgressSink};
use crate::finish::current::CurrentScrubber;

/// The longest message of a report, in bytes.
const MAX_MESSAGE: usize = 1024;

/// Scrubs and bounds what a tool reports before it reaches `sink`.
pub(crate) struct CleanProgress {
    pub(crate) sink: Arc<dyn ProgressSink>,
    pub(crate) scrubber: Arc<CurrentScrubber>,
}

impl ProgressSink for CleanProgress {
    fn report(&self, mut progress: Progress) {
        if !progress.done.is_finite() || progress.total.is_some_and(|total| !total.is_finite()) {
            return; // JSON has no such numbers
        }
        progress.message = progress.message.map(|message| {
            // Scrubbed before it is cut: half a secret would not be recognised. What is far behind the cut is not looked at.
            let near = &message[..message.floor_char_boundary(64 * MAX_MESSAGE)];
            let clean = self.scrubber.get().text(near);
            clean[..clean.floor_char_boundary(MAX_MESSAGE)].to_owned()
        });
        self.sink.report(progress);
    }
}
