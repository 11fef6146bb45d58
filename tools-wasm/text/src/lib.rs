//! Text tools, one a module.

mod anchors;
pub mod case;
mod comparison;
pub mod count;
pub mod diff;
mod effort;
pub mod extract;
pub mod slug;
mod words;

use ringfence_sdk::export_tools;

export_tools!(case::case, count::count, diff::diff, extract::extract, slug::slug);

#[cfg(test)]
mod tests;
