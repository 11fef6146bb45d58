//! From a value of a type to JSON, in the one form that each value has.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::ser::{Error as _, SerializeMap};
use serde::{Serialize, Serializer};
use wasmtime::component::Val;

use super::schema::{MAX_SAFE, NOT_NUMBERS};
use super::val_type::ValType;

/// A value that is written by its type. It is measured as text before it becomes a tree, which is many times as large.
pub(super) struct Json<'a> {
    pub(super) ty: &'a ValType,
    pub(super) val: &'a Val,
}

/// One member of an object.
pub(super) struct Only<T>(pub(super) &'static str, pub(super) T);

/// How many bytes of JSON `value` takes.
///
/// # Errors
/// When it cannot be written as JSON.
pub(super) fn size(value: &impl Serialize) -> Result<u64, serde_json::Error> {
    let mut count = Count(0);
    serde_json::to_writer(&mut count, value)?;
    Ok(count.0)
}

impl Serialize for Json<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match (self.ty, self.val) {
            (ValType::Bool, Val::Bool(value)) => to.serialize_bool(*value),
            (ValType::Int(_), val) => integer(val, to),
            (ValType::F32, Val::Float32(value)) => float(widened(*value), to),
            (ValType::F64, Val::Float64(value)) => float(*value, to),
            (ValType::Char, Val::Char(value)) => to.serialize_char(*value),
            (ValType::String, Val::String(value)) | (ValType::Enum(_), Val::Enum(value)) => to.serialize_str(value),
            (ValType::Bytes, Val::List(items)) => to.serialize_str(&base64::<S>(items)?),
            (ValType::List(ty), Val::List(items)) => to.collect_seq(items.iter().map(|val| Json { ty, val })),
            (ValType::Tuple(types), Val::Tuple(items)) => {
                to.collect_seq(types.iter().zip(items).map(|(ty, val)| Json { ty, val }))
            }
            (ValType::Record(fields), Val::Record(values)) => {
                to.collect_map(fields.iter().zip(values).map(|((name, ty), (_, val))| (name, Json { ty, val })))
            }
            (ValType::Variant(cases), Val::Variant(name, payload)) => match payload {
                None => to.serialize_str(name),
                Some(val) => {
                    let (_, ty) = cases.iter().find(|(case, _)| case == name).ok_or_else(mismatch::<S>)?;
                    let ty = ty.as_ref().ok_or_else(mismatch::<S>)?;
                    to.collect_map([(name, Json { ty, val })])
                }
            },
            (ValType::Flags(_), Val::Flags(names)) => to.collect_seq(names),
            (ValType::Option(_), Val::Option(None)) => to.serialize_unit(),
            (ValType::Option(ty), Val::Option(Some(val))) => match **ty {
                ValType::Option(_) => Only("some", Json { ty, val }).serialize(to),
                _ => Json { ty, val }.serialize(to),
            },
            (ValType::Result(ty, _), Val::Result(Ok(val))) => side::<S>("ok", ty, val)?.serialize(to),
            (ValType::Result(_, ty), Val::Result(Err(val))) => side::<S>("err", ty, val)?.serialize(to),
            _ => Err(mismatch::<S>()),
        }
    }
}

impl<T: Serialize> Serialize for Only<T> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut map = to.serialize_map(Some(1))?;
        map.serialize_entry(self.0, &self.1)?;
        map.end()
    }
}

fn integer<S: Serializer>(val: &Val, to: S) -> Result<S::Ok, S::Error> {
    match val {
        Val::S8(value) => to.serialize_i8(*value),
        Val::U8(value) => to.serialize_u8(*value),
        Val::S16(value) => to.serialize_i16(*value),
        Val::U16(value) => to.serialize_u16(*value),
        Val::S32(value) => to.serialize_i32(*value),
        Val::U32(value) => to.serialize_u32(*value),
        Val::S64(value) if i128::from(*value).abs() > MAX_SAFE => to.collect_str(value),
        Val::S64(value) => to.serialize_i64(*value),
        Val::U64(value) if i128::from(*value) > MAX_SAFE => to.collect_str(value),
        Val::U64(value) => to.serialize_u64(*value),
        _ => Err(mismatch::<S>()),
    }
}

fn float<S: Serializer>(value: f64, to: S) -> Result<S::Ok, S::Error> {
    match NOT_NUMBERS.iter().find(|(_, known)| value == *known || value.is_nan() && known.is_nan()) {
        Some((name, _)) => to.serialize_str(name),
        None => to.serialize_f64(value),
    }
}

/// The double with the fewest digits that reads as `value` again, so that 0.1 does not come out as
/// 0.10000000149011612.
fn widened(value: f32) -> f64 {
    let short = value.to_string().parse::<f64>().ok();
    short.filter(|short| (*short as f32).to_bits() == value.to_bits()).unwrap_or(f64::from(value))
}

fn base64<S: Serializer>(items: &[Val]) -> Result<String, S::Error> {
    let bytes = items.iter().map(|item| match item {
        Val::U8(byte) => Ok(*byte),
        _ => Err(mismatch::<S>()),
    });
    Ok(STANDARD.encode(bytes.collect::<Result<Vec<_>, _>>()?))
}

/// One side of a result; `null` where it has no value.
fn side<'a, S: Serializer>(
    name: &'static str,
    ty: &'a Option<Box<ValType>>,
    val: &'a Option<Box<Val>>,
) -> Result<Only<Option<Json<'a>>>, S::Error> {
    match (ty, val) {
        (Some(ty), Some(val)) => Ok(Only(name, Some(Json { ty, val }))),
        (None, None) => Ok(Only(name, None)),
        _ => Err(mismatch::<S>()),
    }
}

/// The runtime gives values of the types that it named, so this is never seen.
fn mismatch<S: Serializer>() -> S::Error {
    S::Error::custom("the value is not of its type")
}

/// Counts what is written.
struct Count(u64);

impl std::io::Write for Count {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0 += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_single_is_written_short_and_read_back_exactly() {
        assert_eq!(widened(0.1).to_string(), "0.1");
        assert_eq!(widened(-0.0).to_bits(), (-0.0_f64).to_bits());
        assert_eq!(widened(f32::MAX) as f32, f32::MAX);
        assert_eq!(widened(f32::from_bits(1)) as f32, f32::from_bits(1));
    }

    #[test]
    fn the_count_is_the_length_of_the_text() {
        let val = Val::List(vec![Val::String("a\"\n".into()), Val::String("…".into())]);
        let ty = ValType::List(Box::new(ValType::String));
        let json = Json { ty: &ty, val: &val };
        assert_eq!(size(&json).unwrap(), serde_json::to_string(&json).unwrap().len() as u64);
    }
}
