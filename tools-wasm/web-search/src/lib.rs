//! Searches the web by the [Brave Search API](https://brave.com/search/api). The host places the key; the tool never
//! holds it.

pub mod country;
pub mod freshness;
mod rate;
mod refusal;
pub mod results;
pub mod search;

use ringfence_sdk::export_tools;

export_tools!(search::search_web);

#[cfg(test)]
mod tests;
