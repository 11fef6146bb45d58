//! The types that values of plain functions can have: data, and nothing that is tied to an instance.

use std::fmt;
use std::ops::RangeInclusive;

use wasmtime::component::{ResourceType, Type, Val};

/// How deep types may nest. Each level takes up to four in a schema, and serde_json reads no JSON deeper than 128.
pub(super) const MAX_DEPTH: usize = 24;

/// What one type costs of the budget, in bytes: not more than its schema takes.
const TYPE_BYTES: usize = 16;

/// What an integer of 64 bits costs more: its schema has a pattern, which has to be compiled as well.
const PATTERN_BYTES: usize = 400;

/// What one name costs beside its letters: quotation marks and a comma.
const NAME_BYTES: usize = 3;

/// How errors call a stream, and what it is.
pub(super) const STREAM: (&str, &str) = ("stream", "which goes on after the call");

/// The same of a future.
pub(super) const FUTURE: (&str, &str) = ("future", "which comes after the call");

/// A type of the component model without resources, streams and the like.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum ValType {
    Bool,
    Int(Int),
    F32,
    F64,
    Char,
    String,
    /// `list<u8>`, which has a form of its own in JSON.
    Bytes,
    List(Box<ValType>),
    Record(Vec<(String, ValType)>),
    Tuple(Vec<ValType>),
    Variant(Vec<(String, Option<ValType>)>),
    Enum(Vec<String>),
    Flags(Vec<String>),
    Option(Box<ValType>),
    Result(Option<Box<ValType>>, Option<Box<ValType>>),
}

/// The integer types.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Int {
    S8,
    U8,
    S16,
    U16,
    S32,
    U32,
    S64,
    U64,
}

/// Why a type is not a [`ValType`].
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    /// It is, or holds, something that is not data.
    NotData {
        /// Its name in WIT.
        found: String,
        /// What that is.
        what: &'static str,
        /// Whether it is inside the type rather than the type itself.
        inside: bool,
    },
    /// It nests deeper than [`MAX_DEPTH`].
    TooDeep,
    /// It takes more than the budget when it is written out.
    TooLarge,
}

/// Reads types out of a component, all on one budget: types are shared in a component, so that a few bytes of it can
/// stand for gigabytes when they are written out.
pub(super) struct TypeReader {
    /// The resources of the component, by name.
    pub(super) resources: Vec<(ResourceType, String)>,
    /// Bytes that the types may still take.
    pub(super) left: usize,
}

impl TypeReader {
    /// Reads one type.
    pub(super) fn read(&mut self, ty: &Type) -> Result<ValType, Refusal> {
        self.at(ty, 0)
    }

    /// Reads a name.
    pub(super) fn name(&mut self, name: &str) -> Result<String, Refusal> {
        self.take(NAME_BYTES + name.len())?;
        Ok(name.to_owned())
    }

    fn take(&mut self, bytes: usize) -> Result<(), Refusal> {
        self.left = self.left.checked_sub(bytes).ok_or(Refusal::TooLarge)?;
        Ok(())
    }

    fn at(&mut self, ty: &Type, depth: usize) -> Result<ValType, Refusal> {
        if depth > MAX_DEPTH {
            return Err(Refusal::TooDeep);
        }
        self.take(TYPE_BYTES)?;
        let deeper = depth + 1;
        Ok(match ty {
            Type::Bool => ValType::Bool,
            Type::S8 => ValType::Int(Int::S8),
            Type::U8 => ValType::Int(Int::U8),
            Type::S16 => ValType::Int(Int::S16),
            Type::U16 => ValType::Int(Int::U16),
            Type::S32 => ValType::Int(Int::S32),
            Type::U32 => ValType::Int(Int::U32),
            Type::S64 => self.wide(Int::S64)?,
            Type::U64 => self.wide(Int::U64)?,
            Type::Float32 => ValType::F32,
            Type::Float64 => ValType::F64,
            Type::Char => ValType::Char,
            Type::String => ValType::String,
            Type::List(list) => match self.at(&list.ty(), deeper)? {
                ValType::Int(Int::U8) => ValType::Bytes,
                element => ValType::List(Box::new(element)),
            },
            Type::Record(record) => {
                let fields = record.fields().map(|field| self.named(field.name, &field.ty, deeper));
                ValType::Record(fields.collect::<Result<_, _>>()?)
            }
            Type::Tuple(tuple) => {
                ValType::Tuple(tuple.types().map(|ty| self.at(&ty, deeper)).collect::<Result<_, _>>()?)
            }
            Type::Variant(variant) => {
                let cases = variant.cases().map(|case| {
                    let name = self.name(case.name)?;
                    Ok((name, case.ty.map(|ty| self.at(&ty, deeper)).transpose()?))
                });
                ValType::Variant(cases.collect::<Result<_, Refusal>>()?)
            }
            Type::Enum(names) => ValType::Enum(names.names().map(|name| self.name(name)).collect::<Result<_, _>>()?),
            Type::Flags(names) => ValType::Flags(names.names().map(|name| self.name(name)).collect::<Result<_, _>>()?),
            Type::Option(option) => ValType::Option(Box::new(self.at(&option.ty(), deeper)?)),
            Type::Result(result) => {
                let mut side = |ty: Option<Type>| ty.map(|ty| self.at(&ty, deeper).map(Box::new)).transpose();
                ValType::Result(side(result.ok())?, side(result.err())?)
            }
            other => return Err(self.not_data(other, depth > 0)),
        })
    }

    fn wide(&mut self, int: Int) -> Result<ValType, Refusal> {
        self.take(PATTERN_BYTES)?;
        Ok(ValType::Int(int))
    }

