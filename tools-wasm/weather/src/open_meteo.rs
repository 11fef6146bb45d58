//! What all requests to Open-Meteo have in common: how they are answered, and how they fail.

use ringfence_sdk::prelude::*;
use ringfence_sdk::serde::de::DeserializeOwned;

use crate::place::Place;
use crate::units::Units;

/// What Open-Meteo answers beside an error status.
#[derive(Deserialize)]
struct Problem {
    reason: String,
}

/// The answer to `request`.
///
/// # Errors
/// The request was not answered, or not as the interface promises.
pub(crate) fn answer<T: DeserializeOwned>(request: http::Request) -> Result<T, Failure> {
    let answer = request.send()?;
    if answer.is_success() {
        return answer.json();
    }
    let reason = answer.json::<Problem>().map_or_else(|_| answer.excerpt(), |problem| problem.reason);
    let message = match answer.status {
        429 => format!("Open-Meteo takes no more requests for now: {reason}"),
        status => format!("Open-Meteo answered with status {status}: {reason}"),
    };
    Err(answer.failure(message))
}

/// Begins a request for the weather at `place`, in `units`.
pub(crate) fn weather(place: &Place, units: Units) -> http::Request {
    http::get("https://api.open-meteo.com/v1/forecast")
        .query("latitude", place.latitude)
        .query("longitude", place.longitude)
        .query("temperature_unit", units.temperature())
        .query("wind_speed_unit", units.speed())
        .query("precipitation_unit", units.precipitation())
        .query("timezone", "auto")
}
