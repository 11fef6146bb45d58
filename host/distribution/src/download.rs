//! A package at a URL, and the signature beside it.

use ringfence_egress::Target;
use ringfence_package::{PackageFile, component, signature};
use ringfence_store::Digest;

use crate::client::{Ask, Client};
use crate::error::DistributionError;
use crate::fetch::expect;

/// Fetches the component at `target`, and its signature from `signature` or from beside it. One of the two has to be
/// there: a digest that the operator knows, or a signature.
pub(crate) async fn download(
    client: &Client,
    target: &Target,
    digest: Option<&Digest>,
    signature: Option<Signature>,
) -> Result<PackageFile, DistributionError> {
    if target.url().scheme() == "http" && digest.is_none() {
        return Err(DistributionError::PlainHttp);
    }
    let signature = match signature {
        Some(Signature::Given(bytes)) => Some(bytes),
        Some(Signature::At(place)) => Some(text(client, place.url().as_str()).await?),
        // First, since it is small: without it nothing more would be fetched.
        None => match found_beside(client, target).await? {
            None if digest.is_none() => return Err(unproven(target)),
            found => found,
        },
    };
    let component = component(client, target.url().as_str()).await?;
    expect(digest, &component, target.url().as_str())?;
    Ok(PackageFile { component, signature })
}

/// Where a signature is.
pub(crate) enum Signature {
    /// Here.
    Given(Vec<u8>),
    /// There.
    At(Target),
}

/// The signature beside what is at `target`; a bundle where there is no minisign file.
async fn found_beside(client: &Client, target: &Target) -> Result<Option<Vec<u8>>, DistributionError> {
    for extension in signature::EXTENSIONS {
        match text(client, &beside(target, extension)).await {
            Err(DistributionError::NotFound { .. }) => {}
            found => return found.map(Some),
        }
    }
    Ok(None)
}

/// That nothing says who made what is at `target`.
pub(crate) fn unproven(target: &Target) -> DistributionError {
    let beside = beside(target, signature::EXTENSION);
    DistributionError::Unproven { what: target.url().to_string(), beside }
}

/// The text of the signature at `url`.
pub(crate) async fn text(client: &Client, url: &str) -> Result<Vec<u8>, DistributionError> {
    let answer = client.ask(&Ask::get(url, url, signature::MAX_BYTES as u64), None).await?;
    let body = answer.success(url)?;
    // A site that has a page for everything has none of our signatures.
    if is_web_page(&body) { Err(DistributionError::NotFound { what: url.to_owned() }) } else { Ok(body.to_vec()) }
}

/// The component at `url`.
pub(crate) async fn component(client: &Client, url: &str) -> Result<Vec<u8>, DistributionError> {
    let answer = client.ask(&Ask::get(url, url, component::MAX_BYTES as u64), None).await?;
    let body = answer.success(url)?;
    if is_web_page(&body) {
        return Err(DistributionError::WebPage { what: url.to_owned() });
    }
    Ok(body.to_vec())
}

/// The URL of the signature of what is at `target`: its path goes on, its query stays.
fn beside(target: &Target, extension: &str) -> String {
    let mut url = target.url().clone();
    url.set_path(&format!("{}.{extension}", url.path()));
    url.into()
}

fn is_web_page(body: &[u8]) -> bool {
    body.iter().find(|c| !c.is_ascii_whitespace()) == Some(&b'<')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_signature_stands_beside_the_path() {
        let of = |url: &str| beside(&Target::parse(url).unwrap(), signature::EXTENSION);
        assert_eq!(of("https://x.example/a/w.wasm?v=1"), "https://x.example/a/w.wasm.minisig?v=1");
    }

    #[test]
    fn web_pages_are_told_from_files() {
        assert!(is_web_page(b" \n<!doctype html>") && is_web_page(b"<html>"));
        assert!(!is_web_page(b"\0asm<") && !is_web_page(b"untrusted comment: <x>") && !is_web_page(b""));
    }
}
