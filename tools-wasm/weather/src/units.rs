//! In which units numbers are given.

use ringfence_sdk::prelude::*;

/// In which units numbers are given.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Units {
    /// °C, km/h, mm.
    #[default]
    Metric,
    /// °F, mph, inches.
    Imperial,
}

/// The units of the numbers in a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct UnitNames {
    /// Of temperatures.
    pub temperature: &'static str,
    /// Of wind and gusts.
    pub speed: &'static str,
    /// Of rain and snow.
    pub precipitation: &'static str,
}

impl Units {
    /// What they are called in results.
    pub fn names(self) -> UnitNames {
        match self {
            Self::Metric => UnitNames { temperature: "°C", speed: "km/h", precipitation: "mm" },
            Self::Imperial => UnitNames { temperature: "°F", speed: "mph", precipitation: "in" },
        }
    }

    /// What Open-Meteo calls them, as the three below.
    pub(crate) fn temperature(self) -> &'static str {
        match self {
            Self::Metric => "celsius",
            Self::Imperial => "fahrenheit",
        }
    }

    pub(crate) fn speed(self) -> &'static str {
        match self {
            Self::Metric => "kmh",
            Self::Imperial => "mph",
        }
    }

    pub(crate) fn precipitation(self) -> &'static str {
        match self {
            Self::Metric => "mm",
            Self::Imperial => "inch",
        }
    }
}
