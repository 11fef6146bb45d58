//! The `ringfence` binary.

use std::process::ExitCode;

fn main() -> ExitCode {
    ringfence::cli::run()
}
