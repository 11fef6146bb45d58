//! Packages signed by an identity, with sigstore, through the real binary.

#[cfg(feature = "sigstore")]
#[path = "../host/package/tests/packages/instance.rs"]
mod instance;

/// What a build without sigstore says.
#[cfg(not(feature = "sigstore"))]
mod without {
    use crate::support::binary::Home;
    use crate::support::packages;

    #[test]
    fn a_build_without_sigstore_says_how_to_get_one_with_it() {
        let home = Home::new();
        let remedy = ["built without sigstore", "--features sigstore"];
        let add = ["trust", "add", "--identity", "dev@example.com", "--issuer", "https://accounts.example.com"];
        let add = [&add[..], &["--publisher", "acme", "--sign", "mirror"]].concat();
        home.args(&add).fails(2, &remedy);
        assert!(home.run("trust list").ok().contains("No key is trusted"));
        let file = packages::package(&home, "mirror", "1.0.0");
        let bundle = include_bytes!("../host/package/tests/bundles/cosign-v3-blob.sigstore.json");
        home.file("mirror-1.0.0.wasm.sigstore.json", bundle);
        for (command, code) in [("install", 3), ("verify", 3), ("inspect", 1)] {
            home.args(&[command, file.to_str().unwrap()]).fails(code, &remedy);
        }
        // A signature that is there has to be right, whatever else is allowed.
        home.args(&["install", file.to_str().unwrap(), "--allow-unsigned"]).fails(3, &remedy);
    }
}

#[cfg(feature = "sigstore")]
mod with {
    use std::path::{Path, PathBuf};

    use serde_json::{Value, json};

    use super::instance::{Instance, Signing};
    use crate::support::binary::{Home, Run};
    use crate::support::packages;
    use crate::support::registry::Registry;
    use crate::support::server::Server;

    const DEV: &str = "dev@example.com";
    const ISSUER: &str = "https://accounts.example.com";

    /// Writes the bundle of `file` beside it, signed by `DEV`.
    fn sign(instance: &Instance, file: &Path) {
        let bundle = instance.sign(&std::fs::read(file).unwrap(), Signing::by(DEV, ISSUER));
        std::fs::write(format!("{}.sigstore.json", file.display()), bundle.to_string()).unwrap();
    }

    /// Trusts `subject`, as `issuer` knows it and the instance proves it.
    fn trust(home: &Home, instance: &Instance, subject: &str, issuer: &str) -> Run {
        home.file("root.json", instance.trusted_root().to_string());
        let add = ["trust", "add", "--identity", subject, "--issuer", issuer, "--trusted-root", "root.json"];
        home.args(&[&add[..], &["--publisher", "acme", "--sign", "mirror"]].concat())
    }

    /// A home, an instance, and the package of `mirror` with its bundle.
    fn signed() -> (Home, Instance, PathBuf) {
        let (home, instance) = (Home::new(), Instance::new());
        home.file("home/config.toml", "[distribution]\naddresses = [\"127.0.0.1/32\"]\n");
        let file = packages::package(&home, "mirror", "1.0.0");
        sign(&instance, &file);
        (home, instance, file)
    }

    fn listed(home: &Home) -> Value {
        home.run("trust list --json").json()[0].clone()
    }

    #[test]
    fn an_identity_is_trusted_shown_and_revoked_as_a_key_is() {
        let (home, instance, file) = signed();
        let file = file.to_str().unwrap();
        home.args(&["install", file]).fails(3, &[DEV, ISSUER, "is not trusted", "--identity WHO"]);
        trust(&home, &instance, "dev@example.co", ISSUER).ok();
        trust(&home, &instance, DEV, "https://accounts.example.com/").ok();
        home.args(&["install", file]).fails(3, &["is not trusted"]);
        let said = trust(&home, &instance, DEV, ISSUER).ok();
        assert!(said.contains(DEV) && said.contains(ISSUER) && said.contains("a root of your own"), "{said}");
        assert!(home.run("trust list").ok().contains(DEV));
        let who = json!({"subject": DEV, "issuer": ISSUER});
        let keys = home.run("trust list --json").json();
        let key = keys.as_array().unwrap().iter().find(|key| key["identity"] == who).unwrap().clone();
        assert_eq!(key["own_root"], true);
        let id = key["key_id"].as_str().unwrap();
        for command in ["verify", "inspect"] {
            let said = home.args(&[command, file]).ok();
            assert!(said.contains(id) && said.contains(DEV) && said.contains(ISSUER), "{said}");
            assert_eq!(home.args(&[command, file, "--json"]).json()["identity"], who);
        }
        assert!(home.args(&["install", file]).ok().contains(&format!("signed by {id}")));
        assert_eq!(home.run("list --json").json()[0]["key_id"], id);
        home.args(&["call", "mirror__run", "{\"n\": 1}"]).ok();
        home.args(&["trust", "revoke", id]).ok();
        home.args(&["call", "mirror__run", "{\"n\": 1}"]).fails_somehow();
        assert!(home.run("list").ok().contains("was revoked"));
        trust(&home, &instance, DEV, ISSUER).fails(3, &["stays so"]);
    }

