//! A tool for each thing that a tool can ask for: requests with a credential, signatures, files, state, other tools.
//!
//! `ringfence.toml` asks for all of it, and the operator grants it. What is not granted comes back from the SDK as a
//! [`Failure`] that says so, and `?` hands it on.

use std::fmt::Write as _;

use ringfence_sdk::prelude::*;
use ringfence_sdk::secrets::Algorithm;

#[cfg(test)]
mod tests;

/// The arguments of [`fn@service_status`].
#[derive(Deserialize, JsonSchema)]
pub struct Service {
    /// The service, such as `mail`.
    pub name: String,
}

/// What the status page says of a service, and the result of [`fn@service_status`].
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct Status {
    /// Such as `up` or `degraded`.
    pub state: String,
}

/// Says how a service is.
#[tool(read_only, output = Status)]
pub fn service_status(args: Service) -> Result<Json<Status>, Failure> {
    // What comes from outside is encoded, so that it stays one segment of the path. The host adds the token.
    let url = format!("https://status.example.com/api/services/{}", http::encode(&args.name));
    Ok(Json(http::get(url).send()?.success()?.json()?))
}

/// The arguments of [`fn@sign_notice`].
#[derive(Deserialize, JsonSchema)]
pub struct Notice {
    /// What is to be signed.
    pub text: String,
}

/// Signs a notice, so that its receivers know whom it is from. Gives the HMAC-SHA-256 in hexadecimal.
#[tool(read_only)]
pub fn sign_notice(args: Notice) -> Result<String, Failure> {
    // The key stays with the host; only the signature comes here.
    let signature = secrets::sign("notice_key", Algorithm::HmacSha256, args.text.as_bytes())?;
    Ok(signature.iter().fold(String::new(), |mut hex, byte| {
        let _ = write!(hex, "{byte:02x}"); // writing into a String does not fail
        hex
    }))
}

/// The arguments of [`fn@save_report`].
#[derive(Deserialize, JsonSchema)]
pub struct Report {
    /// The number of the incident.
    pub number: u64,
    /// What happened.
    pub text: String,
}

/// Saves the report on an incident.
#[tool(idempotent)]
pub fn save_report(args: Report) -> Result<String, Failure> {
    let path = path(args.number);
    workspace::write(&path, args.text.as_bytes())?;
    Ok(format!("Saved as {path}"))
}

/// The arguments of [`fn@read_report`].
#[derive(Deserialize, JsonSchema)]
pub struct Number {
    /// The number of the incident.
    pub number: u64,
}

/// Reads the report on an incident.
#[tool(read_only)]
pub fn read_report(args: Number) -> Result<String, Failure> {
    let report = workspace::read(&path(args.number))?;
    String::from_utf8(report).map_err(|_| Failure::failed("The report is no text."))
}

fn path(number: u64) -> String {
    format!("reports/{number}.md")
}

/// Gives an incident a number that none had before.
#[tool]
pub fn next_number() -> Result<String, Failure> {
    // Calls may run at once: the number counts only where nobody else took it meanwhile.
    loop {
        let last = state::get("last")?;
        let number = last.as_deref().map_or(0, |bytes| u64::from_le_bytes(bytes.try_into().unwrap_or_default())) + 1;
        if state::swap("last", last.as_deref(), &number.to_le_bytes())? {
            return Ok(number.to_string());
        }
    }
}

/// The arguments of [`fn@downtime`].
#[derive(Deserialize, JsonSchema)]
pub struct Outages {
    /// How long each outage was, in minutes.
    pub minutes: Vec<f64>,
}

/// What the tool behind the alias `calculator` takes.
#[derive(Serialize)]
struct Expression {
    expression: String,
}

/// What it gives.
#[derive(Deserialize)]
struct Value {
    value: String,
}

/// Adds up outages.
#[tool(read_only)]
pub fn downtime(args: Outages) -> Result<String, Failure> {
    let sum: Vec<String> = args.minutes.iter().map(f64::to_string).collect();
    let expression = if sum.is_empty() { "0".to_owned() } else { sum.join(" + ") };
    let Value { value } = tools::call("calculator", &Expression { expression })?.json()?;
    Ok(format!("{value} minutes"))
}

export_tools!(service_status, sign_notice, save_report, read_report, next_number, downtime);
