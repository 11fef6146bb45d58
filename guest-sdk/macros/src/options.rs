//! The options of the attribute.

use proc_macro2::{Span, TokenStream, TokenTree};
use quote::quote;
use syn::meta::ParseNestedMeta;
use syn::parse::{Parse, ParseStream, Parser};
use syn::{Error, Expr, Ident, LitStr, Result, Token, Type};

/// What an author wrote behind `#[tool`, each part ready to be put into the definition.
#[derive(Default)]
pub(crate) struct Options {
    pub(crate) name: Option<LitStr>,
    pub(crate) title: Option<Expr>,
    /// Names of constants of `Effects`.
    pub(crate) effects: Vec<Ident>,
    pub(crate) approval: Option<Approval>,
    pub(crate) rules: Vec<Rule>,
    pub(crate) rate_limit: Option<RateLimit>,
    pub(crate) deferrable: bool,
    pub(crate) categories: Vec<LitStr>,
    pub(crate) short_doc: Option<Expr>,
    pub(crate) long_doc: Option<Expr>,
    pub(crate) examples: Vec<Example>,
    pub(crate) output: Option<Type>,
}

/// The name of a variant of `Approval`.
pub(crate) struct Approval(pub(crate) Ident);

pub(crate) enum Rule {
    ReadsPath(LitStr),
    WritesPath(LitStr),
    NeedsApproval { pointer: LitStr, equals: Option<Json>, approval: Approval },
}

pub(crate) struct RateLimit {
    pub(crate) per_minute: Expr,
    pub(crate) per_hour: Expr,
}

pub(crate) struct Example {
    pub(crate) description: Expr,
    pub(crate) input: Json,
    pub(crate) output: Option<Expr>,
}

/// A JSON value in the notation of `serde_json::json!`.
pub(crate) struct Json(pub(crate) TokenStream);

impl Parse for Options {
    fn parse(input: ParseStream) -> Result<Self> {
        let mut options = Self::default();
        syn::meta::parser(|meta| options.read(&meta)).parse2(input.parse()?)?;
        Ok(options)
    }
}

impl Options {
    fn read(&mut self, meta: &ParseNestedMeta) -> Result<()> {
        let option = meta.path.require_ident()?;
        match option.to_string().as_str() {
            "name" => self.name = Some(tool_name(meta)?),
            "title" => self.title = Some(meta.value()?.parse()?),
            "read_only" | "destructive" | "idempotent" | "open_world" | "pure" => {
                self.effects.push(constant(option));
            }
            "approval" => self.approval = Some(meta.value()?.parse()?),
            "reads_path" => self.rules.push(Rule::ReadsPath(pointer(meta)?)),
            "writes_path" => self.rules.push(Rule::WritesPath(pointer(meta)?)),
            "needs_approval" => self.rules.push(needs_approval(meta)?),
            "rate_limit" => self.rate_limit = Some(rate_limit(meta)?),
            "deferrable" => self.deferrable = true,
            "categories" => self.categories = categories(meta)?,
            "short_doc" => self.short_doc = Some(meta.value()?.parse()?),
            "long_doc" => self.long_doc = Some(meta.value()?.parse()?),
            "example" => self.examples.push(example(meta)?),
            "output" => self.output = Some(meta.value()?.parse()?),
            _ => return Err(meta.error("no such option; the documentation of `tool` lists them")),
        }
        Ok(())
    }
}

impl Parse for Approval {
    fn parse(input: ParseStream) -> Result<Self> {
        let word: Ident = input.parse()?;
        let variant = match word.to_string().as_str() {
            "never" => "Never",
            "unless_auto_approved" => "UnlessAutoApproved",
            "always" => "Always",
            _ => {
                return Err(Error::new(word.span(), "expected `never`, `unless_auto_approved` or `always`"));
            }
        };
        Ok(Self(Ident::new(variant, word.span())))
    }
}

