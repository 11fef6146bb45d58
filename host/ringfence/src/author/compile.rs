//! Runs cargo over an author's project and finds what it made.

use std::collections::VecDeque;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;

use serde::Deserialize;

use super::toolchain::Toolchain;

/// How many of cargo's last lines an error keeps: a screen or two. The last errors and how many there are stand there.
const KEPT_LINES: usize = 60;

/// Guests are loaded far more often than they are built, and nothing in a component can unwind or be debugged. The level
/// of optimisation remains the project's.
const PROFILE: [&str; 5] = [
    "profile.release.lto='fat'",
    "profile.release.codegen-units=1",
    "profile.release.panic='abort'",
    "profile.release.debug=false",
    "profile.release.strip='symbols'",
];

/// What cargo made: a core module or a component, depending on the [`Toolchain`].
#[derive(Clone, Debug, PartialEq)]
pub struct Artifact {
    /// The name of the library or example.
    pub name: String,
    /// The file's content.
    pub wasm: Vec<u8>,
}

/// Why a project was not compiled.
#[derive(Debug, thiserror::Error)]
pub enum CompileError {
    /// The folder holds no project that cargo understands.
    #[error("`{}` is no project that cargo understands; `ringfence new NAME` makes one. {reason}", directory.display())]
    NoProject {
        /// The folder.
        directory: PathBuf,
        /// What cargo says.
        reason: String,
    },
    /// cargo could not be run.
    #[error("cargo could not be run in `{}`: {source}.", directory.display())]
    Run {
        /// The project.
        directory: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The compiler found mistakes.
    #[error("cargo did not succeed ({status}):\n{}", last_lines.join("\n"))]
    Failed {
        /// How cargo ended.
        status: ExitStatus,
        /// The end of what cargo had to say.
        last_lines: Vec<String>,
    },
    /// The project compiles, but to no WebAssembly file.
    #[error(
        "The project makes no WebAssembly file. Add `crate-type = [\"cdylib\", \"rlib\"]` under [lib] in its Cargo.toml."
    )]
    NoArtifact,
    /// What cargo made cannot be read.
    #[error("What cargo made cannot be read: {0}.")]
    Read(#[source] io::Error),
}

/// Compiles the library of the project in `directory`, in a target folder apart from that of native builds. `on_line`
/// gets each line that cargo writes, for progress.
///
/// # Errors
///
/// There is no project, it does not compile, or its library is no `cdylib`.
pub fn library(
    toolchain: &Toolchain,
    directory: &Path,
    on_line: &mut dyn FnMut(&str),
) -> Result<Artifact, CompileError> {
    build(toolchain, directory, "--lib", on_line)?.pop().ok_or(CompileError::NoArtifact)
}

/// Compiles all examples of the project in `directory` that are `cdylib`s. Otherwise like [`library`].
///
/// # Errors
///
/// There is no project, it does not compile, or none of its examples is a `cdylib`.
pub fn examples(
    toolchain: &Toolchain,
    directory: &Path,
    on_line: &mut dyn FnMut(&str),
) -> Result<Vec<Artifact>, CompileError> {
    let artifacts = build(toolchain, directory, "--examples", on_line)?;
    if artifacts.is_empty() { Err(CompileError::NoArtifact) } else { Ok(artifacts) }
}

/// Runs the project's own tests, compiled for this machine.
///
/// # Errors
///
/// There is no project, it does not compile, or a test fails.
pub fn native_tests(directory: &Path, on_line: &mut dyn FnMut(&str)) -> Result<(), CompileError> {
    let mut cargo = super::command::program("cargo", directory);
    cargo.args(["test", "--color", "never"]);
    let ran =
        run(&mut cargo, on_line).map_err(|source| CompileError::Run { directory: directory.to_owned(), source })?;
    if ran.status.success() {
        return Ok(());
    }
    let said = ran.messages.lines().map(str::to_owned);
    let last_lines = ran.last_lines.into_iter().chain(said.skip_while(|line| !line.starts_with("failures:"))).collect();
    Err(CompileError::Failed { status: ran.status, last_lines })
}

