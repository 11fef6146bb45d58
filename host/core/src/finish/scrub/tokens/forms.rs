//! The table of the forms that are known: tokens by what they begin with, and credentials of another shape.

use std::ops::{Range, RangeInclusive};

use super::private_key::{BEGIN, is_key_body, private_key};
use super::shapes::{ASIC, EARER, basic, bearer, is_jwt, jwt, sendgrid, telegram};
use crate::finish::scrub::chars::{
    is_alnum, is_base64, is_lower_hex, is_token68, is_upper, is_url_safe, is_word, run, starts_word,
};

/// A token that begins with letters of its issuer's choice.
pub(super) struct Token {
    pub(super) kind: &'static str,
    pub(super) prefix: &'static str,
    pub(super) body: fn(u8) -> bool,
    /// How long the body is; a longer run of its characters is something else.
    length: RangeInclusive<usize>,
}

/// A credential of a form of its own.
pub(super) struct Shape {
    pub(super) kind: &'static str,
    /// What the search looks for.
    pub(super) anchor: &'static str,
    /// The credential around the anchor at this place.
    pub(super) at: fn(&[u8], usize) -> Option<Range<usize>>,
    /// What it may go on with.
    pub(super) more: fn(u8) -> bool,
}

const ANY: usize = usize::MAX;

/// Of two prefixes that both fit, the longer one counts.
pub(super) const TOKENS: [Token; 35] = [
    token("openai", "sk-", is_alnum, 20..=ANY),
    token("openai", "sk-proj-", is_url_safe, 20..=ANY),
    token("openai", "sk-svcacct-", is_url_safe, 20..=ANY),
    token("openai", "sk-admin-", is_url_safe, 20..=ANY),
    token("anthropic", "sk-ant-", is_url_safe, 16..=ANY),
    token("openrouter", "sk-or-", is_url_safe, 16..=ANY),
    token("groq", "gsk_", is_alnum, 20..=ANY),
    token("aws", "AKIA", is_upper, 16..=16),
    token("aws", "ASIA", is_upper, 16..=16),
    token("github", "ghp_", is_alnum, 16..=ANY),
    token("github", "gho_", is_alnum, 16..=ANY),
    token("github", "ghu_", is_alnum, 16..=ANY),
    token("github", "ghs_", is_alnum, 16..=ANY),
    token("github", "ghr_", is_alnum, 16..=ANY),
    token("github", "github_pat_", is_word, 22..=ANY),
    token("gitlab", "glpat-", is_url_safe, 16..=ANY),
    token("stripe", "sk_live_", is_alnum, 10..=ANY),
    token("stripe", "sk_test_", is_alnum, 10..=ANY),
    token("stripe", "rk_live_", is_alnum, 10..=ANY),
    token("stripe", "rk_test_", is_alnum, 10..=ANY),
    token("stripe", "whsec_", is_base64, 20..=ANY),
    token("google", "AIza", is_url_safe, 35..=ANY),
    token("slack", "xoxa-", is_url_safe, 10..=ANY),
    token("slack", "xoxb-", is_url_safe, 10..=ANY),
    token("slack", "xoxe-", is_url_safe, 10..=ANY),
    token("slack", "xoxo-", is_url_safe, 10..=ANY),
    token("slack", "xoxp-", is_url_safe, 10..=ANY),
    token("slack", "xoxr-", is_url_safe, 10..=ANY),
    token("slack", "xoxs-", is_url_safe, 10..=ANY),
    token("slack", "xapp-", is_url_safe, 10..=ANY),
    token("twilio", "SK", is_lower_hex, 32..=32),
    token("npm", "npm_", is_alnum, 30..=ANY),
    token("huggingface", "hf_", is_alnum, 30..=ANY),
    token("nearai", "sess_", is_alnum, 32..=ANY),
    token("ironclaw", "icsbx_", is_url_safe, 16..=ANY),
];

const fn token(kind: &'static str, prefix: &'static str, body: fn(u8) -> bool, length: RangeInclusive<usize>) -> Token {
    Token { kind, prefix, body, length }
}

pub(super) const SHAPES: [Shape; 6] = [
    Shape { kind: "jwt", anchor: "eyJ", at: jwt, more: is_jwt },
    Shape { kind: "sendgrid", anchor: "SG.", at: sendgrid, more: is_url_safe },
    Shape { kind: "telegram", anchor: ":AA", at: telegram, more: is_url_safe },
    Shape { kind: "private_key", anchor: BEGIN, at: private_key, more: is_key_body },
    Shape { kind: "bearer", anchor: EARER, at: bearer, more: is_token68 },
    Shape { kind: "basic", anchor: ASIC, at: basic, more: is_token68 },
];

