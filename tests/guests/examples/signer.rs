//! Uses secrets without seeing them.

use ringfence_sdk::prelude::*;
use ringfence_sdk::secrets::Algorithm;

#[derive(Deserialize, JsonSchema)]
struct Name {
    /// The name.
    name: String,
}

/// Whether there is a secret.
#[tool]
fn has(args: Name) -> Result<Json<bool>, Failure> {
    secrets::exists(&args.name).map(Json)
}

/// The signature of the word `message`, in hexadecimal.
#[tool]
fn signature(args: Name) -> Result<String, Failure> {
    let signed = secrets::sign(&args.name, Algorithm::HmacSha256, b"message")?;
    Ok(signed.iter().map(|byte| format!("{byte:02x}")).collect())
}

export_tools!(has, signature);
