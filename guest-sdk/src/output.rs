//! What a tool gives back.

use serde::Serialize;

use crate::{Body, Content, Embedded, Failure, Media, Output};

/// A value that goes back as JSON: to the model as text, to programs as the structured result.
#[derive(Clone, Debug, PartialEq)]
pub struct Json<T>(pub T);

/// What a tool may return.
pub trait IntoOutput {
    /// Makes the outcome of the call of it.
    ///
    /// # Errors
    ///
    /// The tool's own failure, or one that says that the result cannot be written as JSON.
    fn into_output(self) -> Result<Output, Failure>;
}

impl IntoOutput for Output {
    fn into_output(self) -> Result<Output, Failure> {
        Ok(self)
    }
}

impl IntoOutput for String {
    fn into_output(self) -> Result<Output, Failure> {
        Ok(Output::text(self))
    }
}

impl IntoOutput for &str {
    fn into_output(self) -> Result<Output, Failure> {
        Ok(Output::text(self))
    }
}

/// A tool that has nothing to say.
impl IntoOutput for () {
    fn into_output(self) -> Result<Output, Failure> {
        Ok(Output::new())
    }
}

impl<T: Serialize> IntoOutput for Json<T> {
    fn into_output(self) -> Result<Output, Failure> {
        let json = to_json(&self.0)?;
        Ok(Output { structured: Some(json.clone()), ..Output::new().with(Content::Json(json)) })
    }
}

impl<T: IntoOutput, E: Into<Failure>> IntoOutput for Result<T, E> {
    fn into_output(self) -> Result<Output, Failure> {
        self.map_err(Into::into)?.into_output()
    }
}

impl Output {
    /// An output without content, to be filled by the methods below.
    #[must_use]
    pub fn new() -> Self {
        Self { content: Vec::new(), user_content: None, structured: None, raw: None, cost: None }
    }

    /// An output that is one text.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self::new().with(Content::text(text))
    }

    /// Adds a piece for the model.
    #[must_use]
    pub fn with(mut self, content: Content) -> Self {
        self.content.push(content);
        self
    }

    /// Adds a piece for the user. Once there is one, the user no longer sees the pieces for the model.
    #[must_use]
    pub fn with_user_content(mut self, content: Content) -> Self {
        self.user_content.get_or_insert_default().push(content);
        self
    }

    /// Sets the structured result, which has to agree with the tool's output schema.
    ///
    /// # Errors
    ///
    /// `value` cannot be written as JSON: a map with keys that are no strings, for example.
    pub fn with_structured<T: Serialize + ?Sized>(mut self, value: &T) -> Result<Self, Failure> {
        self.structured = Some(to_json(value)?);
        Ok(self)
    }

    /// Sets the unprocessed result, kept for programs and never shown to the model.
    #[must_use]
    pub fn with_raw(mut self, raw: impl Into<String>) -> Self {
        self.raw = Some(raw.into());
        self
    }

    /// Sets what the call cost: a decimal number such as `0.0042`, in the unit that the tool documents.
    #[must_use]
    pub fn with_cost(mut self, cost: impl Into<String>) -> Self {
        self.cost = Some(cost.into());
        self
    }
}

impl Default for Output {
    fn default() -> Self {
        Self::new()
    }
}

impl Content {
    /// A text.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    /// A value as JSON.
    ///
    /// # Errors
    ///
    /// `value` cannot be written as JSON.
    pub fn json<T: Serialize + ?Sized>(value: &T) -> Result<Self, Failure> {
        Ok(Self::Json(to_json(value)?))
    }

    /// An image: its media type, such as `image/png`, and its bytes.
    #[must_use]
    pub fn image(media_type: impl Into<String>, data: impl Into<Vec<u8>>) -> Self {
        Self::Image(Media { media_type: media_type.into(), data: data.into() })
    }

    /// A sound: its media type, such as `audio/ogg`, and its bytes.
    #[must_use]
    pub fn audio(media_type: impl Into<String>, data: impl Into<Vec<u8>>) -> Self {
        Self::Audio(Media { media_type: media_type.into(), data: data.into() })
    }

    /// A document: the URI that names it, its media type where it is known, and its text or bytes.
    #[must_use]
    pub fn resource(uri: impl Into<String>, media_type: Option<&str>, body: Body) -> Self {
        Self::Resource(Embedded { uri: uri.into(), media_type: media_type.map(str::to_owned), body })
    }
}

fn to_json<T: Serialize + ?Sized>(value: &T) -> Result<String, Failure> {
    serde_json::to_string(value)
        .map_err(|error| Failure::failed(format!("The result cannot be written as JSON: {error}.")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn text_is_one_piece_of_content() {
        let expected = Output { content: vec![Content::Text("hi".into())], ..Output::new() };
        assert_eq!("hi".into_output(), Ok(expected.clone()));
        assert_eq!("hi".to_owned().into_output(), Ok(expected));
    }

    #[test]
    fn json_reaches_model_and_programs() {
        let output = Json(vec![u64::MAX]).into_output().unwrap();
        assert_eq!(output.content, [Content::Json("[18446744073709551615]".into())]);
        assert_eq!(output.structured.as_deref(), Some("[18446744073709551615]"));
    }

    #[test]
    fn what_json_cannot_hold_is_a_failure() {
        let failure = Json(BTreeMap::from([(vec![1], 2)])).into_output().unwrap_err();
        assert!(failure.message.starts_with("The result cannot be written as JSON: "), "{}", failure.message);
    }

    #[test]
    fn an_error_becomes_the_failure() {
        let outcome: Result<String, Failure> = Err(Failure::not_found("There is no such thing."));
        assert_eq!(outcome.into_output(), Err(Failure::not_found("There is no such thing.")));
    }

    #[test]
    fn an_output_holds_what_it_was_given() {
        let output = Output::text("a")
            .with(Content::image("image/png", [1, 2]))
            .with_user_content(Content::text("b"))
            .with_user_content(Content::text("c"))
            .with_structured(&1)
            .unwrap()
            .with_raw("raw")
            .with_cost("0.0042");
        assert_eq!(output.content.len(), 2);
        assert_eq!(output.user_content.unwrap().len(), 2);
        assert_eq!((output.structured.as_deref(), output.raw.as_deref()), (Some("1"), Some("raw")));
        assert_eq!(output.cost.as_deref(), Some("0.0042"));
    }
}