    #[test]
    fn what_makes_no_sense_as_an_identity_is_a_slip() {
        let (home, instance, _) = signed();
        home.key("acme");
        home.file("root.json", "{}");
        home.file("true.json", instance.trusted_root().to_string());
        for line in [
            "trust add --publisher acme --sign mirror",
            "trust add --identity a@b.example --publisher acme --sign mirror",
            "trust add --issuer https://b.example --publisher acme --sign mirror",
            "trust add acme.pub --trusted-root true.json --publisher acme --sign mirror",
            "trust add acme.pub --identity a@b.example --issuer https://b.example --publisher acme --sign mirror",
            "trust add --identity a@b.example --issuer https://b.example --trusted-root none.json --publisher a --sign m",
            "trust add --identity a@b.example --issuer https://b.example --trusted-root root.json --publisher a --sign m",
        ] {
            home.run(line).fails(2, &[]);
        }
        assert_eq!(home.run("trust list --json").json(), json!([]));
    }

    #[test]
    fn one_of_two_signatures_is_chosen_by_the_operator() {
        let (home, instance, file) = signed();
        trust(&home, &instance, DEV, ISSUER).ok();
        home.key("other");
        home.trust("other", &["mirror"]);
        home.sign(&file, "other");
        let (file, bundle) = (file.to_str().unwrap(), format!("{}.sigstore.json", file.display()));
        home.args(&["install", file]).fails(3, &["two signatures", "--signature FILE"]);
        home.args(&["install", file, "--signature", &bundle]).ok();
        assert_eq!(home.run("list --json").json()[0]["publisher"], "acme");
        // The other one would be a change of hands.
        let minisig = format!("{file}.minisig");
        home.args(&["install", file, "--signature", &minisig]).fails(3, &["--accept-signer"]);
    }

    #[test]
    fn a_bundle_comes_along_from_a_folder_a_url_and_a_registry() {
        let (home, instance, file) = signed();
        trust(&home, &instance, DEV, ISSUER).ok();
        let id = listed(&home)["key_id"].clone();
        let comes_from = |args: &[&str]| {
            home.args(&[&["install"], args].concat()).ok();
            assert_eq!(home.run("list --json").json()[0]["key_id"], id, "{args:?}");
            home.run("remove mirror").ok();
        };
        home.args(&["publish", file.to_str().unwrap(), "--to", "packages"]).ok();
        assert!(home.path().join("packages/mirror-1.0.0.wasm.sigstore.json").is_file());
        comes_from(&["packages#mirror"]);
        // One signature stands there, whichever was published last.
        home.key("other");
        let signed_by_a_key = home.file("signed.wasm", std::fs::read(&file).unwrap());
        home.sign(&signed_by_a_key, "other");
        home.args(&["publish", signed_by_a_key.to_str().unwrap(), "--to", "packages"]).ok();
        home.args(&["install", "packages#mirror"]).fails(3, &["is not trusted"]);
        home.args(&["publish", file.to_str().unwrap(), "--to", "packages"]).ok();
        comes_from(&["packages#mirror"]);
        let registry = Registry::public();
        let place = format!("oci://{}/mirror", registry.address);
        home.args(&["publish", file.to_str().unwrap(), "--to", &place]).ok();
        comes_from(&[&place]);
        let folder = home.path().join("packages");
        let site = Server::new(move |request| {
            let path = request.split(' ').nth(1).unwrap_or_default().trim_start_matches('/');
            std::fs::read(folder.join(path))
                .map_or_else(|_| ("404 Not Found".into(), Vec::new()), |bytes| ("200 OK".into(), bytes))
        });
        let digest = format!("sha256:{}", ringfence_store::Digest::of(&std::fs::read(&file).unwrap()));
        comes_from(&[&site.url("/mirror-1.0.0.wasm"), "--digest", &digest]);
        comes_from(&[&format!("{}#mirror", site.url("/index.json")), "--plain-http"]);
    }

    #[test]
    fn what_was_changed_is_refused_and_what_was_installed_is_proven_at_every_start() {
        let (home, instance, file) = signed();
        trust(&home, &instance, DEV, ISSUER).ok();
        let (good, bundle) = (std::fs::read(&file).unwrap(), format!("{}.sigstore.json", file.display()));
        let mut changed = good.clone();
        changed[good.len() / 2] ^= 1;
        std::fs::write(&file, changed).unwrap();
        home.args(&["install", file.to_str().unwrap()]).fails(3, &["does not fit", DEV]);
        std::fs::write(&file, good).unwrap();
        let stranger = Instance::new();
        let forged = stranger.sign(&std::fs::read(&file).unwrap(), Signing::by(DEV, ISSUER));
        std::fs::write(&bundle, forged.to_string()).unwrap();
        home.args(&["install", file.to_str().unwrap()]).fails(3, &["nothing proves that", "--trusted-root"]);
        sign(&instance, &file);
        home.args(&["install", file.to_str().unwrap()]).ok();
        // By another root it is proven no longer.
        let said = trust(&home, &stranger, DEV, ISSUER).ok();
        assert!(said.contains("by that root from now on"), "{said}");
        assert!(home.run("list").ok().contains("nothing proves that"));
        home.args(&["call", "mirror__run", "{\"n\": 1}"]).fails_somehow();
        trust(&home, &instance, DEV, ISSUER).ok();
        home.args(&["call", "mirror__run", "{\"n\": 1}"]).ok();
    }
}
