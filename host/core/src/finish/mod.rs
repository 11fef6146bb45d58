//! What happens to a result between the tool and the caller. A finisher may only shrink what it is given.

pub mod bound;
pub mod current;
pub(crate) mod progress;
pub mod scrub;
pub(crate) mod structured;
