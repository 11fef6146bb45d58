//! How far a call has come, for whoever waits for it.

/// Reports that `done` of `total` are done. `done` grows with every report; `total` is in the same unit, where it is
/// known.
pub fn report(done: f64, total: Option<f64>, message: Option<&str>) {
    crate::host::report(done, total, message);
}
