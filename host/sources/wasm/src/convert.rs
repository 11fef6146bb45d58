//! Between the contract's types and the host's. What a guest wrote is checked here: JSON is parsed, names are bounded.

use std::time::Duration;

use ringfence_core::access::ArgumentRule;
use ringfence_core::error::{CallError, Failure, FailureKind, ToolError};
use ringfence_core::limit::{LimitKind, Limits};
use ringfence_core::output::{Body, Content, Decimal, Media, RawOutput, Resource, ToolOutput, Usage};
use ringfence_core::tool::{Approval, Domain, Effects, Example, RateLimit, ToolSpec};
use serde_json::Value;

use crate::bindings::exports::ringfence::tool::guest;

/// A definition, or what in it is not JSON.
pub(crate) fn spec(definition: guest::Definition) -> Result<ToolSpec, String> {
    let name = definition.name;
    let json = |what: &str, text: &str| -> Result<Value, String> {
        serde_json::from_str(text).map_err(|error| format!("`{what}` of the tool `{name}` is not JSON: {error}"))
    };
    let parameters = json("parameters", &definition.parameters)?;
    let output_schema = definition.output_schema.map(|text| json("output-schema", &text)).transpose()?;
    let rules = definition.rules.into_iter().map(|rule| argument_rule(rule, &json)).collect::<Result<_, _>>()?;
    let examples = definition.examples.into_iter().map(|e| example(e, &json)).collect::<Result<_, _>>()?;
    Ok(ToolSpec {
        title: definition.title,
        description: definition.description,
        parameters,
        output_schema,
        domain: Domain::Orchestrator,
        effects: effects(definition.effects),
        approval: approval(definition.approval),
        rules,
        rate_limit: definition
            .rate_limit
            .map(|limit| RateLimit { per_minute: limit.per_minute.max(1), per_hour: limit.per_hour.max(1) }),
        deferrable: definition.deferrable,
        categories: definition.categories,
        short_doc: definition.short_doc,
        long_doc: definition.long_doc,
        examples,
        name,
    })
}

fn argument_rule(
    rule: guest::ArgumentRule,
    json: &impl Fn(&str, &str) -> Result<Value, String>,
) -> Result<ArgumentRule, String> {
    Ok(match rule {
        guest::ArgumentRule::ReadsPath(pointer) => ArgumentRule::ReadsPath(pointer),
        guest::ArgumentRule::WritesPath(pointer) => ArgumentRule::WritesPath(pointer),
        guest::ArgumentRule::NeedsApproval(rule) => ArgumentRule::NeedsApproval {
            pointer: rule.pointer,
            equals: rule.equals.map(|text| json("rules", &text)).transpose()?,
            approval: approval(rule.approval),
        },
    })
}

fn example(example: guest::Example, json: &impl Fn(&str, &str) -> Result<Value, String>) -> Result<Example, String> {
    let input = json("examples", &example.input)?;
    Ok(Example { description: example.description, input, output: example.output })
}

fn effects(flags: guest::Effects) -> Effects {
    Effects {
        read_only: flags.contains(guest::Effects::READ_ONLY),
        destructive: flags.contains(guest::Effects::DESTRUCTIVE),
        idempotent: flags.contains(guest::Effects::IDEMPOTENT),
        open_world: flags.contains(guest::Effects::OPEN_WORLD),
        pure: flags.contains(guest::Effects::PURE),
    }
}

fn approval(approval: guest::Approval) -> Approval {
    match approval {
        guest::Approval::Never => Approval::Never,
        guest::Approval::UnlessAutoApproved => Approval::UnlessAutoApproved,
        guest::Approval::Always => Approval::Always,
    }
}