/// What is found without an anchor: `://` stands nearly everywhere, and seldom with a password behind it.
pub(super) const URL_PASSWORD: &str = "url_password";

/// Whether a mark can name `kind`.
pub(in crate::finish::scrub) fn is_kind(kind: &str) -> bool {
    kind == URL_PASSWORD
        || TOKENS.iter().any(|token| token.kind == kind)
        || SHAPES.iter().any(|shape| shape.kind == kind)
}

impl Token {
    /// The token at `start`.
    pub(super) fn at(&self, text: &[u8], start: usize) -> Option<Range<usize>> {
        let body = start + self.prefix.len();
        let end = starts_word(text, start).then(|| run(text, body, self.body))?;
        self.length.contains(&(end - body)).then_some(start..end)
    }
}

#[cfg(test)]
mod tests {
    use super::super::find;
    use super::*;
    use crate::finish::scrub::spans::Label;

    /// What is found in `text`, without what stands around it.
    #[track_caller]
    fn check(text: &str, expected: Option<(&str, &str)>) {
        let mut spans = Vec::new();
        find(text, &mut spans);
        let found = spans.first().map(|span| (span.label, &text[span.range.clone()]));
        assert_eq!(found, expected.map(|(kind, value)| (Label::Kind(tokens_kind(kind)), value)), "{text}");
    }

