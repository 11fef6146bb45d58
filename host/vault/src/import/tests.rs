use proptest::prelude::*;

use super::*;
use crate::value::MAX_VALUE;

fn parsed(text: &str) -> Vec<(String, String)> {
    let import = Import::parse(text).unwrap_or_else(|error| panic!("{text:?}: {error}"));
    import.secrets.iter().map(|(name, value)| (name.to_string(), value.expose().to_owned())).collect()
}

/// The numbers of the bad lines with what is wrong, having checked that no error repeats a value.
fn faults(text: &str) -> Vec<String> {
    let error = Import::parse(text).expect_err(text);
    let all = format!("{error} {error:?}");
    assert!(!all.contains("hunter2"), "{all}");
    let ImportError::Lines(lines) = error else { panic!("{error}") };
    lines.iter().map(|line| format!("{} {:?}", line.line, line.fault)).collect()
}

#[test]
fn env_lines_as_their_programs_write_them() {
    for (line, value) in [
        ("K=v", "v"),
        ("export K=v", "v"),
        ("export\tK=v", "v"),
        ("  K = v  ", "v"),
        ("K=a=b==", "a=b=="),
        ("K=a b", "a b"),
        ("K=v # comment", "v"),
        ("K=v#not", "v#not"),
        ("K=p$a${b}`c`", "p$a${b}`c`"),
        ("K='v' # comment", "v"),
        ("K='a\\nb # \"c\"'", "a\\nb # \"c\""),
        ("K=\"a # b\"", "a # b"),
        (r#"K="a\n\t\r\"\\\$\'\` $x""#, "a\n\t\r\"\\$'` $x"),
        ("K=\" v \"", " v "),
        ("K=v\r", "v"),
        ("K=ü", "ü"),
    ] {
        assert_eq!(parsed(line), [("k".to_owned(), value.to_owned())], "{line:?}");
    }
    assert_eq!(parsed("\u{feff}# head\n\n  # more\nA=1\r\nB=2\n").len(), 2);
    assert!(parsed("").is_empty());
    assert!(parsed("export=v").iter().any(|(name, _)| name == "export"));
}

#[test]
fn bad_env_lines_are_all_named_and_never_repeated() {
    let text = "A=1\nhunter2\n=hunter2\nB=\nC='hunter2\nD=\"hunter2\nE='hunter2'x\nF=\"hunter2\\x\"\nG=a'hunter2'\n\
                H=hunter2\\\na=hunter2\nX Y=hunter2\nI=#hunter2\nJ='hunter2'# no\n9=hunter2\nK=hunter2\0";
    assert_eq!(
        faults(text),
        [
            "2 NotAssignment",
            "3 Name",
            "4 Value(Empty)",
            "5 Unclosed",
            "6 Unclosed",
            "7 AfterQuote",
            "8 Escape",
            "9 Ambiguous",
            "10 Ambiguous",
            "11 Repeated(1)",
            "12 Name",
            "13 Value(Empty)",
            "14 AfterQuote",
            "15 Name",
            "16 Value(Nul)",
        ]
    );
    assert_eq!(faults(&format!("A={}", "x".repeat(MAX_VALUE + 1))), ["1 Value(TooLong)"]);
}

#[test]
fn a_key_that_runs_over_several_lines_gives_away_nothing() {
    let text = "KEY=-----BEGIN PRIVATE KEY-----\nhunter2hunter2\nhunter2==\n-----END PRIVATE KEY-----";
    assert_eq!(faults(text), ["2 NotAssignment", "4 NotAssignment"]);
}

#[test]
fn many_bad_lines_are_counted() {
    let error = Import::parse(&"hunter2\n".repeat(SHOWN + 5)).unwrap_err().to_string();
    assert!(error.ends_with("and 5 more") && error.len() < 2000, "{error}");
}

#[test]
fn json_objects_of_texts() {
    let text = "{\n \"GITHUB_TOKEN\": \"a\\n\\\"\\\\\\/\\u00e4\\ud83d\\ude00\\b\\f\",\n \"b.c-d\": \"plain\"}\n";
    let values = [("github_token", "a\n\"\\/ä😀\u{8}\u{c}"), ("b.c-d", "plain")];
    assert_eq!(parsed(text), values.map(|(name, value)| (name.to_owned(), value.to_owned())));
    assert!(parsed("{}").is_empty());
    assert_eq!(parsed("\u{feff} {\"a\":\"1\"}").len(), 1);
}

#[test]
fn bad_json_is_named_by_line_and_never_repeated() {
    for (text, expected) in [
        (
            "{\n\"a\": \"hunter2\",\n\"b\": 1,\n\"c\": null,\n\"d\": [\"hunter2\"]}",
            &["3 NotString", "4 NotString", "5 NotString"][..],
        ),
        ("{\n\"a\": \"hunter2\"\n\"b\": \"hunter2\"}", &["3 Json"]),
        ("{\"a\": \"hunter2\"} hunter2", &["1 Json"]),
        ("{\"a\": \"hunter2", &["1 Json"]),
        ("{\"A\": \"x\",\n\"a\": \"hunter2\"}", &["2 Repeated(1)"]),
        ("{\"a\": \"\"}", &["1 Value(Empty)"]),
        ("{\"\": \"hunter2\"}", &["1 Name"]),
        ("{\"a\": \"\\ud83d hunter2\"}", &["1 Json"]),
        ("{\"a\": \"\\ude00\"}", &["1 Json"]),
        ("{\"a\": \"hunter2\\u0000\"}", &["1 Value(Nul)"]),
    ] {
        assert_eq!(faults(text), expected, "{text}");
    }
}

#[test]
fn names_that_cannot_stay_are_reported() {
    let import = Import::parse("A=1\nb=2\nC.D=3").unwrap();
    let renamed: Vec<_> = import.renamed.iter().map(|r| (r.line, r.from.as_str(), r.to.as_str())).collect();
    assert_eq!(renamed, [(1, "A", "a"), (3, "C.D", "c.d")]);
}

#[test]
fn a_file_is_read_within_its_bounds() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join(".env");
    let read = |bytes: &[u8]| {
        fs_err::write(&path, bytes).unwrap();
        Import::read(&path)
    };
    let error = Import::read(&path).unwrap_err();
    assert!(matches!(error, ImportError::Io { .. }) && error.to_string().contains(path.to_str().unwrap()));
    assert_eq!(read(b"A=1").unwrap().secrets.len(), 1);
    assert!(matches!(read(b"A=\xff"), Err(ImportError::NotText(_))));
    assert!(matches!(read(&vec![b'#'; MAX_IMPORT]), Ok(import) if import.secrets.is_empty()));
    assert!(matches!(read(&vec![b'#'; MAX_IMPORT + 1]), Err(ImportError::TooLong(_))));
}

