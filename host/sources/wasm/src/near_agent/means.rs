//! What the imports of both versions do, by the means that every guest has.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::{Map, Value};
use wasmtime::Result;

use crate::bindings::ringfence::tool::http::{self, Error, ErrorKind, Header, Host as _};
use crate::bindings::ringfence::tool::tools::Host as _;
use crate::bindings::ringfence::tool::types::{Content, Output};
use crate::bindings::ringfence::tool::workspace::Host as _;
use crate::state::GuestState;
use crate::wasi::World;

/// A request as the guest wrote it.
pub(super) struct Asked {
    pub(super) method: String,
    pub(super) url: String,
    /// A JSON object of strings.
    pub(super) headers: String,
    pub(super) body: Option<Vec<u8>>,
    pub(super) timeout_ms: Option<u32>,
}

/// What came back.
pub(super) struct Answered {
    pub(super) status: u16,
    /// A JSON object of strings.
    pub(super) headers: String,
    pub(super) body: Vec<u8>,
}

impl GuestState {
    /// Milliseconds since the Unix epoch.
    pub(super) fn agent_now(&mut self) -> u64 {
        let now = match self.world() {
            World::Live => SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default(),
            World::Frozen => Duration::ZERO,
        };
        u64::try_from(now.as_millis()).unwrap_or(u64::MAX)
    }

    /// A granted file, where it is text.
    pub(super) async fn agent_file(&mut self, path: String) -> Result<Option<String>> {
        let content = self.read(path).await?;
        Ok(content.ok().and_then(|bytes| String::from_utf8(bytes).ok()))
    }

    /// Whether there is a secret `name`. A guest knows its credentials by the package's names for them; what the operator
    /// put behind one counts.
    pub(super) fn agent_secret_exists(&mut self, name: &str) -> bool {
        // The contract does not tell names by case.
        let name = name.to_ascii_lowercase();
        let Some(reach) = self.reach() else { return false };
        let Some(vault) = reach.vault.as_ref().filter(|_| reach.grant.may_test(&name)) else { return false };
        let asked_for = reach.grant.requested().credentials.contains_key(&name);
        let given = reach.grant.granted().credentials.get(&name).filter(|_| asked_for);
        let secret = given.map_or(name.as_str(), |given| given.secret.as_str());
        vault.list().iter().any(|listed| listed.name.as_str() == secret)
    }

    /// Calls another tool, as every guest does.
    pub(super) async fn agent_invoke(
        &mut self,
        alias: String,
        parameters: String,
    ) -> Result<std::result::Result<String, String>> {
        let called = self.call(alias, parameters).await?;
        Ok(called.map(as_text).map_err(|failure| failure.message))
    }

    /// Sends a request by the door that all guests use.
    pub(super) async fn agent_send(&mut self, asked: Asked) -> Result<std::result::Result<Answered, Error>> {
        let headers = match headers(&asked.headers) {
            Ok(headers) => headers,
            Err(message) => return Ok(Err(Error { kind: ErrorKind::Invalid, message, sent: false })),
        };
        let request = http::Request {
            // The contract does not tell methods by case.
            method: asked.method.to_ascii_uppercase(),
            url: asked.url,
            headers,
            body: asked.body,
            timeout_ms: asked.timeout_ms.map(u64::from),
        };
        Ok(self.send(request).await?.map(answered))
    }
}

/// The contract has room for one text: the structured result, or all that is text.
fn as_text(output: Output) -> String {
    let text = |content| match content {
        Content::Text(text) | Content::Json(text) => Some(text),
        Content::Image(_) | Content::Audio(_) | Content::Resource(_) => None,
    };
    let texts = |contents: Vec<Content>| contents.into_iter().filter_map(text).collect::<Vec<_>>().join("\n");
    output.structured.unwrap_or_else(|| texts(output.content))
}

fn headers(json: &str) -> std::result::Result<Vec<Header>, String> {
    if json.trim().is_empty() {
        return Ok(Vec::new());
    }
    let wrong = |problem: String| format!("the headers have to be a JSON object of strings: {problem}");
    let object: Map<String, Value> = serde_json::from_str(json).map_err(|error| wrong(error.to_string()))?;
    let header = |(name, value): (String, Value)| match value {
        Value::String(value) => Ok(Header { name, value: value.into_bytes() }),
        _ => Err(wrong(format!("{name:?} is none"))),
    };
    object.into_iter().map(header).collect()
}

/// A header that occurs several times becomes one, as HTTP has it (RFC 9110, 5.3).
fn answered(response: http::Response) -> Answered {
    let mut headers: Vec<(String, String)> = Vec::new();
    for Header { name, value } in response.headers {
        let value = String::from_utf8_lossy(&value).into_owned();
        match headers.iter_mut().find(|(there, _)| *there == name) {
            Some((_, values)) => values.push_str(&format!(", {value}")),
            None => headers.push((name, value)),
        }
    }
    let object: Map<String, Value> = headers.into_iter().map(|(name, value)| (name, value.into())).collect();
    Answered { status: response.status, headers: Value::Object(object).to_string(), body: response.body }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_an_object_of_strings() {
        let named =
            |json: &str| headers(json).map(|list| list.into_iter().map(|header| header.name).collect::<Vec<_>>());
        assert_eq!(named("{\"x-a\": \"1\", \"x-b\": \"2\"}").unwrap(), ["x-a", "x-b"]);
        assert!(named("").unwrap().is_empty() && named(" {} ").unwrap().is_empty());
        for wrong in ["[]", "null", "{\"x-a\": 1}", "{", "x-a: 1"] {
            assert!(named(wrong).unwrap_err().contains("a JSON object of strings"), "{wrong}");
        }
    }

    #[test]
    fn a_header_that_comes_twice_is_one() {
        let header = |name: &str, value: &str| Header { name: name.into(), value: value.into() };
        let headers = vec![header("link", "a"), header("etag", "x"), header("link", "b")];
        let got = answered(http::Response { status: 200, headers, body: Vec::new() });
        assert_eq!(got.headers, "{\"link\":\"a, b\",\"etag\":\"x\"}");
    }
}
