//! The only door to the network: rules, addresses, redirects, credentials, leak scan.
