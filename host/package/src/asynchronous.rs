//! Functions that deal in what goes on after a call: streams, futures, and calls that others wait for.
//!
//! The engine does not compile a component that has any. This finds the function and the type to name, once that
//! happened.

use std::collections::HashSet;

use wasmparser::component_types::{
    ComponentDefinedType, ComponentDefinedTypeId, ComponentEntityType, ComponentFuncType, ComponentValType,
};
use wasmparser::types::Types;
use wasmparser::{Parser, Payload, Validator, WasmFeatures};

/// How deep instances inside instances are followed.
const MAX_DEPTH: usize = 8;

/// An exported function that deals in what goes on after a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asynchronous {
    /// The names of the interfaces that it is in, and its own.
    pub path: Vec<String>,
    /// Where it has the type.
    pub place: Place,
    /// The type.
    pub what: What,
}

/// Where a function has such a type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// The function is itself one.
    Itself,
    /// This parameter is one, or holds one.
    Param {
        /// Its name.
        name: String,
        /// Whether it only holds one.
        inside: bool,
    },
    /// The result is one, or holds one.
    Result {
        /// Whether it only holds one.
        inside: bool,
    },
}

/// What goes on after a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// `async func`.
    Function,
    /// `stream`.
    Stream,
    /// `future`.
    Future,
}

/// The first function like that which `component` exports, by itself or in an interface; `None` where there is none, or
/// where the component is not valid.
pub fn find(component: &[u8]) -> Option<Asynchronous> {
    let types = Validator::new_with_features(WasmFeatures::all()).validate_all(component).ok()?;
    let search = Search { types };
    exports(component).iter().find_map(|name| {
        let item = search.types.component_item_for_export(name)?;
        search.entity(std::slice::from_ref(name), &item.ty)
    })
}

/// The names of what the component itself exports.
fn exports(component: &[u8]) -> Vec<String> {
    let mut names = Vec::new();
    let mut depth = 0_usize;
    for payload in Parser::new(0).parse_all(component).map_while(Result::ok) {
        match payload {
            Payload::ModuleSection { .. } | Payload::ComponentSection { .. } => depth += 1,
            Payload::End(_) => depth = depth.saturating_sub(1),
            Payload::ComponentExportSection(reader) if depth == 0 => {
                names.extend(reader.into_iter().map_while(Result::ok).map(|export| export.name.name.to_owned()));
            }
            _ => {}
        }
    }
    names
}

struct Search {
    types: Types,
}

impl Search {
    fn entity(&self, path: &[String], ty: &ComponentEntityType) -> Option<Asynchronous> {
        match ty {
            ComponentEntityType::Func(function) => {
                let (place, what) = self.function(&self.types[*function])?;
                Some(Asynchronous { path: path.to_vec(), place, what })
            }
            ComponentEntityType::Instance(instance) if path.len() <= MAX_DEPTH => {
                self.types[*instance].exports.iter().find_map(|(name, item)| {
                    let path: Vec<_> = path.iter().chain([name]).cloned().collect();
                    self.entity(&path, &item.ty)
                })
            }
            _ => None,
        }
    }

    fn function(&self, function: &ComponentFuncType) -> Option<(Place, What)> {
        if function.async_ {
            return Some((Place::Itself, What::Function));
        }
        let param = function.params.iter().find_map(|(name, ty)| {
            let (what, inside) = self.value(*ty, false, &mut HashSet::new())?;
            Some((Place::Param { name: name.to_string(), inside }, what))
        });
        param.or_else(|| {
            let (what, inside) = self.value(function.result?, false, &mut HashSet::new())?;
            Some((Place::Result { inside }, what))
        })
    }

    /// What of the kind a type is or holds. Types are shared, so each is looked at once.
    fn value(
        &self,
        ty: ComponentValType,
        inside: bool,
        seen: &mut HashSet<ComponentDefinedTypeId>,
    ) -> Option<(What, bool)> {
        let ComponentValType::Type(id) = ty else { return None };
        if !seen.insert(id) {
            return None;
        }
        let within: Vec<ComponentValType> = match &self.types[id] {
            ComponentDefinedType::Stream { .. } => return Some((What::Stream, inside)),
            ComponentDefinedType::Future { .. } => return Some((What::Future, inside)),
            ComponentDefinedType::Record(record) => record.fields.values().copied().collect(),
            ComponentDefinedType::Variant(variant) => variant.cases.values().filter_map(|case| case.ty).collect(),
            ComponentDefinedType::Tuple(tuple) => tuple.types.to_vec(),
            ComponentDefinedType::List { element, .. } | ComponentDefinedType::FixedLengthList { element, .. } => {
                vec![*element]
            }
            ComponentDefinedType::Map { key, value, .. } => vec![*key, *value],
            ComponentDefinedType::Option { ty, .. } => vec![*ty],
            ComponentDefinedType::Result { ok, err, .. } => ok.iter().chain(err).copied().collect(),
            _ => Vec::new(),
        };
        within.into_iter().find_map(|ty| self.value(ty, true, seen))
    }
}
