//! Registries as the large ones are: bearer tokens, a list of referrers, blobs at another host. The manifests are
//! written by hand, so that ours are not read by ourselves only.

use std::collections::HashMap;

use serde_json::{Value, json};

use super::{digest, home, installed, weather};
use crate::support::authority::Authority;
use crate::support::binary::Home;
use crate::support::guests;
use crate::support::server::Server;

const TOKEN: &str = "a-token-that-lasts-a-minute";
const INDEX: &str = "application/vnd.oci.image.index.v1+json";
const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";
const SIGNATURE: &str = "application/vnd.ringfence.signature.minisign.v1";

/// Paths below `/v2/` and what is there.
#[derive(Default)]
struct Content(HashMap<String, Vec<u8>>);

impl Content {
    /// Holds `bytes` as a blob, and describes it.
    fn blob(&mut self, media_type: &str, bytes: &[u8]) -> Value {
        self.0.insert(format!("w/blobs/{}", digest(bytes)), bytes.to_vec());
        json!({"mediaType": media_type, "digest": digest(bytes), "size": bytes.len()})
    }

    /// Holds a manifest under its digest and `names`, and describes it.
    fn manifest(&mut self, manifest: &Value, names: &[&str]) -> Value {
        let bytes = manifest.to_string().into_bytes();
        let of_digest = digest(&bytes);
        for name in names.iter().copied().chain([of_digest.as_str()]) {
            self.0.insert(format!("w/manifests/{name}"), bytes.clone());
        }
        json!({"mediaType": MANIFEST, "digest": of_digest, "size": bytes.len()})
    }

    /// Holds the package `component` as 1.0.0, with `signatures` that refer to it.
    fn package(&mut self, component: &[u8], signatures: &[Vec<u8>]) {
        let config = self.blob("application/vnd.wasm.config.v0+json", b"{}");
        let layer = self.blob("application/wasm", component);
        let package = json!({"schemaVersion": 2, "mediaType": MANIFEST, "config": config, "layers": [layer]});
        let subject = self.manifest(&package, &["1.0.0"]);
        let mut referrers =
            vec![json!({"mediaType": MANIFEST, "digest": digest(b"sbom"), "size": 4, "artifactType": "text/sbom"})];
        for signature in signatures {
            let config = self.blob("application/vnd.oci.empty.v1+json", b"{}");
            let layer = self.blob(SIGNATURE, signature);
            let referrer = json!({
                "schemaVersion": 2, "mediaType": MANIFEST, "artifactType": SIGNATURE,
                "config": config, "layers": [layer], "subject": subject,
            });
            let mut described = self.manifest(&referrer, &[]);
            described["artifactType"] = json!(SIGNATURE);
            referrers.push(described);
        }
        let index = json!({"schemaVersion": 2, "mediaType": INDEX, "manifests": referrers});
        let path = format!("w/referrers/{}", subject["digest"].as_str().unwrap());
        self.0.insert(path, index.to_string().into_bytes());
        self.0.insert("w/tags/list".into(), br#"{"name": "w", "tags": ["1.0.0", "latest"]}"#.to_vec());
    }
}

/// The value of the header `name` of a request.
fn header<'a>(request: &'a str, name: &str) -> Option<&'a str> {
    let lines = request.lines().filter_map(|line| line.split_once(": "));
    lines.into_iter().find(|(own, _)| own.eq_ignore_ascii_case(name)).map(|(_, value)| value)
}

/// A registry with `content` that wants [`TOKEN`], and says that it is to be had at `realm`. Its blobs are at `elsewhere`.
fn registry(content: Content, realm: &str, elsewhere: Option<String>) -> Server {
    Server::new(answers(content, realm, elsewhere))
}