    fn named(&mut self, name: &str, ty: &Type, depth: usize) -> Result<(String, ValType), Refusal> {
        Ok((self.name(name)?, self.at(ty, depth)?))
    }

    fn not_data(&self, ty: &Type, inside: bool) -> Refusal {
        const RESOURCE: &str = "a resource, which ends with the instance that made it";
        const UNKNOWN: &str = "a type that this host does not know";
        let (found, what) = match ty {
            Type::Own(resource) => (format!("own<{}>", self.resource(resource)), RESOURCE),
            Type::Borrow(resource) => (format!("borrow<{}>", self.resource(resource)), RESOURCE),
            Type::Stream(_) => (STREAM.0.to_owned(), STREAM.1),
            Type::Future(_) => (FUTURE.0.to_owned(), FUTURE.1),
            Type::ErrorContext => ("error-context".to_owned(), "which ends with the instance that made it"),
            Type::Map(_) => ("map".to_owned(), UNKNOWN),
            Type::FixedLengthList(_) => ("list of fixed length".to_owned(), UNKNOWN),
            _ => ("?".to_owned(), UNKNOWN),
        };
        Refusal::NotData { found, what, inside }
    }

    fn resource(&self, ty: &ResourceType) -> &str {
        self.resources.iter().find(|(known, _)| known == ty).map_or("_", |(_, name)| name)
    }
}

impl Int {
    /// The name in WIT.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::S8 => "s8",
            Self::U8 => "u8",
            Self::S16 => "s16",
            Self::U16 => "u16",
            Self::S32 => "s32",
            Self::U32 => "u32",
            Self::S64 => "s64",
            Self::U64 => "u64",
        }
    }

    /// The values of the type.
    pub(super) fn range(self) -> RangeInclusive<i128> {
        match self {
            Self::S8 => i8::MIN.into()..=i8::MAX.into(),
            Self::U8 => 0..=u8::MAX.into(),
            Self::S16 => i16::MIN.into()..=i16::MAX.into(),
            Self::U16 => 0..=u16::MAX.into(),
            Self::S32 => i32::MIN.into()..=i32::MAX.into(),
            Self::U32 => 0..=u32::MAX.into(),
            Self::S64 => i64::MIN.into()..=i64::MAX.into(),
            Self::U64 => 0..=u64::MAX.into(),
        }
    }

    /// Whether it has values that a double cannot tell apart, and so can be written as a string.
    pub(super) fn is_wide(self) -> bool {
        matches!(self, Self::S64 | Self::U64)
    }

    /// The value `number` of the type; `None` when it has no such value.
    pub(super) fn val(self, number: i128) -> Option<Val> {
        Some(match self {
            Self::S8 => Val::S8(number.try_into().ok()?),
            Self::U8 => Val::U8(number.try_into().ok()?),
            Self::S16 => Val::S16(number.try_into().ok()?),
            Self::U16 => Val::U16(number.try_into().ok()?),
            Self::S32 => Val::S32(number.try_into().ok()?),
            Self::U32 => Val::U32(number.try_into().ok()?),
            Self::S64 => Val::S64(number.try_into().ok()?),
            Self::U64 => Val::U64(number.try_into().ok()?),
        })
    }
}

/// As it stands in WIT, except that types have no names there: what a name stands for is written out.
impl fmt::Display for ValType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bool => f.write_str("bool"),
            Self::Int(int) => f.write_str(int.name()),
            Self::F32 => f.write_str("f32"),
            Self::F64 => f.write_str("f64"),
            Self::Char => f.write_str("char"),
            Self::String => f.write_str("string"),
            Self::Bytes => f.write_str("list<u8>"),
            Self::List(element) => write!(f, "list<{element}>"),
            Self::Option(some) => write!(f, "option<{some}>"),
            Self::Tuple(types) => write!(f, "tuple<{}>", joined(types, |f, ty| write!(f, "{ty}"))),
            Self::Enum(names) => write!(f, "enum {{ {} }}", joined(names, |f, name| f.write_str(name))),
            Self::Flags(names) => write!(f, "flags {{ {} }}", joined(names, |f, name| f.write_str(name))),
            Self::Record(fields) => {
                write!(f, "record {{ {} }}", joined(fields, |f, (name, ty)| write!(f, "{name}: {ty}")))
            }
            Self::Variant(cases) => {
                let case = |f: &mut fmt::Formatter<'_>, (name, ty): &(String, Option<Self>)| match ty {
                    Some(ty) => write!(f, "{name}({ty})"),
                    None => f.write_str(name),
                };
                write!(f, "variant {{ {} }}", joined(cases, case))
            }
            Self::Result(None, None) => f.write_str("result"),
            Self::Result(Some(ok), None) => write!(f, "result<{ok}>"),
            Self::Result(None, Some(err)) => write!(f, "result<_, {err}>"),
            Self::Result(Some(ok), Some(err)) => write!(f, "result<{ok}, {err}>"),
        }
    }
}

/// Items with commas between them.
pub(super) struct Joined<'a, T, F>(&'a [T], F);

/// Writes `items` with commas between them, each by `write`.
pub(super) fn joined<T, F>(items: &[T], write: F) -> Joined<'_, T, F>
where
    F: Fn(&mut fmt::Formatter<'_>, &T) -> fmt::Result,
{
    Joined(items, write)
}

impl<T, F: Fn(&mut fmt::Formatter<'_>, &T) -> fmt::Result> fmt::Display for Joined<'_, T, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, item) in self.0.iter().enumerate() {
            if i > 0 {
                f.write_str(", ")?;
            }
            (self.1)(f, item)?;
        }
        Ok(())
    }
}