impl Parse for Json {
    fn parse(input: ParseStream) -> Result<Self> {
        let mut value = TokenStream::new();
        while !input.is_empty() && !input.peek(Token![,]) {
            value.extend([input.parse::<TokenTree>()?]);
        }
        if value.is_empty() {
            return Err(input.error("expected a JSON value"));
        }
        Ok(Self(quote!(#value)))
    }
}

/// Whether the contract allows `name` for a tool.
pub(crate) fn is_tool_name(name: &str) -> bool {
    name.len() <= 48
        && name.starts_with(|first: char| first.is_ascii_lowercase())
        && name.chars().all(|c| matches!(c, 'a'..='z' | '0'..='9' | '_' | '-'))
}

fn tool_name(meta: &ParseNestedMeta) -> Result<LitStr> {
    let name: LitStr = meta.value()?.parse()?;
    if !is_tool_name(&name.value()) {
        return Err(Error::new(name.span(), NAME_RULE));
    }
    Ok(name)
}

/// What is wrong with a name that the contract does not allow.
pub(crate) const NAME_RULE: &str = "a tool's name is 1 to 48 of `a-z`, `0-9`, `_` and `-`, beginning with a letter";

fn constant(option: &Ident) -> Ident {
    Ident::new(&option.to_string().to_uppercase(), option.span())
}

fn pointer(meta: &ParseNestedMeta) -> Result<LitStr> {
    let pointer: LitStr = meta.value()?.parse()?;
    if !pointer.value().starts_with('/') {
        return Err(Error::new(pointer.span(), "expected a JSON Pointer to an argument, such as \"/path\""));
    }
    Ok(pointer)
}

fn needs_approval(meta: &ParseNestedMeta) -> Result<Rule> {
    let (mut at, mut equals, mut approval) = (None, None, None);
    meta.parse_nested_meta(|part| {
        match part.path.require_ident()?.to_string().as_str() {
            "pointer" => at = Some(pointer(&part)?),
            "equals" => equals = Some(part.value()?.parse()?),
            "approval" => approval = Some(part.value()?.parse()?),
            _ => return Err(part.error("expected `pointer`, `equals` or `approval`")),
        }
        Ok(())
    })?;
    let pointer = at.ok_or_else(|| meta.error("`pointer` is missing"))?;
    let approval = approval.unwrap_or_else(|| Approval(Ident::new("Always", Span::call_site())));
    Ok(Rule::NeedsApproval { pointer, equals, approval })
}

fn rate_limit(meta: &ParseNestedMeta) -> Result<RateLimit> {
    let (mut per_minute, mut per_hour) = (None, None);
    meta.parse_nested_meta(|part| {
        match part.path.require_ident()?.to_string().as_str() {
            "per_minute" => per_minute = Some(part.value()?.parse()?),
            "per_hour" => per_hour = Some(part.value()?.parse()?),
            _ => return Err(part.error("expected `per_minute` or `per_hour`")),
        }
        Ok(())
    })?;
    Ok(RateLimit {
        per_minute: per_minute.ok_or_else(|| meta.error("`per_minute` is missing"))?,
        per_hour: per_hour.ok_or_else(|| meta.error("`per_hour` is missing"))?,
    })
}

fn categories(meta: &ParseNestedMeta) -> Result<Vec<LitStr>> {
    let content;
    syn::parenthesized!(content in meta.input);
    let words = content.parse_terminated(<LitStr as Parse>::parse, Token![,])?;
    Ok(words.into_iter().collect())
}

fn example(meta: &ParseNestedMeta) -> Result<Example> {
    let (mut description, mut input, mut output) = (None, None, None);
    meta.parse_nested_meta(|part| {
        match part.path.require_ident()?.to_string().as_str() {
            "description" => description = Some(part.value()?.parse()?),
            "input" => input = Some(part.value()?.parse()?),
            "output" => output = Some(part.value()?.parse()?),
            _ => return Err(part.error("expected `description`, `input` or `output`")),
        }
        Ok(())
    })?;
    Ok(Example {
        description: description.ok_or_else(|| meta.error("`description` is missing"))?,
        input: input.ok_or_else(|| meta.error("`input` is missing"))?,
        output,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mistake(options: &str) -> String {
        match syn::parse_str::<Options>(options) {
            Ok(_) => panic!("{options} was accepted"),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn a_mistake_is_named() {
        for (options, expected) in [
            ("colour", "no such option"),
            ("name = \"Copy\"", NAME_RULE),
            ("name = \"\"", NAME_RULE),
            ("approval = sometimes", "expected `never`, `unless_auto_approved` or `always`"),
            ("reads_path = \"path\"", "JSON Pointer"),
            ("needs_approval(equals = 1)", "`pointer` is missing"),
            ("needs_approval(pointer = \"/a\", equals = )", "expected a JSON value"),
            ("rate_limit(per_minute = 1)", "`per_hour` is missing"),
            ("example(input = {})", "`description` is missing"),
            ("example(description = \"x\")", "`input` is missing"),
        ] {
            assert!(mistake(options).contains(expected), "{options}: {}", mistake(options));
        }
    }

    #[test]
    fn names_are_those_of_the_contract() {
        for (name, expected) in [("a", true), ("a-b_9", true), ("", false), ("9a", false), ("a.b", false), ("ä", false)]
        {
            assert_eq!(is_tool_name(name), expected, "{name}");
        }
        assert!(is_tool_name(&"a".repeat(48)) && !is_tool_name(&"a".repeat(49)));
    }
}
