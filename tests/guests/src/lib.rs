//! Guests for the tests, each named for what it tries.
//!
//! Those in `examples/` are written with the SDK and compiled like any author's tool. Those in `wat/` do what no compiler
//! would, and are put together here: the file's fields and those of `frame.wat` are one core module, which names the
//! contract and so can become a component. Every guest that gets so far has a tool called `run`.
//!
//! | guest | tries |
//! |---|---|
//! | `agent_030`, `agent_041` | nothing: they are tools of the contract `near:agent` |
//! | `agent_040` | to speak another version of that contract |
//! | `agent_extra_import` | to import a function that only another host of that contract has |
//! | `alias_strings` | to return 1,000,000 texts that are the same 1 MiB |
//! | `all_of_wasi` | to get files, arguments, input, connections and names from WASI |
//! | `bad_schema` | to define tools with schemas that break the rules |
//! | `big_table_ok` | nothing: it has a large table, and is right |
//! | `contract_99` | to speak another version of the contract |
//! | `counter` | to count its calls, which needs memory that outlives one |
//! | `core_module` | to pass for a component |
//! | `deep_json` | to return 200,000 nested arrays |
//! | `mirror` | nothing: it gives back its parameters |
//! | `endless_loop`, `endless_recursion` | never to return |
//! | `everything` | nothing: it uses all that the contract has |
//! | `endless_schema` | to be installed with a schema that takes for ever to compile |
//! | `extra_import` | to import a function that does not exist |
//! | `fetcher`, `wasi_fetcher` | nothing: they send what they are told, by our HTTP and that of WASI |
//! | `filer` | nothing: it reads and writes the files that it is told |
//! | `forged_log` | to write a log record that looks like one of the host |
//! | `huge_result` | to return 48 MiB |
//! | `insecure_flood` | to have the host make 64 TiB of random bytes |
//! | `keeper` | nothing: it keeps what it is told between calls |
//! | `log_flood` | to log 1,000 times 1 MiB |
//! | `many_pollables` | to hold 100 host objects at once |
//! | `many_tables` | to have 20 tables |
//! | `many_tools` | to define 10,000 tools |
//! | `memory_bomb`, `table_bomb` | to take all memory, or table elements |
//! | `no_tools` | to be installed without tools |
//! | `panic`, `trap` | to end by a panic, or a trap |
//! | `plain` | nothing: it adds two numbers, and knows no contract |
//! | `random_flood` | to have the host make 100 MiB of random bytes |
//! | `recursion` | nothing: it calls itself as often as it is told |
//! | `relay` | nothing: it calls the tools that it is told |
//! | `signer` | nothing: it uses secrets without seeing them |
//! | `schema_not_json` | to define a tool whose schema is not JSON |
//! | `report_flood` | to report 31 MiB of progress for ever |
//! | `slow` | nothing: it reports its progress `n` times |
//! | `start_loops` | never to be instantiated |
//! | `surroundings` | nothing: it looks at its environment |
//! | `taken_names` | to define tools with the host's names, and one twice |
//! | `trials` | what guests in other languages try as well: see tests/languages |
//! | `wait_an_hour` | to wait for an hour |
//! | `wrong_list` | to return 2,000,000 texts where it promised numbers |
//!
//! The packages beside this one: `mirror_plain` is `mirror` with Rust's ordinary allocator, `text_waiting` has the tools of
//! tools-wasm/text and one that waits for an hour.

#[cfg(not(target_arch = "wasm32"))]
mod wat_guests;

#[cfg(not(target_arch = "wasm32"))]
pub use wat_guests::{WAT_GUESTS, wat_guest};
