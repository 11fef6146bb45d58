//! Debian's `docker-registry` on the loopback interface, with a folder of its own.

use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use super::authority::Identity;

/// The name and the password that a private registry wants, as docker's configuration holds them, and as the registry
/// does (bcrypt).
pub const LOGIN: (&str, &str) = ("ada", "correct horse");
const HTPASSWD: &str = "ada:$2b$04$VkQkjBXc578z4046ZuKhce5LdMg2x8TVX5Qfc1.uYYq3bm/ttb4US\n";

/// How long it may take to start.
const START: Duration = Duration::from_secs(30);

/// A registry, ended with this.
pub struct Registry {
    process: Child,
    folder: tempfile::TempDir,
    /// Host and port.
    pub address: String,
}

impl Registry {
    /// One that anybody may read and write.
    pub fn public() -> Self {
        Self::start(|_| String::new())
    }

    /// One that wants [`LOGIN`].
    pub fn private() -> Self {
        Self::start(htpasswd)
    }

    /// One that speaks TLS, as who `identity` says.
    pub fn over_tls(identity: &Identity) -> Self {
        Self::start(|folder| tls(folder, identity))
    }

    /// One that speaks TLS and wants [`LOGIN`].
    pub fn private_over_tls(identity: &Identity) -> Self {
        Self::start(|folder| tls(folder, identity) + &htpasswd(folder))
    }

    /// The file in which it keeps the blob with this digest.
    pub fn blob(&self, hex: &str) -> PathBuf {
        self.folder.path().join(format!("data/docker/registry/v2/blobs/sha256/{}/{hex}/data", &hex[..2]))
    }

    /// Makes it hold `bytes` as a blob of `repository`.
    pub fn hold(&self, repository: &str, bytes: &[u8]) {
        let hex = ringfence_store::Digest::of(bytes).to_string();
        let of_repository = format!("data/docker/registry/v2/repositories/{repository}/_layers/sha256/{hex}/link");
        let (blob, link) = (self.blob(&hex), self.folder.path().join(of_repository));
        for path in [&blob, &link] {
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        }
        std::fs::write(blob, bytes).unwrap();
        std::fs::write(link, format!("sha256:{hex}")).unwrap();
    }

    /// The digests of all blobs that it keeps.
    pub fn blobs(&self) -> Vec<String> {
        let all = self.folder.path().join("data/docker/registry/v2/blobs/sha256");
        let entries =
            |path: &Path| std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()).collect::<Vec<_>>();
        let digests = entries(&all).into_iter().flat_map(|path| entries(&path));
        digests.map(|path| path.file_name().unwrap().to_string_lossy().into_owned()).collect()
    }

    fn start(more: impl Fn(&Path) -> String) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
        let data = folder.path().join("data");
        let config = format!(
            "version: 0.1\nlog: {{level: error}}\nstorage: {{filesystem: {{rootdirectory: {}}}}}\nhttp:\n  addr: {address}\n{}",
            data.display(),
            more(folder.path())
        );
        let file = folder.path().join("config.yml");
        std::fs::write(&file, config).unwrap();
        let mut command = Command::new("docker-registry");
        command.arg("serve").arg(file).stdout(Stdio::null()).stderr(Stdio::null());
        let process = command.spawn().expect("docker-registry is installed (apt-get install docker-registry)");
        let registry = Self { process, folder, address };
        let end = Instant::now() + START;
        while TcpStream::connect(&registry.address).is_err() {
            assert!(Instant::now() < end, "the registry does not start");
            std::thread::yield_now();
        }
        registry
    }
}

/// The part of its configuration, below `http`, that makes it speak TLS.
fn tls(folder: &Path, identity: &Identity) -> String {
    let file = |name: &str, content: &str| {
        let path = folder.join(name);
        std::fs::write(&path, content).unwrap();
        path.display().to_string()
    };
    let (certificate, key) = (file("tls.pem", &identity.certificate), file("tls.key", &identity.key));
    format!("  tls: {{certificate: {certificate}, key: {key}}}\n")
}

/// The part of its configuration that makes it want [`LOGIN`].
fn htpasswd(folder: &Path) -> String {
    let file = folder.join("htpasswd");
    std::fs::write(&file, HTPASSWD).unwrap();
    format!("auth: {{htpasswd: {{realm: test, path: {}}}}}\n", file.display())
}

impl Drop for Registry {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