/// An output. Its size is checked before its JSON is parsed, because parsed JSON is many times as large.
pub(crate) fn output(output: guest::Output, usage: Usage, limits: &Limits) -> Result<RawOutput, ToolError> {
    let size = size(&output);
    if size > limits.get(LimitKind::Result) {
        return Err(limits.exceeded(LimitKind::Result, Some(size)).into());
    }
    let cost = output.cost.as_deref().map(cost).transpose()?;
    let same =
        matches!(output.content.as_slice(), [guest::Content::Json(text)] if Some(text) == output.structured.as_ref());
    let content = contents(output.content)?;
    let structured = match (output.structured, content.as_slice()) {
        // The usual output: one value, for the model and as the structured result. It is parsed once.
        (Some(_), [Content::Json { value }]) if same => Some(value.clone()),
        (structured, _) => structured.map(|text| parse("structured", &text)).transpose()?,
    };
    Ok(RawOutput {
        content,
        user_content: output.user_content.map(contents).transpose()?,
        structured,
        raw: output.raw,
        cost,
        usage,
        // A guest holds no secret.
        revealed: None,
    })
}

fn cost(text: &str) -> Result<Decimal, ToolError> {
    let cost: Decimal = text.parse().map_err(|error| malformed("cost", error))?;
    if cost < Decimal::ZERO {
        return Err(malformed("cost", "it is less than nothing"));
    }
    Ok(cost)
}

fn size(output: &guest::Output) -> u64 {
    let contents = output.content.iter().chain(output.user_content.iter().flatten()).map(content_size);
    let texts = [&output.structured, &output.raw, &output.cost].map(|text| text.as_ref().map_or(0, String::len));
    contents.chain(texts).map(|bytes| bytes as u64).sum()
}

fn content_size(content: &guest::Content) -> usize {
    /// What a piece takes beside its bytes, so that a million empty ones are not free.
    const PIECE: usize = 32;
    PIECE
        + match content {
            guest::Content::Text(text) | guest::Content::Json(text) => text.len(),
            guest::Content::Image(media) | guest::Content::Audio(media) => media.data.len() + media.media_type.len(),
            guest::Content::Resource(resource) => {
                resource.uri.len()
                    + resource.media_type.as_ref().map_or(0, String::len)
                    + match &resource.body {
                        guest::Body::Text(text) => text.len(),
                        guest::Body::Blob(bytes) => bytes.len(),
                    }
            }
        }
}

fn contents(contents: Vec<guest::Content>) -> Result<Vec<Content>, ToolError> {
    contents.into_iter().map(content).collect()
}

fn content(content: guest::Content) -> Result<Content, ToolError> {
    Ok(match content {
        guest::Content::Text(text) => Content::Text { text },
        guest::Content::Json(text) => Content::Json { value: parse("content", &text)? },
        guest::Content::Image(media) => Content::Image(self::media(media)?),
        guest::Content::Audio(media) => Content::Audio(self::media(media)?),
        guest::Content::Resource(resource) => Content::Resource(Resource {
            uri: resource.uri,
            media_type: resource.media_type.map(media_type).transpose()?,
            body: match resource.body {
                guest::Body::Text(text) => Body::Text(text),
                guest::Body::Blob(bytes) => Body::Blob(bytes),
            },
        }),
    })
}

fn media(media: guest::Media) -> Result<Media, ToolError> {
    Ok(Media { media_type: media_type(media.media_type)?, data: media.data })
}

/// A media type as it can stand in a header: two tokens (RFC 9110, 8.3.1), and parameters that are printable ASCII.
fn media_type(text: String) -> Result<String, ToolError> {
    let is_token = |part: &str| {
        !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte))
    };
    let (essence, parameters) = text.split_once(';').unwrap_or((&text, ""));
    let named = essence.trim_end_matches(' ').split_once('/').is_some_and(|(kind, of)| is_token(kind) && is_token(of));
    if named && parameters.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
        return Ok(text);
    }
    Err(malformed("media-type", "it is none, such as `image/png`"))
}

fn parse(what: &str, text: &str) -> Result<Value, ToolError> {
    serde_json::from_str(text).map_err(|error| malformed(what, error))
}

/// A result that cannot be read.
pub(crate) fn malformed(what: &str, error: impl std::fmt::Display) -> ToolError {
    ToolError::Failed(Failure {
        kind: FailureKind::Failed,
        code: "invalid_output".into(),
        message: format!("`{what}` of its result cannot be read: {error}"),
        retry_after: None,
    })
}

