//! Weather by [Open-Meteo](https://open-meteo.com), which needs no key.

pub mod current;
pub mod forecast;
mod geocoding;
mod open_meteo;
pub mod place;
pub mod sky;
pub mod units;
mod words;

use ringfence_sdk::export_tools;

export_tools!(current::current, forecast::forecast);

#[cfg(test)]
mod tests;
