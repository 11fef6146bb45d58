//! A door, and what may pass.

use std::sync::Arc;

use ringfence_core::Limits;
use ringfence_core::grant::{HttpRule, Methods, RuleSet};
use ringfence_egress::{
    Access, AddressGrants, BoundCredential, Budget, CredentialValue, Egress, EgressError, Request, Response, Scanner,
    Settings,
};

use super::names::Names;

/// A door that asks `names`.
pub fn door(names: &Arc<Names>) -> Egress {
    Egress::new(Settings { resolver: Arc::<Names>::clone(names), ..Settings::default() }).unwrap()
}

/// A scanner of an empty vault.
pub fn nothing() -> Scanner {
    Scanner::new(&[]).unwrap()
}

/// A rule for all methods.
pub fn rule(url: &str) -> HttpRule {
    HttpRule::new(url.parse().unwrap(), Methods::All)
}

/// What may pass: `rules` for all methods, and these addresses.
pub fn access(rules: &[&str], addresses: &[&str]) -> Access {
    access_with(rules.iter().map(|url| rule(url)).collect(), addresses, Vec::new())
}

/// The same, with rules that say more, and with credentials.
pub fn access_with(rules: Vec<HttpRule>, addresses: &[&str], credentials: Vec<BoundCredential>) -> Access {
    let addresses = AddressGrants::new(addresses.iter().map(|net| net.parse().unwrap()));
    let fixed = |bound: &BoundCredential| match &bound.value {
        CredentialValue::Fixed(secret) => Some((bound.name.clone(), secret.clone())),
        CredentialValue::Token(_) => None,
    };
    let secrets: Vec<_> = credentials.iter().filter_map(fixed).collect();
    Access::new(RuleSet::new(rules), addresses, credentials, Scanner::new(&secrets).unwrap())
}

pub fn get(url: &str) -> Request {
    Request::new("GET", url, [], "").unwrap()
}

/// Sends a request with a budget of its own.
pub async fn send(door: &Egress, request: Request, access: &Access) -> Result<Response, EgressError> {
    door.send(request, access, &Budget::new(Limits::default())).await
}

/// The body of what a request is answered with.
pub async fn body(door: &Egress, request: Request, access: &Access) -> Result<String, EgressError> {
    let bytes = send(door, request, access).await?.body.collect().await?;
    Ok(String::from_utf8(bytes.to_vec()).unwrap())
}
