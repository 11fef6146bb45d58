//! The logins to registries that docker keeps: in its configuration file, or with one of its credential helpers.

use std::collections::BTreeMap;
use std::io::{self, Read as _, Write as _};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use ringfence_core::Secret;
use ringfence_distribution::Login;
use ringfence_package::reading;
use serde::Deserialize;
use thiserror::Error;

use crate::config::docker_config;

/// How long a helper may take: as long as its user needs to unlock something for it.
const HELPER_TIME: Duration = Duration::from_secs(60);

/// The most that is read of a helper's answer, in bytes: a user and a token, which has some thousand at most.
const MAX_ANSWER: u64 = 64 << 10;

/// What helpers call the user of a token that is exchanged for others.
const TOKEN_USER: &str = "<token>";

/// Where docker keeps the login to its own registry.
const DOCKER_HUB: &str = "https://index.docker.io/v1/";

/// Why docker's logins cannot be used.
#[derive(Debug, Error)]
pub(crate) enum DockerLoginError {
    #[error("docker's configuration cannot be read: {0}")]
    Read(#[from] io::Error),
    #[error("docker's configuration cannot be read: {0}; `docker logout` and `docker login` write it anew")]
    Form(#[from] serde_json::Error),
    #[error("docker's login to {0} cannot be read: log in again with `docker login {0}`")]
    Auth(String),
    #[error("docker's configuration names the credential helper {0:?}, which is no name of one: correct it")]
    HelperName(String),
    #[error(
        "docker's credential helper `{program}` {problem}: see that `docker login` works, or take it out of docker's configuration"
    )]
    Helper { program: String, problem: String },
}

/// The part of docker's configuration that is about logins.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct DockerConfig {
    auths: BTreeMap<String, Auth>,
    creds_store: String,
    cred_helpers: BTreeMap<String, String>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Auth {
    auth: String,
    identitytoken: String,
}

/// What a helper answers.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct HelperAnswer {
    username: String,
    secret: String,
}

/// The login to `registry`; `None` where docker has none.
///
/// # Errors
/// When docker's configuration cannot be read, or a helper that it names does not work.
pub(crate) fn find(registry: &str) -> Result<Option<Login>, DockerLoginError> {
    let Some(path) = docker_config() else { return Ok(None) };
    match reading::text(&path) {
        Ok(text) => find_in(&serde_json::from_str(&text)?, registry),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error.into()),
    }
}

fn find_in(config: &DockerConfig, registry: &str) -> Result<Option<Login>, DockerLoginError> {
    let server = if registry == "docker.io" { DOCKER_HUB } else { registry };
    let helper = config.cred_helpers.get(registry).unwrap_or(&config.creds_store);
    if !helper.is_empty()
        && let Some(login) = ask_helper(helper, server)?
    {
        return Ok(Some(login));
    }
    let named = |key: &str| key == server || host_of(key) == registry;
    let Some((_, auth)) = config.auths.iter().find(|(key, _)| named(key)) else { return Ok(None) };
    match auth {
        Auth { identitytoken, .. } if !identitytoken.is_empty() => {
            Ok(Some(Login::IdentityToken(Secret::new(identitytoken.clone()))))
        }
        // With a helper, the entry only says that there is a login.
        Auth { auth, .. } if auth.is_empty() => Ok(None),
        Auth { auth, .. } => {
            Login::of_docker(auth).map(Some).ok_or_else(|| DockerLoginError::Auth(registry.to_owned()))
        }
    }
}

/// Older versions of docker wrote addresses.
fn host_of(key: &str) -> &str {
    let rest = key.split_once("://").map_or(key, |(_, rest)| rest);
    rest.split('/').next().unwrap_or(rest)
}

fn ask_helper(helper: &str, server: &str) -> Result<Option<Login>, DockerLoginError> {
    if !helper.bytes().all(|c| c.is_ascii_alphanumeric() || b"-_.".contains(&c)) {
        return Err(DockerLoginError::HelperName(helper.to_owned()));
    }
    let program = format!("docker-credential-{helper}");
    let wrong = |problem: String| DockerLoginError::Helper { program: program.clone(), problem };
    let (success, answer) =
        run(&program, server, HELPER_TIME).map_err(|error| wrong(format!("does not run ({error})")))?;
    if !success {
        let said = String::from_utf8_lossy(&answer);
        let nothing = said.contains("credentials not found");
        let said: String = said.trim().chars().filter(|c| !c.is_control()).take(200).collect();
        return if nothing { Ok(None) } else { Err(wrong(format!("fails ({said})"))) };
    }
    let answer: HelperAnswer = serde_json::from_slice(&answer).map_err(|_| wrong("answers no login".into()))?;
    let secret = Secret::new(answer.secret);
    Ok(Some(match answer.username.as_str() {
        TOKEN_USER => Login::IdentityToken(secret),
        username => Login::Password { username: username.to_owned(), password: secret },
    }))
}