/// What such a registry answers.
fn answers(
    content: Content,
    realm: &str,
    elsewhere: Option<String>,
) -> impl Fn(&str) -> (String, Vec<u8>) + Send + Sync + use<> {
    let realm = realm.to_owned();
    move |request| {
        let path = request.split(' ').nth(1).unwrap_or_default();
        let host = header(request, "host").unwrap_or_default();
        if path.starts_with("/token") {
            return ("200 OK".into(), json!({"token": TOKEN}).to_string().into_bytes());
        }
        if header(request, "authorization") != Some(&format!("Bearer {TOKEN}")) {
            let realm = realm.replace("HOST", host);
            let head = format!(
                "401 Unauthorized\r\nwww-authenticate: Bearer realm=\"{realm}\",service=\"test\",scope=\"any\""
            );
            return (head, Vec::new());
        }
        let path = path.trim_start_matches("/v2/").split('?').next().unwrap_or_default();
        match (&elsewhere, content.0.get(path)) {
            (Some(elsewhere), Some(_)) if path.contains("/blobs/") => {
                (format!("307 Temporary Redirect\r\nlocation: {elsewhere}/{path}"), Vec::new())
            }
            (_, Some(bytes)) => ("200 OK".into(), bytes.clone()),
            (_, None) => ("404 Not Found".into(), Vec::new()),
        }
    }
}

/// The package `weather` and acme's signature of it.
fn signed(home: &Home) -> (Vec<u8>, Vec<u8>) {
    let file = weather(home, "1.0.0", "");
    (std::fs::read(&file).unwrap(), std::fs::read(format!("{}.minisig", file.display())).unwrap())
}

fn docker_login(home: &Home, server: &Server, login: Value) {
    home.file("docker/config.json", json!({"auths": {server.address.to_string(): login}}).to_string());
}

#[test]
fn a_token_is_fetched_with_the_login_and_stays_with_the_registry() {
    let home = home();
    let (component, signature) = signed(&home);
    let mut content = Content::default();
    content.package(&component, &[signature]);
    let store = {
        let blobs = content.0.clone();
        Server::new(move |request| {
            let path = request.split(' ').nth(1).unwrap_or_default().trim_start_matches('/').to_owned();
            ("200 OK".into(), blobs[&path].clone())
        })
    };
    let server = registry(content, "http://HOST/token", Some(store.url("").trim_end_matches('/').to_owned()));
    let place = format!("oci://{}/w", server.address);
    // Without a login a token is asked for all the same: much is public.
    home.args(&["install", &place]).ok();
    let asked = server.seen().into_iter().find(|request| request.starts_with("GET /token")).unwrap();
    assert!(asked.contains("service=test") && asked.contains("scope=repository%3Aw%3Apull"), "{asked}");
    assert_eq!(header(&asked, "authorization"), None);
    assert!(!store.seen().is_empty() && store.seen().iter().all(|request| header(request, "authorization").is_none()));

    // `ada:correct horse`.
    docker_login(&home, &server, json!({"auth": "YWRhOmNvcnJlY3QgaG9yc2U="}));
    home.args(&["install", &place]).ok();
    let asked = server.seen().into_iter().rfind(|request| request.starts_with("GET /token")).unwrap();
    assert_eq!(header(&asked, "authorization"), Some("Basic YWRhOmNvcnJlY3QgaG9yc2U="));

    docker_login(&home, &server, json!({"identitytoken": "a-token-that-lasts-a-year"}));
    home.args(&["install", &place]).ok();
    let asked = server.seen().into_iter().rfind(|request| request.starts_with("POST /token")).unwrap();
    for part in ["grant_type=refresh_token", "refresh_token=a-token-that-lasts-a-year", "service=test"] {
        assert!(asked.contains(part), "{asked}");
    }
    assert_eq!(installed(&home)["version"], "1.0.0");
}

#[test]
fn a_password_does_not_go_in_the_clear_to_somebody_else() {
    let home = home();
    let elsewhere = Server::echo();
    let realm = format!("http://127.0.0.2:{}/token", elsewhere.address.port());
    let server = registry(Content::default(), &realm, None);
    docker_login(&home, &server, json!({"auth": "YWRhOmNvcnJlY3QgaG9yc2U="}));
    let place = format!("oci://{}/w", server.address);
    home.args(&["install", &place, "--address", "127.0.0.2"]).fails(3, &["http:// address"]);
    assert!(elsewhere.seen().is_empty());
}

