//! What the attribute writes: the function as it was, and a type of the same name that carries the tool.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::{Error, ItemFn, LitStr};

use crate::function::{Function, Input};
use crate::options::{Example, NAME_RULE, Options, Rule, is_tool_name};

/// Functions and types have separate namespaces, so `greet` can be both the function and an empty type whose constant
/// `TOOL` is the tool; an import or a path reaches the two together.
pub(crate) fn tool(options: &Options, function: &Function, item: &ItemFn) -> TokenStream {
    let ident = &item.sig.ident;
    let visibility = &item.vis;
    let name = match name(options, item) {
        Ok(name) => name,
        Err(error) => return error.into_compile_error(),
    };
    let definition = definition(options, function, &name);
    let call = call(function, item);
    let value = name.value();
    let bytes = value.as_bytes();
    quote! {
        #[allow(clippy::needless_pass_by_value, reason = "a tool owns its arguments")]
        #item

        #[doc(hidden)]
        #[allow(non_camel_case_types, reason = "it is named like the function that it stands for")]
        #visibility enum #ident {}

        impl #ident {
            #[doc(hidden)]
            #visibility const TOOL: ::ringfence_sdk::Tool = ::ringfence_sdk::Tool {
                name: #name,
                is_named: |name| ::std::matches!(name.as_bytes(), [#(#bytes),*]),
                define: || #definition,
                call: #call,
            };
        }
    }
}

fn name(options: &Options, item: &ItemFn) -> syn::Result<LitStr> {
    let ident = &item.sig.ident;
    match &options.name {
        Some(name) => Ok(name.clone()),
        None if is_tool_name(&ident.to_string()) => Ok(LitStr::new(&ident.to_string(), ident.span())),
        None => Err(Error::new(ident.span(), format!("{NAME_RULE}; give one with `name = \"…\"`"))),
    }
}

fn definition(options: &Options, function: &Function, name: &LitStr) -> TokenStream {
    let description = &function.description;
    let title = optional_string(options.title.as_ref());
    let parameters = match function.arguments() {
        Some(arguments) => quote!(::ringfence_sdk::private::schema_of::<#arguments>()),
        None => quote!(::ringfence_sdk::private::schema_of_nothing()),
    };
    let output_schema = match &options.output {
        Some(output) => {
            quote!(::std::option::Option::Some(::ringfence_sdk::private::schema_of::<#output>()))
        }
        None => quote!(::std::option::Option::None),
    };
    let effects = &options.effects;
    let approval = match &options.approval {
        Some(approval) => &approval.0,
        None => &syn::Ident::new("Never", name.span()),
    };
    let rules = options.rules.iter().map(rule);
    let rate_limit = rate_limit(options);
    let deferrable = options.deferrable;
    let categories = &options.categories;
    let short_doc = optional_string(options.short_doc.as_ref());
    let long_doc = optional_string(options.long_doc.as_ref());
    let examples = options.examples.iter().map(example);
    quote! {
        ::ringfence_sdk::Definition {
            name: ::std::string::String::from(#name),
            title: #title,
            description: ::std::string::String::from(#description),
            parameters: #parameters,
            output_schema: #output_schema,
            effects: ::ringfence_sdk::Effects::empty() #(| ::ringfence_sdk::Effects::#effects)*,
            approval: ::ringfence_sdk::Approval::#approval,
            rules: ::std::vec![#(#rules),*],
            rate_limit: #rate_limit,
            deferrable: #deferrable,
            categories: ::std::vec![#(::std::string::String::from(#categories)),*],
            short_doc: #short_doc,
            long_doc: #long_doc,
            examples: ::std::vec![#(#examples),*],
        }
    }
}

fn optional_string(value: Option<impl ToTokens>) -> TokenStream {
    match value {
        Some(value) => quote!(::std::option::Option::Some(::std::string::String::from(#value))),
        None => quote!(::std::option::Option::None),
    }
}

fn rule(rule: &Rule) -> TokenStream {
    match rule {
        Rule::ReadsPath(pointer) => {
            quote!(::ringfence_sdk::ArgumentRule::ReadsPath(::std::string::String::from(#pointer)))
        }
        Rule::WritesPath(pointer) => {
            quote!(::ringfence_sdk::ArgumentRule::WritesPath(::std::string::String::from(#pointer)))
        }
        Rule::NeedsApproval { pointer, equals, approval } => {
            let equals = optional_string(equals.as_ref().map(|equals| json(&equals.0)));
            let approval = &approval.0;
            quote! {
                ::ringfence_sdk::ArgumentRule::NeedsApproval(::ringfence_sdk::ApprovalRule {
                    pointer: ::std::string::String::from(#pointer),
                    equals: #equals,
                    approval: ::ringfence_sdk::Approval::#approval,
                })
            }
        }
    }
}

fn rate_limit(options: &Options) -> TokenStream {
    match &options.rate_limit {
        Some(limit) => {
            let (per_minute, per_hour) = (&limit.per_minute, &limit.per_hour);
            quote! {
                ::std::option::Option::Some(::ringfence_sdk::RateLimit { per_minute: #per_minute, per_hour: #per_hour })
            }
        }
        None => quote!(::std::option::Option::None),
    }
}

fn example(example: &Example) -> TokenStream {
    let description = &example.description;
    let input = json(&example.input.0);
    let output = optional_string(example.output.as_ref());
    quote! {
        ::ringfence_sdk::Example {
            description: ::std::string::String::from(#description),
            input: #input,
            output: #output,
        }
    }
}

fn json(value: &TokenStream) -> TokenStream {
    quote!(::ringfence_sdk::serde_json::json!(#value).to_string())
}

fn call(function: &Function, item: &ItemFn) -> TokenStream {
    let ident = &item.sig.ident;
    let inputs = function.inputs.iter().map(|input| match input {
        Input::Arguments(_) => quote!(::ringfence_sdk::private::arguments(parameters)?),
        Input::CallInfo => quote!(info),
    });
    quote!(|parameters, info| ::ringfence_sdk::IntoOutput::into_output(#ident(#(#inputs),*)))
}
