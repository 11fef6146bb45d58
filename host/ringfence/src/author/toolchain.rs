//! Which compiler makes WebAssembly on this machine.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::time::Duration;

use super::command::{answer, program, run_within};

/// How long `rustup target add` may take. It downloads some 20 MB, at 3 Mbit/s and more in this time.
const ADD_TARGET_LIMIT: Duration = Duration::from_secs(60);

/// The oldest compiler that understands what a guest is written in: the SDK and this program have the same.
const OLDEST: &str = env!("CARGO_PKG_RUST_VERSION");

/// A compiler for WebAssembly.
#[derive(Clone, Debug, PartialEq)]
pub enum Toolchain {
    /// rustup's toolchain with the target `wasm32-wasip2`, which gives components.
    RustupWasip2,
    /// rustup's toolchain with the target `wasm32-unknown-unknown`, which gives core modules.
    RustupUnknown,
    /// Debian's compiler, which builds the standard library together with the guest, for `wasm32-unknown-unknown`.
    Debian(Debian),
}

/// Where Debian's `rustc-web` and what it needs are.
#[derive(Clone, Debug, PartialEq)]
pub struct Debian {
    rustc: PathBuf,
    cargo: PathBuf,
    linker: PathBuf,
    version: String,
}

/// There is no compiler for WebAssembly.
#[derive(Debug, thiserror::Error)]
#[error(
    "There is no Rust compiler for WebAssembly here, of version {} or newer. Install rustup (https://rustup.rs) and run \
     `rustup target add wasm32-wasip2`; or, on Debian, `apt-get install --no-install-recommends rustc-web cargo-web \
     rust-web-src rust-web-llvm lld`.",
    OLDEST
)]
pub struct NoToolchain;

impl Toolchain {
    /// Looks for the best compiler for the project in `directory`, which exists: rustup's for `wasm32-wasip2`, which is added where it
    /// can be, then rustup's for `wasm32-unknown-unknown`, then Debian's.
    ///
    /// Quick unless a target is added, which may take up to a minute and is tried once in a process.
    ///
    /// # Errors
    ///
    /// There is none of these; the error says what to install.
    pub fn find(directory: &Path) -> Result<Self, NoToolchain> {
        let targets = installed_targets(directory);
        Self::best(&targets, || add_wasip2(directory), || Debian::find(directory))
    }

    /// The best of rustup's `targets`, one that rustup could `add`, and Debian's compiler.
    fn best(
        targets: &[String],
        add: impl FnOnce() -> bool,
        debian: impl FnOnce() -> Option<Debian>,
    ) -> Result<Self, NoToolchain> {
        let has = |target| targets.iter().any(|installed| installed == target);
        if has("wasm32-wasip2") || (!targets.is_empty() && add()) {
            return Ok(Self::RustupWasip2);
        }
        if has("wasm32-unknown-unknown") {
            return Ok(Self::RustupUnknown);
        }
        debian().map(Self::Debian).ok_or(NoToolchain)
    }

    /// The compiler in a few words, for people.
    #[must_use]
    pub fn describe(&self) -> String {
        match self {
            Self::RustupWasip2 => "rustup's Rust for wasm32-wasip2".to_owned(),
            Self::RustupUnknown => "rustup's Rust for wasm32-unknown-unknown".to_owned(),
            Self::Debian(debian) => {
                format!("Debian's Rust {} for wasm32-unknown-unknown, with its standard library", debian.version)
            }
        }
    }

    /// `cargo`, to be run in `directory`.
    pub(super) fn cargo(&self, directory: &Path) -> Command {
        match self {
            Self::RustupWasip2 | Self::RustupUnknown => program("cargo", directory),
            Self::Debian(debian) => {
                let mut cargo = program(&debian.cargo, directory);
                cargo
                    .env("RUSTC", &debian.rustc)
                    .env("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER", &debian.linker)
                    // Debian ships the sources of the standard library, not its WebAssembly form, and building it is
                    // an unstable feature.
                    .env("RUSTC_BOOTSTRAP", "1");
                cargo
            }
        }
    }

    /// What `cargo build` needs to be told.
    pub(super) fn build_arguments(&self) -> &'static [&'static str] {
        match self {
            Self::RustupWasip2 => &["--target", "wasm32-wasip2"],
            Self::RustupUnknown => &["--target", "wasm32-unknown-unknown"],
            Self::Debian(_) => &["--target", "wasm32-unknown-unknown", "-Zbuild-std=std,panic_abort"],
        }
    }
}

