//! The attribute that makes a function a ringfence tool. Authors get it from `ringfence-sdk`.

mod expand;
mod function;
mod options;

use proc_macro::TokenStream;
use syn::{ItemFn, parse_macro_input};

use crate::function::Function;
use crate::options::Options;

/// Makes a function a tool.
///
/// The function takes nothing, its arguments (a struct that is `Deserialize` and `JsonSchema`), a `&CallInfo`, or both.
/// It returns what is `IntoOutput`. Its doc comment describes the tool to the model. It stays an ordinary function that
/// tests can call.
///
/// All options may be left out:
///
/// | option | says |
/// |---|---|
/// | `name = "greet"` | the tool's name, otherwise the function's: 1 to 48 of `a-z`, `0-9`, `_`, `-`, beginning with a letter |
/// | `title = "Greet"` | a few words for people |
/// | `read_only`, `destructive`, `idempotent`, `open_world`, `pure` | what the tool claims about its effects |
/// | `approval = always` | the least approval of a call: `never` (the default), `unless_auto_approved`, `always` |
/// | `reads_path = "/path"`, `writes_path = "/path"` | the argument at this JSON Pointer is a path that is read, or written |
/// | `needs_approval(pointer = "/force", equals = true, approval = always)` | a value that raises the approval; without `equals`, any value |
/// | `rate_limit(per_minute = 10, per_hour = 100)` | a tighter rate limit than the host's |
/// | `deferrable` | the schema may be withheld until the model asks for the tool |
/// | `categories("text", "finance")` | search words |
/// | `short_doc = "…"`, `long_doc = include_str!("…")` | one line for listings; the manual, in Markdown |
/// | `example(description = "…", input = { "name": "Ada" }, output = "Hello, Ada!")` | a worked example; `output` may be left out |
/// | `output = Type` | the type of the structured result, which then has a schema |
///
/// Rules and examples may be given several times.
#[proc_macro_attribute]
pub fn tool(attribute: TokenStream, item: TokenStream) -> TokenStream {
    let options = parse_macro_input!(attribute as Options);
    let item = parse_macro_input!(item as ItemFn);
    match Function::new(&item) {
        Ok(function) => expand::tool(&options, &function, &item).into(),
        Err(error) => error.into_compile_error().into(),
    }
}
