//! What a grant gives that nobody asks for.

use ringfence_core::name::nearest;

use super::capabilities::{Capabilities, Granted};

/// What of `granted` has no effect, because nothing of `requested` asks for it, in words. An update that asks for it
/// would get it without another word.
pub fn unused(requested: &Capabilities, granted: &Granted) -> Vec<String> {
    let mut list = Vec::new();
    for rule in &granted.http {
        if !requested.http.iter().any(|asked| asked.meets(rule)) {
            list.push(format!("HTTP {rule}"));
        }
    }
    if requested.http.is_empty() {
        list.extend(granted.addresses.iter().map(|range| format!("the addresses {range}")));
    }
    list.extend(unknown("credential", granted.credentials.keys(), requested.credentials.keys()));
    let (asked, given) = (&requested.secrets, &granted.secrets);
    for (verb, asked, given) in [("asking for", &asked.test, &given.test), ("signing with", &asked.sign, &given.sign)] {
        let unused = given.iter().filter(|given| !asked.iter().any(|asked| asked.meets(given)));
        list.extend(unused.map(|pattern| format!("{verb} the secret `{pattern}`")));
    }
    let (asked, given) = (&requested.workspace, &granted.workspace);
    for (verb, asked, given) in [("reading", &asked.read, &given.read), ("writing", &asked.write, &given.write)] {
        let unused = given.iter().filter(|given| !asked.iter().any(|asked| asked.meets(given)));
        list.extend(unused.map(|pattern| format!("{verb} `{pattern}`")));
    }
    list.extend(unknown("the environment value", granted.env.keys(), &requested.env));
    list.extend(unknown("a tool called", granted.tools.keys(), requested.tools.keys()));
    if granted.state.is_some() && requested.state.is_none() {
        list.push("keeping anything between calls".into());
    }
    list
}

/// Those of `given` that are not in `asked`, each with what it may have meant.
fn unknown<'a>(
    what: &str,
    given: impl IntoIterator<Item = &'a String>,
    asked: impl IntoIterator<Item = &'a String>,
) -> Vec<String> {
    let asked: Vec<&str> = asked.into_iter().map(String::as_str).collect();
    let told = |name: &String| match nearest(name, asked.iter().copied(), 1).first() {
        Some(near) => format!("{what} `{name}` (did you mean `{near}`?)"),
        None => format!("{what} `{name}`"),
    };
    given.into_iter().filter(|name| !asked.contains(&name.as_str())).map(told).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const ASKED: &str = "\
env = [\"LANG\"]
[[http]]
url = \"https://a.example/v1/**\"
[credentials.token]
place = \"bearer\"
requests = []
[secrets]
test = [\"git_*\"]
sign = [\"hook\"]
[workspace]
read = [\"docs/**\"]
write = [\"out/*\"]
[tools]
sum = \"\"
[state]
bytes = 1
keys = 1
";

    const GIVEN: &str = "\
addresses = [\"127.0.0.0/8\"]
env = { LANG = \"en\" }
[[http]]
url = \"https://a.example/v1/now\"
[credentials.token]
secret = \"s\"
[secrets]
test = [\"git_token\"]
sign = [\"hook\"]
[workspace]
read = [\"docs/a/b\"]
write = [\"out/x\"]
[tools]
sum = \"echo\"
[state]
bytes = 1
keys = 1
";

    fn list(asked: &str, given: &str) -> Vec<String> {
        unused(&toml::from_str(asked).unwrap(), &toml::from_str(given).unwrap())
    }

    #[test]
    fn what_is_asked_for_is_used_and_the_rest_is_named() {
        assert_eq!(list(ASKED, GIVEN), [""; 0]);
        let nothing = list("", GIVEN);
        assert_eq!(nothing.len(), 10, "{nothing:?}");
        for (old, new, said) in [
            ("v1/now", "v2/now", "HTTP GET,HEAD https://a.example/v2/now"),
            ("credentials.token", "credentials.tokn", "credential `tokn` (did you mean `token`?)"),
            ("git_token", "gitlab", "asking for the secret `gitlab`"),
            ("\"hook\"", "\"other\"", "signing with the secret `other`"),
            ("docs/a/b", "src", "reading `src`"),
            ("out/x", "out", "writing `out`"),
            ("LANG", "zzz", "the environment value `zzz`"),
            ("sum", "zzz", "a tool called `zzz`"),
        ] {
            let unused = list(ASKED, &GIVEN.replace(old, new));
            assert_eq!(unused, [said]);
        }
    }

    #[test]
    fn files_meet_by_segments() {
        let meet = |asked: &str, given: &str| {
            let both = [(asked, given), (given, asked)].map(|(asked, given)| {
                let read = |text: &str| format!("[workspace]\nread = [\"{text}\"]\n");
                list(&read(asked), &read(given)).is_empty()
            });
            assert_eq!(both[0], both[1], "{asked} {given}");
            both[0]
        };
        assert!(meet("docs/**", "docs") && meet("docs/**", "**") && meet("docs/*", "docs/a") && meet("*/a", "docs/*"));
        assert!(meet("a/**", "a/b/**") && meet("**", "a/b/c"));
        assert!(!meet("docs/**", "src/**") && !meet("docs/*", "docs") && !meet("a/b/**", "a") && !meet("a/b", "a/c"));
    }
}