/// A failure in the guest's words. The scrubber bounds and cleans them.
pub(crate) fn failure(failure: guest::Failure) -> ToolError {
    ToolError::Failed(Failure {
        kind: match failure.kind {
            guest::FailureKind::InvalidParams => FailureKind::InvalidParams,
            guest::FailureKind::NotFound => FailureKind::NotFound,
            guest::FailureKind::AuthRequired => FailureKind::AuthRequired,
            guest::FailureKind::Unavailable => FailureKind::Unavailable,
            guest::FailureKind::Failed => FailureKind::Failed,
        },
        code: failure.code,
        message: failure.message,
        retry_after: failure.retry_after_ms.map(Duration::from_millis),
    })
}

/// The output of another tool, for the guest that called it.
pub(crate) fn clean_output(output: ToolOutput) -> guest::Output {
    guest::Output {
        content: output.content.into_iter().map(clean_content).collect(),
        user_content: output.user_content.map(|contents| contents.into_iter().map(clean_content).collect()),
        structured: output.structured.map(|value| value.to_string()),
        raw: output.raw,
        cost: output.cost.map(|cost| cost.to_string()),
    }
}

fn clean_content(content: Content) -> guest::Content {
    match content {
        Content::Text { text } => guest::Content::Text(text),
        Content::Json { value } => guest::Content::Json(value.to_string()),
        Content::Image(media) => guest::Content::Image(clean_media(media)),
        Content::Audio(media) => guest::Content::Audio(clean_media(media)),
        Content::Resource(resource) => guest::Content::Resource(guest::Embedded {
            uri: resource.uri,
            media_type: resource.media_type,
            body: match resource.body {
                Body::Text(text) => guest::Body::Text(text),
                Body::Blob(bytes) => guest::Body::Blob(bytes),
            },
        }),
    }
}

fn clean_media(media: Media) -> guest::Media {
    guest::Media { media_type: media.media_type, data: media.data }
}

