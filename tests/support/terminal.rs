//! A terminal at which a test sits: the real binary on a pseudo-terminal.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::process::{Child, Command};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use nix::pty::{Winsize, openpty};
use rustix::termios::{LocalModes, tcgetattr};

use super::binary::Home;

/// How long a test waits for what has to be shown.
const PATIENCE: Duration = Duration::from_secs(60);

/// A program on a terminal of its own.
pub struct Terminal {
    /// Where the person sits.
    side: File,
    child: Child,
    shown: mpsc::Receiver<Vec<u8>>,
    all: String,
}

impl Terminal {
    /// The binary with `args` and the home `home`.
    pub fn ringfence(home: &Home, args: &[&str]) -> Self {
        let ringfence = home.command();
        // It makes the terminal the one of the session, for what asks the terminal whatever standard input is.
        let mut command = Command::new("setsid");
        command.arg("--ctty").arg(ringfence.get_program()).args(args).env("TERM", "xterm");
        for (name, value) in ringfence.get_envs() {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        command.current_dir(home.path());
        Self::run(command)
    }

    fn run(mut command: Command) -> Self {
        let size = Winsize { ws_row: 24, ws_col: 120, ws_xpixel: 0, ws_ypixel: 0 };
        let terminal = openpty(&size, None).unwrap();
        let (side, (sender, shown)) = (File::from(terminal.master), mpsc::channel());
        command.stdin(terminal.slave.try_clone().unwrap()).stdout(terminal.slave.try_clone().unwrap());
        let child = command.stderr(terminal.slave).spawn().unwrap();
        // Only the program holds its side from here on.
        drop(command);
        let mut reading = side.try_clone().unwrap();
        std::thread::spawn(move || {
            let mut piece = [0; 4096];
            // It ends with an error when nobody holds the other side any more.
            while let Ok(length @ 1..) = reading.read(&mut piece) {
                if sender.send(piece[..length].to_vec()).is_err() {
                    return;
                }
            }
        });
        Self { side, child, shown, all: String::new() }
    }

    /// Waits until `text` is shown.
    #[track_caller]
    pub fn shows(&mut self, text: &str) {
        let from = self.all.len();
        while !self.all[from..].contains(text) {
            let piece = self.shown.recv_timeout(PATIENCE);
            let piece = piece.unwrap_or_else(|_| panic!("`{text}` is never shown: {}", self.all));
            self.all.push_str(&String::from_utf8(piece).unwrap());
        }
    }

    /// Presses keys.
    pub fn types(&mut self, keys: &str) {
        self.side.write_all(keys.as_bytes()).unwrap();
    }

    /// Waits until `text` is shown and what is typed is not, and then types `line`.
    #[track_caller]
    pub fn answer(&mut self, text: &str, line: &str) {
        self.shows(text);
        let end = Instant::now() + PATIENCE;
        while tcgetattr(&self.side).unwrap().local_modes.contains(LocalModes::ECHO) {
            assert!(Instant::now() < end, "what is typed would be shown: {}", self.all);
            std::thread::yield_now();
        }
        self.types(&format!("{line}\n"));
    }

    /// Waits for its end. Gives its exit code and all that the terminal showed.
    pub fn end(mut self) -> (i32, String) {
        while let Ok(piece) = self.shown.recv_timeout(PATIENCE) {
            self.all.push_str(&String::from_utf8_lossy(&piece));
        }
        (self.child.wait().unwrap().code().unwrap_or(-1), std::mem::take(&mut self.all))
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
