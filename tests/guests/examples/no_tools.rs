//! A component like any other, but without tools.

ringfence_sdk::export_tools!();
