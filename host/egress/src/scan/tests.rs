//! The scanner by itself.

mod reference;
mod responses;

use std::convert::Infallible;
use std::io;
use std::path::Path;

use futures::executor::block_on;
use futures::{FutureExt, TryStreamExt};
use http::Method;
use http::header::LOCATION;
use proptest::prelude::*;

use super::*;
use crate::decode::tests::chunks;

const SECRET: &str = "rf_live_9f+Zq/7Kp~2x=Vd_";

fn knowing(secrets: &[(&str, &str)]) -> Scanner {
    let secrets = secrets.iter().map(|(name, value)| ((*name).to_owned(), Secret::new((*value).to_owned())));
    Scanner::new(&secrets.collect::<Vec<_>>()).unwrap()
}

fn scanner() -> Scanner {
    knowing(&[("svc", SECRET)])
}

fn streamed(scanner: &Scanner, body: &[u8], length: usize) -> Vec<u8> {
    let stream = scanner.stream(chunks(body, length));
    block_on(stream.try_fold(Vec::new(), async |all, chunk| Ok([all, chunk.to_vec()].concat()))).unwrap()
}

/// However the body is cut, and as a text and a header too.
#[track_caller]
fn check_with(scanner: &Scanner, body: &str, expected: &str) {
    for length in 1..=body.len() + 1 {
        assert_eq!(String::from_utf8(streamed(scanner, body.as_bytes(), length)).unwrap(), expected, "{length}");
    }
    assert_eq!(scanner.text(body), expected);
    if let Ok(value) = HeaderValue::from_str(body) {
        let mut headers = HeaderMap::from_iter([(LOCATION, value)]);
        scanner.headers(&mut headers);
        assert_eq!(headers["location"], expected);
    }
}

#[track_caller]
fn check(body: &str, expected: &str) {
    check_with(&scanner(), body, expected);
}