/// Why the call of another tool has no output, for the guest that made it: in the words that the model would get.
pub(crate) fn call_error(error: &CallError) -> guest::Failure {
    guest::Failure {
        kind: match error {
            CallError::InvalidParams { .. } => guest::FailureKind::InvalidParams,
            CallError::NotFound { .. } | CallError::NotOffered { .. } => guest::FailureKind::NotFound,
            CallError::AuthRequired { .. } => guest::FailureKind::AuthRequired,
            CallError::RateLimited { .. }
            | CallError::Stopped { .. }
            | CallError::Unavailable { .. }
            | CallError::ApprovalTimeout { .. } => guest::FailureKind::Unavailable,
            CallError::Denied { .. }
            | CallError::NeedsApproval { .. }
            | CallError::LimitExceeded { .. }
            | CallError::Trapped { .. }
            | CallError::Cancelled { .. }
            | CallError::Failed { .. } => guest::FailureKind::Failed,
        },
        code: error.tool_code().map_or_else(|| error.code().into_owned(), str::to_owned),
        message: error.for_model(),
        retry_after_ms: error.retry_after_ms(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn definition() -> guest::Definition {
        guest::Definition {
            name: "copy".into(),
            title: None,
            description: "Copies.".into(),
            parameters: r#"{"type":"object","properties":{}}"#.into(),
            output_schema: None,
            effects: guest::Effects::empty(),
            approval: guest::Approval::Never,
            rules: Vec::new(),
            rate_limit: None,
            deferrable: false,
            categories: Vec::new(),
            short_doc: None,
            long_doc: None,
            examples: Vec::new(),
        }
    }

    fn empty() -> guest::Output {
        guest::Output { content: Vec::new(), user_content: None, structured: None, raw: None, cost: None }
    }

    fn taken(output: guest::Output) -> Result<RawOutput, String> {
        super::output(output, Usage::default(), &Limits::default()).map_err(|error| error.to_string())
    }

    #[test]
    fn what_is_not_said_stays_unsaid() {
        let expected = ToolSpec {
            name: "copy".into(),
            description: "Copies.".into(),
            parameters: json!({"type": "object", "properties": {}}),
            ..ToolSpec::default()
        };
        assert_eq!(spec(definition()), Ok(expected));
        assert_eq!(taken(empty()), Ok(RawOutput::default()));
    }

    #[test]
    fn each_claim_about_effects_is_its_own() {
        type Claim = fn(&Effects) -> bool;
        let claims: [(guest::Effects, Claim); 5] = [
            (guest::Effects::READ_ONLY, |effects| effects.read_only),
            (guest::Effects::DESTRUCTIVE, |effects| effects.destructive),
            (guest::Effects::IDEMPOTENT, |effects| effects.idempotent),
            (guest::Effects::OPEN_WORLD, |effects| effects.open_world),
            (guest::Effects::PURE, |effects| effects.pure),
        ];
        for (flag, _) in claims {
            let said = effects(flag);
            for (other, is_claimed) in claims {
                assert_eq!(is_claimed(&said), other == flag, "{flag:?} {other:?}");
            }
        }
    }

    #[test]
    fn json_that_is_none_is_named_with_its_place() {
        let example = guest::Example { description: "x".into(), input: "{".into(), output: None };
        let rule = guest::ArgumentRule::NeedsApproval(guest::ApprovalRule {
            pointer: "/x".into(),
            equals: Some("yes".into()),
            approval: guest::Approval::Always,
        });
        for (wrong, place) in [
            (guest::Definition { parameters: "{".into(), ..definition() }, "`parameters` of the tool `copy`"),
            (guest::Definition { output_schema: Some("x".into()), ..definition() }, "`output-schema` of the tool"),
            (guest::Definition { rules: vec![rule], ..definition() }, "`rules` of the tool"),
            (guest::Definition { examples: vec![example], ..definition() }, "`examples` of the tool"),
        ] {
            let error = spec(wrong).unwrap_err();
            assert!(error.starts_with(place) && error.contains("is not JSON: "), "{error}");
        }
        for (wrong, place) in [
            (guest::Output { content: vec![guest::Content::Json("{".into())], ..empty() }, "`content`"),
            (guest::Output { structured: Some("{".into()), ..empty() }, "`structured`"),
            (guest::Output { cost: Some("a lot".into()), ..empty() }, "`cost`"),
            (guest::Output { cost: Some("-1".into()), ..empty() }, "`cost`"),
            (guest::Output { cost: Some("-0.0001".into()), ..empty() }, "`cost`"),
        ] {
            assert!(taken(wrong).unwrap_err().starts_with(place), "{place}");
        }
    }

    #[test]
    fn a_media_type_is_one_that_a_header_can_carry() {
        let of = |media_type: &str| {
            let media = || guest::Media { media_type: media_type.into(), data: Vec::new() };
            let body = guest::Body::Text(String::new());
            let embedded = guest::Embedded { uri: "urn:x".into(), media_type: Some(media_type.into()), body };
            [guest::Content::Image(media()), guest::Content::Audio(media()), guest::Content::Resource(embedded)]
        };
        for good in ["image/png", "text/csv; charset=utf-8", "text/csv;header=\"a b\"", "application/vnd.x+json"] {
            for content in of(good) {
                let raw = taken(guest::Output { content: vec![content.clone()], ..empty() }).unwrap();
                assert!(format!("{raw:?}").contains(&format!("{good:?}")), "{raw:?}");
            }
        }
        for wrong in [
            "",
            "image",
            "/png",
            "image/",
            "image/png\r\nx-a: b",
            "image/png\n",
            "image/png; a=b\r\nc",
            "im age/png",
            "image/p/ng",
            "text/\u{e4}",
            "text/csv; a=\u{e4}",
            " image/png",
        ] {
            for content in of(wrong) {
                let in_either = [
                    guest::Output { content: vec![content.clone()], ..empty() },
                    guest::Output { user_content: Some(vec![content]), ..empty() },
                ];
                for output in in_either {
                    assert!(taken(output).unwrap_err().starts_with("`media-type` of its result"), "{wrong:?}");
                }
            }
        }
    }

    #[test]
    fn a_rate_of_nothing_is_a_rate_of_one() {
        let rate_limit = Some(guest::RateLimit { per_minute: 0, per_hour: 0 });
        let spec = spec(guest::Definition { rate_limit, ..definition() }).unwrap();
        assert_eq!(spec.rate_limit, Some(RateLimit { per_minute: 1, per_hour: 1 }));
    }

    #[test]
    fn everything_counts_for_the_size_of_a_result() {
        let media = || guest::Media { media_type: "x/y".into(), data: vec![0; 97] };
        let document = |body| {
            guest::Content::Resource(guest::Embedded { uri: "urn:x".into(), media_type: Some("x/y".into()), body })
        };
        let hundred = || "1".repeat(100);
        let pieces = [
            guest::Content::Text(hundred()),
            guest::Content::Json(hundred()),
            guest::Content::Image(media()),
            guest::Content::Audio(media()),
            document(guest::Body::Text("1".repeat(92))),
            document(guest::Body::Blob(vec![0; 92])),
        ];
        let of = |output: &guest::Output| size(output);
        for piece in pieces {
            assert_eq!(of(&guest::Output { content: vec![piece.clone()], ..empty() }), 132, "{piece:?}");
            assert_eq!(of(&guest::Output { user_content: Some(vec![piece]), ..empty() }), 132);
        }
        assert_eq!(of(&guest::Output { structured: Some(hundred()), ..empty() }), 100);
        assert_eq!(of(&guest::Output { raw: Some(hundred()), ..empty() }), 100);
        assert_eq!(of(&guest::Output { cost: Some(hundred()), ..empty() }), 100);
        let limits =
            Limits::effective(&ringfence_core::LimitSet::default().with(LimitKind::Result, 99), &Default::default());
        let error = output(guest::Output { raw: Some(hundred()), ..empty() }, Usage::default(), &limits);
        assert!(matches!(error, Err(ToolError::Limit(_))), "{error:?}");
    }

    #[test]
    fn an_output_comes_back_as_it_went() {
        let media = || guest::Media { media_type: "x/y".into(), data: vec![0, 1] };
        let document = |media_type: Option<&str>, body| {
            let media_type = media_type.map(str::to_owned);
            guest::Content::Resource(guest::Embedded { uri: "urn:x".into(), media_type, body })
        };
        let pieces = vec![
            guest::Content::Text("a".into()),
            guest::Content::Json(r#"{"b":1}"#.into()),
            guest::Content::Image(media()),
            guest::Content::Audio(media()),
            document(Some("x/y"), guest::Body::Text("c".into())),
            document(None, guest::Body::Blob(vec![2])),
        ];
        let given = guest::Output {
            content: pieces.clone(),
            user_content: Some(pieces),
            structured: Some(r#"{"b":1}"#.into()),
            raw: Some("raw".into()),
            cost: Some("0.0042".into()),
        };
        let raw = taken(given.clone()).unwrap();
        let clean = ringfence_core::finish::scrub::Scrubber::default().output(raw, Duration::ZERO).output;
        assert_eq!(format!("{:?}", clean_output(clean)), format!("{given:?}"));
    }

    #[test]
    fn a_failure_keeps_its_kind_code_and_wait() {
        for (kind, expected) in [
            (guest::FailureKind::InvalidParams, FailureKind::InvalidParams),
            (guest::FailureKind::NotFound, FailureKind::NotFound),
            (guest::FailureKind::AuthRequired, FailureKind::AuthRequired),
            (guest::FailureKind::Unavailable, FailureKind::Unavailable),
            (guest::FailureKind::Failed, FailureKind::Failed),
        ] {
            let said = guest::Failure { kind, code: "own".into(), message: "Why.".into(), retry_after_ms: Some(1500) };
            let ToolError::Failed(failure) = failure(said) else { panic!("it is a failure") };
            assert_eq!(failure.kind, expected);
            assert_eq!((failure.code.as_str(), failure.message.as_str()), ("own", "Why."));
            assert_eq!(failure.retry_after, Some(Duration::from_millis(1500)));
        }
    }
}
