//! What the tests share: servers that note what they are asked, names that lead where a test says, and a door.

pub mod door;
pub mod names;
pub mod scripted;
pub mod server;
