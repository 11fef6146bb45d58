//! `time`: the time now, in another zone, or between two times.

use async_trait::async_trait;
use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};
use ringfence_core::error::ToolError;
use ringfence_core::output::RawOutput;
use ringfence_core::permit::Permit;
use ringfence_core::tool::{Effects, Tool, ToolSpec};
use serde_json::{Value, json};

use crate::invalid;

pub(crate) struct Time(ToolSpec);

impl Time {
    pub(crate) fn new() -> Self {
        Self(ToolSpec {
            name: "time".into(),
            title: Some("Time".into()),
            description: "Tells the time: `now`, `convert` a time into a zone, or the seconds from one time to \
                          another (`diff`)."
                .into(),
            parameters: json!({
                "type": "object",
                "properties": {
                    "operation": {"type": "string", "enum": ["now", "convert", "diff"], "default": "now"},
                    "time": {"type": "string", "description": "RFC 3339, such as 2026-11-29T20:00:00Z."},
                    "until": {"type": "string", "description": "RFC 3339; for diff."},
                    "timezone": {"type": "string", "description": "IANA name, such as Europe/Berlin."},
                },
                "additionalProperties": false,
            }),
            // The clock moves, so the same parameters do not always give the same.
            effects: Effects { pure: false, ..crate::PURE },
            categories: vec!["time".into()],
            ..ToolSpec::default()
        })
    }
}

#[async_trait]
impl Tool for Time {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    async fn execute(&self, permit: Permit) -> Result<RawOutput, ToolError> {
        let params = permit.call().arguments().value();
        answer(params, Timestamp::now()).map(RawOutput::json)
    }
}

fn answer(params: &Value, now: Timestamp) -> Result<Value, ToolError> {
    let zone = params["timezone"].as_str().map(zone).transpose()?;
    match params["operation"].as_str().unwrap_or("now") {
        "now" => Ok(show(now, zone)),
        "convert" => Ok(show(time_at(params, "time")?, zone)),
        _ => {
            let (from, until) = (time_at(params, "time")?, time_at(params, "until")?);
            Ok(json!({"seconds": until.as_second() - from.as_second()}))
        }
    }
}

fn show(time: Timestamp, zone: Option<TimeZone>) -> Value {
    let mut shown = json!({"utc": time.to_string(), "unix_ms": time.as_millisecond()});
    if let Some(zone) = zone {
        let local = Zoned::new(time, zone);
        shown["local"] = local.strftime("%Y-%m-%dT%H:%M:%S%:z").to_string().into();
        shown["timezone"] = local.time_zone().iana_name().unwrap_or("UTC").into();
    }
    shown
}

fn zone(name: &str) -> Result<TimeZone, ToolError> {
    TimeZone::get(name).map_err(|_| {
        invalid(format!("`{name}` is no time zone that is known here; use an IANA name such as Asia/Tokyo"))
    })
}

fn time_at(params: &Value, key: &str) -> Result<Timestamp, ToolError> {
    let text = params[key].as_str().ok_or_else(|| invalid(format!("`{key}` is missing")))?;
    text.parse().map_err(|_| invalid(format!("`{text}` is not a time in RFC 3339, such as 2026-11-29T20:00:00Z")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(params: Value) -> Result<Value, String> {
        answer(&params, Timestamp::UNIX_EPOCH).map_err(|error| error.to_string())
    }

    #[test]
    fn now_is_utc_unless_a_zone_is_named() {
        assert_eq!(at(json!({})).unwrap(), json!({"utc": "1970-01-01T00:00:00Z", "unix_ms": 0}));
        let tokyo = at(json!({"timezone": "Asia/Tokyo"})).unwrap();
        assert_eq!(tokyo["local"], "1970-01-01T09:00:00+09:00");
        assert_eq!(tokyo["timezone"], "Asia/Tokyo");
    }

    #[test]
    fn an_unknown_zone_is_an_error_with_a_hint() {
        assert!(at(json!({"timezone": "Mars/X"})).unwrap_err().contains("IANA name"));
    }

    #[test]
    fn diff_counts_seconds() {
        let params = json!({"operation": "diff", "time": "2026-01-01T00:00:00Z", "until": "2026-01-01T01:00:00+00:00"});
        assert_eq!(at(params).unwrap(), json!({"seconds": 3600}));
        assert!(at(json!({"operation": "diff", "time": "x"})).unwrap_err().contains("RFC 3339"));
    }
}
