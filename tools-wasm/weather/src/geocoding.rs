//! Finds a place by its name.

use ringfence_sdk::prelude::*;

use crate::open_meteo;
use crate::place::Place;

/// The longest name of a place that is asked for, in bytes.
const MAX_NAME: usize = 200;

/// How many places of a name are looked through for the right region or country.
const CANDIDATES: usize = 20;

/// How many of them a failure names.
const SHOWN: usize = 5;

/// The answer. Without a hit there is no `results`.
#[derive(Deserialize)]
struct Found {
    #[serde(default)]
    results: Vec<Candidate>,
}

/// A place of that name, as far as it is used.
#[derive(Debug, Deserialize)]
struct Candidate {
    name: String,
    latitude: f64,
    longitude: f64,
    country: Option<String>,
    country_code: Option<String>,
    admin1: Option<String>,
    admin2: Option<String>,
}

/// The best known place that `text` names: `Springfield`, or `Springfield, Illinois, US` to say which one.
///
/// # Errors
/// There is none, or Open-Meteo does not answer.
pub(crate) fn find(text: &str) -> Result<Place, Failure> {
    let (name, regions) = split(text)?;
    let request = http::get("https://geocoding-api.open-meteo.com/v1/search")
        .query("name", name)
        .query("count", CANDIDATES)
        .query("language", "en")
        .query("format", "json");
    let found: Found = open_meteo::answer(request)?;
    let fits = |candidate: &&Candidate| regions.iter().all(|region| candidate.is_in(region));
    match found.results.iter().find(fits) {
        Some(candidate) => Ok(candidate.place()),
        None => Err(none(text, &found.results)),
    }
}

/// The name, and the regions that stand behind it.
fn split(text: &str) -> Result<(&str, Vec<&str>), Failure> {
    let wrong = |message: String| Failure::invalid_params(message).with_code("bad_location");
    if text.len() > MAX_NAME {
        return Err(wrong(format!("`place` has {} bytes, more than {MAX_NAME}. Give a name.", text.len())));
    }
    let mut parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
    match parts.next() {
        Some(name) => Ok((name, parts.collect())),
        None => Err(wrong("`place` is empty. Give the name of a town, or coordinates.".to_owned())),
    }
}

fn none(text: &str, others: &[Candidate]) -> Failure {
    let listed: Vec<_> = others.iter().take(SHOWN).filter_map(|candidate| candidate.place().name).collect();
    let message = match listed.is_empty() {
        true => format!("There is no place `{text}`. Try its English or its local name, or give coordinates."),
        false => format!("There is no place `{text}`. There are: {}.", listed.join("; ")),
    };
    Failure::not_found(message).with_code("no_such_place")
}

impl Candidate {
    fn is_in(&self, region: &str) -> bool {
        let region = region.to_lowercase();
        let own = [&self.country, &self.country_code, &self.admin1, &self.admin2];
        own.into_iter().flatten().any(|own| own.to_lowercase() == region)
    }

    fn place(&self) -> Place {
        let mut parts = vec![self.name.as_str()];
        // A capital is often a region of its own.
        let regions = [&self.admin1, &self.country].into_iter().flatten().map(String::as_str);
        parts.extend(regions.filter(|region| !region.is_empty() && *region != self.name));
        Place { name: Some(parts.join(", ")), latitude: self.latitude, longitude: self.longitude }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn regions_stand_behind_commas() {
        assert_eq!(split("Springfield, Illinois ,US"), Ok(("Springfield", vec!["Illinois", "US"])));
        assert_eq!(split(" ,Oslo,, "), Ok(("Oslo", vec![])));
        for nothing in ["", " ", ",,", &"x".repeat(MAX_NAME + 1)] {
            assert_eq!(split(nothing).unwrap_err().code, "bad_location", "{nothing}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_split_or_refused(text in "[a-zé, ]{0,300}") {
            if let Ok((name, regions)) = split(&text) {
                prop_assert!(!name.is_empty() && regions.iter().all(|region| !region.is_empty()));
            }
        }
    }
}
