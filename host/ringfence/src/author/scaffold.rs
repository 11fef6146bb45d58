//! The project that `ringfence new` makes.

use std::io;
use std::path::{Path, PathBuf};

use ringfence_core::name::MAX_SOURCE_NAME;

use super::vendored;

/// The files of a new project. `{{name}}` stands for its name.
const TEMPLATE: [(&str, &str); 5] = [
    ("Cargo.toml", include_str!("template/Cargo.toml")),
    ("README.md", include_str!("template/README.md")),
    ("ringfence.toml", include_str!("template/ringfence.toml")),
    ("src/lib.rs", include_str!("template/lib.rs")),
    (".gitignore", include_str!("template/gitignore")),
];

/// Where in a project the SDK lies.
const SDK_FOLDER: &str = ".ringfence";

/// Why there is no new project.
#[derive(Debug, thiserror::Error)]
pub enum ScaffoldError {
    /// The name is none for a project.
    #[error(
        "`{0}` cannot be the name of a project. Take 1 to {MAX_SOURCE_NAME} of `a-z`, `0-9` and `-`, beginning with a letter."
    )]
    BadName(String),
    /// There is something already.
    #[error("`{}` exists already. Take another name, or remove it.", .0.display())]
    Exists(PathBuf),
    /// A file cannot be written.
    #[error("The project could not be written: {0}.")]
    Write(#[from] io::Error),
}

/// Makes the project `name` in a folder of that name in `parent`, the SDK included, and gives back the folder.
///
/// # Errors
///
/// The name is none for a project, the folder exists, or it cannot be written; then what was written stays.
pub fn create(parent: &Path, name: &str) -> Result<PathBuf, ScaffoldError> {
    if !is_project_name(name) {
        return Err(ScaffoldError::BadName(name.to_owned()));
    }
    let folder = parent.join(name);
    if let Err(error) = fs_err::create_dir(&folder) {
        return Err(match error.kind() {
            io::ErrorKind::AlreadyExists => ScaffoldError::Exists(folder),
            _ => error.into(),
        });
    }
    for (path, content) in TEMPLATE {
        write(&folder.join(path), &content.replace("{{name}}", name))?;
    }
    for (path, content) in vendored::files() {
        write(&folder.join(SDK_FOLDER).join(path), &content)?;
    }
    Ok(folder)
}

/// A project's name is the name that its source proposes, and a package's name for cargo.
fn is_project_name(name: &str) -> bool {
    name.len() <= MAX_SOURCE_NAME
        && name.starts_with(|first: char| first.is_ascii_lowercase())
        && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
}

fn write(file: &Path, content: &str) -> io::Result<()> {
    if let Some(folder) = file.parent() {
        fs_err::create_dir_all(folder)?;
    }
    fs_err::write(file, content)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_project_has_its_name_and_the_sdk() {
        let parent = tempfile::tempdir().unwrap();
        let folder = create(parent.path(), "my-tool").unwrap();
        let read = |path: &str| fs_err::read_to_string(folder.join(path)).unwrap();
        assert!(read("Cargo.toml").contains("name = \"my-tool\""));
        assert!(read("ringfence.toml").contains("name = \"my-tool\""));
        assert!(read("README.md").contains("my-tool.wasm"));
        assert!(read(".ringfence/wit/tool.wit").contains("package ringfence:tool@"));
        assert!(read(".ringfence/guest-sdk/src/lib.rs").contains("export_tools"));
        assert!(!read("src/lib.rs").contains("{{"));
    }

    #[test]
    fn nothing_is_overwritten() {
        let parent = tempfile::tempdir().unwrap();
        create(parent.path(), "once").unwrap();
        assert!(matches!(create(parent.path(), "once"), Err(ScaffoldError::Exists(_))));
    }

    #[test]
    fn a_name_names_no_other_place() {
        let parent = tempfile::tempdir().unwrap();
        for name in ["", ".", "..", "a/b", "../a", "A", "9lives", "-a", "a_b", "a b", "é", &"a".repeat(33)] {
            assert!(matches!(create(parent.path(), name), Err(ScaffoldError::BadName(_))), "{name}");
        }
        assert_eq!(fs_err::read_dir(parent.path()).unwrap().count(), 0);
    }

    /// The derives in a project name these crates, so they have to be the SDK's.
    #[test]
    fn dependencies_are_those_of_the_sdk() {
        let workspace = include_str!("../../../../Cargo.toml");
        for name in ["schemars = ", "serde = "] {
            let line = TEMPLATE[0].1.lines().find(|line| line.starts_with(name)).unwrap();
            assert!(workspace.lines().any(|other| other == line), "{line}");
        }
    }
}
