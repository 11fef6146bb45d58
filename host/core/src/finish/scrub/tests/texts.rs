//! Texts: what goes and what stays.

use super::*;

#[test]
fn every_spelling_of_a_known_value_goes() {
    for text in [
        "rf_live_9f+Zq/7Kp~2x=Vd_",
        "cmZfbGl2ZV85ZitacS83S3B+Mng9VmRf",
        "cmZfbGl2ZV85ZitacS83S3B-Mng9VmRf",
        "72665f6c6976655f39662b5a712f374b707e32783d56645f",
        "72665F6C6976655F39662B5A712F374B707E32783D56645F",
        "rf_live_9f%2BZq%2F7Kp~2x%3DVd_",
        "rf_live_9f%2bZq%2f7Kp~2x%3dVd_",
        "rf_live_9f+Zq\\/7Kp~2x=Vd_",
    ] {
        check(text, "[REDACTED:svc]");
        check(&format!("KEY = \"{text}\"\n"), "KEY = \"[REDACTED:svc]\"\n");
    }
    check("Basic YWdlbnQ6cmZfbGl2ZV85ZitacS83S3B+Mng9VmRf", "Basic [REDACTED:svc]");
    check("YWdlbnQ6cmZfbGl2ZV85ZitacS83S3B+Mng9VmRf", "YWdlbnQ6[REDACTED:svc]");
    check("eHJmX2xpdmVfOWYrWnEvN0twfjJ4PVZkXw==", "eH[REDACTED:svc]==");
    check_stays("hello world");
}

#[test]
fn escaped_spellings_go() {
    let scrubber = knowing(&[("q", "pä\"ss <7>&\\x")]);
    for text in [
        "pä\\\"ss <7>&\\\\x",
        "p\\u00e4\\\"ss <7>&\\\\x",
        "pä\\\"ss \\u003c7\\u003e\\u0026\\\\x",
        "p%C3%A4%22ss+%3C7%3E%26%5Cx",
        "p%c3%a4%22ss%20%3c7%3e%26%5cx",
    ] {
        assert_eq!(scrubber.text(text), "[REDACTED:q]", "{text}");
    }
}

#[test]
fn overlapping_known_values_leave_nothing_of_either() {
    let scrubber = knowing(&[("a", "abcdefgh"), ("b", "efghijkl"), ("odd]name", "12\"345")]);
    assert_eq!(scrubber.text("-abcdefghijkl-"), "-[REDACTED:b]-");
    assert_eq!(scrubber.text("12\"345"), "[REDACTED:odd_name]");
}

#[test]
fn the_names_of_secrets_are_not_looked_into() {
    let scrubber = knowing(&[("letmein", "letmein"), ("x", "REDACTED")]);
    let clean = scrubber.text("letmein REDACTED").into_owned();
    assert_eq!(clean, "[REDACTED:letmein] [REDACTED:x]");
    assert_eq!(scrubber.text(&clean), clean);
    assert_eq!(scrubber.text("[REDACTED:nobody letmein]"), "[[REDACTED:x]:nobody [REDACTED:letmein]]");
}

#[test]
fn short_secrets_are_refused() {
    let error = Scrubber::new(vec![("pin".into(), Secret::new("12345".into()))]).unwrap_err();
    assert!(error.to_string().contains("`pin`"), "{error}");
    assert!(!format!("{error} {error:?}").contains("12345"));
}

#[test]
fn a_scrubber_shows_no_secret() {
    assert_eq!(format!("{:?}", scrubber()), "Scrubber { known: {\"svc\"} }");
}