    fn tokens_kind(kind: &str) -> &'static str {
        let kinds = TOKENS.iter().map(|token| token.kind).chain(SHAPES.iter().map(|shape| shape.kind));
        kinds.chain([URL_PASSWORD]).find(|known| *known == kind).unwrap()
    }

    #[test]
    fn tokens_are_known_by_their_form() {
        let letters = "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0fGhIj1k2l3";
        for (kind, token) in [
            ("openai", format!("sk-{}", &letters[..20])),
            ("openai", "sk-abcdefghijklmnopqrstuvwxyz".into()),
            ("openai", format!("sk-proj-{}-{}_x", &letters[..20], &letters[..9])),
            ("openai", format!("sk-svcacct-{letters}")),
            ("openai", format!("sk-admin-{letters}")),
            ("anthropic", format!("sk-ant-api03-{}-AA", &letters[..24])),
            ("anthropic", format!("sk-ant-oat01-{letters}")),
            ("openrouter", format!("sk-or-v1-{letters}")),
            ("groq", format!("gsk_{letters}")),
            ("aws", "AKIAIOSFODNN7EXAMPLE".into()),
            ("aws", "ASIAIOSFODNN7EXAMPLE".into()),
            ("github", format!("ghp_{}", &letters[..36])),
            ("github", format!("gho_{}", &letters[..36])),
            ("github", format!("ghu_{}", &letters[..36])),
            ("github", format!("ghs_{}", &letters[..36])),
            ("github", format!("ghr_{}", &letters[..36])),
            ("github", format!("github_pat_{}_{letters}", &letters[..22])),
            ("gitlab", format!("glpat-{}", &letters[..20])),
            ("stripe", format!("sk_live_{}", &letters[..24])),
            ("stripe", format!("rk_test_{}", &letters[..24])),
            ("stripe", format!("whsec_{}", &letters[..32])),
            ("google", format!("AIza{}", &letters[..35])),
            ("slack", format!("xoxb-1234567890-{}", &letters[..24])),
            ("slack", format!("xapp-1-A0123-{}", &letters[..24])),
            ("twilio", "SK0123456789abcdef0123456789abcdef".into()),
            ("sendgrid", format!("SG.{}.{letters}", &letters[..22])),
            ("npm", format!("npm_{}", &letters[..36])),
            ("huggingface", format!("hf_{}", &letters[..34])),
            ("nearai", format!("sess_{}", &letters[..32])),
            ("ironclaw", format!("icsbx_{}-_", &letters[..20])),
            ("telegram", format!("123456789:AA{}", &letters[..33])),
            ("jwt", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl".into()),
            ("jwt", "eyJhbGciOiJkaXIiLCJlbmMiOiJBMTI4R0NNIn0..aXY.Y2lwaGVy.dGFn".into()),
        ] {
            for (before, after) in [("", ""), ("x='", "'"), ("(", ")"), ("\\n", "\\n"), ("%3D", "&"), ("ä", "ä")] {
                check(&format!("{before}{token}{after}"), Some((kind, &token)));
            }
        }
    }

    #[test]
    fn what_an_authorization_holds_is_known_by_its_scheme() {
        let token = "aB3dE6gH9j.K2mN5p~Q8sT1v/W4yZ7bC==";
        for before in ["Authorization: Bearer ", "{\"authorization\": \"bearer ", "Bearer ", "\\nBearer ", "%22bearer "]
        {
            check(&format!("{before}{token}\""), Some(("bearer", token)));
        }
        for pair in ["QWxhZGRpbjpvcGVuIHNlc2FtZQ==", "dXNlcjpwYXNzd29yZA", "Onh5eg=="] {
            check(&format!("Proxy-Authorization: Basic {pair}\r\n"), Some(("basic", pair)));
            check(&format!("-H 'authorization: basic {pair}'"), Some(("basic", pair)));
        }
        for text in [
            "Bearer authentication_scheme_parameters",
            "Bearer abc123",
            "Bearer {token_of_the_service_1}",
            "forbearer aB3dE6gH9jK2mN5pQ8sT1vW4yZ7b",
            "earer aB3dE6gH9jK2mN5pQ8sT1vW4yZ7b",
            "Basic authentication",
            "Basic aB3dE6gH9jK2mN5pQ8sT1vW4yZ7b",
            "basic QWxhZGRpbg==",
            "Basic YWdlbnQ6",
            "Basic ",
            "asic dXNlcjpwYXNzd29yZA",
        ] {
            check(text, None);
        }
    }

    #[test]
    fn passwords_in_urls_and_private_keys_are_known_by_their_form() {
        for (text, password) in [
            ("https://user:pass@host/path", "pass"),
            ("mongodb+srv://app:p%40ss@cluster0.example.net/db", "p%40ss"),
            ("postgres://app:p@ss:word@localhost:5432/db", "p@ss:word"),
            ("redis://:hunter2@10.0.0.1", "hunter2"),
            ("https://user:pässwörd@host", "pässwörd"),
            ("see https://example.com/@x and a@b.c, then ftp://u:pa@ss@host/@", "pa@ss"),
        ] {
            check(text, Some(("url_password", password)));
        }
        for label in ["RSA PRIVATE KEY", "PRIVATE KEY", "OPENSSH PRIVATE KEY", "PGP PRIVATE KEY BLOCK"] {
            let body = "MIIEpAIBAAKCAQEA1c7+9z5Pad7OejecsQ0bu3aumQ";
            let block = format!("-----BEGIN {label}-----\nVersion: x\n{body}\n-----END {label}-----");
            check(&format!("key: {block}\nrest"), Some(("private_key", &block)));
            let cut = format!("-----BEGIN {label}-----\\n{body}");
            check(&format!("{cut}\" rest"), Some(("private_key", &cut)));
        }
        let block =
            "-----BEGIN PRIVATE KEY-----\nMIIEpAIBAAKCAQEA1c7+9z5Pad7OejecsQ0bu3aumQ\n-----END PRIVATE KEY-----";
        check(&format!("sk{block}"), Some(("private_key", block)));
    }

    #[test]
    fn what_only_looks_alike_stays() {
        for text in [
            "task-abcdefghijklmnopqrstuvwxyz",
            "sk-short",
            "sk-fading-circle-container-element",
            "AKIAIOSFODNN7EXAMPLEANDMORE",
            "xAKIAIOSFODNN7EXAMPLE",
            "SK0123456789abcdef0123456789abcdef0",
            "SK",
            "SKSKSK",
            "DISK0123456789abcdef0123456789abcdef",
            "ghp_short",
            "pk_live_aB3dE6gH9jK2mN5pQ8sT1vW4",
            "sess_aB3dE6gH9jK2mN5pQ8sT1vW4",
            "sess_id_of_the_connection_that_is_open_now",
            "icsbx_short",
            "xoxz-1234567890-abcdef and xox",
            "hf_hub_download and npm_config_registry",
            "SG.Controllers.Something.Else.That.Is.Very.Long",
            "12:30:AA",
            "eyJub3QiOiJhIGp3dCJ9.eyJzdWIiOiIxIn0.x",
            "eyJhbGciOiJIUzI1NiJ9",
            "https://example.com/a@b:c and ssh://git@github.com",
            "https://user:{password}@host, https://user:$PASS@host, https://user:<pass>@host, https://u:@host",
            "//u:p@host /u:p@host :u:p@host u:p@host @ @@ ://@ x://u@host:80/p:q@r",
            "-----BEGIN CERTIFICATE-----\nMIIEpAIBAAKCAQEA1c7+9z5Pad7OejecsQ0bu3aumQ\n-----END CERTIFICATE-----",
            "begin = \"-----BEGIN PRIVATE KEY-----\"\nend = \"-----END PRIVATE KEY-----\"",
        ] {
            check(text, None);
        }
    }
}
