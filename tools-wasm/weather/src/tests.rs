//! The tools against answers like those of Open-Meteo, and against others.

use std::cell::RefCell;
use std::rc::Rc;

use proptest::prelude::*;
use ringfence_sdk::FailureKind;
use ringfence_sdk::http::Response;
use ringfence_sdk::serde_json::{Value, from_str, json};
use ringfence_sdk::testing::{Call, TestHost};

use crate::{TOOLS, sky};

const SEARCH: &str = include_str!("../answers/search.json");
const CURRENT: &str = include_str!("../answers/current.json");
const FORECAST: &str = include_str!("../answers/forecast.json");

/// Calls `tool`; `search` and `weather` are what the two servers answer. Gives the URLs that were asked for as well.
fn call(tool: &str, args: Value, search: Response, weather: Response) -> (Call, Vec<String>) {
    let asked = Rc::new(RefCell::new(Vec::new()));
    let log = asked.clone();
    let host = TestHost::new(TOOLS).with_http(move |request| {
        assert_eq!((request.method.as_str(), &request.body, request.headers.len()), ("GET", &None, 0));
        log.borrow_mut().push(request.url.clone());
        Ok(if request.url.starts_with("https://geocoding-api.") { search.clone() } else { weather.clone() })
    });
    let call = host.call(tool, args);
    (call, asked.take())
}

fn good(tool: &str, args: Value) -> (Call, Vec<String>) {
    let weather = if tool == "current" { CURRENT } else { FORECAST };
    call(tool, args, Response::new(200, SEARCH), Response::new(200, weather))
}

#[test]
fn the_weather_now_at_a_place_among_many() {
    let (call, asked) = good("current", json!({ "place": "Springfield, illinois" }));
    assert_eq!(
        call.text(),
        "Springfield, Illinois, United States at 2026-11-30T10:15: light rain, 3.4 °C, feels like -0.6 °C, \
         humidity 81 %, precipitation 0.2 mm, cloud cover 100 %, wind 14.8 km/h, gusts 31.3 km/h, from 248 °."
    );
    let structured: Value = call.structured();
    assert_eq!(structured["place"]["latitude"], 39.80172);
    assert_eq!((&structured["sky"], &structured["units"]["speed"]), (&json!("light rain"), &json!("km/h")));
    assert!(asked[0].ends_with("/v1/search?name=Springfield&count=20&language=en&format=json"), "{asked:?}");
    let forecast = "https://api.open-meteo.com/v1/forecast?latitude=39.80172&longitude=-89.64371&\
                    temperature_unit=celsius&wind_speed_unit=kmh&precipitation_unit=mm&timezone=auto&current=weather_code%2C";
    assert!(asked[1].starts_with(forecast), "{asked:?}");
}

#[test]
fn without_a_region_the_best_known_place_is_taken() {
    let (call, _) = good("current", json!({ "place": "Springfield" }));
    assert!(call.text().starts_with("Springfield, Massachusetts, United States at"), "{}", call.text());
}

#[test]
fn coordinates_need_no_search() {
    let (call, asked) = good("current", json!({ "latitude": 40.71, "longitude": -74.01, "units": "imperial" }));
    assert!(call.text().starts_with("40.71, -74.01 at") && call.text().contains("wind 14.8 mph"), "{}", call.text());
    let units = "temperature_unit=fahrenheit&wind_speed_unit=mph&precipitation_unit=inch";
    assert!(asked.len() == 1 && asked[0].contains(units), "{asked:?}");
}

#[test]
fn a_forecast_has_the_days_that_were_asked_for() {
    let (call, asked) = good("forecast", json!({ "place": "Springfield, US, Illinois", "days": 2 }));
    assert_eq!(
        call.text(),
        "Springfield, Illinois, United States:\n\
         2026-11-30: light rain, -1.2 to 5.1 °C, precipitation 4.6 mm, chance of it 93 %, wind up to 22.3 km/h\n\
         2026-12-01: overcast, up to 2 °C, precipitation 0 mm, wind up to 12.1 km/h"
    );
    assert_eq!(call.structured::<Value>()["days"][1]["precipitation_chance"], Value::Null);
    assert!(asked[1].ends_with("&forecast_days=2"), "{asked:?}");
    let (call, _) = good("forecast", json!({ "place": "Springfield", "days": 1 }));
    assert_eq!(call.structured::<Value>()["days"].as_array().unwrap().len(), 1);
    for days in [0, 17] {
        let (call, asked) = good("forecast", json!({ "place": "Springfield", "days": days }));
        assert!(call.failure().message.contains("1 to 16") && asked.is_empty());
    }
}