#[test]
fn every_spelling_goes() {
    for (body, expected) in [
        (SECRET, "[REDACTED:svc]"),
        ("cmZfbGl2ZV85ZitacS83S3B+Mng9VmRf", "[REDACTED:svc]"),
        ("cmZfbGl2ZV85ZitacS83S3B-Mng9VmRf", "[REDACTED:svc]"),
        ("72665f6c6976655f39662b5a712f374b707e32783d56645f", "[REDACTED:svc]"),
        ("72665F6C6976655F39662B5A712F374B707E32783D56645F", "[REDACTED:svc]"),
        ("k=rf_live_9f%2BZq%2F7Kp~2x%3DVd_&x=1", "k=[REDACTED:svc]&x=1"),
        ("k=rf_live_9f%2bZq%2f7Kp%7e2x%3dVd_&x=1", "k=[REDACTED:svc]&x=1"),
        ("Basic YWdlbnQ6cmZfbGl2ZV85ZitacS83S3B+Mng9VmRf", "Basic YWdlbnQ6[REDACTED:svc]"),
        ("eHJmX2xpdmVfOWYrWnEvN0twfjJ4PVZkXw==", "eH[REDACTED:svc]=="),
        (r#"{"k":"rf_live_9f+Zq\/7Kp~2x=Vd_"}"#, r#"{"k":"[REDACTED:svc]"}"#),
        (r#"{"k":"rf_live_9f\u002BZq/7Kp~2x=Vd_"}"#, r#"{"k":"[REDACTED:svc]"}"#),
        (r#"{"k":"rf_live_9f+Zq/7Kp~2x\u003dVd_"}"#, r#"{"k":"[REDACTED:svc]"}"#),
        (r#"{"a":"Basic YTpyZl9saXZlXzlmK1pxLzdLcH4yeD1WZF8="}"#, r#"{"a":"Basic YTp[REDACTED:svc]="}"#),
        (r#"{"a":"Basic YTpyZl9saXZlXzlmK1pxLzdLcH4yeD1WZF8\u003d"}"#, r#"{"a":"Basic YTp[REDACTED:svc]\u003d"}"#),
        (r#"{"a":"cmZfbGl2ZV85ZitacS83S3B\u002BMng9VmRf"}"#, r#"{"a":"[REDACTED:svc]"}"#),
    ] {
        check(body, expected);
    }
}

#[test]
fn what_is_only_like_it_stays() {
    for body in ["", "hello world", "rf_live_9f+Zq/7Kp~2x=Vd", "rf_live_rf_live_9f+Zq/7Kp~2x=Vd-", "[REDACTED:svc]"] {
        check(body, body);
    }
}

#[test]
fn values_that_overlap_or_touch_share_a_mark() {
    let scanner = knowing(&[("a", "abcdefgh"), ("b", "efghijklm"), ("inner", "ijklmnop")]);
    check_with(&scanner, "-abcdefghijklm-", "-[REDACTED:b]-");
    check_with(&scanner, "-abcdefghabcdefgh-", "-[REDACTED:a]-");
    check_with(&scanner, "abcdefgh abcdefgh", "[REDACTED:a] [REDACTED:a]");
    check_with(&scanner, "abcdefghijklmnop", "[REDACTED:b]");
    let endless = "abcdefgh".repeat(1000);
    assert_eq!(streamed(&scanner, endless.as_bytes(), 3), b"[REDACTED:a]");
}

#[test]
fn the_white_space_around_a_value_may_be_missing() {
    let scanner = knowing(&[("svc", " \trf_live_secret\r\n")]);
    check_with(&scanner, "<rf_live_secret>", "<[REDACTED:svc]>");
    check_with(&scanner, "<\"rf_live_secret\\r\\n\">", "<\"[REDACTED:svc]\\r\\n\">");
    check_with(&scanner, "< \trf_live_secret\r\n>", "<[REDACTED:svc]>");
}

#[test]
fn short_values_are_named_and_not_looked_for() {
    let scanner = knowing(&[("pin", "1234567"), ("spaces", "abc         "), ("svc", SECRET), ("none", "")]);
    assert_eq!(scanner.skipped(), ["pin", "spaces", "none"]);
    check_with(&scanner, "1234567 abc         ", "1234567 abc         ");
    assert_eq!(streamed(&knowing(&[]), b"anything", 2), b"anything");
}

#[test]
fn a_scanner_shows_names_only() {
    assert_eq!(format!("{:?}", scanner()), "Scanner { known: [{\"svc\"}], skipped: [] }");
}

#[test]
fn only_what_may_be_part_of_a_value_is_held_back() {
    for (chunk, given) in [
        ("data: 1\n\n", Some("data: 1\n\n")),
        ("data: rf_", Some("data: ")),
        ("rf_live_9f+Zq/7Kp~2x=Vd", None),
        (SECRET, None), // the next chunk may hold another one, which would share the mark
    ] {
        let body = stream::iter([Ok::<_, Infallible>(Bytes::from(chunk))]).chain(stream::pending());
        let first = Box::pin(scanner().stream(body)).next().now_or_never();
        assert_eq!(first.flatten().map(Result::unwrap), given.map(Bytes::from), "{chunk}");
    }
}

#[test]
fn after_an_error_nothing_follows() {
    let body = stream::iter([Ok(Bytes::from("a rf_live_9f")), Err(io::Error::other("reset"))]);
    let mut stream = Box::pin(scanner().stream(body));
    assert_eq!(block_on(stream.next()).unwrap().unwrap(), "a ");
    assert_eq!(block_on(stream.next()).unwrap().unwrap_err().to_string(), "reset");
    assert!(block_on(stream.next()).is_none());
}

#[test]
fn headers_hold_nothing_in_values_or_names() {
    let mut headers = HeaderMap::new();
    headers.append("set-cookie", HeaderValue::from_static("k=rf_live_9f%2BZq%2F7Kp~2x%3DVd_; Path=/"));
    headers.append("set-cookie", HeaderValue::from_static("a=b"));
    headers.append("x-bin", HeaderValue::from_bytes(b"\xe4rf_live_9f+Zq/7Kp~2x=Vd_\xff").unwrap());
    headers.append("x-72665f6c6976655f39662b5a712f374b707e32783d56645f", HeaderValue::from_static("1"));
    scanner().headers(&mut headers);
    assert_eq!(headers.get_all("set-cookie").iter().collect::<Vec<_>>(), ["k=[REDACTED:svc]; Path=/", "a=b"]);
    assert_eq!(headers["x-bin"].as_bytes(), b"\xe4[REDACTED:svc]\xff");
    assert_eq!(headers.len(), 3);
}

/// In the name of a header, libraries write all letters small.
#[test]
fn a_value_in_the_name_of_a_header_is_found_whatever_its_letters() {
    let value = "Rf_Live_9fZq-7Kp";
    let scanner = knowing(&[("svc", value)]);
    for written in [value, "UmZfTGl2ZV85ZlpxLTdLc", "52665F4C6976655F39665A712D374B70", "%52%66_%4Cive"] {
        let name = HeaderName::from_bytes(format!("x-{written}-y").as_bytes()).unwrap();
        let mut headers = HeaderMap::from_iter([(name, HeaderValue::from_static("1"))]);
        let sent = Outgoing {
            method: Method::GET,
            url: "https://a.test/".parse().unwrap(),
            headers: headers.clone(),
            body: Bytes::new(),
        };
        scanner.headers(&mut headers);
        let is_whole = !written.contains('%');
        assert_eq!(headers.is_empty(), is_whole, "{written}");
        let leak = Leak::Value { secret: "svc".into(), place: "headers" };
        assert_eq!(scanner.outgoing(&sent).err(), is_whole.then_some(leak), "{written}");
    }
    // Elsewhere, another case is another value.
    check_with(&scanner, &value.to_lowercase(), &value.to_lowercase());
}

#[test]
fn a_request_of_the_guest_holds_no_known_value() {
    let clean = Outgoing {
        method: Method::POST,
        url: "https://a.test/{TOKEN}?q=1".parse().unwrap(),
        headers: HeaderMap::from_iter([(http::header::ACCEPT, HeaderValue::from_static("*/*"))]),
        body: Bytes::from("{\"a\":1}"),
    };
    assert_eq!(scanner().outgoing(&clean), Ok(()));
    let in_header = HeaderMap::from_iter([(http::header::ACCEPT, HeaderValue::from_static(SECRET))]);
    for (request, place) in [
        (Outgoing { url: format!("https://a.test/?q={SECRET}").parse().unwrap(), ..clean.clone() }, "URL"),
        (Outgoing { url: "https://a.test/rf_live_9f%2BZq%2F7Kp~2x%3DVd_".parse().unwrap(), ..clean.clone() }, "URL"),
        (Outgoing { headers: in_header, ..clean.clone() }, "headers"),
        (Outgoing { body: Bytes::from(format!("x{SECRET}")), ..clean.clone() }, "body"),
    ] {
        let result = scanner().outgoing(&request);
        assert_eq!(result, Err(Leak::Value { secret: "svc".into(), place }));
        assert!(!format!("{result:?}").contains(SECRET));
    }
}

#[test]
fn credentials_of_other_people_are_known_by_their_form() {
    let token = "ghp_aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0fGhI";
    check(&format!("a={token}&b={token}"), "a=[REDACTED:github#1]&b=[REDACTED:github#1]");
    check(&format!("{SECRET} {token}"), "[REDACTED:svc] [REDACTED:github#1]");
    check(
        "mongodb://app:hunter2@db/ AKIAIOSFODNN7EXAMPLE",
        "mongodb://app:[REDACTED:url_password#1]@db/ [REDACTED:aws#1]",
    );
    check("ghp_short sk-fading-circle-container", "ghp_short sk-fading-circle-container");
}

#[test]
fn a_guest_sends_no_credential_that_it_found() {
    let token = "glpat-aB3dE6gH9jK2mN5pQ8sT";
    let request = |query: &str, header: &str, body: &str| {
        let url = format!("https://a.test/x?q={query}");
        Request::new("POST", &url, [("accept", header.as_bytes())], format!("{{\"a\":\"{body}\"}}")).unwrap()
    };
    assert_eq!(scanner().written(&request("1", "*/*", "1")), Ok(()));
    for (request, place) in [
        (request(token, "*/*", "1"), "URL"),
        (request("1", token, "1"), "headers"),
        (request("1", "*/*", token), "body"),
    ] {
        let error = scanner().written(&request).unwrap_err();
        assert_eq!(error, Leak::Form { kind: "gitlab", place });
        assert!(!error.to_string().contains(token), "{error}");
        // The server may write such things into its own links.
        assert_eq!(scanner().outgoing(&request.to_outgoing()), Ok(()));
    }
}

/// All text files below `folder`, hidden and built ones left out.
fn sources(folder: &Path) -> Vec<Vec<u8>> {
    let entries = fs_err::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let visible = entries.filter(|path| !path.file_name().unwrap().to_string_lossy().starts_with('.'));
    let wanted =
        |path: &Path| path.extension().is_some_and(|e| ["rs", "toml", "md", "wit", "lock"].iter().any(|w| e == *w));
    visible
        .flat_map(|path| match path.is_dir() {
            true if path.ends_with("target") => Vec::new(),
            true => sources(&path),
            false if wanted(&path) => vec![fs_err::read(&path).unwrap()],
            false => Vec::new(),
        })
        .collect()
}

#[test]
fn the_sources_of_this_repository_stay_as_they_are() {
    let scanner = knowing(&[("a", "0mVYqxTzCqk4nA7wP1sL"), ("b", "correct-horse-9"), ("c", "dGhpcyBpcyBhIGtleQ==")]);
    let own = ["correct-horse-9", "0mVYqxTzCqk4nA7wP1sL"];
    let files = sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."));
    // The tests of the scrubber are full of credentials.
    let ordinary = |file: &&Vec<u8>| {
        known_form(file).is_none() && !own.iter().any(|own| String::from_utf8_lossy(file).contains(own))
    };
    let files: Vec<&Vec<u8>> = files.iter().filter(ordinary).collect();
    assert!(files.len() > 100, "{}", files.len());
    for file in files {
        assert!(streamed(&scanner, file, 4096) == *file, "{}", String::from_utf8_lossy(file));
    }
}

/// What an API answers: numbers, identifiers, digests, base64, escapes, links. It has no `@`, which could look like the
/// password in a URL.
fn api_responses() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        any::<f64>().prop_map(|number| number.to_string()),
        "\"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{12}\"",
        "\"[0-9a-f]{40,64}\"",
        "\"[A-Za-z0-9+/]{20,200}={0,2}\"",
        "\"https:\\\\?/\\\\?/[a-z]{3,9}\\.test/[a-z]{1,9}\\?q=(%[0-9A-F]{2}|[a-z+]){1,30}\"",
        "\"(\\\\u00[0-9a-f]{2}|\\\\n|[ -!#-?A-\\[\\]-~]){0,60}\"",
        "\"\\PC{0,40}\"",
    ];
    proptest::collection::vec(("[a-z_]{1,12}", leaf), 0..20)
        .prop_map(|members| members.into_iter().map(|(key, value)| format!("\"{key}\":{value},\n")).collect())
}

proptest! {
    #[test]
    fn what_holds_no_secret_stays_byte_for_byte(
        text in api_responses(),
        binary in proptest::collection::vec(any::<u8>(), 0..2000),
        length in 1usize..300,
    ) {
        let scanner = scanner();
        prop_assert_eq!(streamed(&scanner, text.as_bytes(), length), text.as_bytes());
        prop_assert_eq!(scanner.text(&text), text.as_str());
        prop_assert_eq!(streamed(&scanner, &binary, length), binary);
    }

    /// With letters so few that values, their beginnings and their overlaps are everywhere.
    #[test]
    fn the_borders_of_chunks_make_no_difference(
        body in "[ab]{0,200}", cuts in proptest::collection::vec(1usize..30, 1..20),
        // Some so short that they are searched for in short steps.
        (a, b) in prop_oneof![("[ab]{8,9}", "[ab]{10,12}"), ("[ab]{11,12}", "[ab]{13,15}")],
    ) {
        let scanner = knowing(&[("x", &a), ("y", &b)]);
        let whole = scanner.text(&body).into_owned();
        let mut rest = body.as_bytes();
        let chunks = cuts.into_iter().cycle().map_while(|cut| {
            let (chunk, after) = rest.split_at_checked(cut.min(rest.len())).filter(|(chunk, _)| !chunk.is_empty())?;
            rest = after;
            Some(Ok::<_, Infallible>(Bytes::copy_from_slice(chunk)))
        });
        let chunks: Vec<_> = chunks.collect();
        let stream = scanner.stream(stream::iter(chunks));
        let cut = block_on(stream.try_fold(Vec::new(), async |all, chunk| Ok([all, chunk.to_vec()].concat()))).unwrap();
        prop_assert_eq!(String::from_utf8(cut).unwrap(), whole.clone());
        // Every byte outside a mark was outside every value, and the other way round.
        prop_assert_eq!(whole, reference::redacted(&body, &[("x", &a), ("y", &b)]));
    }
}
