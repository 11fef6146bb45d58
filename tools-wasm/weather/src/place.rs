//! Where: a place that a call names, or coordinates.

use std::fmt;

use ringfence_sdk::prelude::*;

use crate::geocoding;

/// A place on the map.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Place {
    /// Its name with region and country; null where the call gave coordinates.
    pub name: Option<String>,
    /// Degrees north.
    pub latitude: f64,
    /// Degrees east.
    pub longitude: f64,
}

/// What a call says of where.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Location<'a> {
    Named(&'a str),
    At(f64, f64),
}

impl<'a> Location<'a> {
    /// The one location that the arguments of a call name.
    ///
    /// # Errors
    /// They name none, two, half of one, or one that is not on earth.
    pub(crate) fn new(place: Option<&'a str>, latitude: Option<f64>, longitude: Option<f64>) -> Result<Self, Failure> {
        match (place, latitude, longitude) {
            (Some(name), None, None) => Ok(Self::Named(name)),
            (None, Some(north), Some(east)) if north.abs() <= 90.0 && east.abs() <= 180.0 => Ok(Self::At(north, east)),
            (None, Some(_), Some(_)) => Err(wrong("`latitude` is -90 to 90 and `longitude` -180 to 180.")),
            (None, None, None) => Err(wrong("Say where: give `place`, or `latitude` and `longitude`.")),
            (None, ..) => Err(wrong("`latitude` and `longitude` belong together. Give both.")),
            (Some(_), ..) => Err(wrong("Give either `place` or `latitude` and `longitude`, not both.")),
        }
    }

    /// The place on the map.
    ///
    /// # Errors
    /// There is none of this name, or nobody can be asked.
    pub(crate) fn find(self) -> Result<Place, Failure> {
        match self {
            Self::Named(name) => geocoding::find(name),
            Self::At(latitude, longitude) => Ok(Place { name: None, latitude, longitude }),
        }
    }
}

fn wrong(message: &str) -> Failure {
    Failure::invalid_params(message).with_code("bad_location")
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.name {
            Some(name) => f.write_str(name),
            None => write!(f, "{}, {}", self.latitude, self.longitude),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_says_where_in_one_way() {
        assert_eq!(Location::new(Some("Oslo"), None, None), Ok(Location::Named("Oslo")));
        assert_eq!(Location::new(None, Some(-90.0), Some(180.0)), Ok(Location::At(-90.0, 180.0)));
        for (place, latitude, longitude, part) in [
            (None, None, None, "Say where"),
            (Some("Oslo"), Some(1.0), Some(1.0), "not both"),
            (Some("Oslo"), None, Some(1.0), "not both"),
            (None, Some(1.0), None, "belong together"),
            (None, Some(90.1), Some(0.0), "-90 to 90"),
            (None, Some(0.0), Some(-180.1), "-180 to 180"),
            (None, Some(f64::NAN), Some(0.0), "-90 to 90"),
        ] {
            let failure = Location::new(place, latitude, longitude).unwrap_err();
            assert!(failure.message.contains(part), "{place:?} {latitude:?} {longitude:?}: {failure}");
        }
    }
}
