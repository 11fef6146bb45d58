//! The functions that a component exports, and what they are as tools.

use ringfence_core::tool::ToolSpec;
use ringfence_package::asynchronous::{Asynchronous, Place, What};
use ringfence_package::manifest;
use thiserror::Error;
use wasmtime::Engine;
use wasmtime::component::types::{ComponentFunc, ComponentItem};
use wasmtime::component::{Component, ComponentExportIndex};

use super::val_type::{self, MAX_DEPTH, Refusal, TypeReader, ValType, joined};
use super::{names, schema};

/// How much of a signature stands in a description, in bytes. The schema says it all once more.
const MAX_SIGNATURE: usize = 500;

/// A function that a component exports.
pub(super) struct Function {
    /// What it is called as a tool.
    pub(super) tool: String,
    /// Where it is in the component.
    pub(super) index: ComponentExportIndex,
    path: Vec<String>,
    pub(super) params: Vec<(String, ValType)>,
    pub(super) result: Option<ValType>,
}

/// Why the functions of a component cannot be tools.
#[derive(Debug, Error)]
pub enum FunctionError {
    /// A type that is not data.
    #[error(
        "`{function}` {place} `{found}`, {what}: a plain function takes and gives back data only. \
         Export it without that, or write the tool with the SDK"
    )]
    NotData {
        /// The function.
        function: String,
        /// Where the function has it.
        place: String,
        /// The type.
        found: String,
        /// What that is.
        what: &'static str,
    },
    /// A type that nests too deeply.
    #[error("`{function}` has types that nest deeper than {MAX_DEPTH} levels: flatten them")]
    TooDeep {
        /// The function.
        function: String,
    },
    /// Types whose schemas would not fit into a manifest.
    #[error(
        "the types of its functions, up to `{function}`, are too large: written out they do not fit into the {} bytes \
         of a manifest. Make several components of it",
        manifest::MAX_BYTES
    )]
    TooLarge {
        /// The function that was too much.
        function: String,
    },
    /// Two functions whose names, and digests of names, are the same.
    #[error("two of its functions would be called `{0}` as tools: rename one of them")]
    SameName(String),
}

impl FunctionError {
    /// That a function deals in what goes on after a call.
    pub(crate) fn asynchronous(found: Asynchronous) -> Self {
        let (found_type, what) = match found.what {
            What::Function => ("async func", "which goes on beside others"),
            What::Stream => val_type::STREAM,
            What::Future => val_type::FUTURE,
        };
        let function = names::full(&found.path);
        let refused = |place: String, inside| {
            refused(function.clone(), place, Refusal::NotData { found: found_type.to_owned(), what, inside })
        };
        match found.place {
            Place::Param { name, inside } => refused(format!("takes `{name}`"), inside),
            Place::Result { inside } => refused("gives back a result".to_owned(), inside),
            Place::Itself => Self::NotData { function, place: "is".to_owned(), found: found_type.to_owned(), what },
        }
    }
}

/// A function before it has a name.
struct Found {
    path: Vec<String>,
    ty: ComponentFunc,
    index: ComponentExportIndex,
}

/// All functions of `component`, at the top and inside interfaces, in the order in which they are exported.
///
/// # Errors
/// When one of them cannot be a tool.
pub(super) fn functions(component: &Component) -> Result<Vec<Function>, FunctionError> {
    let types = TypeReader { resources: Vec::new(), left: manifest::MAX_BYTES };
    let mut search = Search { component, types, found: Vec::new() };
    search.component()?;
    let Search { found, mut types, .. } = search;
    let functions = found.into_iter().map(|found| Function::read(found, &mut types)).collect::<Result<_, _>>()?;
    with_names(functions)
}

fn with_names(mut functions: Vec<Function>) -> Result<Vec<Function>, FunctionError> {
    let paths: Vec<_> = functions.iter().map(|function| function.path.clone()).collect();
    let mut taken = std::collections::HashSet::new();
    for (function, name) in functions.iter_mut().zip(names::tool_names(&paths)) {
        if !taken.insert(name.clone()) {
            return Err(FunctionError::SameName(name));
        }
        function.tool = name;
    }
    Ok(functions)
}

/// A walk over what a component exports, and over the resources that it names. Interfaces can be shared as types can,
/// so the walk is on the same budget.
struct Search<'a> {
    component: &'a Component,
    types: TypeReader,
    found: Vec<Found>,
}

