//! What all requests to GitHub have in common: their headers, and how they fail.

use ringfence_sdk::FailureKind;
use ringfence_sdk::http::{Request, Response};
use ringfence_sdk::prelude::*;
use ringfence_sdk::serde::de::DeserializeOwned;
use ringfence_sdk::serde_json::Value;

use crate::rate;

/// Where the REST API is.
const ADDRESS: &str = "https://api.github.com";

/// The version of the API that these tools are written for.
const VERSION: &str = "2022-11-28";

/// How many of the mistakes that GitHub lists a failure names.
const MISTAKES: usize = 5;

/// Begins a request that reads `path`.
pub(crate) fn get(path: &str) -> Request {
    with_headers(http::get(format!("{ADDRESS}{path}")))
}

/// Begins a request that makes something at `path`.
pub(crate) fn post(path: &str) -> Request {
    with_headers(http::post(format!("{ADDRESS}{path}")))
}

fn with_headers(request: Request) -> Request {
    request.header("accept", "application/vnd.github+json").header("x-github-api-version", VERSION)
}

/// The answer to `request`.
///
/// # Errors
/// There is none, or GitHub refuses.
pub(crate) fn answer(request: Request) -> Result<Response, Failure> {
    let answer = request.send()?;
    if answer.is_success() { Ok(answer) } else { Err(refusal(&answer)) }
}

/// What `request` made.
///
/// # Errors
/// As [`answer`]. Where it may have been made all the same, the failure warns of a second try.
pub(crate) fn made<T: DeserializeOwned>(request: Request) -> Result<T, Failure> {
    let answer = request.send()?;
    match answer.status {
        500.. => Err(unclear(refusal(&answer))),
        _ if answer.is_success() => answer.json().map_err(unclear),
        _ => Err(refusal(&answer)),
    }
}

fn unclear(failure: Failure) -> Failure {
    let said = failure.message.trim_end_matches('.');
    let message = format!("{said}; GitHub may have done it all the same, so look before you try again.");
    Failure { message, ..failure }
}

fn refusal(answer: &Response) -> Failure {
    let said = said(answer);
    // Some of what GitHub says is a sentence, and ours goes on.
    let said = said.trim_end_matches('.');
    if let Some(wait) = rate::wait(answer) {
        let message = format!("GitHub takes no more requests for now: {said}");
        return Failure::unavailable(message).with_code("rate_limited").with_retry_after(wait);
    }
    let message = match answer.status {
        400 | 422 => format!("GitHub cannot do this with these parameters: {said}"),
        401 => format!("GitHub does not accept the token: {said}. The operator has to store a valid one."),
        403 => format!("The token does not allow this: {said}. The operator has to give it the permission."),
        404 => format!("GitHub has no such thing, or the token may not see it: {said}"),
        410 => format!("This is gone or turned off: {said}"),
        status => format!("GitHub answered with status {status}: {said}"),
    };
    let failure = answer.failure(message);
    match answer.status {
        400 | 422 => Failure { kind: FailureKind::InvalidParams, ..failure },
        _ => failure,
    }
}

/// What GitHub says is wrong.
#[derive(Deserialize)]
struct Problem {
    message: String,
    /// A list, in all forms that are known.
    #[serde(default)]
    errors: Value,
}

fn said(answer: &Response) -> String {
    let Ok(problem) = answer.json::<Problem>() else { return answer.excerpt() };
    let mistakes: Vec<_> = problem.errors.as_array().into_iter().flatten().filter_map(mistake).take(MISTAKES).collect();
    match mistakes.is_empty() {
        true => problem.message,
        false => format!("{} ({})", problem.message, mistakes.join("; ")),
    }
}

/// One mistake in words: a text, an object with a message of its own, or one that names a field and a code.
fn mistake(error: &Value) -> Option<String> {
    let text = |name| error.get(name).and_then(Value::as_str);
    match (error.as_str().or_else(|| text("message")), text("field"), text("code")) {
        (Some(message), ..) => Some(message.to_owned()),
        (None, Some(field), Some(code)) => Some(format!("`{field}`: {code}")),
        (None, field, code) => field.or(code).map(str::to_owned),
    }
}

#[cfg(test)]
mod tests {
    use ringfence_sdk::serde_json::json;

    use super::*;

    #[test]
    fn a_mistake_is_told_in_any_of_its_forms() {
        for (error, told) in [
            (json!("a text"), Some("a text")),
            (json!({"message": "own words", "field": "q", "code": "invalid"}), Some("own words")),
            (json!({"resource": "Issue", "field": "title", "code": "missing_field"}), Some("`title`: missing_field")),
            (json!({"code": "custom"}), Some("custom")),
            (json!({"resource": "Issue"}), None),
            (json!(7), None),
        ] {
            assert_eq!(mistake(&error).as_deref(), told, "{error}");
        }
    }

    #[test]
    fn what_is_no_problem_is_shown_as_it_is() {
        for (body, told) in [
            (r#"{"message": "Not Found", "documentation_url": "x", "status": "404"}"#, "Not Found"),
            (r#"{"message": "Validation Failed", "errors": [7, "a", "b"]}"#, "Validation Failed (a; b)"),
            (r#"{"message": "Validation Failed", "errors": {}}"#, "Validation Failed"),
            ("<!DOCTYPE html>", "an HTML page"),
            ("", "nothing"),
        ] {
            assert_eq!(said(&Response::new(500, body)), told);
        }
    }
}
