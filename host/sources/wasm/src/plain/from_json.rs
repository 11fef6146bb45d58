//! From JSON to a value of a type. Nothing is guessed: what the type's schema does not accept is an error.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Number, Value};
use thiserror::Error;
use wasmtime::component::Val;

use super::schema::NOT_NUMBERS;
use super::val_type::{Int, ValType};

/// Why JSON is not a value of a type.
#[derive(Debug, Error, PartialEq, Eq)]
pub(super) enum FromJsonError {
    /// It is of another type.
    #[error("{}: {problem}", place(.pointer))]
    Wrong {
        /// Where, as a JSON Pointer (RFC 6901).
        pointer: String,
        /// What is expected there.
        problem: String,
    },
    /// The host would need more memory for it than it was given.
    #[error("the value is too large")]
    TooLarge,
}

fn place(pointer: &str) -> &str {
    if pointer.is_empty() { "the root" } else { pointer }
}

/// The values `arguments` of the parameters `params`, which take at most `budget` bytes of the host's memory.
///
/// # Errors
/// When they are not of their types, or too large.
pub(super) fn parameters(
    params: &[(String, ValType)],
    arguments: &Value,
    budget: u64,
) -> Result<Vec<Val>, FromJsonError> {
    let fields = Reader { left: budget }.record(params, arguments, &Place::Root)?;
    Ok(fields.into_iter().map(|(_, val)| val).collect())
}

/// Where in the JSON something is.
enum Place<'a> {
    Root,
    Member(&'a Place<'a>, &'a str),
    Item(&'a Place<'a>, usize),
}

struct Reader {
    /// Bytes that values may still take. A digit and a comma of JSON become a value of many bytes.
    left: u64,
}

impl Reader {
    fn read(&mut self, ty: &ValType, json: &Value, at: &Place<'_>) -> Result<Val, FromJsonError> {
        self.take(size_of::<Val>())?;
        Ok(match ty {
            ValType::Bool => Val::Bool(json.as_bool().ok_or_else(|| expected(at, "true or false"))?),
            ValType::Int(int) => integer(*int, json).ok_or_else(|| expected_integer(at, *int))?,
            ValType::F32 => Val::Float32(single(json).ok_or_else(|| expected(at, "a number that an f32 can hold"))?),
            ValType::F64 => Val::Float64(double(json).ok_or_else(|| expected(at, "a number"))?),
            ValType::Char => Val::Char(character(json).ok_or_else(|| expected(at, "a string of one character"))?),
            ValType::String => Val::String(self.string(text(json, at, "a string")?)?),
            ValType::Bytes => self.bytes(json, at)?,
            ValType::List(element) => {
                Val::List(self.items(json, at, |reader, _, item, at| reader.read(element, item, at))?)
            }
            ValType::Tuple(types) => self.tuple(types, json, at)?,
            ValType::Record(fields) => Val::Record(self.record(fields, json, at)?),
            ValType::Variant(cases) => self.variant(cases, json, at)?,
            ValType::Enum(names) => {
                let name = text(json, at, "one of the names of the enum")?;
                Val::Enum(self.string(known(names, name, at)?)?)
            }
            ValType::Flags(names) => self.flags(names, json, at)?,
            ValType::Option(_) if json.is_null() => Val::Option(None),
            ValType::Option(some) if matches!(**some, ValType::Option(_)) => {
                let (_, value) = one_of(&["some"], json, at)?;
                Val::Option(Some(Box::new(self.read(some, value, &Place::Member(at, "some"))?)))
            }
            ValType::Option(some) => Val::Option(Some(Box::new(self.read(some, json, at)?))),
            ValType::Result(ok, err) => match one_of(&["ok", "err"], json, at)? {
                ("ok", value) => Val::Result(Ok(self.side(ok.as_deref(), value, &Place::Member(at, "ok"))?)),
                (_, value) => Val::Result(Err(self.side(err.as_deref(), value, &Place::Member(at, "err"))?)),
            },
        })
    }

    fn take(&mut self, bytes: usize) -> Result<(), FromJsonError> {
        self.left = self.left.checked_sub(bytes as u64).ok_or(FromJsonError::TooLarge)?;
        Ok(())
    }

