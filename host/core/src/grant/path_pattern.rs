//! Which paths a rule is for.

use std::fmt;

use super::segment::{decode_segment, encode_segment, without_parameters};
use super::url_pattern::PatternError;

/// A path by its segments: literal ones, `*` for one that is not empty, and `**` at the end for any rest or none.
///
/// A segment matches whole or not at all, so `/api` is neither `/apikeys` nor `/api/`. Empty segments (`//`) match no
/// `*`, and neither do those that only have parameters (`;x`): a server that folds them away would see a path with
/// fewer segments than the rule. For the same reason a segment with a percent-encoded `/` matches no `*`; it matches the
/// same one in the rule, and `**`, which covers it however a server reads it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PathPattern {
    segments: Vec<Segment>,
    /// Whether `**` follows.
    open: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Segment {
    Literal(String),
    Any,
}

impl PathPattern {
    pub(super) fn parse(text: &str) -> Result<Self, PatternError> {
        let mut parts: Vec<&str> = text.strip_prefix('/').ok_or(PatternError::NoPath)?.split('/').collect();
        let open = parts.last() == Some(&"**");
        if open {
            parts.pop();
        }
        let last = parts.len().saturating_sub(1);
        let segments = parts
            .iter()
            .enumerate()
            .map(|(i, part)| match *part {
                "" if open || i < last => Err(PatternError::EmptySegment),
                part => Segment::parse(part),
            })
            .collect::<Result<_, _>>()?;
        Ok(Self { segments, open })
    }

    /// Whether the path of these decoded segments is one of these.
    pub fn matches(&self, path: &[String]) -> bool {
        let long_enough = if self.open { path.len() >= self.segments.len() } else { path.len() == self.segments.len() };
        long_enough && self.segments.iter().zip(path).all(|(own, segment)| own.matches(segment))
    }

    /// Whether any path is one of these and one of `other`.
    pub(super) fn meets(&self, other: &Self) -> bool {
        let (own, others) = (self.segments.len(), other.segments.len());
        let long_enough = (own >= others || self.open) && (others >= own || other.open);
        long_enough && self.segments.iter().zip(&other.segments).all(|(own, other)| own.meets(other))
    }
}

impl Segment {
    fn parse(part: &str) -> Result<Self, PatternError> {
        match part {
            "*" => Ok(Self::Any),
            _ if part.contains('*') => Err(PatternError::PathWildcard(part.to_owned())),
            _ => decode_segment(part)
                .map(Self::Literal)
                .map_err(|error| PatternError::Segment { segment: part.to_owned(), error }),
        }
    }

    fn matches(&self, segment: &str) -> bool {
        match self {
            Self::Literal(own) => own == segment,
            Self::Any => !without_parameters(segment).is_empty() && !segment.contains('/'),
        }
    }

    fn meets(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Literal(text), segment) | (segment, Self::Literal(text)) => segment.matches(text),
            (Self::Any, Self::Any) => true,
        }
    }
}

impl fmt::Display for PathPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for segment in &self.segments {
            match segment {
                Segment::Literal(text) => write!(f, "/{}", encode_segment(text))?,
                Segment::Any => f.write_str("/*")?,
            }
        }
        if self.open { f.write_str("/**") } else { Ok(()) }
    }
}