proptest! {
    #[test]
    fn json_values_come_back_as_serde_reads_them(values in proptest::collection::btree_map("[a-z]{1,8}", "[^\0]{1,40}", 0..6)) {
        for text in [serde_json::to_string(&values).unwrap(), serde_json::to_string_pretty(&values).unwrap()] {
            prop_assert_eq!(parsed(&text), values.clone().into_iter().collect::<Vec<_>>());
        }
    }

    #[test]
    fn escaped_json_values_come_back(value in "[^\0]{1,20}") {
        let escaped: String = value.encode_utf16().map(|unit| format!("\\u{unit:04X}")).collect();
        prop_assert_eq!(parsed(&format!("{{\"a\":\"{escaped}\"}}")), [("a".to_owned(), value)]);
    }

    #[test]
    fn values_between_quotation_marks_come_back(value in "[^\0'\r\n]{1,40}") {
        prop_assert_eq!(parsed(&format!("A='{value}'")), [("a".to_owned(), value.clone())]);
        let escaped = value.replace('\\', "\\\\").replace('"', "\\\"");
        prop_assert_eq!(parsed(&format!("export A=\"{escaped}\" # c")), [("a".to_owned(), value)]);
    }

    #[test]
    fn no_text_is_a_panic_and_every_bad_line_exists(text in "[{}\\[\\]\":, a=A'\\\\#u0dD8\n\t]{0,60}|.{0,40}") {
        if let Err(ImportError::Lines(bad)) = Import::parse(&text) {
            prop_assert!(!bad.is_empty());
            let lines = text.split('\n').count();
            prop_assert!(bad.iter().all(|bad| (1..=lines).contains(&bad.line)));
        }
    }
}