impl Search<'_> {
    fn component(&mut self) -> Result<(), FunctionError> {
        let ty = self.component.component_type();
        let engine = self.component.engine();
        for (name, import) in ty.imports(engine) {
            self.imported(engine, name, import.ty);
        }
        ty.exports(engine).try_for_each(|(name, export)| self.exported(&[], None, name, export.ty))
    }

    fn imported(&mut self, engine: &Engine, name: &str, item: ComponentItem) {
        match item {
            ComponentItem::Resource(resource) => self.types.resources.push((resource, name.to_owned())),
            ComponentItem::ComponentInstance(instance) => {
                for (name, item) in instance.exports(engine) {
                    self.imported(engine, name, item.ty);
                }
            }
            _ => {}
        }
    }

    fn exported(
        &mut self,
        outer: &[String],
        within: Option<&ComponentExportIndex>,
        name: &str,
        item: ComponentItem,
    ) -> Result<(), FunctionError> {
        let path: Vec<_> = outer.iter().cloned().chain([name.to_owned()]).collect();
        for name in &path {
            self.types.name(name).map_err(|refusal| refused(names::full(&path), String::new(), refusal))?;
        }
        let index = self.component.get_export_index(within, name);
        match (item, index) {
            (ComponentItem::Resource(resource), _) => self.types.resources.push((resource, name.to_owned())),
            (ComponentItem::ComponentFunc(ty), Some(index)) => self.found.push(Found { path, ty, index }),
            (ComponentItem::ComponentInstance(instance), index) => {
                let mut exports = instance.exports(self.component.engine());
                exports.try_for_each(|(name, export)| self.exported(&path, index.as_ref(), name, export.ty))?;
            }
            _ => {}
        }
        Ok(())
    }
}

impl Function {
    fn read(found: Found, types: &mut TypeReader) -> Result<Self, FunctionError> {
        let Found { path, ty, index } = found;
        let refused = |place: String, refusal| refused(names::full(&path), place, refusal);
        let mut params = Vec::new();
        for (name, ty) in ty.params() {
            let param = types.name(name).and_then(|name| Ok((name, types.read(&ty)?)));
            params.push(param.map_err(|refusal| refused(format!("takes `{name}`"), refusal))?);
        }
        let result = ty.results().next().map(|ty| types.read(&ty)).transpose();
        let result = result.map_err(|refusal| refused("gives back a result".to_owned(), refusal))?;
        Ok(Self { tool: String::new(), index, path, params, result })
    }

    /// What the function gives back when it succeeds.
    pub(super) fn output(&self) -> Option<&ValType> {
        match &self.result {
            Some(ValType::Result(ok, _)) => ok.as_deref(),
            other => other.as_ref(),
        }
    }

    /// What the function is as a tool.
    pub(super) fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: self.tool.clone(),
            description: self.description(),
            parameters: schema::record(&self.params),
            output_schema: Some(schema::output(self.output())),
            ..ToolSpec::default()
        }
    }

    fn description(&self) -> String {
        let mut signature = self.signature();
        if signature.len() > MAX_SIGNATURE {
            signature.truncate(signature.floor_char_boundary(MAX_SIGNATURE));
            signature.push('…');
        }
        match self.path.as_slice() {
            [interfaces @ .., name] if !interfaces.is_empty() => {
                format!("Calls the function `{name}: {signature}` of the interface `{}`.", interfaces.join("#"))
            }
            path => format!("Calls the function `{}: {signature}`.", path.concat()),
        }
    }

    /// The function's type, as WIT has it.
    fn signature(&self) -> String {
        let params = joined(&self.params, |f, (name, ty)| write!(f, "{name}: {ty}"));
        match &self.result {
            Some(ty) => format!("func({params}) -> {ty}"),
            None => format!("func({params})"),
        }
    }
}

fn refused(function: String, place: String, refusal: Refusal) -> FunctionError {
    match refusal {
        Refusal::TooDeep => FunctionError::TooDeep { function },
        Refusal::TooLarge => FunctionError::TooLarge { function },
        Refusal::NotData { found, what, inside } => {
            let place = format!("{place}, which {}", if inside { "has in it" } else { "is" });
            FunctionError::NotData { function, place, found, what }
        }
    }
}
