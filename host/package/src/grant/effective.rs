//! What a source may use: what its package asks for, as far as the operator grants it.

use std::time::{Duration, SystemTime};

use jiff::Timestamp;
use ringfence_core::source::Ceiling;
use ringfence_core::tool_state::StateQuota;
use ringfence_egress::AddressGrants;
use thiserror::Error;

use super::capabilities::{Capabilities, Granted, SecretUse, WorkspaceUse};
use super::file_pattern::FilePattern;
use super::name_pattern::NamePattern;

/// The intersection of a request and a grant. Nothing is in it that one of the two leaves out, and nothing at all once
/// the grant has ended.
#[derive(Clone, Debug, Default)]
pub struct Effective {
    requested: Capabilities,
    granted: Granted,
    addresses: AddressGrants,
    expires: Option<SystemTime>,
}

/// Why a grant means nothing.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum GrantError {
    /// The end is no time.
    #[error("`expires` is {text:?}, which is no time ({problem}): write it in RFC 3339, such as 2027-01-31T12:00:00Z")]
    Expires {
        /// What stands there.
        text: String,
        /// What is wrong.
        problem: String,
    },
    /// A range is none.
    #[error("`addresses` has {text:?}, which is no range of addresses: write one such as 127.0.0.0/8")]
    Address {
        /// What stands there.
        text: String,
    },
}

impl Effective {
    /// What is both `requested` and `granted`.
    ///
    /// # Errors
    /// When the grant means nothing.
    pub fn new(requested: Capabilities, granted: Granted) -> Result<Self, GrantError> {
        let expires = granted.expires.as_deref().map(time).transpose()?;
        let range = |text: &String| text.parse().map_err(|_| GrantError::Address { text: text.clone() });
        let addresses = AddressGrants::new(granted.addresses.iter().map(range).collect::<Result<Vec<_>, _>>()?);
        Ok(Self { requested, granted, addresses, expires })
    }

    /// What the package asks for.
    pub fn requested(&self) -> &Capabilities {
        &self.requested
    }

    /// What the operator grants.
    pub fn granted(&self) -> &Granted {
        &self.granted
    }

    /// The granted addresses.
    pub fn addresses(&self) -> &AddressGrants {
        &self.addresses
    }

    /// What the grant leaves of limits and rate. It holds beyond the end of the grant, which only takes away.
    pub fn ceiling(&self) -> Ceiling {
        Ceiling { limits: self.granted.limits.clone(), rate: self.granted.rate.limit() }
    }

    /// Whether the grant has ended.
    pub fn has_ended(&self) -> bool {
        self.expires.is_some_and(|end| SystemTime::now() >= end)
    }

    /// How long until the grant ends; `None` where it has no end, or has ended.
    pub fn ends_in(&self) -> Option<Duration> {
        self.expires?.duration_since(SystemTime::now()).ok().filter(|left| !left.is_zero())
    }

    /// Whether there is anything to reach by HTTP.
    pub fn reaches_http(&self) -> bool {
        !self.requested.http.is_empty() && !self.granted.http.is_empty()
    }

    /// Whether a tool may ask if the secret `name` is there.
    pub fn may_test(&self, name: &str) -> bool {
        self.secret(name, |list| &list.test)
    }

    /// Whether a tool may have the host sign with the secret `name`.
    pub fn may_sign(&self, name: &str) -> bool {
        self.secret(name, |list| &list.sign)
    }

    /// Whether a tool may read the file at `path` below the workspace.
    pub fn may_read(&self, path: &[&str]) -> bool {
        self.file(path, |list| &list.read)
    }

    /// Whether a tool may write the file at `path` below the workspace.
    pub fn may_write(&self, path: &[&str]) -> bool {
        self.file(path, |list| &list.write)
    }

    /// Whether any secret may be used without being seen.
    pub fn uses_secrets(&self) -> bool {
        let used = |list: &SecretUse| !list.test.is_empty() || !list.sign.is_empty();
        used(&self.requested.secrets) && used(&self.granted.secrets)
    }

    /// Whether any file of the workspace may be read or written.
    pub fn uses_workspace(&self) -> bool {
        let used = |list: &WorkspaceUse| !list.read.is_empty() || !list.write.is_empty();
        used(&self.requested.workspace) && used(&self.granted.workspace)
    }

    /// The wire name of the tool that a tool may call as `alias`.
    pub fn tool(&self, alias: &str) -> Option<&str> {
        let asked = !self.has_ended() && self.requested.tools.contains_key(alias);
        self.granted.tools.get(alias).filter(|_| asked).map(String::as_str)
    }

    /// Whether any other tool may be called.
    pub fn calls_tools(&self) -> bool {
        self.requested.tools.keys().any(|alias| self.granted.tools.contains_key(alias))
    }

    /// How much may be kept between calls, for each user.
    pub fn state(&self) -> Option<StateQuota> {
        let quota = self.requested.state?.least(self.granted.state?);
        (!self.has_ended()).then_some(quota)
    }

    /// Whether anything may be kept between calls.
    pub fn keeps_state(&self) -> bool {
        self.requested.state.is_some() && self.granted.state.is_some()
    }

    /// The environment.
    pub fn env(&self) -> impl Iterator<Item = (&str, &str)> {
        let given = |name: &str| !self.has_ended() && self.requested.env.contains(name);
        self.granted
            .env
            .iter()
            .filter(move |(name, _)| given(name))
            .map(|(name, value)| (name.as_str(), value.as_str()))
    }