/// Runs a helper, which may take `time`, and says whether it succeeded and what it wrote. One that waits is killed when its
/// time is over. Its output may stay open behind its end, in the hands of a process that it started: that is waited for no
/// longer either.
#[expect(
    clippy::disallowed_methods,
    reason = "docker's credential helpers are programs; the operator's own file names them"
)]
fn run(program: &str, server: &str, time: Duration) -> io::Result<(bool, Vec<u8>)> {
    let end = Instant::now() + time;
    let mut command = Command::new(program);
    command.arg("get").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn()?;
    let answer = child.stdout.take().map(read_aside);
    if let Some(mut input) = child.stdin.take() {
        // One that does not read it answers all the same, or fails.
        let _ = input.write_all(server.as_bytes());
    }
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        if Instant::now() > end {
            child.kill()?;
            child.wait()?;
            return Err(too_late(time));
        }
        thread::sleep(Duration::from_millis(20));
    };
    let left = end.saturating_duration_since(Instant::now());
    let answer = answer.map_or(Ok(Ok(Vec::new())), |answer| answer.recv_timeout(left));
    Ok((status.success(), answer.map_err(|_| too_late(time))??))
}

/// Reads `output` to its end, or as far as is looked at, in a thread that nobody waits for.
fn read_aside(output: impl io::Read + Send + 'static) -> mpsc::Receiver<io::Result<Vec<u8>>> {
    let (sender, receiver) = mpsc::sync_channel(1);
    thread::spawn(move || {
        let mut answer = Vec::new();
        let read = output.take(MAX_ANSWER).read_to_end(&mut answer);
        // Whoever has given up does not want it any more.
        let _ = sender.send(read.map(|_| answer));
    });
    receiver
}

fn too_late(time: Duration) -> io::Error {
    io::Error::new(io::ErrorKind::TimedOut, format!("it took more than {} s", time.as_secs()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn login(config: &str, registry: &str) -> Result<Option<Login>, DockerLoginError> {
        find_in(&serde_json::from_str(config).unwrap(), registry)
    }

    fn user(config: &str, registry: &str) -> Option<String> {
        match login(config, registry).unwrap()? {
            Login::Password { username, password } => Some(format!("{username}:{}", password.expose())),
            Login::IdentityToken(token) => Some(format!("token:{}", token.expose())),
        }
    }

    #[test]
    fn logins_are_found_by_host() {
        // `a:b` and `c:d`.
        let config = r#"{"auths": {"r.example:5000": {"auth": "YTpi"}, "https://old.example/v1/": {"auth": "Yzpk"},
            "t.example": {"identitytoken": "abc"}, "https://index.docker.io/v1/": {"auth": "YTpi"}, "e.example": {}},
            "HttpHeaders": {"x": "y"}}"#;
        assert_eq!(user(config, "r.example:5000").as_deref(), Some("a:b"));
        assert_eq!(user(config, "old.example").as_deref(), Some("c:d"));
        assert_eq!(user(config, "t.example").as_deref(), Some("token:abc"));
        assert_eq!(user(config, "docker.io").as_deref(), Some("a:b"));
        for none in ["r.example", "r.example:5001", "evil.r.example:5000", "e.example"] {
            assert_eq!(user(config, none), None, "{none}");
        }
        let error = login(r#"{"auths": {"r.example": {"auth": "!"}}}"#, "r.example").unwrap_err();
        assert!(error.to_string().contains("docker login r.example"));
    }

    #[test]
    fn a_helper_is_a_name_and_has_to_work() {
        let error = login(r#"{"credsStore": "../../bin/sh"}"#, "r.example").unwrap_err();
        assert!(matches!(error, DockerLoginError::HelperName(_)));
        let error = login(r#"{"credHelpers": {"r.example": "not-there"}}"#, "r.example").unwrap_err();
        assert!(error.to_string().contains("docker-credential-not-there"), "{error}");
        assert_eq!(user(r#"{"credHelpers": {"r.example": "not-there"}}"#, "other.example"), None);
    }

    #[test]
    fn what_a_helper_leaves_behind_is_not_waited_for() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("docker-credential-daemon");
        fs_err::write(&path, "#!/bin/sh\nsleep 20 &\necho '{}'\n").unwrap();
        fs_err::set_permissions(&path, std::fs::Permissions::from_mode(0o700)).unwrap();
        let started = Instant::now();
        let error = run(path.to_str().unwrap(), "r.example", Duration::from_secs(1)).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        assert!(started.elapsed() < Duration::from_secs(10), "{:?}", started.elapsed());
    }
}