#[test]
fn a_place_that_is_not_there_is_not_found_and_others_are_named() {
    let (call, asked) = good("current", json!({ "place": "Springfield, Texas" }));
    assert_eq!((call.failure().kind, call.failure().code.as_ref()), (FailureKind::NotFound, "no_such_place"));
    assert!(call.failure().message.contains("There are: Springfield, Massachusetts, United States; Springfield, Ill"));
    assert_eq!(asked.len(), 1);
    let nothing = Response::new(200, r#"{"generationtime_ms": 0.3}"#);
    let (call, _) = super::tests::call("current", json!({ "place": "Xyzzy" }), nothing, Response::new(200, CURRENT));
    assert!(call.failure().message.contains("There is no place `Xyzzy`. Try"), "{}", call.failure());
}

#[test]
fn what_open_meteo_refuses_is_told_in_its_words() {
    let at = json!({ "latitude": 1, "longitude": 1 });
    let weather = |answer| call("current", at.clone(), Response::new(200, SEARCH), answer).0;
    let reason = r#"{"error": true, "reason": "Minutely API request limit exceeded. Please try again in one minute."}"#;
    let failed = weather(Response::new(429, reason).with_header("retry-after", "60"));
    assert_eq!(failed.failure().kind, FailureKind::Unavailable);
    assert!(failed.failure().message.contains("no more requests for now: Minutely API"), "{}", failed.failure());
    assert_eq!(failed.failure().retry_after.map(|wait| wait.as_secs()), Some(60));
    let failed = weather(Response::new(502, "<html><h1>Bad gateway</h1>"));
    assert_eq!(failed.failure().message, "Open-Meteo answered with status 502: an HTML page");
}

#[test]
fn odd_answers_are_failures_or_hold_less() {
    let at = json!({ "latitude": 1, "longitude": 1 });
    let weather = |tool, body: &str| call(tool, at.clone(), Response::new(200, ""), Response::new(200, body)).0;
    for body in
        ["", "<html>", "[]", "{}", r#"{"current": {}}"#, r#"{"current": {"time": 1}}"#, r#"{"daily": {"time": 1}}"#]
    {
        for tool in ["current", "forecast"] {
            assert_eq!(weather(tool, body).failure().code, "http.json", "{tool}: {body}");
        }
    }
    let bare = weather("current", r#"{"current": {"time": "now", "weather_code": 4, "temperature_2m": null}}"#);
    assert_eq!(bare.text(), "1, 1 at now: nothing is known.");
    let bare = weather("forecast", r#"{"daily": {"time": ["a", "b"], "temperature_2m_max": [1.5]}}"#);
    assert_eq!(bare.text(), "1, 1:\na: up to 1.5 °C\nb: nothing is known");
    let wrong = weather("current", r#"{"current": {"time": "now", "temperature_2m": "warm"}}"#);
    assert!(wrong.failure().message.contains("invalid type: string \"warm\""), "{}", wrong.failure());
}

#[test]
fn every_code_of_the_documentation_has_words() {
    let known = (0..=99).filter(|code| sky::words(*code).is_some()).count();
    assert_eq!((known, sky::words(4)), (28, None));
}

#[test]
fn examples_are_calls_that_work() {
    for tool in TOOLS {
        for example in (tool.define)().examples {
            let mut input: Value = from_str(&example.input).unwrap();
            if let Some(place) = input.get_mut("place") {
                *place = json!("Springfield");
            }
            let (call, _) = good(tool.name, input);
            assert!(call.outcome.is_ok(), "{}: {}", tool.name, call.failure());
        }
    }
}

proptest! {
    /// Whatever a server says, there is an outcome.
    #[test]
    fn any_answer_has_an_outcome(status in 100u16..600, body in "[\\[\\]{}:,\"a-z0-9.]{0,60}", forecast: bool) {
        let tool = if forecast { "forecast" } else { "current" };
        let answer = || Response::new(status, body.as_str());
        let _ = call(tool, json!({ "place": "Oslo" }), answer(), answer());
    }

    #[test]
    fn a_place_of_any_name_is_asked_for_as_it_stands(name in "[^,]{1,40}") {
        let (_, asked) = good("current", json!({ "place": name }));
        prop_assert!(asked.iter().all(|url| url.bytes().all(|byte| byte.is_ascii_graphic())), "{:?}", asked);
    }
}
