//! From WIT to JSON Schema: any function of any type is a tool, whose schema keeps our rules and tells right values from
//! wrong ones.

use std::fmt::Write as _;
use std::sync::LazyLock;

use jsonschema::{PatternOptions, Validator};
use ringfence_core::limit::Limits;
use ringfence_core::schema_rules;
use ringfence_source_wasm::{Engine, EngineSettings, definitions};
use serde_json::{Map, Value, json};
use tokio::runtime::{Builder, Runtime};
use wit_component::{ComponentEncoder, StringEncoding, dummy_module, embed_component_metadata};
use wit_parser::{ManglingAndAbi, Resolve};

static ENGINE: LazyLock<Engine> =
    LazyLock::new(|| Engine::new(EngineSettings { pooling: false, ..EngineSettings::default() }).expect("an engine"));

static RUNTIME: LazyLock<Runtime> =
    LazyLock::new(|| Builder::new_current_thread().enable_all().build().expect("a runtime"));

/// Functions of one interface.
const FUNCTIONS: usize = 2;

/// Types of so many bytes may be too large to be written out; all others have a schema.
const REFUSED: usize = 300;

/// `input` decides about the types and about the values, byte by byte.
pub fn run(input: &[u8]) {
    let mut bytes = Bytes(input);
    let types: Vec<(Type, Type)> =
        (0..FUNCTIONS).map(|_| (Type::any(&mut bytes, 0), Type::any(&mut bytes, 0))).collect();
    let code = ENGINE.compile(&component(&interface(&types))).expect("what was encoded compiles");
    let specs = match RUNTIME.block_on(definitions(&ENGINE, &code, &Limits::default())) {
        Ok(specs) => specs,
        Err(error) => return assert!(input.len() > REFUSED, "{error}: {types:?}"),
    };
    assert_eq!(specs.len(), FUNCTIONS);
    for (spec, (parameter, result)) in specs.iter().zip(&types) {
        let problems = schema_rules::inspect(spec);
        assert!(problems.iter().all(schema_rules::SchemaProblem::is_warning), "{}: {problems:?}", spec.name);
        let parameters = validator(&spec.parameters);
        for _ in 0..4 {
            let right = json!({"a": parameter.right(&mut bytes)});
            assert!(parameters.is_valid(&right), "{parameter:?} {right}: {}", spec.parameters);
            let wrong = json!({"a": parameter.wrong(&mut bytes)});
            assert!(!parameters.is_valid(&wrong), "{parameter:?} {wrong}: {}", spec.parameters);
        }
        if let Some(schema) = &spec.output_schema
            && !matches!(result, Type::Result(..))
        {
            let (right, wrong) = (result.right(&mut bytes), result.wrong(&mut bytes));
            let output = validator(schema);
            assert!(output.is_valid(&json!({"result": right})), "{result:?} {right}: {schema}");
            assert!(!output.is_valid(&json!({"result": wrong})), "{result:?} {wrong}: {schema}");
        }
    }
}

fn validator(schema: &Value) -> Validator {
    let patterns = PatternOptions::regex().size_limit(1 << 22);
    jsonschema::options().with_pattern_options(patterns).build(schema).expect("a schema can be used")
}

/// A component with that interface, which does nothing.
fn component(wit: &str) -> Vec<u8> {
    let mut resolve = Resolve::default();
    let package = resolve.push_str("fuzz.wit", wit).expect("this is WIT");
    let world = resolve.select_world(&[package], None).expect("it has one world");
    let mut module = dummy_module(&resolve, world, ManglingAndAbi::Standard32);
    embed_component_metadata(&mut module, &resolve, world, StringEncoding::UTF8, false).expect("it is described");
    ComponentEncoder::default().module(&module).expect("it is a module").encode().expect("it becomes a component")
}

/// What is left of the input; when nothing is, zeros.
struct Bytes<'a>(&'a [u8]);

