//! The tools of `weather` against a server like Open-Meteo's.

use serde_json::json;

use super::{Answer, call, grant, header, installed, structured};
use crate::support::authority::Authority;
use crate::support::binary::Home;
use crate::support::server::Server;

const SEARCH: &str = include_str!("../../tools-wasm/weather/answers/search.json");
const CURRENT: &str = include_str!("../../tools-wasm/weather/answers/current.json");
const FORECAST: &str = include_str!("../../tools-wasm/weather/answers/forecast.json");

fn geocoding(request: &str) -> Answer {
    match request.lines().next().unwrap() {
        "GET /v1/search?name=Springfield&count=20&language=en&format=json HTTP/1.1" => super::json("200 OK", SEARCH),
        "GET /v1/search?name=Atlantis&count=20&language=en&format=json HTTP/1.1" => {
            super::json("200 OK", r#"{"generationtime_ms": 0.3}"#)
        }
        other => super::json("400 Bad Request", json!({"error": true, "reason": other}).to_string()),
    }
}

fn weather(request: &str) -> Answer {
    let at = "latitude=39.80172&longitude=-89.64371&temperature_unit=celsius&wind_speed_unit=kmh&precipitation_unit=mm";
    let line = request.lines().next().unwrap();
    if line.starts_with(&format!("GET /v1/forecast?{at}&timezone=auto&current=weather_code")) {
        super::json("200 OK", CURRENT)
    } else if line.starts_with(&format!("GET /v1/forecast?{at}&timezone=auto&daily=weather_code")) {
        super::json("200 OK", FORECAST)
    } else if line.contains("latitude=1&") {
        super::json("429 Too Many Requests", r#"{"error": true, "reason": "Daily API request limit exceeded."}"#)
    } else if line.contains("latitude=2&") {
        ("502 Bad Gateway\r\ncontent-type: text/html".into(), b"<html><body>Bad gateway</body></html>".to_vec())
    } else if line.contains("latitude=3&") {
        super::json("200 OK", vec![b' '; 70_000])
    } else {
        super::json("400 Bad Request", json!({"error": true, "reason": line}).to_string())
    }
}

/// The servers, and a home whose tools reach them.
fn open_meteo() -> ([Server; 2], Home) {
    let authority = Authority::new();
    let places = Server::tls(authority.identity("geocoding-api.open-meteo.com"), geocoding);
    let weather = Server::tls(authority.identity("api.open-meteo.com"), weather);
    let services = [("geocoding-api.open-meteo.com", &places), ("api.open-meteo.com", &weather)];
    let home = installed("weather", &authority, &services);
    grant(&home, "weather");
    ([places, weather], home)
}

#[test]
fn the_weather_of_a_place_now_and_later() {
    let (servers, home) = open_meteo();
    let place = json!({"place": "Springfield, Illinois"});
    let text = call(&home, "weather__current", &place).ok();
    assert!(text.starts_with("Springfield, Illinois, United States at 2026-11-30T10:15: light rain, 3.4 °C"), "{text}");
    let days = structured(&home, "weather__forecast", &json!({"place": "Springfield, Illinois", "days": 2}));
    assert_eq!((&days["days"][0]["high"], &days["days"][1]["low"]), (&json!(5.1), &json!(null)));
    for request in servers.iter().flat_map(Server::seen) {
        assert!(header(&request, "host").unwrap().ends_with("api.open-meteo.com"), "{request}");
        assert_eq!(header(&request, "authorization"), None);
    }
}

#[test]
fn what_goes_wrong_is_told() {
    let (_servers, home) = open_meteo();
    call(&home, "weather__current", &json!({"place": "Atlantis"})).fails(1, &["There is no place `Atlantis`"]);
    call(&home, "weather__current", &json!({"place": "Springfield, Texas"}))
        .fails(1, &["There are: Springfield, Mass"]);
    call(&home, "weather__current", &json!({})).fails(2, &["Say where"]);
    let at = |latitude| json!({"latitude": latitude, "longitude": 0});
    call(&home, "weather__current", &at(91)).fails(2, &["91", "maximum"]);
    call(&home, "weather__current", &at(1)).fails(6, &["no more requests for now: Daily API request limit exceeded."]);
    call(&home, "weather__forecast", &at(2)).fails(6, &["status 502: an HTML page"]);
    // More than the manifest says that an answer can have.
    call(&home, "weather__forecast", &at(3)).fails(4, &["response"]);
}
