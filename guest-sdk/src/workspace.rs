//! Files below the workspace, as far as the operator granted them. Paths are relative to its root, with `/`.

use crate::Failure;
use crate::bindings::ringfence::tool::workspace as wire;

pub use wire::Entry;

/// The whole file at `path`.
///
/// # Errors
/// It is not granted, not there, a folder, or too large.
pub fn read(path: &str) -> Result<Vec<u8>, Failure> {
    crate::host::read(path).map_err(|error| failure(path, error))
}

/// Writes the whole file at `path`: at every moment there is the old one or the new one. Its folder has to exist.
///
/// # Errors
/// It is not granted, its folder is not there, it is a folder, or the content is too large.
pub fn write(path: &str, content: &[u8]) -> Result<(), Failure> {
    crate::host::write(path, content).map_err(|error| failure(path, error))
}

/// What lies in the folder at `path` and may be read, by name. `.` is the workspace itself.
///
/// # Errors
/// It is not granted, not there, or a file.
pub fn entries(path: &str) -> Result<Vec<Entry>, Failure> {
    crate::host::entries(path).map_err(|error| failure(path, error))
}

/// What the host takes in no name: people would read another one.
fn is_unseen(character: char) -> bool {
    let hides = matches!(character,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180e}' | '\u{200b}'
        | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{2800}' | '\u{3164}' | '\u{feff}'
        | '\u{ffa0}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}');
    character.is_control() || hides
}

fn failure(path: &str, error: wire::Error) -> Failure {
    match error {
        wire::Error::Denied if path.chars().any(is_unseen) => {
            let path = path.escape_debug();
            let message =
                format!("`{path}` is no name of a file: leave out what is invisible in it, or turns its direction.");
            Failure::invalid_params(message).with_code("workspace.denied")
        }
        wire::Error::Denied => {
            Failure::failed(format!("The operator did not grant the use of `{path}`.")).with_code("workspace.denied")
        }
        wire::Error::Missing => {
            Failure::not_found(format!("There is no `{path}`, or not the folder that it would be in."))
                .with_code("workspace.missing")
        }
        wire::Error::WrongKind => {
            Failure::failed(format!("`{path}` is a folder where a file was meant, or the reverse."))
                .with_code("workspace.wrong_kind")
        }
        wire::Error::TooLarge => Failure::failed(format!("`{path}` is too large.")).with_code("workspace.too_large"),
        wire::Error::Failed => {
            Failure::failed(format!("The file system failed at `{path}`.")).with_code("workspace.failed")
        }
    }
}
