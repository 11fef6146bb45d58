//! The tools without any WebAssembly: a test host stands in for what they ask for.

use ringfence_sdk::http::Response;
use ringfence_sdk::serde_json::json;
use ringfence_sdk::testing::TestHost;

use super::*;

#[test]
fn the_status_is_asked_for_by_the_encoded_name() {
    let host = TestHost::new(TOOLS).with_http(|request| {
        assert_eq!(request.url, "https://status.example.com/api/services/a%20b");
        Ok(Response::new(200, r#"{"state": "up"}"#))
    });
    let call = host.call("service_status", json!({"name": "a b"}));
    assert_eq!(call.structured::<Status>().state, "up");
}

#[test]
fn what_the_status_page_refuses_is_told() {
    let host = TestHost::new(TOOLS).with_http(|_| Ok(Response::new(404, "no such service")));
    assert!(host.call("service_status", json!({"name": "x"})).failure().message.contains("no such service"));
}

#[test]
fn a_notice_is_signed_by_the_host() {
    let host = TestHost::new(TOOLS).with_secret("notice_key", |_, message| message.to_vec());
    assert_eq!(host.call("sign_notice", json!({"text": "az"})).text(), "617a");
    // Without a secret of that name, the failure says whose turn it is.
    let failure = TestHost::new(TOOLS).call("sign_notice", json!({"text": "az"})).failure().clone();
    assert!(failure.message.contains("notice_key"), "{failure:?}");
}

#[test]
fn a_report_is_saved_and_read() {
    let host = TestHost::new(TOOLS);
    assert_eq!(host.call("save_report", json!({"number": 7, "text": "A fire."})).text(), "Saved as reports/7.md");
    assert_eq!(host.file("reports/7.md").as_deref(), Some(&b"A fire."[..]));
    assert_eq!(host.call("read_report", json!({"number": 7})).text(), "A fire.");
}

#[test]
fn numbers_go_up() {
    let host = TestHost::new(TOOLS);
    let numbers: Vec<_> = (0..3).map(|_| host.call("next_number", json!({})).text()).collect();
    assert_eq!(numbers, ["1", "2", "3"]);
}

#[test]
fn outages_are_added_up_by_the_calculator() {
    let host = TestHost::new(TOOLS).with_tool("calculator", |parameters| {
        assert_eq!(parameters, json!({"expression": "1.5 + 2"}));
        Output::text("3.5").with_structured(&json!({"value": "3.5"}))
    });
    assert_eq!(host.call("downtime", json!({"minutes": [1.5, 2.0]})).text(), "3.5 minutes");
}
