//! Structured data: a name hides what is below it, the shape stays.
//!
//! A tree is scrubbed in place. A text that is JSON is rewritten token by token, so that spacing, the spelling of
//! numbers and repeated keys stay as they were. Neither recurses over the nesting, however deep it is.

use std::borrow::Cow;
use std::ops::Range;

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::{Deserializer, Map, Value};

use super::chars::run;
use super::keys::credential;
use super::redactor::Redactor;

/// What the names above a value say about it.
#[derive(Clone, Copy)]
enum Place {
    /// Nothing.
    Open,
    /// A credential of this kind: all strings and numbers go.
    Hidden(&'static str),
    /// The JSON Schema of a credential: the words that describe it are no secrets.
    Schema,
}

impl Place {
    /// The place of the member `key` of an object that stands here.
    fn member(self, key: &str, is_schema: impl FnOnce() -> bool) -> Self {
        match (self, credential(key)) {
            (Self::Open, Some(_)) if is_schema() => Self::Schema,
            (Self::Open, Some(kind)) => Self::Hidden(kind),
            _ => self,
        }
    }
}

/// Whether `text` may be a JSON object, array or string, by its ends.
pub(super) fn looks_like_json(text: &str) -> bool {
    let text = text.trim();
    [('{', '}'), ('[', ']'), ('"', '"')]
        .into_iter()
        .any(|(open, close)| text.starts_with(open) && text.ends_with(close))
}

/// Whether `text` is JSON.
pub(super) fn is_json(text: &str) -> bool {
    serde_json::from_str::<IgnoredAny>(text).is_ok()
}

impl Redactor<'_> {
    /// Scrubs a tree, and tells whether that changed it.
    pub(super) fn tree(&mut self, root: &mut Value) -> bool {
        let mut changed = false;
        let mut waiting = vec![(root, Place::Open)];
        while let Some((value, place)) = waiting.pop() {
            let replacement = match &*value {
                Value::String(text) => self.string(text, place),
                Value::Number(number) => self.number(&number.to_string(), place),
                _ => None,
            };
            if let Some(text) = replacement {
                *value = Value::String(text);
                changed = true;
            }
            match value {
                Value::Array(items) => waiting.extend(items.iter_mut().rev().map(|item| (item, place))),
                Value::Object(members) => {
                    changed |= self.names(members);
                    waiting.extend(members.iter_mut().rev().map(|(name, value)| {
                        let place = place.member(name, || is_schema(value));
                        (value, place)
                    }));
                }
                _ => {}
            }
        }
        changed
    }

    /// Scrubs a text that is JSON; `None` where nothing has to change.
    pub(super) fn document(&mut self, text: &str) -> Option<String> {
        let mut nesting = Nesting::default();
        let mut clean = String::new();
        let mut copied = 0;
        for Range { start, end } in tokens(text) {
            if let Some(replacement) = self.token(&text[start..end], &text[end..], &mut nesting) {
                clean.push_str(&text[copied..start]);
                clean.push_str(&Value::String(replacement).to_string());
                copied = end;
            }
        }
        (copied > 0).then(|| clean + &text[copied..])
    }

    /// What replaces `token`, which is followed by `rest`.
    fn token(&mut self, token: &str, rest: &str, nesting: &mut Nesting) -> Option<String> {
        match token.as_bytes()[0] {
            b'{' | b'[' => nesting.open(),
            b'}' | b']' => nesting.close(),
            b'"' => {
                let text = unquoted(token);
                let Some(value) = rest.trim_start().strip_prefix(':') else {
                    return self.string(&text, nesting.place);
                };
                nesting.name(&text, || starts_with_schema(value));
                return self.known_only(&text);
            }
            _ => return self.number(token, nesting.place),
        }
        None
    }

    fn string(&mut self, text: &str, place: Place) -> Option<String> {
        match place {
            Place::Hidden(kind) => self.hide(text, kind),
            _ => match self.text(text) {
                Cow::Owned(clean) => Some(clean),
                Cow::Borrowed(_) => None,
            },
        }
    }

    /// A number goes as a whole: what is left of it would be another number.
    fn number(&mut self, spelling: &str, place: Place) -> Option<String> {
        match place {
            Place::Hidden(kind) => self.hide(spelling, kind),
            _ => self.known_mark(spelling),
        }
    }

    /// Takes known values out of the names themselves, and tells whether there were any.
    fn names(&mut self, members: &mut Map<String, Value>) -> bool {
        if !members.keys().any(|name| self.holds_known(name)) {
            return false;
        }
        let old = std::mem::take(members);
        members.extend(old.into_iter().map(|(name, value)| (self.known_only(&name).unwrap_or(name), value)));
        true
    }
}

/// Where in a JSON text the next value stands.
struct Nesting {
    place: Place,
    around: Vec<Place>,
}

impl Default for Nesting {
    fn default() -> Self {
        Self { place: Place::Open, around: Vec::new() }
    }
}

impl Nesting {
    fn open(&mut self) {
        self.around.push(self.place);
    }

    fn close(&mut self) {
        self.around.pop();
        self.place = self.container();
    }

    fn name(&mut self, name: &str, is_schema: impl FnOnce() -> bool) {
        self.place = self.container().member(name, is_schema);
    }

    fn container(&self) -> Place {
        self.around.last().copied().unwrap_or(Place::Open)
    }
}

/// The strings, numbers and brackets of a text that is JSON.
fn tokens(text: &str) -> impl Iterator<Item = Range<usize>> {
    let bytes = text.as_bytes();
    let mut at = 0;
    std::iter::from_fn(move || {
        let starts = |byte: &u8| matches!(byte, b'"' | b'{' | b'}' | b'[' | b']' | b'-' | b'0'..=b'9');
        let start = at + bytes.get(at..)?.iter().position(starts)?;
        at = match bytes[start] {
            b'"' => string_end(text, start + 1),
            b'{' | b'}' | b'[' | b']' => start + 1,
            _ => run(text, start, |byte| matches!(byte, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E')),
        };
        Some(start..at)
    })
}

fn string_end(text: &str, mut at: usize) -> usize {
    loop {
        at = run(text, at, |byte| byte != b'"' && byte != b'\\');
        match text.as_bytes().get(at) {
            Some(b'\\') => at += 2,
            Some(_) => return at + 1,
            None => return at,
        }
    }
}

/// The text that a string token spells. One that spells no text, for half a surrogate pair, is read as it stands.
fn unquoted(token: &str) -> Cow<'_, str> {
    let inside = &token[1..token.len() - 1];
    let escaped = inside.contains('\\').then(|| serde_json::from_str(token).ok()).flatten();
    escaped.map_or(Cow::Borrowed(inside), Cow::Owned)
}

fn is_schema(value: &Value) -> bool {
    let word = |name| value.get(name).and_then(Value::as_str);
    word("$ref").is_some() || word("type").is_some_and(is_schema_type)
}

fn starts_with_schema(json: &str) -> bool {
    #[derive(Deserialize)]
    struct Schema {
        r#type: Option<String>,
        #[serde(rename = "$ref")]
        reference: Option<String>,
    }
    if !json.trim_start().starts_with('{') {
        return false;
    }
    let first = Deserializer::from_str(json).into_iter::<Schema>().next();
    first
        .and_then(Result::ok)
        .is_some_and(|schema| schema.reference.is_some() || schema.r#type.is_some_and(|word| is_schema_type(&word)))
}

fn is_schema_type(word: &str) -> bool {
    ["string", "number", "integer", "boolean", "object", "array"].contains(&word)
}
