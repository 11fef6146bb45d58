//! `ringfence grant`: grants an installed package what it asks for.

use clap::Args;
use jiff::tz::TimeZone;
use jiff::{Span, Timestamp};
use ringfence_core::tool_state::StateQuota;

use super::exit::UsageError;
use super::grants;
use super::session::{Session, other_build};
use crate::request::{GrantChange, PackageRequest, Reply};

/// Grant an installed package what it asks for.
///
/// What is granted is added to `grants/SOURCE.toml` beside the configuration, a file that is yours to edit.
#[derive(Args)]
#[command(after_help = "Next: `ringfence explain TOOL \"GET https://…\"` says whether a request would be sent.")]
pub(super) struct Grant {
    /// The package, as `ringfence list` shows it.
    source: String,
    /// All that it asks for, but credentials, environment values and other tools, which need a choice of yours.
    #[arg(long)]
    all: bool,
    /// Requests, such as `GET https://api.example.org/v1/**`; may be repeated.
    #[arg(long, value_name = "REQUEST")]
    http: Vec<String>,
    /// Addresses that are otherwise refused, such as 127.0.0.0/8; may be repeated.
    #[arg(long = "address", value_name = "RANGE")]
    addresses: Vec<String>,
    /// The secret behind a credential that it asks for; may be repeated.
    #[arg(long = "credential", value_name = "NAME=SECRET")]
    credentials: Vec<String>,
    /// The client's id for an OAuth 2.0 credential, whose secret then is the client's; may be repeated.
    #[arg(long = "client", value_name = "NAME=ID")]
    clients: Vec<String>,
    /// The secret that holds the refresh token for an OAuth 2.0 credential that asks with one; may be repeated.
    #[arg(long = "refresh-token", value_name = "NAME=SECRET")]
    refresh_tokens: Vec<String>,
    /// A secret that its tools may ask about; may be repeated.
    #[arg(long = "test-secret", value_name = "SECRET")]
    test: Vec<String>,
    /// A secret that its tools may have the host sign with; may be repeated.
    #[arg(long = "sign-with", value_name = "SECRET")]
    sign: Vec<String>,
    /// Files below the workspace that it may read, such as docs/**; may be repeated.
    #[arg(long, value_name = "FILES")]
    read: Vec<String>,
    /// Files below the workspace that it may write; may be repeated.
    #[arg(long, value_name = "FILES")]
    write: Vec<String>,
    /// A value of its environment; not for secrets, which belong into `ringfence secret`; may be repeated.
    #[arg(long, value_name = "NAME=VALUE")]
    env: Vec<String>,
    /// The tool behind a name by which it calls another one, as `ringfence tools` shows it; may be repeated.
    #[arg(long = "tool", value_name = "NAME=TOOL")]
    tools: Vec<String>,
    /// Bytes that it may keep between calls, for each user.
    #[arg(long, value_name = "BYTES", requires = "state_keys")]
    state_bytes: Option<u64>,
    /// Keys that it may keep between calls, for each user.
    #[arg(long, value_name = "KEYS", requires = "state_bytes")]
    state_keys: Option<u64>,
    /// When all of the grant ends: after a while, such as 30d or 12h, or at a time in RFC 3339, such as
    /// 2027-01-31T12:00:00Z.
    #[arg(long, value_name = "TIME")]
    expires: Option<String>,
    /// The most that its tools get of a limit, such as fuel=1000000; may be repeated.
    #[arg(long = "limit", value_name = "LIMIT=NUMBER")]
    limits: Vec<String>,
    /// How often each of its tools may be called at most in any minute, by one caller.
    #[arg(long, value_name = "CALLS")]
    per_minute: Option<u32>,
    /// How often in any hour.
    #[arg(long, value_name = "CALLS")]
    per_hour: Option<u32>,
    /// Give the grant to the package of this signer (a key's id, or `unsigned`), although it was given to another's.
    #[arg(long, value_name = "KEY")]
    accept_signer: Option<String>,
}

impl Grant {
    pub(super) async fn run(self, session: &Session) -> anyhow::Result<()> {
        let change = GrantChange {
            all: self.all,
            http: self.http,
            addresses: self.addresses,
            credentials: pairs(self.credentials)?,
            clients: pairs(self.clients)?,
            refresh_tokens: pairs(self.refresh_tokens)?,
            test: self.test,
            sign: self.sign,
            read: self.read,
            write: self.write,
            env: pairs(self.env)?,
            tools: pairs(self.tools)?,
            state: self.state_bytes.zip(self.state_keys).map(|(bytes, keys)| StateQuota { bytes, keys }),
            expires: self.expires.map(|text| end(&text, Timestamp::now())).transpose()?,
            limits: numbers(self.limits)?,
            per_minute: self.per_minute,
            per_hour: self.per_hour,
            accept_signer: self.accept_signer,
        };
        if change == GrantChange::default() {
            let text = "nothing to grant: say --all, or what (`ringfence grants` shows what it asks for)";
            return Err(UsageError(text.into()).into());
        }
        let Reply::Grants(entries) =
            session.ask(PackageRequest::Grant { source: self.source, change: Box::new(change) }).await?
        else {
            return Err(other_build());
        };
        session.answer(&entries, |entries| grants::text(entries))
    }
}

/// When a grant ends, as its file has it: `text` is that time, or how long after `now` it is.
fn end(text: &str, now: Timestamp) -> Result<String, UsageError> {
    if text.parse::<Timestamp>().is_ok() {
        return Ok(text.to_owned());
    }
    let wrong = || {
        UsageError(format!("{text:?} is neither a while, such as 30d or 12h, nor a time, such as 2027-01-31T12:00:00Z"))
    };
    let span: Span = text.parse().map_err(|_| wrong())?;
    let end = now.to_zoned(TimeZone::UTC).checked_add(span).map_err(|_| wrong())?.timestamp();
    if end <= now {
        return Err(UsageError(format!("{text:?} is over already: a grant ends later than now")));
    }
    Ok(format!("{end:.0}"))
}

fn pairs(texts: Vec<String>) -> Result<Vec<(String, String)>, UsageError> {
    let pair = |text: String| match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err(UsageError(format!("{text:?} is no pair: write it as NAME=VALUE"))),
    };
    texts.into_iter().map(pair).collect()
}

fn numbers(texts: Vec<String>) -> Result<Vec<(String, i64)>, UsageError> {
    let number = |(name, text): (String, String)| match text.parse() {
        Ok(number) => Ok((name, number)),
        Err(_) => Err(UsageError(format!("{text:?} is no number: write a limit as {name}=1000"))),
    };
    pairs(texts)?.into_iter().map(number).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_grant_ends_after_a_while_or_at_a_time() {
        let now: Timestamp = "2027-01-31T12:00:00.5Z".parse().unwrap();
        for (text, expected) in [
            ("2028-01-01T00:00:00Z", "2028-01-01T00:00:00Z"),
            ("2020-01-01T00:00:00Z", "2020-01-01T00:00:00Z"),
            ("30d", "2027-03-02T12:00:00Z"),
            ("12h", "2027-02-01T00:00:00Z"),
            ("1w 2d", "2027-02-09T12:00:00Z"),
            ("90 minutes", "2027-01-31T13:30:00Z"),
        ] {
            assert_eq!(end(text, now).unwrap(), expected, "{text}");
        }
        for wrong in ["", "soon", "30", "d", "-1d", "0d", "99999999y"] {
            assert!(end(wrong, now).is_err(), "{wrong}");
        }
    }
}
