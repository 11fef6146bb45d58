//! One repository of a registry: manifests, blobs, tags, referrers (distribution specification 1.1).

use bytes::Bytes;
use http::StatusCode;
use http::header::{LINK, LOCATION};
use ringfence_egress::{BoundCredential, Target};
use ringfence_store::Digest;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::auth::{self, Action, Challenge, Login};
use super::manifest::{Descriptor, INDEX, ImageIndex, ImageManifest, MANIFEST, MAX_BYTES};
use super::reference::{Reference, algorithm_and};
use crate::client::{Answer, Ask, Client};
use crate::error::DistributionError;
use crate::fetch::expect;

/// The most pages of tags that are read; with 1,000 tags each.
const MAX_PAGES: usize = 20;

/// A repository, and what proves to its registry who we are.
pub(super) struct Registry<'a> {
    client: &'a Client,
    pub(super) reference: &'a Reference,
    base: Target,
    login: Option<&'a Login>,
    action: Action,
    credential: Option<BoundCredential>,
}

impl<'a> Registry<'a> {
    pub(super) fn new(
        client: &'a Client,
        reference: &'a Reference,
        login: Option<&'a Login>,
        action: Action,
    ) -> Result<Self, DistributionError> {
        let plain = reference.is_loopback() || client.allowance.plain_http.contains(&reference.registry);
        let scheme = if plain { "http" } else { "https" };
        let base = format!("{scheme}://{}/v2/{}/", reference.host(), reference.repository);
        let base = Target::parse(&base).map_err(ringfence_egress::RequestError::from)?;
        Ok(Self { client, reference, base, login, action, credential: None })
    }

    /// The manifest called `name`, a tag or digest, and its bytes.
    pub(super) async fn manifest(&mut self, name: &str) -> Result<(ImageManifest, Bytes), DistributionError> {
        let what = format!("{}/{} {name}", self.reference.registry, self.reference.repository);
        let bytes = self.manifest_bytes(name, MANIFEST, &what).await?;
        if let Ok(digest) = super::reference::digest_of(name) {
            expect(Some(&digest), &bytes, &what)?;
        }
        Ok((parsed(&bytes, &what)?, bytes))
    }

    /// The same; `None` where there is none.
    pub(super) async fn manifest_if_there(
        &mut self,
        name: &str,
    ) -> Result<Option<(ImageManifest, Bytes)>, DistributionError> {
        match self.manifest(name).await {
            Err(DistributionError::NotFound { .. }) => Ok(None),
            found => found.map(Some),
        }
    }

    /// The blob that `descriptor` describes, of just that size and digest.
    pub(super) async fn blob(&mut self, descriptor: &Descriptor, most: usize) -> Result<Bytes, DistributionError> {
        let what = format!("{}/{}", self.reference.registry, self.reference.repository);
        if descriptor.size > most as u64 {
            return Err(DistributionError::TooLarge { what, most: most as u64 });
        }
        let problem = "a digest in its manifest is none of SHA-256".to_owned();
        let digest = descriptor.sha256().ok_or(DistributionError::NotAPackage { what: what.clone(), problem })?;
        let url = self.url(&format!("blobs/{}", algorithm_and(&digest)));
        let bytes = self.ask(Ask::get(&url, &what, descriptor.size)).await?.success(&what)?;
        expect(Some(&digest), &bytes, &what)?;
        Ok(bytes)
    }

    /// All tags.
    pub(super) async fn tags(&mut self) -> Result<Vec<String>, DistributionError> {
        #[derive(Deserialize)]
        struct Tags {
            tags: Option<Vec<String>>,
        }
        let what = format!("the tags of {}/{}", self.reference.registry, self.reference.repository);
        let (mut url, mut all) = (self.url("tags/list?n=1000"), Vec::new());
        for _ in 0..MAX_PAGES {
            let answer = self.ask(Ask::get(&url, &what, MAX_BYTES)).await?;
            let next = next_page(&answer);
            let page: Tags = parsed(&answer.success(&what)?, &what)?;
            all.extend(page.tags.unwrap_or_default());
            match next {
                Some(next) => url = next,
                None => break,
            }
        }
        Ok(all)
    }

    /// The signatures of `kind` that refer to the manifest with this digest. A registry that knows no referrers has them under a
    /// tag that is made of the digest.
    pub(super) async fn signatures(
        &mut self,
        subject: &Digest,
        kind: &str,
    ) -> Result<Vec<Descriptor>, DistributionError> {
        let what = format!("the signatures of {}/{}", self.reference.registry, self.reference.repository);
        let url = self.url(&format!("referrers/{}?artifactType={kind}", algorithm_and(subject)));
        let asked = Ask { headers: &[("accept", INDEX)], ..Ask::get(&url, &what, MAX_BYTES) };
        let answer = self.ask(asked).await?;
        let index: ImageIndex = match answer.status {
            StatusCode::NOT_FOUND => self.fallback_index(subject).await?,
            _ => parsed(&answer.success(&what)?, &what)?,
        };
        // A registry need not filter.
        Ok(index.manifests.into_iter().filter(|found| found.artifact_type.as_deref() == Some(kind)).collect())
    }

