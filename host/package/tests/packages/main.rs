//! What packages are taken in, and what becomes of them, through the public interface.

mod freshness;
mod installing;
mod stock_minisign;
mod support;
mod tampering;
mod wrong_files;