impl Bytes<'_> {
    fn next(&mut self) -> usize {
        let Some((first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        usize::from(*first)
    }
}

/// A type of WIT.
#[derive(Debug)]
enum Type {
    Simple(&'static str),
    List(Box<Type>),
    Option(Box<Type>),
    Result(Option<Box<Type>>, Option<Box<Type>>),
    Tuple(Vec<Type>),
    Record(Vec<Type>),
    Variant(Vec<Option<Type>>),
    Enum(usize),
    Flags(usize),
}

const SIMPLE: [&str; 13] =
    ["bool", "u8", "s8", "u16", "s16", "u32", "s32", "u64", "s64", "f32", "f64", "char", "string"];

impl Type {
    fn any(bytes: &mut Bytes<'_>, depth: usize) -> Self {
        let byte = bytes.next();
        if byte < 128 || depth > 5 {
            return Self::Simple(SIMPLE[byte % SIMPLE.len()]);
        }
        let size = 1 + byte / 8 % 4;
        let inner = |bytes: &mut Bytes<'_>| Self::any(bytes, depth + 1);
        let maybe = |bytes: &mut Bytes<'_>| (!bytes.next().is_multiple_of(4)).then(|| inner(bytes));
        match byte % 8 {
            0 => Self::List(Box::new(inner(bytes))),
            1 => Self::Option(Box::new(inner(bytes))),
            2 => Self::Result(maybe(bytes).map(Box::new), maybe(bytes).map(Box::new)),
            3 => Self::Tuple((0..size).map(|_| inner(bytes)).collect()),
            4 => Self::Record((0..size).map(|_| inner(bytes)).collect()),
            5 => Self::Variant((0..size).map(|_| maybe(bytes)).collect()),
            6 => Self::Enum(size),
            _ => Self::Flags(size),
        }
    }

    /// A value of it in JSON.
    fn right(&self, bytes: &mut Bytes<'_>) -> Value {
        match self {
            Self::Simple(name) => right(name, bytes.next()),
            // Bytes have a form of their own.
            Self::List(element) if matches!(**element, Self::Simple("u8")) => {
                pick(bytes, &["", "AA==", "AP8=", "+/+/"])
            }
            Self::List(element) => (0..bytes.next() % 3).map(|_| element.right(bytes)).collect(),
            Self::Option(_) if bytes.next().is_multiple_of(2) => Value::Null,
            Self::Option(some) if matches!(**some, Self::Option(_)) => json!({"some": some.right(bytes)}),
            Self::Option(some) => some.right(bytes),
            Self::Result(ok, err) => {
                let (name, side) = if bytes.next().is_multiple_of(2) { ("ok", ok) } else { ("err", err) };
                json!({name: side.as_ref().map(|side| side.right(bytes))})
            }
            Self::Tuple(types) => types.iter().map(|ty| ty.right(bytes)).collect(),
            Self::Record(fields) => {
                let mut object = Map::new();
                for (i, ty) in fields.iter().enumerate() {
                    let is_left_out = matches!(ty, Self::Option(_)) && bytes.next().is_multiple_of(2);
                    if !is_left_out {
                        object.insert(format!("f{i}"), ty.right(bytes));
                    }
                }
                Value::Object(object)
            }
            Self::Variant(cases) => {
                let i = bytes.next() % cases.len();
                cases[i].as_ref().map_or_else(|| json!(format!("c{i}")), |ty| json!({format!("c{i}"): ty.right(bytes)}))
            }
            Self::Enum(count) => json!(format!("c{}", bytes.next() % count)),
            Self::Flags(count) => {
                let set = bytes.next();
                (0..*count).filter(|i| set >> i & 1 == 1).map(|i| format!("b{i}")).collect()
            }
        }
    }

    /// A value that is none of it: one inside is wrong, or all of it.
    fn wrong(&self, bytes: &mut Bytes<'_>) -> Value {
        match self {
            Self::Simple(name) => wrong(name, bytes.next()),
            Self::List(element) if matches!(**element, Self::Simple("u8")) => pick(bytes, &["A", "AB==", "-_-_", "AA"]),
            Self::List(element) => json!([element.wrong(bytes)]),
            Self::Option(some) if matches!(**some, Self::Option(_)) => json!({"some": some.wrong(bytes)}),
            Self::Option(some) => some.wrong(bytes),
            Self::Result(ok, err) => {
                let (name, side) = if bytes.next().is_multiple_of(2) { ("ok", ok) } else { ("err", err) };
                json!({name: side.as_ref().map_or_else(|| json!(0), |side| side.wrong(bytes))})
            }
            Self::Tuple(types) => {
                let mut values: Vec<Value> = types.iter().map(|ty| ty.right(bytes)).collect();
                match bytes.next() % 3 {
                    0 => values.push(Value::Null),
                    1 => drop(values.pop()),
                    _ => values[0] = types[0].wrong(bytes),
                }
                Value::Array(values)
            }
            Self::Record(fields) => {
                let mut value = self.right(bytes);
                match bytes.next() % 2 {
                    0 => value["f9"] = Value::Null,
                    _ => value["f0"] = fields[0].wrong(bytes),
                }
                value
            }
            Self::Variant(cases) => {
                match cases.iter().position(Option::is_some).filter(|_| bytes.next().is_multiple_of(2)) {
                    Some(i) => json!({format!("c{i}"): cases[i].as_ref().map(|ty| ty.wrong(bytes))}),
                    None => json!("c9"),
                }
            }
            Self::Enum(_) => json!("c9"),
            Self::Flags(_) => {
                if bytes.next().is_multiple_of(2) {
                    json!(["b0", "b0"])
                } else {
                    json!(["b9"])
                }
            }
        }
    }

    /// Its name in WIT. Types that need a name of their own are added to `named`.
    fn write(&self, named: &mut Vec<String>) -> String {
        match self {
            Self::Simple(name) => (*name).to_owned(),
            Self::List(element) => format!("list<{}>", element.write(named)),
            Self::Option(some) => format!("option<{}>", some.write(named)),
            Self::Result(None, None) => "result".into(),
            Self::Result(ok, None) => format!("result<{}>", side(ok.as_deref(), named)),
            Self::Result(ok, err) => format!("result<{}, {}>", side(ok.as_deref(), named), side(err.as_deref(), named)),
            Self::Tuple(types) => {
                format!("tuple<{}>", types.iter().map(|ty| ty.write(named)).collect::<Vec<_>>().join(", "))
            }
            Self::Record(fields) => {
                let fields = fields.iter().enumerate().map(|(i, ty)| format!("f{i}: {}", ty.write(named)));
                let fields = fields.collect();
                define("record", fields, named)
            }
            Self::Variant(cases) => {
                let case = |(i, ty): (usize, &Option<Self>)| {
                    ty.as_ref().map_or_else(|| format!("c{i}"), |ty| format!("c{i}({})", ty.write(named)))
                };
                let cases = cases.iter().enumerate().map(case).collect();
                define("variant", cases, named)
            }
            Self::Enum(count) => define("enum", (0..*count).map(|i| format!("c{i}")).collect(), named),
            Self::Flags(count) => define("flags", (0..*count).map(|i| format!("b{i}")).collect(), named),
        }
    }
}

fn side(ty: Option<&Type>, named: &mut Vec<String>) -> String {
    ty.map_or_else(|| "_".into(), |ty| ty.write(named))
}

fn define(kind: &str, members: Vec<String>, named: &mut Vec<String>) -> String {
    let name = format!("t{}", named.len());
    named.push(format!("{kind} {name} {{ {} }}", members.join(", ")));
    name
}

/// The text of a package with a function for each pair of parameter and result.
fn interface(types: &[(Type, Type)]) -> String {
    let (mut named, mut functions) = (Vec::new(), String::new());
    for (i, (parameter, result)) in types.iter().enumerate() {
        let (parameter, result) = (parameter.write(&mut named), result.write(&mut named));
        let _ = writeln!(functions, "  f{i}: func(a: {parameter}) -> {result};");
    }
    let named: String = named.iter().map(|definition| format!("  {definition}\n")).collect();
    format!("package fuzz:it;\ninterface api {{\n{named}{functions}}}\nworld it {{ export api; }}\n")
}

fn pick(bytes: &mut Bytes<'_>, from: &[&str]) -> Value {
    json!(from[bytes.next() % from.len()])
}

fn right(name: &str, byte: usize) -> Value {
    let values = match name {
        "bool" => vec![json!(true), json!(false)],
        "char" => vec![json!("a"), json!("😀")],
        "string" => vec![json!(""), json!("naïve 😀")],
        "f32" | "f64" => vec![json!(0), json!(-1.5), json!("NaN"), json!("Infinity"), json!("-Infinity")],
        "u64" => vec![json!(0), json!(u64::MAX), json!("0"), json!("18446744073709551615")],
        "s64" => vec![json!(i64::MIN), json!(i64::MAX), json!("-9223372036854775808"), json!("9223372036854775807")],
        name => {
            let (min, max) = range(name);
            vec![json!(0), json!(min), json!(max)]
        }
    };
    values[byte % values.len()].clone()
}

fn wrong(name: &str, byte: usize) -> Value {
    let values = match name {
        "bool" => vec![json!(0), json!("true")],
        "char" => vec![json!(""), json!("ab")],
        "string" => vec![json!(0), json!([])],
        "f32" => vec![json!(1e39), json!("nan")],
        "f64" => vec![json!("1.5"), json!("nan")],
        "u64" => vec![json!(-1), json!(1.5), json!("18446744073709551616"), json!("01"), json!("-1")],
        "s64" => vec![json!(1.5), json!("9223372036854775808"), json!("-9223372036854775809"), json!("-0")],
        name => {
            let (min, max) = range(name);
            vec![json!(min - 1), json!(max + 1), json!(0.5), json!("0")]
        }
    };
    values[byte % values.len()].clone()
}

/// The least and the greatest of the integer type `name`, which has at most 32 bits.
fn range(name: &str) -> (i64, i64) {
    let bits: u32 = name[1..].parse().expect("the name of an integer type");
    if name.starts_with('u') { (0, (1 << bits) - 1) } else { (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) }
}
