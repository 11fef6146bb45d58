//! Other tools, as far as the operator granted their calls. The manifest names what is needed; the operator says which tool
//! that is.
//!
//! ```no_run
//! # use ringfence_sdk::prelude::*;
//! # #[derive(Serialize)] struct Expression<'a> { expression: &'a str }
//! # #[derive(Deserialize)] struct Value { value: f64 }
//! # fn total() -> Result<f64, Failure> {
//! let sum: Value = tools::call("calculator", &Expression { expression: "1 + 2" })?.json()?;
//! # Ok(sum.value)
//! # }
//! ```

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::{Failure, Output};

/// Calls the tool that the manifest calls `alias`, and waits for its end. It may do what the caller of this tool may do, and
/// ends with this call at the latest.
///
/// # Errors
/// The failure of that tool, or why it was not called: its code is the one that any caller would see, such as `denied`,
/// `rate_limited` or `limit.fuel`; `tools.denied` where the operator did not grant the call.
pub fn call(alias: &str, parameters: &(impl Serialize + ?Sized)) -> Result<Output, Failure> {
    let parameters = serde_json::to_string(parameters).map_err(Failure::failed)?;
    crate::host::call_tool(alias, &parameters).map_err(Failure::from_wire)
}

impl Output {
    /// The structured result as a `T`.
    ///
    /// # Errors
    /// There is none, or it has another form.
    pub fn json<T: DeserializeOwned>(&self) -> Result<T, Failure> {
        let Some(json) = &self.structured else {
            return Err(Failure::failed("The tool gave no structured result.").with_code("tools.json"));
        };
        serde_json::from_str(json).map_err(|error| {
            Failure::failed(format!("The tool's result is not what was expected: {error}")).with_code("tools.json")
        })
    }
}