/// The targets of rustup's toolchain for `directory`; none where there is no rustup.
fn installed_targets(directory: &Path) -> Vec<String> {
    let list = answer(program("rustup", directory).args(["target", "list", "--installed"]));
    list.unwrap_or_default().lines().map(str::to_owned).collect()
}

/// Whether rustup could add `wasm32-wasip2`. Without a network it cannot, and asking again would only take time.
fn add_wasip2(directory: &Path) -> bool {
    static ADDED: OnceLock<bool> = OnceLock::new();
    *ADDED.get_or_init(|| {
        run_within(ADD_TARGET_LIMIT, program("rustup", directory).args(["target", "add", "wasm32-wasip2"]))
            .is_ok_and(|status| status.success())
    })
}

impl Debian {
    fn find(directory: &Path) -> Option<Self> {
        let (rustc, cargo) = (PathBuf::from("/usr/bin/rustc"), PathBuf::from("/usr/bin/cargo"));
        let about = answer(program(&rustc, directory).arg("-vV"))?;
        let version = field(&about, "release")?.to_owned();
        let sysroot = answer(program(&rustc, directory).args(["--print", "sysroot"]))?;
        let has_sources = Path::new(&sysroot).join("lib/rustlib/src/rust/library/std").is_dir();
        if !cargo.is_file() || !has_sources || !is_new_enough(&version) {
            return None;
        }
        let linker = linker(directory, field(&about, "host")?)?;
        Some(Self { rustc, cargo, linker, version })
    }
}

/// A linker for WebAssembly: that of rustup's toolchain, or Debian's.
fn linker(directory: &Path, host: &str) -> Option<PathBuf> {
    let rustup = answer(program("rustc", directory).args(["--print", "sysroot"]))
        .map(|sysroot| Path::new(&sysroot).join("lib/rustlib").join(host).join("bin/rust-lld"));
    let debian = ["/usr/bin/rust-lld", "/usr/bin/wasm-ld"].map(PathBuf::from);
    rustup.into_iter().chain(debian).find(|linker| linker.is_file())
}

/// A line of `rustc -vV`.
fn field<'a>(about: &'a str, name: &str) -> Option<&'a str> {
    about.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
}

fn is_new_enough(version: &str) -> bool {
    let numbers = |version: &str| {
        let mut numbers = version.split('.').map_while(|number| number.parse::<u32>().ok());
        numbers.next().zip(numbers.next())
    };
    numbers(version) >= numbers(OLDEST) && numbers(version).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_compare_as_numbers() {
        let oldest = format!("{OLDEST}.0");
        for (version, expected) in [
            ("1.1000.0", true),
            (oldest.as_str(), true),
            ("1.1000.0-nightly", true),
            ("2.0.0", true),
            ("1.63.0", false),
            ("1.9.0", false),
            ("", false),
        ] {
            assert_eq!(is_new_enough(version), expected, "{version}");
        }
    }

    #[test]
    fn the_best_compiler_is_taken_and_a_target_is_added_only_where_one_is_missing() {
        let debian = Debian { rustc: "r".into(), cargo: "c".into(), linker: "l".into(), version: "1".into() };
        let (native, unknown, wasip2) = ("x86_64-unknown-linux-gnu", "wasm32-unknown-unknown", "wasm32-wasip2");
        for (targets, adds, has_debian, expected, asked) in [
            (&[native, unknown, wasip2][..], false, true, Some(Toolchain::RustupWasip2), false),
            (&[native, unknown], true, true, Some(Toolchain::RustupWasip2), true),
            (&[native, unknown], false, true, Some(Toolchain::RustupUnknown), true),
            (&[native], true, true, Some(Toolchain::RustupWasip2), true),
            (&[native], false, true, Some(Toolchain::Debian(debian.clone())), true),
            (&[], true, true, Some(Toolchain::Debian(debian.clone())), false),
            (&[native], false, false, None, true),
            (&[], false, false, None, false),
        ] {
            let targets: Vec<String> = targets.iter().map(|target| (*target).to_owned()).collect();
            let mut was_asked = false;
            let add = || {
                was_asked = true;
                adds
            };
            let found = Toolchain::best(&targets, add, || has_debian.then(|| debian.clone()));
            assert_eq!((found.ok(), was_asked), (expected, asked), "{targets:?} {adds} {has_debian}");
        }
        assert!(NoToolchain.to_string().contains(OLDEST));
    }

    #[test]
    fn a_field_is_found_by_its_whole_name() {
        let about = "rustc 1.96.0\nbinary: rustc\nhost: x86_64-unknown-linux-gnu\nrelease: 1.96.0\n";
        assert_eq!(field(about, "release"), Some("1.96.0"));
        assert_eq!(field(about, "hos"), None);
    }
}
