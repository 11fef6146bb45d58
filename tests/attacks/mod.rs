//! The attacks that host/SECURITY.md promises to withstand, a file for each promise.

mod busy_guests;
mod crashing_guests;
mod definitions;
mod empty_wasi;
mod greedy_guests;
mod interrupted_install;
mod killed_hosts;
mod leftovers;
mod lost_state;
mod noisy_guests;
mod oversized_results;
pub(crate) mod stopped_guests;
mod tampering;
mod waiting_guests;
mod wrong_files;
