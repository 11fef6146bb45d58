//! Packages made of the test guests, and installed by the real binary.

use std::path::PathBuf;

use super::binary::Home;
use super::guests;

/// The component of the guest `name` as a package of that name and `version`, in the home's folder.
pub fn package(home: &Home, name: &str, version: &str) -> PathBuf {
    let source = name.replace('_', "-");
    home.file(&format!("{source}-{version}.wasm"), guests::package(name, &source, version))
}

/// Installs the guest `name`, unsigned, as a source of that name.
pub fn install_unsigned(home: &Home, name: &str) {
    let file = package(home, name, "1.0.0");
    home.args(&["install", file.to_str().unwrap(), "--allow-unsigned"]).ok();
}

/// A home in which the key `acme` may sign everything, and the package of `name` signed by it.
pub fn signed(name: &str, version: &str) -> (Home, PathBuf) {
    let home = Home::new();
    home.key("acme");
    home.trust("acme", &["*"]);
    let file = package(&home, name, version);
    home.sign(&file, "acme");
    (home, file)
}
