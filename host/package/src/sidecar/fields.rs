//! The fields of a JSON object, taken out one by one, each with its place in the file.

use serde_json::{Map, Value};

use super::SidecarError;

/// An object whose fields are taken out. What is left is unknown.
pub(super) struct Fields {
    /// Where the object stands; empty for the whole.
    place: String,
    left: Map<String, Value>,
}

impl Fields {
    /// The object at `place`.
    pub(super) fn of(place: &str, value: Value) -> Result<Self, SidecarError> {
        match value {
            Value::Object(left) => Ok(Self { place: place.to_owned(), left }),
            _ => Err(wrong(if place.is_empty() { "the file" } else { place }, "an object")),
        }
    }

    /// Where the object stands.
    pub(super) fn place(&self) -> &str {
        &self.place
    }

    /// Where the field `name` stands.
    pub(super) fn path(&self, name: &str) -> String {
        if self.place.is_empty() { name.to_owned() } else { format!("{}.{name}", self.place) }
    }

    /// A field of any type; `null` counts as absent.
    pub(super) fn any(&mut self, name: &str) -> Option<Value> {
        self.left.shift_remove(name).filter(|value| !value.is_null())
    }

    pub(super) fn text(&mut self, name: &str) -> Result<Option<String>, SidecarError> {
        let path = self.path(name);
        self.any(name).map(|value| text(&path, value)).transpose()
    }

    pub(super) fn needed(&mut self, name: &str) -> Result<String, SidecarError> {
        self.text(name)?.ok_or_else(|| SidecarError::Missing(self.path(name)))
    }

    pub(super) fn number(&mut self, name: &str) -> Result<Option<u64>, SidecarError> {
        let path = self.path(name);
        let number = |value: Value| value.as_u64().ok_or_else(|| wrong(&path, "a number of 0 or more"));
        self.any(name).map(number).transpose()
    }

    pub(super) fn flag(&mut self, name: &str) -> Result<Option<bool>, SidecarError> {
        let path = self.path(name);
        self.any(name).map(|value| value.as_bool().ok_or_else(|| wrong(&path, "true or false"))).transpose()
    }

    pub(super) fn object(&mut self, name: &str) -> Result<Option<Self>, SidecarError> {
        let path = self.path(name);
        self.any(name).map(|value| Self::of(&path, value)).transpose()
    }

    /// The items of a list, each with its place.
    pub(super) fn list(&mut self, name: &str) -> Result<Vec<(String, Value)>, SidecarError> {
        let path = self.path(name);
        match self.any(name) {
            None => Ok(Vec::new()),
            Some(Value::Array(items)) => {
                Ok(items.into_iter().enumerate().map(|(i, item)| (format!("{path}[{i}]"), item)).collect())
            }
            Some(_) => Err(wrong(&path, "a list")),
        }
    }

    pub(super) fn texts(&mut self, name: &str) -> Result<Vec<(String, String)>, SidecarError> {
        let item = |(path, value): (String, Value)| text(&path, value).map(|text| (path, text));
        self.list(name)?.into_iter().map(item).collect()
    }

    /// All fields, which have to be objects, each with its name.
    pub(super) fn all_objects(&mut self) -> Result<Vec<(String, Self)>, SidecarError> {
        let place = self.place.clone();
        let object = |(name, value): (String, Value)| {
            let object = Self::of(&format!("{place}.{name}"), value)?;
            Ok((name, object))
        };
        std::mem::take(&mut self.left).into_iter().map(object).collect()
    }

    /// All fields, which have to be texts, each with its place.
    pub(super) fn all_texts(&mut self) -> Result<Vec<(String, String)>, SidecarError> {
        let place = self.place.clone();
        let item = |(name, value): (String, Value)| {
            let path = format!("{place}.{name}");
            text(&path, value).map(|text| (path, text))
        };
        std::mem::take(&mut self.left).into_iter().filter(|(_, value)| !value.is_null()).map(item).collect()
    }

    /// The places of the fields that nobody has taken.
    pub(super) fn rest(self) -> Vec<String> {
        self.left.keys().map(|name| self.path(name)).collect()
    }
}

pub(super) fn text(path: &str, value: Value) -> Result<String, SidecarError> {
    match value {
        Value::String(text) => Ok(text),
        _ => Err(wrong(path, "a text")),
    }
}

fn wrong(field: &str, expected: &'static str) -> SidecarError {
    SidecarError::Type { field: field.to_owned(), expected }
}
