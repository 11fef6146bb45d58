//! Calls of a guest by wasmtime alone: one instance that is reused, and a linker that is built for each call.

use ringfence_source_wasm::EngineSettings;
use wasmtime::component::{Component, HasSelf, Linker, ResourceTable};
use wasmtime::{Config, Engine, Store};
use wasmtime_wasi::{WasiCtx, WasiCtxView, WasiView};

wasmtime::component::bindgen!({
    inline: "
        package bench:raw;
        world tool {
            import ringfence:tool/log@0.1.0;
            import ringfence:tool/progress@0.1.0;
            export ringfence:tool/guest@0.1.0;
        }
    ",
    path: "../../wit/tool.wit",
    exports: { default: async },
});

use exports::ringfence::tool::guest::CallInfo;

pub struct State {
    wasi: WasiCtx,
    table: ResourceTable,
}

impl ringfence::tool::types::Host for State {}

impl ringfence::tool::log::Host for State {
    fn log(&mut self, _level: ringfence::tool::log::Level, _message: String) {}
    fn panicked(&mut self, _message: String) {}
}

impl ringfence::tool::progress::Host for State {
    fn report(&mut self, _done: f64, _total: Option<f64>, _message: Option<String>) {}
}

impl WasiView for State {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        WasiCtxView { ctx: &mut self.wasi, table: &mut self.table }
    }
}

fn state() -> State {
    State { wasi: WasiCtx::builder().build(), table: ResourceTable::new() }
}

fn linker(engine: &Engine) -> Linker<State> {
    let mut linker = Linker::new(engine);
    Tool::add_to_linker::<_, HasSelf<State>>(&mut linker, |state| state).unwrap();
    wasmtime_wasi::p2::add_to_linker_async(&mut linker).unwrap();
    linker
}

fn info() -> CallInfo {
    CallInfo { id: "bench".into(), deadline_ms: 60_000, max_result_bytes: 1 << 20 }
}

/// One instance, without limits, that serves all calls.
pub struct Reused {
    run: String,
    store: Store<State>,
    tool: Tool,
}

impl Reused {
    pub async fn new(component: &[u8]) -> Self {
        let engine = Engine::new(&Config::new()).unwrap();
        let component = Component::new(&engine, component).unwrap();
        let mut store = Store::new(&engine, state());
        let tool = Tool::instantiate_async(&mut store, &component, &linker(&engine)).await.unwrap();
        Self { run: "run".into(), store, tool }
    }

    pub async fn call(&mut self, parameters: &String) {
        let guest = self.tool.ringfence_tool_guest();
        guest.call_call(&mut self.store, &self.run, parameters, &info()).await.unwrap().unwrap();
    }
}

/// A linker, a store and an instance for each call, in an engine like ours.
pub struct LinkerPerCall {
    run: String,
    engine: Engine,
    component: Component,
}

impl LinkerPerCall {
    pub fn new(component: &[u8]) -> Self {
        let mut config = Config::new();
        config.consume_fuel(true).max_wasm_stack(EngineSettings::default().stack_bytes);
        let engine = Engine::new(&config).unwrap();
        Self { run: "run".into(), component: Component::new(&engine, component).unwrap(), engine }
    }

    pub async fn call(&self, parameters: &String) {
        let mut store = Store::new(&self.engine, state());
        store.set_fuel(500_000_000).unwrap();
        let tool = Tool::instantiate_async(&mut store, &self.component, &linker(&self.engine)).await.unwrap();
        tool.ringfence_tool_guest().call_call(&mut store, &self.run, parameters, &info()).await.unwrap().unwrap();
    }
}
