//! A bound on how long a keyring may take, because it may ask a person who is not there.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::time::Duration;

use thiserror::Error;

/// The longest wait for one answer: time enough to type a passphrase into the window that a keyring opens.
const LONGEST: Duration = Duration::from_secs(60);

/// Puts questions that may never be answered, one at a time. Its clones are the same one.
#[derive(Clone)]
pub(crate) struct Deadline {
    longest: Duration,
    /// A question is out. Without it every later one would leave one more thread behind that waits.
    waiting: Arc<AtomicBool>,
}

/// Why there is no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub(crate) enum Late {
    #[error("it gave no answer within {} s; it may be asking for its passphrase in a window", .0.as_secs())]
    NoAnswer(Duration),
    #[error("it has not answered the previous question yet")]
    StillWaiting,
    #[error("there is no thread to ask it")]
    NoThread,
}

impl Deadline {
    fn of(longest: Duration) -> Self {
        Self { longest, waiting: Arc::default() }
    }

    /// The answer to `question`, if it comes in time. One that comes late is dropped, but may have had its effect.
    pub(crate) fn answer<T: Send + 'static>(&self, question: impl FnOnce() -> T + Send + 'static) -> Result<T, Late> {
        if self.waiting.swap(true, Ordering::AcqRel) {
            return Err(Late::StillWaiting);
        }
        let (sender, receiver) = mpsc::sync_channel(1);
        let waiting = Answered(self.waiting.clone());
        let asked = std::thread::Builder::new().name("keyring".into()).spawn(move || {
            // In this order, so that a panic ends the wait before it is noticed.
            let (sender, waiting) = (sender, waiting);
            let answer = question();
            drop(waiting);
            // Nobody listens any more when the answer is late.
            let _ = sender.send(answer);
        });
        if asked.is_err() {
            return Err(Late::NoThread);
        }
        receiver.recv_timeout(self.longest).map_err(|_| Late::NoAnswer(self.longest))
    }
}

impl Default for Deadline {
    fn default() -> Self {
        Self::of(LONGEST)
    }
}

/// Ends the wait however the question ends, a panic of a library included.
struct Answered(Arc<AtomicBool>);

impl Drop for Answered {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_is_silent_is_asked_nothing_more_until_the_answer_came() {
        let deadline = Deadline::of(Duration::from_millis(1));
        let (answer, question) = mpsc::channel::<()>();
        let (done, finished) = mpsc::channel::<()>();
        let late = deadline.answer(move || {
            let _ = question.recv();
            done
        });
        assert_eq!(late.unwrap_err(), Late::NoAnswer(deadline.longest));
        assert_eq!(deadline.answer(|| ()), Err(Late::StillWaiting));
        answer.send(()).unwrap();
        // The late answer is dropped, and `done` with it.
        assert!(finished.recv().is_err());
        let patient = Deadline { longest: LONGEST, waiting: deadline.waiting };
        assert_eq!(patient.answer(|| 7), Ok(7));
    }

    #[test]
    fn a_question_that_panics_is_no_answer_and_blocks_nothing() {
        let deadline = Deadline::default();
        assert!(matches!(deadline.answer::<()>(|| panic!("of a library")), Err(Late::NoAnswer(_))));
        assert_eq!(deadline.answer(|| 7), Ok(7));
    }
}
