//! The function behind the attribute: what of it makes a tool.

use syn::spanned::Spanned;
use syn::{Attribute, Error, Expr, ExprLit, FnArg, ItemFn, Lit, Meta, PatType, Result, Type};

/// What a tool needs to know of its function.
pub(crate) struct Function<'a> {
    /// The doc comment.
    pub(crate) description: String,
    /// The arguments as they are passed, in the function's order.
    pub(crate) inputs: Vec<Input<'a>>,
}

/// One argument of the function.
pub(crate) enum Input<'a> {
    /// The tool's arguments, of this type.
    Arguments(&'a Type),
    /// What a tool learns of the call.
    CallInfo,
}

impl<'a> Function<'a> {
    pub(crate) fn new(item: &'a ItemFn) -> Result<Self> {
        refuse_unfit(item)?;
        Ok(Self { description: description(item)?, inputs: inputs(item)? })
    }

    /// The type of the tool's arguments, if it has any.
    pub(crate) fn arguments(&self) -> Option<&'a Type> {
        self.inputs.iter().find_map(|input| match input {
            Input::Arguments(arguments) => Some(*arguments),
            Input::CallInfo => None,
        })
    }
}

fn refuse_unfit(item: &ItemFn) -> Result<()> {
    let signature = &item.sig;
    if let Some(token) = &signature.asyncness {
        return Err(Error::new(
            token.span(),
            "a tool is an ordinary function: the host, not the guest, runs calls side by side",
        ));
    }
    if !signature.generics.params.is_empty() {
        return Err(Error::new(signature.generics.span(), "a tool cannot be generic: its schema is made once"));
    }
    Ok(())
}

fn description(item: &ItemFn) -> Result<String> {
    let lines = item.attrs.iter().filter(|attribute| attribute.path().is_ident("doc")).map(doc_line);
    let text = lines.collect::<Result<Vec<_>>>()?.join("\n").trim().to_owned();
    if text.is_empty() {
        return Err(Error::new(
            item.sig.ident.span(),
            "a tool needs a doc comment: it tells the model what the tool does and when to use it",
        ));
    }
    Ok(text)
}

fn doc_line(attribute: &Attribute) -> Result<String> {
    if let Meta::NameValue(doc) = &attribute.meta
        && let Expr::Lit(ExprLit { lit: Lit::Str(line), .. }) = &doc.value
    {
        let line = line.value();
        return Ok(line.strip_prefix(' ').unwrap_or(&line).to_owned());
    }
    Err(Error::new(attribute.span(), "the description of a tool is a plain doc comment"))
}

fn inputs(item: &ItemFn) -> Result<Vec<Input<'_>>> {
    let inputs = item.sig.inputs.iter().map(input).collect::<Result<Vec<_>>>()?;
    let infos = inputs.iter().filter(|input| matches!(input, Input::CallInfo)).count();
    if infos > 1 || inputs.len() - infos > 1 {
        return Err(Error::new(
            item.sig.inputs.span(),
            "a tool takes its arguments as one struct, and perhaps a `&CallInfo`",
        ));
    }
    Ok(inputs)
}

fn input(argument: &FnArg) -> Result<Input<'_>> {
    match argument {
        FnArg::Receiver(receiver) => Err(Error::new(receiver.span(), "a tool is a function, not a method")),
        FnArg::Typed(PatType { ty, .. }) => Ok(match ty.as_ref() {
            Type::Reference(_) => Input::CallInfo,
            arguments => Input::Arguments(arguments),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mistake(item: &str) -> String {
        let item: ItemFn = syn::parse_str(item).unwrap();
        Function::new(&item).err().map(|error| error.to_string()).unwrap_or_default()
    }

    #[test]
    fn a_function_that_is_no_tool_is_refused() {
        for (item, expected) in [
            ("fn f() {}", "doc comment"),
            ("/// D.\nasync fn f() {}", "ordinary function"),
            ("/// D.\nfn f<T>(t: T) {}", "generic"),
            ("/// D.\nfn f(a: A, b: B) {}", "one struct"),
            ("/// D.\nfn f(a: &A, b: &B) {}", "one struct"),
            ("/// D.\nfn f(self) {}", "not a method"),
            ("#[doc = include_str!(\"x\")]\nfn f() {}", "plain doc comment"),
        ] {
            assert!(mistake(item).contains(expected), "{item}: {}", mistake(item));
        }
        assert_eq!(mistake("/// D.\nfn f(call: &CallInfo, args: A) {}"), "");
    }

    #[test]
    fn the_description_keeps_its_paragraphs_and_indents() {
        let item: ItemFn = syn::parse_str("/// One.\n///\n/// - a\n///   b\nfn f() {}").unwrap();
        assert_eq!(Function::new(&item).unwrap().description, "One.\n\n- a\n  b");
    }
}
