//! Registries, against Debian's: published to, installed from, private, tampered with.

use std::os::unix::fs::PermissionsExt as _;

use serde_json::json;

use super::{digest, home, installed, publish, tamper, weather};
use crate::support::authority::Authority;
use crate::support::binary::Home;
use crate::support::guests;
use crate::support::registry::{LOGIN, Registry};

fn at(registry: &Registry, rest: &str) -> String {
    format!("oci://{}/{rest}", registry.address)
}

#[test]
fn a_package_goes_there_and_back_by_tag_by_digest_and_by_version() {
    let (home, registry) = (home(), Registry::public());
    let place = at(&registry, "team/weather");
    let mut exactly = Vec::new();
    for version in ["1.9.0", "1.10.0", "2.0.0-rc.1"] {
        let file = weather(&home, version, "");
        let published = publish(&home, &file, &place).json();
        assert_eq!(published["location"], place);
        assert_eq!(published["digest"], digest(&std::fs::read(&file).unwrap()));
        assert!(published["exactly"].as_str().unwrap().starts_with(&format!("{place}:{version}@sha256:")));
        exactly.push(published["exactly"].as_str().unwrap().to_owned());
    }
    home.args(&["install", &format!("{place}:1.9.0")]).ok();
    assert_eq!(installed(&home)["version"], "1.9.0");
    home.args(&["install", &place]).ok();
    assert_eq!((&installed(&home)["version"], &installed(&home)["location"]), (&json!("1.10.0"), &json!(place)));
    // By digest, whatever tag stands beside it.
    let by_digest = exactly[2].replace(":2.0.0-rc.1@", "@");
    home.args(&["install", &by_digest]).ok();
    assert_eq!(installed(&home)["version"], "2.0.0-rc.1");
    assert!(installed(&home)["key_id"].is_string(), "the signature came along");
    home.args(&["call", "weather__run", "{\"n\": 1}"]).ok();
    home.args(&["install", &format!("{place}:3.0.0")]).fails(5, &["is not there"]);
    home.args(&["install", &at(&registry, "team/maps")]).fails(5, &["is not there"]);
}

/// What a registry needs is what the specification of WebAssembly artifacts says, and the signature refers to it.
#[test]
fn the_artifact_has_the_form_that_others_read() {
    let (home, registry) = (home(), Registry::public());
    let file = weather(&home, "1.0.0", "");
    let published = publish(&home, &file, &at(&registry, "w")).json();
    let manifest = |digest: &str| -> serde_json::Value {
        serde_json::from_slice(&std::fs::read(registry.blob(digest.trim_start_matches("sha256:"))).unwrap()).unwrap()
    };
    let of_package = published["exactly"].as_str().unwrap().rsplit_once('@').unwrap().1.to_owned();
    let package = manifest(&of_package);
    assert_eq!(package["config"]["mediaType"], "application/vnd.wasm.config.v0+json");
    assert_eq!(package["layers"].as_array().unwrap().len(), 1);
    assert_eq!(package["layers"][0]["mediaType"], "application/wasm");
    assert_eq!(package["layers"][0]["digest"], digest(&std::fs::read(&file).unwrap()));
    assert_eq!(package["annotations"]["org.opencontainers.image.version"], "1.0.0");
    let config = manifest(package["config"]["digest"].as_str().unwrap());
    assert_eq!((&config["architecture"], &config["os"]), (&json!("wasm"), &json!("wasip2")));
    assert_eq!(config["layerDigests"], json!([package["layers"][0]["digest"]]));
    assert!(!config["component"]["exports"].as_array().unwrap().is_empty());
    // This registry knows no referrers, so they stand under a tag.
    let documents = registry.blobs().into_iter().filter_map(|hex| {
        serde_json::from_slice::<serde_json::Value>(&std::fs::read(registry.blob(&hex)).unwrap()).ok()
    });
    let signature = documents.into_iter().find(|document| document["subject"]["digest"] == json!(of_package)).unwrap();
    assert_eq!(signature["artifactType"], "application/vnd.ringfence.signature.minisign.v1");
    let text =
        std::fs::read(registry.blob(signature["layers"][0]["digest"].as_str().unwrap().trim_start_matches("sha256:")));
    assert_eq!(text.unwrap(), std::fs::read(format!("{}.minisig", file.display())).unwrap());
}

#[test]
fn the_signature_in_a_registry_has_to_be_of_a_trusted_key() {
    let (publisher, registry) = (home(), Registry::public());
    let file = weather(&publisher, "1.0.0", "");
    publish(&publisher, &file, &at(&registry, "w")).ok();
    let stranger = home();
    stranger.args(&["install", &at(&registry, "w")]).fails(3, &["trust"]);
    // A second signature, by somebody this home trusts, is found beside the first.
    std::fs::copy(stranger.path().join("acme.key"), publisher.path().join("second.key")).unwrap();
    publisher.sign(&file, "second");
    publish(&publisher, &file, &at(&registry, "w")).ok();
    stranger.args(&["install", &at(&registry, "w")]).ok();
    assert_eq!(stranger.run("list --json").json()[0]["key_id"], stranger.run("trust list --json").json()[0]["key_id"]);
}