fn build(
    toolchain: &Toolchain,
    directory: &Path,
    selection: &str,
    on_line: &mut dyn FnMut(&str),
) -> Result<Vec<Artifact>, CompileError> {
    let target_directory = target_directory(toolchain, directory)?.join("ringfence");
    let mut cargo = toolchain.cargo(directory);
    cargo
        .args(["build", "--release", "--message-format=json-render-diagnostics", selection])
        .args(toolchain.build_arguments())
        .args(PROFILE.iter().flat_map(|setting| ["--config", setting]))
        .arg("--target-dir")
        .arg(target_directory);
    let made =
        run(&mut cargo, on_line).map_err(|source| CompileError::Run { directory: directory.to_owned(), source })?;
    if !made.status.success() {
        return Err(CompileError::Failed { status: made.status, last_lines: made.last_lines.into() });
    }
    let manifest = fs_err::canonicalize(directory.join("Cargo.toml")).map_err(CompileError::Read)?;
    made.messages.lines().filter_map(|line| wasm_file(line, &manifest)).map(read).collect()
}

/// The target folder of the workspace to which the project belongs.
fn target_directory(toolchain: &Toolchain, directory: &Path) -> Result<PathBuf, CompileError> {
    #[derive(Deserialize)]
    struct Metadata {
        target_directory: PathBuf,
    }

    let mut cargo = toolchain.cargo(directory);
    let output = cargo
        .args(["metadata", "--no-deps", "--format-version", "1"])
        .output()
        .map_err(|source| CompileError::Run { directory: directory.to_owned(), source })?;
    match serde_json::from_slice::<Metadata>(&output.stdout) {
        Ok(metadata) => Ok(metadata.target_directory),
        Err(_) => {
            let reason = String::from_utf8_lossy(&output.stderr).trim().to_owned();
            Err(CompileError::NoProject { directory: directory.to_owned(), reason })
        }
    }
}

/// What remains of a run of cargo.
struct Run {
    status: ExitStatus,
    /// Standard output: a JSON object a line.
    messages: String,
    /// The end of standard error.
    last_lines: VecDeque<String>,
}

fn run(cargo: &mut Command, on_line: &mut dyn FnMut(&str)) -> io::Result<Run> {
    let mut child = cargo.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    let messages = collect_messages(&mut child);
    let mut last_lines = VecDeque::new();
    for line in child.stderr.take().into_iter().flat_map(|stderr| BufReader::new(stderr).lines()) {
        let line = line?;
        on_line(&line);
        if last_lines.len() == KEPT_LINES {
            last_lines.pop_front();
        }
        last_lines.push_back(line);
    }
    let status = child.wait()?;
    let messages = messages.join().map_err(|_| io::Error::other("the reader of cargo's messages panicked"))??;
    Ok(Run { status, messages, last_lines })
}

/// Reads standard output beside standard error: a full pipe would stop cargo.
fn collect_messages(child: &mut Child) -> thread::JoinHandle<io::Result<String>> {
    let stdout = child.stdout.take();
    thread::spawn(move || {
        let mut messages = String::new();
        if let Some(mut stdout) = stdout {
            stdout.read_to_string(&mut messages)?;
        }
        Ok(messages)
    })
}

/// The name and the WebAssembly file of a message that says that the project's own crate was compiled.
fn wasm_file(message: &str, manifest: &Path) -> Option<(String, PathBuf)> {
    #[derive(Deserialize)]
    struct Message {
        manifest_path: PathBuf,
        target: Target,
        filenames: Vec<PathBuf>,
    }

    #[derive(Deserialize)]
    struct Target {
        name: String,
    }

    // Messages of other kinds have other fields.
    let message: Message = serde_json::from_str(message).ok()?;
    if message.manifest_path != manifest {
        return None;
    }
    let file =
        message.filenames.into_iter().find(|file| file.extension().is_some_and(|extension| extension == "wasm"))?;
    Some((message.target.name, file))
}

fn read((name, file): (String, PathBuf)) -> Result<Artifact, CompileError> {
    let wasm = fs_err::read(file).map_err(CompileError::Read)?;
    Ok(Artifact { name, wasm })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_projects_own_files_count() {
        let message = r#"{"reason":"compiler-artifact","manifest_path":"/p/Cargo.toml",
            "target":{"kind":["cdylib"],"name":"calc"},"filenames":["/t/libcalc.rlib","/t/calc.wasm"]}"#;
        let found = Some(("calc".to_owned(), PathBuf::from("/t/calc.wasm")));
        assert_eq!(wasm_file(message, Path::new("/p/Cargo.toml")), found);
        assert_eq!(wasm_file(message, Path::new("/q/Cargo.toml")), None);
        assert_eq!(wasm_file(r#"{"reason":"build-finished","success":true}"#, Path::new("/p/Cargo.toml")), None);
    }
}