    fn string(&mut self, text: &str) -> Result<String, FromJsonError> {
        self.take(text.len())?;
        Ok(text.to_owned())
    }

    fn bytes(&mut self, json: &Value, at: &Place<'_>) -> Result<Val, FromJsonError> {
        let text = text(json, at, "a base64 string")?;
        self.take((text.len() / 4 * 3).saturating_mul(size_of::<Val>()))?;
        let bytes = STANDARD.decode(text).map_err(|error| wrong(at, format!("expected a base64 string: {error}")))?;
        Ok(Val::List(bytes.into_iter().map(Val::U8).collect()))
    }

    fn items(
        &mut self,
        json: &Value,
        at: &Place<'_>,
        mut read: impl FnMut(&mut Self, usize, &Value, &Place<'_>) -> Result<Val, FromJsonError>,
    ) -> Result<Vec<Val>, FromJsonError> {
        let items = json.as_array().ok_or_else(|| expected(at, "an array"))?;
        items.iter().enumerate().map(|(i, item)| read(self, i, item, &Place::Item(at, i))).collect()
    }

    fn tuple(&mut self, types: &[ValType], json: &Value, at: &Place<'_>) -> Result<Val, FromJsonError> {
        let length = || wrong(at, format!("expected an array of {} items", types.len()));
        if json.as_array().is_none_or(|items| items.len() != types.len()) {
            return Err(length());
        }
        let items = self.items(json, at, |reader, i, item, at| reader.read(types.get(i).ok_or_else(length)?, item, at));
        items.map(Val::Tuple)
    }

    fn record(
        &mut self,
        fields: &[(String, ValType)],
        json: &Value,
        at: &Place<'_>,
    ) -> Result<Vec<(String, Val)>, FromJsonError> {
        let object = json.as_object().ok_or_else(|| expected(at, "an object"))?;
        if let Some(extra) = object.keys().find(|key| !fields.iter().any(|(name, _)| name == *key)) {
            return Err(wrong(&Place::Member(at, extra), "there is no such field".to_owned()));
        }
        fields.iter().map(|(name, ty)| Ok((self.string(name)?, self.field(name, ty, object, at)?))).collect()
    }

    fn field(
        &mut self,
        name: &str,
        ty: &ValType,
        object: &Map<String, Value>,
        at: &Place<'_>,
    ) -> Result<Val, FromJsonError> {
        match (object.get(name), ty) {
            (Some(value), _) => self.read(ty, value, &Place::Member(at, name)),
            (None, ValType::Option(_)) => self.read(ty, &Value::Null, at),
            (None, _) => Err(wrong(at, format!("the field `{name}` is missing"))),
        }
    }

    fn variant(
        &mut self,
        cases: &[(String, Option<ValType>)],
        json: &Value,
        at: &Place<'_>,
    ) -> Result<Val, FromJsonError> {
        let (name, value) = match json {
            Value::String(name) => (name, None),
            Value::Object(object) => match (object.iter().next(), object.len()) {
                (Some((name, value)), 1) => (name, Some(value)),
                _ => return Err(expected(at, "an object with one case of the variant")),
            },
            _ => return Err(expected(at, "a case of the variant: a string or an object with one case")),
        };
        let case = cases.iter().find(|(case, _)| case == name);
        let payload = match (case, value) {
            (None, _) => return Err(wrong(at, "the variant has no such case".to_owned())),
            (Some((_, None)), None) => None,
            (Some((_, Some(ty))), Some(value)) => Some(Box::new(self.read(ty, value, &Place::Member(at, name))?)),
            (Some((_, None)), Some(_)) => {
                return Err(wrong(at, format!("the case `{name}` has no value: write it as a string")));
            }
            (Some((_, Some(_))), None) => {
                return Err(wrong(at, format!("the case `{name}` has a value: write {{\"{name}\": …}}")));
            }
        };
        Ok(Val::Variant(self.string(name)?, payload))
    }

    /// Gives the flags in the order of their type, as the component model does.
    fn flags(&mut self, names: &[String], json: &Value, at: &Place<'_>) -> Result<Val, FromJsonError> {
        let items = json.as_array().ok_or_else(|| expected(at, "an array of flags"))?;
        let mut set = vec![false; names.len()];
        for (i, item) in items.iter().enumerate() {
            let at = Place::Item(at, i);
            let flag = text(item, &at, "the name of a flag")?;
            let place =
                names.iter().position(|name| name == flag).ok_or_else(|| expected(&at, "the name of a flag"))?;
            if std::mem::replace(&mut set[place], true) {
                return Err(wrong(&at, "the flag is there already".to_owned()));
            }
        }
        let flags = names.iter().zip(set).filter(|(_, set)| *set).map(|(name, _)| self.string(name));
        Ok(Val::Flags(flags.collect::<Result<_, _>>()?))
    }

    fn side(&mut self, ty: Option<&ValType>, json: &Value, at: &Place<'_>) -> Result<Option<Box<Val>>, FromJsonError> {
        match ty {
            Some(ty) => Ok(Some(Box::new(self.read(ty, json, at)?))),
            None if json.is_null() => Ok(None),
            None => Err(expected(at, "null")),
        }
    }
}

fn text<'v>(json: &'v Value, at: &Place<'_>, what: &str) -> Result<&'v str, FromJsonError> {
    json.as_str().ok_or_else(|| expected(at, what))
}

fn known<'v>(names: &[String], name: &'v str, at: &Place<'_>) -> Result<&'v str, FromJsonError> {
    if names.iter().any(|known| known == name) { Ok(name) } else { Err(expected(at, "one of the names of the enum")) }
}

/// The one member of an object, which has one of `names`.
fn one_of<'v>(
    names: &[&'static str],
    json: &'v Value,
    at: &Place<'_>,
) -> Result<(&'static str, &'v Value), FromJsonError> {
    let object = json.as_object().filter(|object| object.len() == 1);
    let member = object.and_then(|object| names.iter().find_map(|name| Some((*name, object.get(*name)?))));
    member.ok_or_else(|| expected(at, &format!("an object with `{}` and nothing else", names.join("` or `"))))
}

fn integer(int: Int, json: &Value) -> Option<Val> {
    match json {
        Value::Number(number) => int.val(whole(number)?),
        // Only in the form in which it is written: no sign, no zeros in front.
        Value::String(text) if int.is_wide() => {
            let number: i128 = text.parse().ok()?;
            (number.to_string() == *text).then(|| int.val(number))?
        }
        _ => None,
    }
}

/// The number, if it is an integer. To JSON Schema, and so here, 1.0 and 1 are the same.
fn whole(number: &Number) -> Option<i128> {
    if let Some(number) = number.as_i128() {
        return Some(number);
    }
    let double = number.as_f64()?;
    // Up to 2¹²⁷ the conversion is exact.
    (double.fract() == 0.0 && double.abs() < 1e38).then_some(double as i128)
}

fn single(json: &Value) -> Option<f32> {
    let double = double(json)?;
    // What is larger would become an infinity unasked.
    (!double.is_finite() || double.abs() <= f64::from(f32::MAX)).then_some(double as f32)
}

fn double(json: &Value) -> Option<f64> {
    match json {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => NOT_NUMBERS.iter().find(|(name, _)| name == text).map(|(_, value)| *value),
        _ => None,
    }
}

fn character(json: &Value) -> Option<char> {
    let mut characters = json.as_str()?.chars();
    characters.next().filter(|_| characters.next().is_none())
}

fn expected_integer(at: &Place<'_>, int: Int) -> FromJsonError {
    let (min, max) = int.range().into_inner();
    let or_string = if int.is_wide() { ", or the same as a decimal string" } else { "" };
    expected(at, &format!("an integer from {min} to {max}{or_string}"))
}

fn expected(at: &Place<'_>, what: &str) -> FromJsonError {
    wrong(at, format!("expected {what}"))
}

fn wrong(at: &Place<'_>, problem: String) -> FromJsonError {
    FromJsonError::Wrong { pointer: at.to_string(), problem }
}

impl fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Root => Ok(()),
            Self::Member(parent, name) => write!(f, "{parent}/{}", name.replace('~', "~0").replace('/', "~1")),
            Self::Item(parent, index) => write!(f, "{parent}/{index}"),
        }
    }
}