#[test]
fn one_changed_bit_in_a_registry_is_found() {
    let (home, registry) = (home(), Registry::public());
    let file = weather(&home, "1.0.0", "");
    let place = at(&registry, "w");
    let exactly = publish(&home, &file, &place).json()["exactly"].as_str().unwrap().to_owned();
    let manifest = exactly.rsplit_once("sha256:").unwrap().1.to_owned();
    let hex = |path: String| ringfence_store::Digest::of(&std::fs::read(path).unwrap()).to_string();
    let (component, signature) = (hex(file.display().to_string()), hex(format!("{}.minisig", file.display())));
    for blob in [component, signature, manifest] {
        let whole = std::fs::read(registry.blob(&blob)).unwrap();
        tamper(&registry.blob(&blob));
        home.args(&["install", &exactly]).fails_somehow();
        assert_eq!(home.run("list --json").json(), json!([]), "nothing is installed");
        std::fs::write(registry.blob(&blob), &whole).unwrap();
    }
    home.args(&["install", &exactly]).ok();
    // The digest of the component can be said as well, and the registry holds other things than packages.
    home.args(&["install", &exactly, "--digest", &digest(b"x")]).fails(3, &["is not what was asked for"]);
}

#[test]
fn a_version_is_published_once_and_what_is_unsigned_never() {
    let (home, registry) = (home(), Registry::public());
    let place = at(&registry, "w");
    let file = weather(&home, "1.0.0+build.7", "");
    let first = publish(&home, &file, &place).ok();
    assert!(first.contains(":1.0.0_build.7@"), "a tag has no plus: {first}");
    assert_eq!(publish(&home, &file, &place).ok(), first);
    let other = home.file("other.wasm", guests::package("slow", "weather", "1.0.0+build.7"));
    home.args(&["publish", other.to_str().unwrap(), "--to", &place]).fails(3, &["not signed"]);
    home.sign(&other, "acme");
    home.args(&["publish", other.to_str().unwrap(), "--to", &place]).fails(3, &["already with other contents"]);
    // A tag of one's own choice moves.
    for file in [&file, &other] {
        publish(&home, file, &format!("{place}:edge")).ok();
    }
    home.args(&["install", &format!("{place}:edge")]).ok();
    assert_eq!(installed(&home)["digest"], digest(&std::fs::read(&other).unwrap()).trim_start_matches("sha256:"));
}

/// The name of registries that speak TLS.
const NAME: &str = "registry.test";

/// A home where `name` leads to `registry`, and `authority` is trusted.
fn home_for(registry: &Registry, name: &str, authority: &Authority) -> Home {
    let home = home();
    let trusted = home.file("authority.pem", authority.pem()).display().to_string();
    let network = format!("[network]\nauthorities = {trusted:?}\nhosts = {{ {name:?} = {:?} }}\n", registry.address);
    home.file("home/config.toml", format!("{network}[distribution]\naddresses = [\"127.0.0.1/32\"]\n"));
    home
}

/// Stores a login to `registry` as docker does.
fn docker_login(home: &Home, registry: &str, (user, password): (&str, &str)) {
    use base64::Engine as _;
    let auth = base64::engine::general_purpose::STANDARD.encode(format!("{user}:{password}"));
    home.file("docker/config.json", json!({"auths": {registry: {"auth": auth}}}).to_string());
}

/// Published, installed by digest and updated over TLS, with a login, at a registry that an authority of our own vouches
/// for.
#[test]
fn a_private_registry_is_used_over_tls() {
    let authority = Authority::new();
    let registry = Registry::private_over_tls(&authority.identity(NAME));
    let home = home_for(&registry, NAME, &authority);
    let (file, place) = (weather(&home, "1.0.0", ""), format!("oci://{NAME}/team/weather"));
    let try_publish = || home.args(&["publish", file.to_str().unwrap(), "--to", &place]);
    try_publish().fails(3, &["not logged in", "docker login registry.test"]);
    docker_login(&home, NAME, (LOGIN.0, "not that one"));
    try_publish().fails(3, &["`ada`", "docker login registry.test"]);
    docker_login(&home, NAME, LOGIN);
    let exactly = publish(&home, &file, &place).json()["exactly"].as_str().unwrap().to_owned();
    home.args(&["install", &exactly.replace(":1.0.0@", "@")]).ok();
    assert_eq!(installed(&home)["digest"], digest(&std::fs::read(&file).unwrap()).trim_start_matches("sha256:"));
    home.args(&["call", "weather__run", "{\"n\": 1}"]).ok();
    // The login is needed to read as well.
    home.file("docker/config.json", "{}");
    home.args(&["install", &place]).fails(3, &["not logged in"]);
    docker_login(&home, NAME, LOGIN);
    home.args(&["install", &place]).ok();
    publish(&home, &weather(&home, "1.1.0", ""), &place).ok();
    home.run("update weather").ok();
    assert_eq!((&installed(&home)["version"], &installed(&home)["location"]), (&json!("1.1.0"), &json!(place)));
}

