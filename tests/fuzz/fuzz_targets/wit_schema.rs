//! From WIT to JSON Schema: any function of any type is a tool with a schema that keeps our rules, or is refused.

#![no_main]

use std::fmt::Write as _;
use std::sync::LazyLock;

use ringfence_core::limit::Limits;
use ringfence_source_wasm::{Engine, EngineSettings, definitions};
use wit_component::{ComponentEncoder, StringEncoding, dummy_module, embed_component_metadata};
use wit_parser::{ManglingAndAbi, Resolve};

static ENGINE: LazyLock<Engine> =
    LazyLock::new(|| Engine::new(EngineSettings { pooling: false, ..EngineSettings::default() }).unwrap());

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    let Some(component) = component(&Wit::default().package(input)) else { return };
    let code = ENGINE.compile(&component).expect("what was encoded compiles");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let Ok(specs) = runtime.block_on(definitions(&ENGINE, &code, &Limits::default())) else { return };
    for spec in specs {
        let errors: Vec<_> = ringfence_core::schema_rules::inspect(&spec);
        assert!(errors.iter().all(|problem| problem.is_warning()), "{}: {errors:?}", spec.name);
    }
});

/// A component with that interface, which does nothing.
fn component(wit: &str) -> Option<Vec<u8>> {
    let mut resolve = Resolve::default();
    let package = resolve.push_str("fuzz.wit", wit).ok()?;
    let world = resolve.select_world(&[package], None).ok()?;
    let mut module = dummy_module(&resolve, world, ManglingAndAbi::Standard32);
    embed_component_metadata(&mut module, &resolve, world, StringEncoding::UTF8, false).ok()?;
    ComponentEncoder::default().module(&module).ok()?.encode().ok()
}

/// The text of a package, made from bytes: each decides about one type.
#[derive(Default)]
struct Wit {
    named: String,
    count: usize,
}

impl Wit {
    fn package(mut self, input: &[u8]) -> String {
        let mut bytes = input.iter().copied();
        let mut functions = String::new();
        for i in 0..3 {
            let (param, result) = (self.one(&mut bytes, 0), self.one(&mut bytes, 0));
            let _ = writeln!(functions, "  f{i}: func(a: {param}) -> {result};");
        }
        format!("package fuzz:it;\ninterface api {{\n{}{functions}}}\nworld it {{ export api; }}\n", self.named)
    }

    fn one(&mut self, bytes: &mut impl Iterator<Item = u8>, depth: usize) -> String {
        const SIMPLE: [&str; 13] =
            ["bool", "u8", "s8", "u16", "s16", "u32", "s32", "u64", "s64", "f32", "f64", "char", "string"];
        let byte = usize::from(bytes.next().unwrap_or(0));
        if byte < 128 || depth > 5 {
            return SIMPLE[byte % SIMPLE.len()].to_owned();
        }
        let size = 1 + byte / 8 % 4;
        match byte % 8 {
            0 => format!("list<{}>", self.one(bytes, depth + 1)),
            1 => format!("option<{}>", self.one(bytes, depth + 1)),
            2 => format!("result<{}, {}>", self.one(bytes, depth + 1), self.one(bytes, depth + 1)),
            3 => format!("tuple<{}>", self.several(size, bytes, depth).join(", ")),
            4 => self.definition("record", &self.numbered(size, |i| format!("f{i}: bool"))),
            5 => {
                let cases = self.several(size, bytes, depth);
                let cases: Vec<_> = cases.iter().enumerate().map(|(i, ty)| format!("c{i}({ty})")).collect();
                self.definition("variant", &cases)
            }
            6 => self.definition("enum", &self.numbered(size, |i| format!("c{i}"))),
            _ => self.definition("flags", &self.numbered(size, |i| format!("b{i}"))),
        }
    }

    fn several(&mut self, count: usize, bytes: &mut impl Iterator<Item = u8>, depth: usize) -> Vec<String> {
        (0..count).map(|_| self.one(bytes, depth + 1)).collect()
    }

    fn numbered(&self, count: usize, name: impl Fn(usize) -> String) -> Vec<String> {
        (0..count).map(name).collect()
    }

    fn definition(&mut self, kind: &str, members: &[String]) -> String {
        self.count += 1;
        let name = format!("t{}", self.count);
        let _ = writeln!(self.named, "  {kind} {name} {{ {} }}", members.join(", "));
        name
    }
}