    /// Puts `bytes` there, unless they are there already.
    pub(super) async fn put_blob(&mut self, bytes: &[u8]) -> Result<(), DistributionError> {
        let what = format!("{}/{}", self.reference.registry, self.reference.repository);
        let digest = algorithm_and(&Digest::of(bytes));
        let url = self.url(&format!("blobs/{digest}"));
        if self.ask(Ask { method: "HEAD", ..Ask::get(&url, &what, 0) }).await?.status.is_success() {
            return Ok(());
        }
        let url = self.url("blobs/uploads/");
        let begun = self.ask(Ask { method: "POST", ..Ask::get(&url, &what, MAX_BYTES) }).await?;
        let location = begun.headers.get(LOCATION).and_then(|value| value.to_str().ok());
        let location = location.filter(|_| begun.status == StatusCode::ACCEPTED);
        let upload = location.and_then(|location| begun.target.join(location).ok());
        let mut upload = upload.ok_or_else(|| begun.failure(&what))?.url().clone();
        upload.query_pairs_mut().append_pair("digest", &digest);
        let asked = Ask {
            method: "PUT",
            headers: &[("content-type", "application/octet-stream")],
            body: Bytes::copy_from_slice(bytes),
            ..Ask::get(upload.as_str(), &what, MAX_BYTES)
        };
        self.ask(asked).await?.success(&what).map(drop)
    }

    /// Puts a manifest there under `name`, a tag or its digest.
    pub(super) async fn put_manifest(
        &mut self,
        name: &str,
        media_type: &str,
        bytes: &[u8],
    ) -> Result<Answer, DistributionError> {
        let what = format!("{}/{} {name}", self.reference.registry, self.reference.repository);
        let url = self.url(&format!("manifests/{name}"));
        let asked = Ask {
            method: "PUT",
            headers: &[("content-type", media_type)],
            body: Bytes::copy_from_slice(bytes),
            ..Ask::get(&url, &what, MAX_BYTES)
        };
        let answer = self.ask(asked).await?;
        if answer.status.is_success() { Ok(answer) } else { Err(answer.failure(&what)) }
    }

    /// The index of referrers of a registry that keeps none itself.
    pub(super) async fn fallback_index(&mut self, subject: &Digest) -> Result<ImageIndex, DistributionError> {
        let name = fallback_tag(subject);
        let what = format!("the signatures of {}/{}", self.reference.registry, self.reference.repository);
        match self.manifest_bytes(&name, INDEX, &what).await {
            Ok(bytes) => parsed(&bytes, &what),
            Err(DistributionError::NotFound { .. }) => Ok(ImageIndex::default()),
            Err(error) => Err(error),
        }
    }

    async fn manifest_bytes(&mut self, name: &str, media_type: &str, what: &str) -> Result<Bytes, DistributionError> {
        let url = self.url(&format!("manifests/{name}"));
        let asked = Ask { headers: &[("accept", media_type)], ..Ask::get(&url, what, MAX_BYTES) };
        self.ask(asked).await?.success(what)
    }

    /// Asks, and logs in where the registry wants that.
    async fn ask(&mut self, ask: Ask<'_>) -> Result<Answer, DistributionError> {
        let answer = self.client.ask(&ask, self.credential.as_ref()).await?;
        let unauthorized = answer.status == StatusCode::UNAUTHORIZED;
        let refused = || auth::forbidden(self.reference, self.login, self.action);
        if answer.status == StatusCode::FORBIDDEN || (unauthorized && self.credential.is_some()) {
            return Err(refused());
        }
        if !unauthorized {
            return Ok(answer);
        }
        let challenge = Challenge::of(&answer.headers).ok_or_else(|| DistributionError::Login {
            registry: self.reference.registry.clone(),
            problem: "it asks for a kind of login that is neither Basic nor Bearer".into(),
        })?;
        let credential =
            auth::answer(self.client, &challenge, self.login, &self.base, self.reference, self.action).await?;
        let answer = self.client.ask(&ask, Some(&credential)).await?;
        if [401, 403].contains(&answer.status.as_u16()) {
            return Err(refused());
        }
        self.credential = Some(credential);
        Ok(answer)
    }

    fn url(&self, rest: &str) -> String {
        format!("{}{rest}", self.base.url())
    }
}

/// The tag under which the referrers of a manifest stand (distribution specification 1.1, referrers tag schema).
pub(super) fn fallback_tag(subject: &Digest) -> String {
    algorithm_and(subject).replace(':', "-")
}

fn parsed<T: DeserializeOwned>(bytes: &[u8], what: &str) -> Result<T, DistributionError> {
    serde_json::from_slice(bytes).map_err(|error| DistributionError::NotAPackage {
        what: what.to_owned(),
        problem: format!("what the registry has there is of another form ({error})"),
    })
}

/// Where the next page is, at the same server.
fn next_page(answer: &Answer) -> Option<String> {
    let link = answer.headers.get(LINK)?.to_str().ok()?;
    let (place, relation) = link.strip_prefix('<')?.split_once('>')?;
    let next = answer.target.join(place).ok().filter(|_| relation.contains("next"))?;
    next.seen().same_origin(answer.target.seen()).then(|| next.url().to_string())
}