/// Nothing is said to a registry that is not the one that was meant, and the operator reads why.
#[test]
fn a_registry_that_cannot_be_trusted_is_refused_with_its_cause_and_what_to_do() {
    let authority = Authority::new();
    let cases = [
        (Authority::new().identity(NAME), "authority that is not trusted", "`authorities` in [network]"),
        (authority.expired(NAME), "has expired", "renew it"),
        (authority.identity("other.test"), "is for `other.test`", "use a name that the certificate has"),
    ];
    for (identity, cause, remedy) in cases {
        let registry = Registry::private_over_tls(&identity);
        let home = home_for(&registry, NAME, &authority);
        docker_login(&home, NAME, LOGIN);
        let place = format!("oci://{NAME}/w");
        let parts = ["https://registry.test cannot be asked", cause, remedy];
        home.args(&["install", &place]).fails(1, &parts);
        let file = weather(&home, "1.0.0", "");
        home.args(&["publish", file.to_str().unwrap(), "--to", &place]).fails(1, &parts);
        assert_eq!(home.run("list --json").json(), json!([]));
    }
}

#[test]
fn plain_http_where_tls_is_spoken_and_the_other_way_round_are_told_apart() {
    let authority = Authority::new();
    let (secured, plain) = (Registry::over_tls(&authority.identity(NAME)), Registry::public());
    let place = format!("oci://{NAME}/w");
    let home = home_for(&secured, NAME, &authority);
    home.args(&["install", &place, "--plain-http"]).fails(1, &["speak https:// only", "leave out `--plain-http`"]);
    home.args(&["install", &at(&secured, "w")]).fails(1, &["speak https:// only", "`hosts` in [network]"]);
    let home = home_for(&plain, NAME, &authority);
    home.args(&["install", &place]).fails(1, &["https://registry.test does not speak TLS", "`--plain-http`"]);
    home.args(&["install", &place, "--plain-http"]).fails(5, &["is not there"]);
}

/// A private registry is entered with docker's logins: none, a wrong one, the right one, and one from a helper.
#[test]
fn a_private_registry_wants_a_login() {
    let (home, registry) = (home(), Registry::private());
    let place = at(&registry, "w");
    let file = weather(&home, "1.0.0", "");
    let try_publish = |home: &Home| home.args(&["publish", file.to_str().unwrap(), "--to", &place]);
    let login = |user: &str, password: &str| docker_login(&home, &registry.address, (user, password));
    try_publish(&home).fails(3, &["not logged in", "docker login"]);
    login(LOGIN.0, "not that one");
    try_publish(&home).fails(3, &["`ada`", "docker login"]);
    login(LOGIN.0, LOGIN.1);
    try_publish(&home).ok();
    home.args(&["install", &place]).ok();
    home.file("docker/config.json", "{");
    home.args(&["install", &place]).fails(1, &["docker's configuration"]);

    // By a helper, which is a program in the search path.
    let answer = json!({"ServerURL": registry.address, "Username": LOGIN.0, "Secret": LOGIN.1}).to_string();
    let helper =
        home.file("bin/docker-credential-test", format!("#!/bin/sh\nread host\n[ $1 = get ] && echo '{answer}'\n"));
    std::fs::set_permissions(helper, std::fs::Permissions::from_mode(0o755)).unwrap();
    home.file("docker/config.json", json!({"credHelpers": {registry.address.clone(): "test"}}).to_string());
    home.args(&["install", &place]).fails(1, &["docker-credential-test"]);
    let path = format!("{}:/usr/bin:/bin", home.path().join("bin").display());
    let mut command = home.command();
    command.args(["install", &place]).env("PATH", path);
    let run = Home::feed(command, "");
    assert!(!format!("{run:?}").contains(LOGIN.1), "{run:?}");
    run.ok();
}

#[test]
fn a_registry_elsewhere_is_asked_over_tls_only() {
    let home = home();
    // Nobody answers there; what matters is what is tried.
    home.args(&["install", "oci://10.255.255.1:1/w"]).fails(3, &["https://10.255.255.1:1", "--address 10.255.255.1"]);
    let plain = ["install", "oci://10.255.255.1:1/w", "--plain-http"];
    home.args(&plain).fails(3, &["http://10.255.255.1:1", "private"]);
    home.args(&["install", "oci://nothing"]).fails(2, &["oci://HOST/REPOSITORY"]);
}
