//! The scrubber as a whole.

mod json;
mod outputs;
mod properties;
mod texts;

use super::Scrubber;
use crate::secret::Secret;

const SECRET: &str = "rf_live_9f+Zq/7Kp~2x=Vd_";

fn scrubber() -> Scrubber {
    knowing(&[("svc", SECRET)])
}

fn knowing(secrets: &[(&str, &str)]) -> Scrubber {
    let secrets = secrets.iter().map(|(name, value)| ((*name).to_owned(), Secret::new((*value).to_owned())));
    Scrubber::new(secrets.collect()).unwrap()
}

#[track_caller]
fn check(text: &str, expected: &str) {
    assert_eq!(scrubber().text(text), expected);
}

#[track_caller]
fn check_stays(text: &str) {
    check(text, text);
}
