//! The weather of the next days.

use ringfence_sdk::prelude::*;

use crate::open_meteo;
use crate::place::{Location, Place};
use crate::sky;
use crate::units::{UnitNames, Units};
use crate::words;

/// The arguments of [`forecast`](fn@forecast).
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Forecast {
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
    /// How many days, today included: 7 unless given, at most 16.
    #[serde(default = "a_week")]
    #[schemars(range(min = 1, max = 16))]
    pub days: usize,
    /// `metric` (°C, km/h, mm) unless given, or `imperial` (°F, mph, inches).
    #[serde(default)]
    pub units: Units,
}

fn a_week() -> usize {
    7
}

/// Open-Meteo looks no further ahead.
const MAX_DAYS: usize = 16;

/// The weather of the next days.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Forecasted {
    /// Where.
    pub place: Place,
    /// One after the other, beginning with today.
    pub days: Vec<Day>,
    /// The units of the numbers.
    pub units: UnitNames,
}

/// The weather of a day. What is not known is null.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Day {
    /// Which: `2026-11-30`.
    pub date: String,
    /// The worst of the sky, in words.
    pub sky: Option<&'static str>,
    /// The highest temperature.
    pub high: Option<f64>,
    /// The lowest temperature.
    pub low: Option<f64>,
    /// All rain and snow.
    pub precipitation: Option<f64>,
    /// How likely rain or snow is, in per cent.
    pub precipitation_chance: Option<f64>,
    /// The strongest wind.
    pub wind: Option<f64>,
    /// In the place's own time: `2026-11-30T07:51`.
    pub sunrise: Option<String>,
    /// In the place's own time.
    pub sunset: Option<String>,
}

#[derive(Deserialize)]
struct Answer {
    daily: Days,
}

/// The values of [`VALUES`], one for each day of `time`, as far as they are known.
#[derive(Deserialize)]
struct Days {
    time: Vec<String>,
    #[serde(default)]
    weather_code: Vec<Option<u16>>,
    #[serde(default)]
    temperature_2m_max: Vec<Option<f64>>,
    #[serde(default)]
    temperature_2m_min: Vec<Option<f64>>,
    #[serde(default)]
    precipitation_sum: Vec<Option<f64>>,
    #[serde(default)]
    precipitation_probability_max: Vec<Option<f64>>,
    #[serde(default)]
    wind_speed_10m_max: Vec<Option<f64>>,
    #[serde(default)]
    sunrise: Vec<Option<String>>,
    #[serde(default)]
    sunset: Vec<Option<String>>,
}

const VALUES: &str = "weather_code,temperature_2m_max,temperature_2m_min,precipitation_sum,\
                      precipitation_probability_max,wind_speed_10m_max,sunrise,sunset";

/// Forecasts the weather of up to 16 days, today included, at a place or at coordinates.
#[tool(
    title = "Weather forecast",
    read_only,
    idempotent,
    open_world,
    categories("weather"),
    short_doc = "Forecasts the weather of the next days.",
    output = Forecasted,
    example(description = "The weekend", input = { "place": "Lyon, France", "days": 3 }),
)]
pub fn forecast(args: Forecast) -> Result<Output, Failure> {
    if !(1..=MAX_DAYS).contains(&args.days) {
        return Err(Failure::invalid_params(format!("`days` is 1 to {MAX_DAYS}, not {}.", args.days)));
    }
    let place = Location::new(args.place.as_deref(), args.latitude, args.longitude)?.find()?;
    let request = open_meteo::weather(&place, args.units).query("daily", VALUES).query("forecast_days", args.days);
    let Answer { daily } = open_meteo::answer(request)?;
    let days = (0..daily.time.len().min(args.days)).map(|day| daily.day(day)).collect();
    let forecasted = Forecasted { place, days, units: args.units.names() };
    Output::text(forecasted.text()).with_structured(&forecasted)
}

impl Days {
    /// The day at `index`. A list may be shorter than that of the dates.
    fn day(&self, index: usize) -> Day {
        let number = |list: &[Option<f64>]| list.get(index).copied().flatten();
        let text = |list: &[Option<String>]| list.get(index).cloned().flatten();
        Day {
            date: self.time.get(index).cloned().unwrap_or_default(),
            sky: self.weather_code.get(index).copied().flatten().and_then(sky::words),
            high: number(&self.temperature_2m_max),
            low: number(&self.temperature_2m_min),
            precipitation: number(&self.precipitation_sum),
            precipitation_chance: number(&self.precipitation_probability_max),
            wind: number(&self.wind_speed_10m_max),
            sunrise: text(&self.sunrise),
            sunset: text(&self.sunset),
        }
    }
}

impl Forecasted {
    fn text(&self) -> String {
        let days: String = self.days.iter().map(|day| format!("\n{}", day.text(&self.units))).collect();
        format!("{}:{days}", self.place)
    }
}

impl Day {
    fn text(&self, units: &UnitNames) -> String {
        let range = match (self.low, self.high) {
            (Some(low), Some(high)) => Some(format!("{low} to {high} {}", units.temperature)),
            (Some(low), None) => Some(format!("from {low} {}", units.temperature)),
            (None, Some(high)) => Some(format!("up to {high} {}", units.temperature)),
            (None, None) => None,
        };
        let known = words::joined([
            self.sky.map(str::to_owned),
            range,
            self.precipitation.map(|sum| format!("precipitation {sum} {}", units.precipitation)),
            self.precipitation_chance.map(|chance| format!("chance of it {chance} %")),
            self.wind.map(|wind| format!("wind up to {wind} {}", units.speed)),
        ]);
        format!("{}: {known}", self.date)
    }
}
