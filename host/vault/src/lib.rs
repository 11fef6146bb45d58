//! Where secrets live: OS keyring, kernel keyring, encrypted file.