    fn secret(&self, name: &str, list: impl Fn(&SecretUse) -> &Vec<NamePattern>) -> bool {
        let both = [&self.requested.secrets, &self.granted.secrets];
        !self.has_ended() && both.iter().all(|side| list(side).iter().any(|pattern| pattern.matches(name)))
    }

    fn file(&self, path: &[&str], list: impl Fn(&WorkspaceUse) -> &Vec<FilePattern>) -> bool {
        let both = [&self.requested.workspace, &self.granted.workspace];
        !self.has_ended() && both.iter().all(|side| list(side).iter().any(|pattern| pattern.matches(path)))
    }
}

fn time(text: &str) -> Result<SystemTime, GrantError> {
    let wrong = |problem: jiff::Error| GrantError::Expires { text: text.to_owned(), problem: problem.to_string() };
    text.parse::<Timestamp>().map(SystemTime::from).map_err(wrong)
}

#[cfg(test)]
mod tests {
    use ringfence_core::tool::RateLimit;
    use ringfence_core::{LimitKind, LimitSet};

    use super::*;

    fn effective(requested: &str, granted: &str) -> Effective {
        Effective::new(toml::from_str(requested).unwrap(), toml::from_str(granted).unwrap()).unwrap()
    }

    #[test]
    fn only_what_both_name_is_given() {
        let both = "[secrets]\ntest = [\"a\"]\nsign = [\"b\"]\n[workspace]\nread = [\"r/**\"]\nwrite = [\"w\"]\n";
        let all = effective(both, both);
        assert!(all.may_test("a") && all.may_sign("b") && all.may_read(&["r", "x"]) && all.may_write(&["w"]));
        assert!(!all.may_test("b") && !all.may_sign("a") && !all.may_read(&["w"]) && !all.may_write(&["r", "x"]));
        for none in [effective(both, ""), effective("", both)] {
            assert!(
                !none.may_test("a") && !none.may_sign("b") && !none.may_read(&["r", "x"]) && !none.may_write(&["w"])
            );
            assert!(!none.uses_secrets() && !none.uses_workspace() && !none.reaches_http());
        }
        let env = effective("env = [\"A\"]", "[env]\nA = \"1\"\nB = \"2\"\n");
        assert_eq!(env.env().collect::<Vec<_>>(), [("A", "1")]);
    }

    #[test]
    fn a_tool_is_called_by_a_name_that_both_know() {
        let ask = "[tools]\nsum = \"adds numbers\"\nlookup = \"\"\n";
        let some = effective(ask, "[tools]\nsum = \"calc__evaluate\"\nother = \"echo\"\n");
        assert_eq!(some.tool("sum"), Some("calc__evaluate"));
        assert!(some.calls_tools() && some.tool("lookup").is_none() && some.tool("other").is_none());
        for none in [effective(ask, ""), effective("", ask), effective(ask, "[tools]\nother = \"echo\"\n")] {
            assert!(!none.calls_tools() && none.tool("sum").is_none());
        }
    }

    #[test]
    fn as_much_is_kept_as_both_say() {
        let quota = |bytes, keys| format!("[state]\nbytes = {bytes}\nkeys = {keys}\n");
        let both = effective(&quota(100, 5), &quota(50, 10));
        assert_eq!(both.state(), Some(StateQuota { bytes: 50, keys: 5 }));
        for none in [effective(&quota(1, 1), ""), effective("", &quota(1, 1))] {
            assert!(!none.keeps_state() && none.state().is_none());
        }
    }

    #[test]
    fn a_grant_that_has_ended_gives_nothing() {
        let more = "[tools]\nx = \"echo\"\n[state]\nbytes = 1\nkeys = 1\n";
        let ask = format!("env = [\"A\"]\n[secrets]\ntest = [\"a\"]\n[workspace]\nread = [\"**\"]\n{more}");
        let ask = ask.as_str();
        let grant = |end: &str| {
            let env = format!("expires = \"{end}\"\n[env]\nA = \"1\"\n");
            format!("{env}[secrets]\ntest = [\"a\"]\n[workspace]\nread = [\"**\"]\n{more}")
        };
        let ended = effective(ask, &grant("2020-01-01T00:00:00Z"));
        assert!(ended.has_ended() && !ended.may_test("a") && !ended.may_read(&["x"]) && ended.env().count() == 0);
        assert!(ended.tool("x").is_none() && ended.state().is_none());
        let running = effective(ask, &grant("2999-01-01T00:00:00Z"));
        assert!(running.may_test("a") && running.may_read(&["x"]) && running.env().count() == 1);
        assert!(running.tool("x").is_some() && running.state().is_some());
    }

    #[test]
    fn limits_and_rate_hold_beyond_the_end() {
        let narrowed = "[limits]\nfuel = 5\n[rate]\nper_hour = 7\n";
        let rate = Some(RateLimit { per_minute: u32::MAX, per_hour: 7 });
        let ceiling = Ceiling { limits: LimitSet::default().with(LimitKind::Fuel, 5), rate };
        assert_eq!(effective("", narrowed).ceiling(), ceiling);
        assert_eq!(effective("", &format!("expires = \"2020-01-01T00:00:00Z\"\n{narrowed}")).ceiling(), ceiling);
        assert_eq!(effective("", "").ceiling(), Ceiling::default());
    }

    #[test]
    fn a_grant_that_means_nothing_says_why() {
        let wrong = |text: &str| Effective::new(Capabilities::default(), toml::from_str(text).unwrap()).unwrap_err();
        assert!(wrong("expires = \"tomorrow\"").to_string().contains("RFC 3339"));
        assert!(wrong("addresses = [\"localhost\"]").to_string().contains("127.0.0.0/8"));
    }
}
