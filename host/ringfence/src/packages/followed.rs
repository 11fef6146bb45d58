//! Which file of a grant each source runs by. The files are the operator's to edit, also while the host runs.

use std::collections::BTreeMap;

use ringfence_core::name::SourceName;

use crate::grants::{Grants, Stamp};

/// The files of grants as they were when their sources were started; `None` for a source without one.
#[derive(Default)]
pub(super) struct Followed(BTreeMap<SourceName, Option<Stamp>>);

impl Followed {
    /// `source` is about to be started. To be said before its file is read: what is written meanwhile counts as an edit.
    pub(super) fn note(&mut self, source: &SourceName, grants: &Grants) {
        self.0.insert(source.clone(), grants.stamp(source));
    }

    /// `source` is not installed any more.
    pub(super) fn forget(&mut self, source: &SourceName) {
        self.0.remove(source);
    }

    /// The sources whose files are others now.
    pub(super) fn outdated(&self, grants: &Grants) -> Vec<SourceName> {
        let outdated = self.0.iter().filter(|(source, stamp)| grants.stamp(source) != **stamp);
        outdated.map(|(source, _)| source.clone()).collect()
    }
}
