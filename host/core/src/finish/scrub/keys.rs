//! Which names say that their value is a credential.

/// Names, or last words of names, that say it alone, and the kind that the mark then shows.
const NOUNS: [(&str, &str); 16] = [
    ("password", "password"),
    ("passwords", "password"),
    ("passwd", "password"),
    ("passphrase", "password"),
    ("secret", "secret"),
    ("secrets", "secret"),
    ("credential", "credential"),
    ("credentials", "credential"),
    ("authorization", "authorization"),
    ("bearer", "token"),
    ("cookie", "cookie"),
    ("cookies", "cookie"),
    ("accesstoken", "token"),
    ("authtoken", "token"),
    ("apikey", "key"),
    ("apikeys", "key"),
];

/// Ends of words that were run together, such as `PGPASSWORD`.
const ENDINGS: [(&str, &str); 6] = [
    ("password", "password"),
    ("passwd", "password"),
    ("secret", "secret"),
    ("secretkey", "key"),
    ("accesskey", "key"),
    ("privatekey", "key"),
];

/// A `token` after one of these is a piece of text, a place in a list or a number.
const NOT_BEFORE_TOKEN: &str = "\
    max min num count total per prompt completion input output cached reasoning next prev previous page \
    continuation cursor pagination sync start end stop eos bos pad unk sep cls mask";

/// `tokens` is a number of words, except after one of these.
const BEFORE_TOKENS: &str = "access refresh auth api bearer session";

/// A `key` finds something, except after one of these.
const BEFORE_KEY: &str = "\
    api access secret private signing encryption auth master account app admin deploy webhook subscription \
    ssh shared service";

/// A `pass` is an attempt, except after one of these.
const BEFORE_PASS: &str = "db database user smtp mail mysql postgres redis admin root ftp";

/// Last words that do not change what a name is about.
const FILLERS: &str = "value confirmation base plaintext";

/// The kind of credential that `name` says its value is.
pub(super) fn credential(name: &str) -> Option<&'static str> {
    let (mut rest, mut last) = last_word(name);
    if is_one_of(last, FILLERS) {
        (rest, last) = last_word(rest);
    }
    let (_, before) = last_word(rest);
    match last.to_ascii_lowercase().as_str() {
        "token" => (!is_one_of(before, NOT_BEFORE_TOKEN)).then_some("token"),
        "tokens" => is_one_of(before, BEFORE_TOKENS).then_some("token"),
        "key" | "keys" => is_one_of(before, BEFORE_KEY).then_some("key"),
        "pass" => is_one_of(before, BEFORE_PASS).then_some("password"),
        last => NOUNS
            .iter()
            .find(|(noun, _)| last == *noun)
            .or_else(|| ENDINGS.iter().find(|(ending, _)| last.ends_with(ending)))
            .map(|(_, kind)| *kind),
    }
}

/// Whether a mark can name `kind`.
pub(super) fn is_kind(kind: &str) -> bool {
    kind == "key" || NOUNS.iter().any(|(_, known)| kind == *known)
}

fn is_one_of(word: &str, words: &str) -> bool {
    words.split(' ').any(|known| word.eq_ignore_ascii_case(known))
}

/// The last word of a name in snake, kebab or camel case, without digits after it, and what stands before it.
fn last_word(name: &str) -> (&str, &str) {
    let name = name.trim_end_matches(|c: char| !c.is_ascii_alphabetic());
    let letters = name.as_bytes();
    let lower = letters.iter().rev().take_while(|byte| byte.is_ascii_lowercase()).count();
    let upper = letters[..letters.len() - lower].iter().rev().take_while(|byte| byte.is_ascii_uppercase()).count();
    let length = if lower == 0 { upper } else { lower + upper.min(1) };
    name.split_at(name.len() - length)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finish::scrub::assignments;

    #[test]
    fn names_of_credentials_are_known_in_every_case() {
        for (name, kind) in [
            ("password", "password"),
            ("db_password", "password"),
            ("password2", "password"),
            ("password_confirmation", "password"),
            ("PGPASSWORD", "password"),
            ("dbPass", "password"),
            ("clientSecret", "secret"),
            ("secret-value", "secret"),
            ("SECRET_KEY_BASE", "key"),
            ("x-api-key", "key"),
            ("APIKey", "key"),
            ("apikey", "key"),
            ("AWS_SECRET_ACCESS_KEY", "key"),
            ("authToken", "token"),
            ("refresh_tokens", "token"),
            ("X-Amz-Security-Token", "token"),
            ("Proxy-Authorization", "authorization"),
            ("set-cookie", "cookie"),
            ("aws.credentials", "credential"),
        ] {
            for name in [name.to_owned(), name.to_uppercase()] {
                let joined = name.bytes().all(|byte| byte.is_ascii_uppercase());
                assert!(assignments::may_be_in(&name), "{name}");
                assert!(joined || credential(&name) == Some(kind), "{name}");
            }
            assert!(is_kind(kind));
        }
    }

    #[test]
    fn other_names_are_left_alone() {
        for name in [
            "",
            "_",
            "max_tokens",
            "tokens",
            "token_count",
            "tokenCount",
            "nextPageToken",
            "eos_token",
            "primary_key",
            "key",
            "sort-key",
            "keyboard",
            "passed",
            "first_pass",
            "pass",
            "secretary",
            "token_type",
            "private_key_id",
            "cookie_name",
            "authorization_url",
            "bypass",
            "monkey",
            "password_hash_rounds",
            "näme",
        ] {
            assert_eq!(credential(name), None, "{name}");
        }
    }
}
