//! What holds for all types together, and for real components.

mod components;
mod echo;
mod generate;
mod host;
mod hostile;
mod values;
