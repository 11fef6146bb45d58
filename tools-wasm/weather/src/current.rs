//! The weather now.

use ringfence_sdk::prelude::*;

use crate::open_meteo;
use crate::place::{Location, Place};
use crate::sky;
use crate::units::{UnitNames, Units};
use crate::words;

/// The arguments of [`current`](fn@current).
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Current {
    /// The name of a town, with region or country where there are several: `Springfield, Illinois`. Either this or the
    /// coordinates.
    #[schemars(length(max = 200))]
    pub place: Option<String>,
    /// Degrees north.
    #[schemars(range(min = -90.0, max = 90.0))]
    pub latitude: Option<f64>,
    /// Degrees east.
    #[schemars(range(min = -180.0, max = 180.0))]
    pub longitude: Option<f64>,
    /// `metric` (°C, km/h, mm) unless given, or `imperial` (°F, mph, inches).
    #[serde(default)]
    pub units: Units,
}

/// The weather now. What is not known there is null.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CurrentWeather {
    /// Where.
    pub place: Place,
    /// When, in the place's own time: `2026-11-30T10:15`.
    pub time: String,
    /// The sky in words.
    pub sky: Option<&'static str>,
    /// The air two metres above the ground.
    pub temperature: Option<f64>,
    /// What it feels like, with wind and humidity.
    pub feels_like: Option<f64>,
    /// Relative humidity in per cent.
    pub humidity: Option<f64>,
    /// Of the last quarter of an hour.
    pub precipitation: Option<f64>,
    /// How much of the sky is covered, in per cent.
    pub cloud_cover: Option<f64>,
    /// Ten metres above the ground.
    pub wind: Option<f64>,
    /// The strongest wind.
    pub gusts: Option<f64>,
    /// Where the wind comes from, in degrees from north by east.
    pub wind_from: Option<f64>,
    /// The units of the numbers.
    pub units: UnitNames,
}

#[derive(Deserialize)]
struct Answer {
    current: Now,
}

/// The values of [`VALUES`], as far as they are known.
#[derive(Deserialize)]
struct Now {
    time: String,
    weather_code: Option<u16>,
    temperature_2m: Option<f64>,
    apparent_temperature: Option<f64>,
    relative_humidity_2m: Option<f64>,
    precipitation: Option<f64>,
    cloud_cover: Option<f64>,
    wind_speed_10m: Option<f64>,
    wind_gusts_10m: Option<f64>,
    wind_direction_10m: Option<f64>,
}

const VALUES: &str = "weather_code,temperature_2m,apparent_temperature,relative_humidity_2m,precipitation,cloud_cover,\
                      wind_speed_10m,wind_gusts_10m,wind_direction_10m";

/// Tells the weather now, at a place or at coordinates: temperature, sky, humidity, rain, wind.
#[tool(
    title = "Current weather",
    read_only,
    idempotent,
    open_world,
    categories("weather"),
    short_doc = "Tells the weather now.",
    output = CurrentWeather,
    example(description = "A place of which there are many", input = { "place": "Springfield, Illinois" }),
    example(
        description = "Coordinates and units",
        input = { "latitude": 40.71, "longitude": -74.01, "units": "imperial" },
    ),
)]
pub fn current(args: Current) -> Result<Output, Failure> {
    let place = Location::new(args.place.as_deref(), args.latitude, args.longitude)?.find()?;
    let request = open_meteo::weather(&place, args.units).query("current", VALUES);
    let Answer { current: now } = open_meteo::answer(request)?;
    let weather = CurrentWeather {
        place,
        time: now.time,
        sky: now.weather_code.and_then(sky::words),
        temperature: now.temperature_2m,
        feels_like: now.apparent_temperature,
        humidity: now.relative_humidity_2m,
        precipitation: now.precipitation,
        cloud_cover: now.cloud_cover,
        wind: now.wind_speed_10m,
        gusts: now.wind_gusts_10m,
        wind_from: now.wind_direction_10m,
        units: args.units.names(),
    };
    Output::text(weather.text()).with_structured(&weather)
}

impl CurrentWeather {
    fn text(&self) -> String {
        let UnitNames { temperature, speed, precipitation } = self.units;
        let value = |name: &str, value: Option<f64>, unit: &str| value.map(|value| format!("{name} {value} {unit}"));
        let known = words::joined([
            self.sky.map(str::to_owned),
            self.temperature.map(|value| format!("{value} {temperature}")),
            value("feels like", self.feels_like, temperature),
            value("humidity", self.humidity, "%"),
            value("precipitation", self.precipitation, precipitation),
            value("cloud cover", self.cloud_cover, "%"),
            value("wind", self.wind, speed),
            value("gusts", self.gusts, speed),
            value("from", self.wind_from, "°"),
        ]);
        format!("{} at {}: {known}.", self.place, self.time)
    }
}
