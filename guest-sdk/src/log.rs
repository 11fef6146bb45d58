//! Records for the operator. They are bounded and never reach the model.

pub use crate::host::Level;

/// Writes one record.
pub fn log(level: Level, message: impl AsRef<str>) {
    crate::host::log(level, message.as_ref());
}

/// Writes a record for whoever follows the tool step by step.
pub fn trace(message: impl AsRef<str>) {
    log(Level::Trace, message);
}

/// Writes a record for whoever looks for a mistake.
pub fn debug(message: impl AsRef<str>) {
    log(Level::Debug, message);
}

/// Writes a record of something worth knowing.
pub fn info(message: impl AsRef<str>) {
    log(Level::Info, message);
}

/// Writes a record of something that may need attention.
pub fn warn(message: impl AsRef<str>) {
    log(Level::Warn, message);
}

/// Writes a record of something that went wrong.
pub fn error(message: impl AsRef<str>) {
    log(Level::Error, message);
}
