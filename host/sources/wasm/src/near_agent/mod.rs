//! Components of the contract `near:agent`, 0.3.0 and 0.4.1, which run as they were built.
//!
//! One component holds one tool, called [`TOOL`] here. What its imports do stands in [`means`], once for both versions:
//!
//! | import | here |
//! |---|---|
//! | `log` | a record of the guest's log, within the limits of the call |
//! | `now-millis` | the clock |
//! | `workspace-read` | a granted file that is text, else nothing |
//! | `http-request` | the door to the network, with the credentials that the grant places |
//! | `secret-exists` | whether there is a secret, for those that may be asked about |
//! | `tool-invoke` | a call of the tool that the grant names |
//!
//! They stand in one interface, so it is there for every such component; each function answers for itself what was not
//! granted.

mod bindings;
mod component;
mod means;
mod schema;
mod v0_3_0;
mod v0_4_1;

pub(crate) use component::{Description, NearAgent, NearAgentPre, Reply};

use wasmtime::component::{HasSelf, Linker};

use crate::state::GuestState;

/// What the tool of such a component is called: as the function that runs it.
const TOOL: &str = "execute";

/// Links what components of both versions import.
pub(crate) fn link(linker: &mut Linker<GuestState>) -> wasmtime::Result<()> {
    bindings::v0_3_0::SandboxedTool::add_to_linker::<_, HasSelf<GuestState>>(linker, |state| state)?;
    bindings::v0_4_1::SandboxedTool::add_to_linker::<_, HasSelf<GuestState>>(linker, |state| state)
}
