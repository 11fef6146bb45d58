//! Whole outputs and errors.

use std::time::Duration;

use serde_json::json;

use super::*;
use crate::error::{CallError, Failure, FailureKind, ToolError};
use crate::finish::scrub::Scrubbed;
use crate::output::{Body, Content, Media, RawOutput, Resource};

#[test]
fn equal_values_have_equal_numbers_within_one_output() {
    let raw = RawOutput {
        content: vec![Content::text("token=aaaa1111bbbb"), Content::text("token=cccc2222dddd token=aaaa1111bbbb")],
        structured: Some(json!({"token": "cccc2222dddd"})),
        ..RawOutput::default()
    };
    let output = scrubber().output(raw, Duration::ZERO).output;
    assert_eq!(output.content[0], Content::text("token=[REDACTED:token#1]"));
    assert_eq!(output.content[1], Content::text("token=[REDACTED:token#2] token=[REDACTED:token#1]"));
    assert_eq!(output.structured, Some(json!({"token": "[REDACTED:token#2]"})));
}

#[test]
fn every_part_of_an_output_is_scrubbed() {
    let media = Media { media_type: format!("image/{SECRET}"), data: SECRET.into() };
    let resource =
        |body| Content::Resource(Resource { uri: format!("file:///{SECRET}"), media_type: Some(SECRET.into()), body });
    let raw = RawOutput {
        content: vec![Content::Image(media), resource(Body::Text(SECRET.into())), resource(Body::Blob(SECRET.into()))],
        user_content: Some(vec![Content::Json { value: json!([SECRET]) }]),
        structured: Some(json!({"a": SECRET})),
        raw: Some(SECRET.into()),
        ..RawOutput::default()
    };
    let Scrubbed { output, structured_changed } = scrubber().output(raw, Duration::from_millis(3));
    let Content::Image(media) = &output.content[0] else { panic!("{output:?}") };
    assert_eq!(media, &Media { media_type: "image/[REDACTED:svc]".into(), data: SECRET.into() });
    let rest =
        serde_json::to_string(&(&output.content[1..], &output.user_content, &output.structured, &output.raw)).unwrap();
    assert!(!rest.contains("9f+Z") && !rest.contains("cmZfbGl2"), "{rest}");
    assert!(structured_changed);
    assert_eq!(output.duration, Duration::from_millis(3));
}

#[test]
fn a_blob_keeps_what_is_not_known() {
    let blob = |bytes: &[u8]| {
        let resource = Resource { uri: "file:///x".into(), media_type: None, body: Body::Blob(bytes.to_vec()) };
        let raw = RawOutput { content: vec![Content::Resource(resource.clone())], ..RawOutput::default() };
        assert_eq!(scrubber().output(raw, Duration::ZERO).output.content, [Content::Resource(resource)]);
    };
    blob(b"password=hunter2");
    blob(b"\xff\xfe");
}

#[test]
fn an_untouched_structured_result_says_so() {
    let scrubbed = scrubber().output(RawOutput::json(json!({"a": [1, "b"]})), Duration::ZERO);
    assert!(!scrubbed.structured_changed);
}

#[test]
fn failures_become_errors_without_secrets() {
    let failed = |kind, code: &str| {
        let failure = Failure { kind, code: code.into(), message: format!("no {SECRET}"), retry_after: None };
        scrubber().error("s__t", ToolError::Failed(failure))
    };
    let failed_as = |code: &str| CallError::Failed {
        tool: "s__t".into(),
        code: code.into(),
        message: "no [REDACTED:svc]".into(),
        retry_after: None,
    };
    assert_eq!(failed(FailureKind::Failed, "http.404"), failed_as("http.404"));
    assert_eq!(failed(FailureKind::NotFound, "with space"), failed_as("failed"));
    assert_eq!(failed(FailureKind::Failed, ""), failed_as("failed"));
    assert_eq!(failed(FailureKind::Failed, &"c".repeat(65)), failed_as("failed"));
    assert_eq!(failed(FailureKind::Failed, "ghp_abcdefghijklmnopqrst"), failed_as("failed"));
    assert_eq!(failed(FailureKind::AuthRequired, "x").code(), "auth_required");
    assert_eq!(failed(FailureKind::Unavailable, "x").code(), "unavailable");
    assert_eq!(failed(FailureKind::InvalidParams, "x").code(), "invalid_params");
}

#[test]
fn messages_are_scrubbed_then_cut_between_characters() {
    let error = scrubber().error("t", ToolError::Trapped(format!("{}{SECRET}{}", "x".repeat(4090), "ä".repeat(9))));
    let CallError::Trapped { message, .. } = error else { panic!("{error:?}") };
    assert_eq!(message, format!("{}[REDAC", "x".repeat(4090)));
    let error = scrubber().error("t", ToolError::Trapped(format!("x{}", "ä".repeat(4000))));
    let CallError::Trapped { message, .. } = error else { panic!("{error:?}") };
    assert_eq!(message.len(), 4095);
}
