//! What it means when the API refuses.

use ringfence_sdk::FailureKind;
use ringfence_sdk::http::Response;
use ringfence_sdk::prelude::*;
use ringfence_sdk::serde_json::Value;

use crate::rate;

/// The answer beside an error status.
#[derive(Deserialize)]
struct Refusal {
    error: Problem,
}

#[derive(Deserialize)]
struct Problem {
    /// A word for programs, such as `SUBSCRIPTION_TOKEN_INVALID`.
    code: Option<String>,
    detail: Option<String>,
    /// Has `errors`, where parameters are wrong.
    #[serde(default)]
    meta: Value,
}

/// The failure of a call that got `answer`, whose status is no success.
pub(crate) fn failure(answer: &Response) -> Failure {
    let problem = answer.json::<Refusal>().ok().map(|refusal| refusal.error);
    let code = problem.as_ref().and_then(|problem| problem.code.as_deref()).unwrap_or_default();
    // A key that it does not know is a wrong parameter to this API, with the status 422.
    let is_key = code.starts_with("SUBSCRIPTION_TOKEN") || matches!(answer.status, 401 | 403);
    let said = problem.as_ref().and_then(Problem::text).unwrap_or_else(|| answer.excerpt());
    // A sentence, mostly, and ours goes on.
    let said = said.trim_end_matches('.');
    let failure = match (is_key, answer.status) {
        (true, _) => {
            let message =
                format!("Brave Search does not accept the key: {said}. The operator has to store a valid one.");
            Failure { kind: FailureKind::AuthRequired, ..answer.failure(message) }
        }
        (_, 400 | 422) => {
            let message = format!("Brave Search cannot do this with these parameters: {said}");
            Failure { kind: FailureKind::InvalidParams, ..answer.failure(message) }
        }
        (_, 429) => answer.failure(format!("The key is used up for now: {said}")).with_code("rate_limited"),
        (_, status) => answer.failure(format!("Brave Search answered with status {status}: {said}")),
    };
    let retry_after = failure.retry_after.or_else(|| rate::wait(answer));
    Failure { retry_after, ..failure }
}

impl Problem {
    fn text(&self) -> Option<String> {
        let errors = self.meta.get("errors").and_then(Value::as_array);
        let mistakes: Vec<_> = errors.into_iter().flatten().filter_map(mistake).collect();
        match mistakes.is_empty() {
            true => self.detail.clone().or_else(|| self.code.clone()),
            false => Some(mistakes.join("; ")),
        }
    }
}

/// One mistake in words. Where it is, is a path: `query`, and the name of the parameter.
fn mistake(error: &Value) -> Option<String> {
    let message = error.get("msg")?.as_str()?;
    let parameter = error.get("loc").and_then(Value::as_array).and_then(|path| path.last()?.as_str());
    Some(match parameter {
        Some(parameter) => format!("`{parameter}`: {message}"),
        None => message.to_owned(),
    })
}