#[test]
fn a_password_that_went_under_tls_so_far_does_not_go_in_the_clear_to_the_same_host() {
    const NAME: &str = "registry.test";
    let (home, authority) = (home(), Authority::new());
    let secured = answers(Content::default(), &format!("http://{NAME}/token"), None);
    let server = Server::tls(authority.identity(NAME), secured);
    let trusted = home.file("authority.pem", authority.pem()).display().to_string();
    let network = format!("[network]\nauthorities = {trusted:?}\nhosts = {{ {NAME:?} = \"{}\" }}\n", server.address);
    home.file("home/config.toml", format!("{network}[distribution]\naddresses = [\"127.0.0.1/32\"]\n"));
    home.file("docker/config.json", json!({"auths": {NAME: {"auth": "YWRhOmNvcnJlY3QgaG9yc2U="}}}).to_string());
    home.args(&["install", &format!("oci://{NAME}/w")]).fails(3, &["http:// address"]);
    assert!(server.seen().iter().all(|request| !request.starts_with("GET /token")), "{:?}", server.seen());
}

#[test]
fn of_several_signatures_the_trusted_one_is_taken() {
    let home = home();
    let (component, signature) = signed(&home);
    home.key("stranger");
    let copy = home.file("copy.wasm", &component);
    home.sign(&copy, "stranger");
    let by_stranger = std::fs::read(home.path().join("copy.wasm.minisig")).unwrap();
    let other = home.file("other.wasm", guests::package("slow", "weather", "1.0.0"));
    home.sign(&other, "acme");
    let of_other = std::fs::read(home.path().join("other.wasm.minisig")).unwrap();
    let install = |signatures: &[Vec<u8>]| {
        let mut content = Content::default();
        content.package(&component, signatures);
        let server = registry(content, "http://HOST/token", None);
        home.args(&["install", &format!("oci://{}/w", server.address)])
    };
    install(&[]).fails(3, &["is not signed"]);
    install(std::slice::from_ref(&by_stranger)).fails(3, &["trust"]);
    install(&[of_other]).fails(3, &["does not fit"]);
    install(&[b"garbage".to_vec(), by_stranger, signature]).ok();
}

#[test]
fn what_is_no_package_in_a_registry_is_said() {
    let home = home();
    let install = |manifest: &Value| {
        let mut content = Content::default();
        content.manifest(manifest, &["1.0.0"]);
        let server = registry(content, "http://HOST/token", None);
        home.args(&["install", &format!("oci://{}/w:1.0.0", server.address)])
    };
    let blob = |media_type: &str, size: u64| json!({"mediaType": media_type, "digest": digest(b"x"), "size": size});
    let of = |layers: Value| json!({"schemaVersion": 2, "config": blob("application/json", 1), "layers": layers});
    install(&of(json!([blob("application/vnd.oci.image.layer.v1.tar+gzip", 1)])))
        .fails(3, &["is no package", "tar+gzip"]);
    install(&of(json!([]))).fails(3, &["it has no layers"]);
    install(&json!({"schemaVersion": 2, "manifests": []})).fails(3, &["of another form"]);
    install(&of(json!([blob("application/wasm", 1 << 40)]))).fails(3, &["more than 67108864 bytes"]);
}

/// Some answer with the status of success and other bytes than those of the digest.
#[test]
fn a_manifest_that_is_not_the_one_asked_for_is_refused() {
    let home = home();
    let (component, signature) = signed(&home);
    let mut content = Content::default();
    content.package(&component, &[signature]);
    let manifest = content.0["w/manifests/1.0.0"].clone();
    let asked = digest(&[manifest.as_slice(), b" "].concat());
    content.0.insert(format!("w/manifests/{asked}"), manifest);
    let server = registry(content, "http://HOST/token", None);
    let place = format!("oci://{}/w@{asked}", server.address);
    home.args(&["install", &place]).fails(3, &["is not what was asked for"]);
}
