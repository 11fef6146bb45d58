//! What a call may use.

mod host_pattern;
mod http_rule;
mod http_target;
mod path_pattern;
mod rule_set;
mod segment;
#[cfg(test)]
mod tests;
mod url_pattern;

pub use host_pattern::HostPattern;
pub use http_rule::{HttpRule, Methods};
pub use http_target::{HttpTarget, Scheme, normal_host, usable_host};
pub use path_pattern::PathPattern;
pub use rule_set::{HttpRefusal, Mismatch, NearestRule, RuleSet};
pub(crate) use segment::lenient_decode;
pub use segment::{SegmentError, check_segment, decode_segment};
pub use url_pattern::{PatternError, UrlPattern};

use crate::limit::Limits;

/// What one call may use: what the manifest requests, narrowed by what the operator grants.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Grant {
    /// How much of everything.
    pub limits: Limits,
}
