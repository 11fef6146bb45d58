//! Progress of a call, on its way to whoever waits for it.

use std::sync::Arc;

use crate::call::{Progress, ProgressSink};
use crate::finish::scrub::Scrubber;

/// The longest message of a report, in bytes.
const MAX_MESSAGE: usize = 1024;

/// Scrubs and bounds what a tool reports before it reaches `sink`.
pub(crate) struct CleanProgress {
    pub(crate) sink: Arc<dyn ProgressSink>,
    pub(crate) scrubber: Arc<Scrubber>,
}

impl ProgressSink for CleanProgress {
    fn report(&self, mut progress: Progress) {
        if !progress.done.is_finite() || progress.total.is_some_and(|total| !total.is_finite()) {
            return; // JSON has no such numbers
        }
        progress.message = progress.message.map(|message| {
            let kept = &message[..message.floor_char_boundary(MAX_MESSAGE)];
            self.scrubber.text(kept).into_owned()
        });
        self.sink.report(progress);
    }
}