#[test]
fn credentials_after_a_name_go() {
    for (text, expected) in [
        ("api_key=supersecretvalue123", "api_key=[REDACTED:key#1]"),
        ("token: mysecrettoken12345", "token: [REDACTED:token#1]"),
        ("bearer: eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.abc", "bearer: [REDACTED:jwt#1]"),
        ("authorization=eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9", "authorization=[REDACTED:authorization#1]"),
        ("Authorization: Bearer abcdef1234567890", "Authorization: Bearer [REDACTED:authorization#1]"),
        ("authorization: Basic dTpw", "authorization: Basic [REDACTED:basic#1]"),
        ("use Bearer zz11yy22xx33 here", "use Bearer [REDACTED:token#1] here"),
        ("x \"api_key\": \"abcdef1234567890\"", "x \"api_key\": \"[REDACTED:key#1]\""),
        (r#"got {\"password\":\"correct-horse-9\"}"#, r#"got {\"password\":\"[REDACTED:password#1]\"}"#),
        (r#"body={"password":"pa\"ss_tail_9871","n":1} ok"#, r#"body={"password":"[REDACTED:password#1]","n":1} ok"#),
        (r#"cut {"password":"hunter2aa"#, r#"cut {"password":"[REDACTED:password#1]"#),
        ("password=hunter2", "password=[REDACTED:password#1]"),
        ("Password: P@ss!word", "Password: [REDACTED:password#1]"),
        ("the password is hunter2.", "the password is [REDACTED:password#1]"),
        ("tool --password hunter2 --quiet", "tool --password [REDACTED:password#1] --quiet"),
        ("PGPASSWORD=hunter2 psql", "PGPASSWORD=[REDACTED:password#1] psql"),
        ("DB_PASS='hunter2'", "DB_PASS='[REDACTED:password#1]'"),
        ("AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "AWS_SECRET_ACCESS_KEY=[REDACTED:key#1]"),
        ("API Key: abcdef1234567890", "API Key: [REDACTED:key#1]"),
        ("config['clientSecret'] = 'abc123def456'", "config['clientSecret'] = '[REDACTED:secret#1]'"),
        ("https://h.test/cb?access_token=tt55tt55tt55&n=1", "https://h.test/cb?access_token=[REDACTED:token#1]&n=1"),
        ("Cookie: sid=s-4477-aa; theme=dark\nHost: x", "Cookie: [REDACTED:cookie#1]\nHost: x"),
        ("curl -H 'Cookie: a=b' x", "curl -H 'Cookie: [REDACTED:cookie#1]' x"),
        ("token = 550e8400-e29b-41d4-a716-446655440000", "token = [REDACTED:token#1]"),
    ] {
        check(text, expected);
    }
}

#[test]
fn what_is_no_credential_stays() {
    for text in [
        "",
        "Ordinary prose, with the words password, token and secret: see the documentation.",
        "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "checksum = \"sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08\"",
        "commit c70dfa7a2b9d4e5f60718293a4b5c6d7e8f90123",
        "primary_key = user_account_id",
        "password = getPassword()",
        "password = user.get_password2(ctx)",
        "postgres://localhost/db",
        "DATABASE_URL=sqlite:./x.db",
        "VIRTUAL_HOST=example.com",
        "max_tokens=4096000000",
        "tokens: 12345678",
        "token: 12345678",
        "token := f(ctx)",
        "if token == expectedToken {",
        "if token == \"abcdef1234567890\" {",
        "secret: see documentation",
        "connect(token=token,",
        "  retry_secret_limit=3)",
        "SESSION_KEY = load()[\"session\"]",
        "dsn = f\"mysql://{user}@{host}:{port}/{db}\"",
        "dsn = f\"mysql://{user}:{password}@{host}/{db}\"",
        "url = \"https://$USER:$PASS@host/\"",
        "ssh://git@github.com/o/r.git and git@github.com:o/r.git",
        "password: String, token: Option<String>, secret: &'static str",
        "let token = self.tokens.next()?;",
        "fn login(password: *const u8, secret: &[u8; 32])",
        "api_key = os.environ[\"API_KEY\"]",
        "api_key: ${API_KEY}",
        "headers[\"Authorization\"] = \"Bearer \" + token",
        "headers = {\"Authorization\": f\"Bearer {token2}\"}",
        "password: 'Enter your password'",
        "token_type: bearer, next_page_token=CAUQAA12345678",
        "secret_name: my-database-credentials-v2",
        "PasswordAuthentication no",
        "password=********",
        "Bearer authentication is described in RFC 6750",
        "sort_key: created_at_20240101",
        "token => token.value",
        "/run/secrets/db, tokens/2024-01-01.json, keys[0]",
        "risk-assessment-for-the-whole-organisation and sk-fading-circle-container-element",
        "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAUAAAAFCAYAAACNbyblAAAAHElEQVQI12P4",
    ] {
        check_stays(text);
    }
}

#[test]
fn source_code_comes_back_as_it_was_but_for_the_known_value() {
    let lines = "connect(token=token,\n  retry_secret_limit=3)\nSESSION_KEY = load()[\"session\"]\n\
        dsn = f\"mysql://{user}@{host}:{port}/{db}\"\n";
    check(&format!("{lines}KEY = \"{SECRET}\"\n"), &format!("{lines}KEY = \"[REDACTED:svc]\"\n"));
}

#[test]
fn overlapping_patterns_become_one_mark() {
    let key = format!(
        "-----BEGIN OPENSSH PRIVATE KEY-----\n{}\nAKIAIOSFODNN7EXAMPLE\n-----END OPENSSH PRIVATE KEY-----",
        "A".repeat(70)
    );
    check(&key, "[REDACTED:private_key#1]");
    let text = "AKIAIOSFODNN7EXAMPLE and sk-abcdefghijklmnopqrstuvwxyz";
    check(text, "[REDACTED:aws#1] and [REDACTED:openai#1]");
    check("Authorization: Bearer ghp_abcdefghijklmnopqrst", "Authorization: Bearer [REDACTED:github#1]");
}
