//! The real binary, with a home of its own.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

use ringfence::core::Secret;
use ringfence::core::finish::scrub::spellings;
use serde_json::Value;

/// A home for the binary, thrown away at the end.
pub struct Home {
    folder: tempfile::TempDir,
}

/// What a run of the binary gave.
#[derive(Debug)]
pub struct Run {
    pub code: i32,
    pub out: String,
    pub err: String,
}

impl Home {
    pub fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// A file inside the home's folder, with `content`.
    pub fn file(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, content).unwrap();
        path
    }

    /// The binary with this home, to be given arguments. It stands in the home's folder.
    pub fn command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ringfence"));
        command.env("RINGFENCE_HOME", self.path().join("home")).env_remove("RINGFENCE_LOG").current_dir(self.path());
        // Nobody's own logins.
        command.env("DOCKER_CONFIG", self.path().join("docker"));
        command
    }

    /// Runs the binary with the words of `line`, split at spaces.
    pub fn run(&self, line: &str) -> Run {
        self.args(&line.split_whitespace().collect::<Vec<_>>())
    }

    /// Runs the binary with `args`.
    pub fn args(&self, args: &[&str]) -> Run {
        Run::of(self.command().args(args).stdin(Stdio::null()).output().unwrap())
    }

    /// Runs the binary with `args`, and with everything that it and its libraries can log.
    pub fn traced(&self, args: &[&str]) -> Run {
        Run::of(self.command().env("RINGFENCE_LOG", "trace").args(args).stdin(Stdio::null()).output().unwrap())
    }

    /// Serves from this home, until what is given back is dropped.
    pub fn serving(&self) -> Served {
        let mut command = self.command();
        command.arg("serve").stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut served = Served(command.spawn().unwrap());
        // It listens when all of it is there.
        while !self.path().join("home/state/socket").exists() {
            assert!(served.0.try_wait().unwrap().is_none(), "it ended");
            std::thread::sleep(Duration::from_millis(10));
        }
        served
    }

    /// Runs the binary with `args` and `input` on its standard input.
    pub fn fed(&self, args: &[&str], input: &str) -> Run {
        let mut command = self.command();
        command.args(args);
        Self::feed(command, input)
    }

    /// Runs `command` with `input` on its standard input.
    pub fn feed(mut command: Command, input: &str) -> Run {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        // Whoever does not read it may have ended already.
        let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
        Run::of(child.wait_with_output().unwrap())
    }

    /// Makes the key `NAME.key`/`NAME.pub` without a password.
    pub fn key(&self, name: &str) {
        self.args(&["key", "generate", name, "--no-password"]).ok();
    }

    /// Trusts the key `name` for the source names `names`.
    pub fn trust(&self, name: &str, names: &[&str]) {
        let file = format!("{name}.pub");
        let mut args = vec!["trust", "add", &file, "--publisher", name];
        names.iter().for_each(|name| args.extend(["--sign", name]));
        self.args(&args).ok();
    }

    /// Signs `file` with the key `name`.
    pub fn sign(&self, file: &Path, name: &str) {
        self.args(&["sign", file.to_str().unwrap(), "--key", &format!("{name}.key")]).ok();
    }
}

/// A host that serves.
pub struct Served(Child);

impl Served {
    /// Sends it a signal, as `kill` calls it.
    pub fn signal(&self, name: &str) {
        let kill = Command::new("kill").arg(format!("-{name}")).arg(self.0.id().to_string()).status();
        assert!(kill.unwrap().success());
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Run {
    /// Nothing that it said holds `secret`, in any spelling that is looked for.
    #[track_caller]
    pub fn shows_nothing_of(&self, secret: &str) {
        for text in [&self.out, &self.err] {
            assert_eq!(spelling_in(text, secret), None, "{text}");
        }
    }

    fn of(output: Output) -> Self {
        Self {
            code: output.status.code().unwrap_or(-1),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// It went well; gives what it printed.
    #[track_caller]
    pub fn ok(self) -> String {
        assert_eq!(self.code, 0, "{self:#?}");
        self.out
    }

    /// It ended with `code`, and its error says each of `parts`.
    #[track_caller]
    pub fn fails(self, code: i32, parts: &[&str]) {
        assert_eq!(self.code, code, "{self:#?}");
        for part in parts {
            assert!(self.err.contains(part), "`{part}` is not in the error: {self:#?}");
        }
    }

    /// It ended with `code`, and its answer says each of `parts`.
    #[track_caller]
    pub fn answers(self, code: i32, parts: &[&str]) {
        assert_eq!(self.code, code, "{self:#?}");
        for part in parts {
            assert!(self.out.contains(part), "`{part}` is not in the answer: {self:#?}");
        }
    }

    /// It did not go well, whatever the reason.
    #[track_caller]
    pub fn fails_somehow(self) {
        assert_ne!(self.code, 0, "{self:#?}");
    }

    /// It went well; gives the JSON that it printed.
    #[track_caller]
    pub fn json(self) -> Value {
        serde_json::from_str(&self.ok()).unwrap()
    }
}

/// The first spelling of `secret` in `text`.
pub fn spelling_in(text: &str, secret: &str) -> Option<String> {
    spellings(&Secret::new(secret.to_owned())).into_iter().find(|form| text.contains(form.as_str()))
}
