//! Every field of every file that people write has a test that fails when the field is ignored. The fields are those of
//! the published schemas, so a new one without a test fails here.

use std::collections::BTreeSet;

use ringfence::LimitKind;

use crate::repository;
use crate::support::binary::Home;
use crate::support::leaves::fields;

/// Files of tests, each with tests, each with the fields that it is for. `limits.*` are those of a call, `limits.http_*`
/// those of its requests: their tests go through all of them, and `every_limit_is_tried` holds them to that.
type Tests = &'static [(&'static str, &'static [(&'static str, &'static [&'static str])])];

const MANIFEST: Tests = &[
    (
        "tests/author.rs",
        &[(
            "inspect_prints_all_that_the_manifest_says",
            &["name", "version", "publisher", "description", "license", "homepage"],
        )],
    ),
    ("tests/limits.rs", &[("a_package_can_ask_for_less_of_everything", &["limits.*"])]),
    (
        "tests/capabilities/network.rs",
        &[
            ("a_request_goes_where_it_was_asked_for_and_granted_and_nowhere_else", &["capabilities.http[].url"]),
            ("either_side_can_name_fewer_urls_and_methods", &["capabilities.http[].methods[]"]),
            (
                "each_limit_of_the_network_ends_the_call",
                &[
                    "limits.http_*",
                    "capabilities.http[].requests",
                    "capabilities.http[].request_bytes",
                    "capabilities.http[].response_bytes",
                    "capabilities.http[].time_ms",
                ],
            ),
            (
                "credentials_are_placed_by_the_host_and_taken_out_of_what_comes_back",
                &[
                    "capabilities.credentials.*.place.bearer",
                    "capabilities.credentials.*.place.basic.username",
                    "capabilities.credentials.*.place.header.name",
                    "capabilities.credentials.*.place.header.prefix",
                    "capabilities.credentials.*.place.query",
                    "capabilities.credentials.*.place.path",
                    "capabilities.credentials.*.place.json",
                    "capabilities.credentials.*.requests[].methods[]",
                ],
            ),
            ("a_credential_goes_only_where_the_manifest_binds_it", &["capabilities.credentials.*.requests[].url"]),
            ("a_credential_that_is_optional_is_missed_by_nobody", &["capabilities.credentials.*.optional"]),
        ],
    ),
    (
        "tests/capabilities/grants.rs",
        &[
            ("the_description_of_a_credential_is_shown_to_who_grants_it", &["capabilities.credentials.*.description"]),
            ("the_environment_is_what_was_asked_for_and_given", &["capabilities.env[]"]),
        ],
    ),
    (
        "tests/capabilities/oauth.rs",
        &[
            (
                "a_token_is_obtained_for_a_granted_client_and_seen_by_nobody",
                &[
                    "capabilities.credentials.*.oauth2.token_url",
                    "capabilities.credentials.*.oauth2.grant",
                    "capabilities.credentials.*.oauth2.scopes[]",
                    "capabilities.credentials.*.oauth2.audience",
                ],
            ),
            (
                "a_refresh_token_that_the_server_replaces_is_there_for_the_next_process",
                &["capabilities.credentials.*.oauth2.client_auth"],
            ),
        ],
    ),
    (
        "tests/capabilities/tools.rs",
        &[("a_tool_is_called_where_that_was_asked_for_and_granted", &["capabilities.tools.*"])],
    ),
    (
        "tests/capabilities/state.rs",
        &[(
            "the_quota_is_the_lesser_of_what_was_asked_for_and_granted",
            &["capabilities.state.bytes", "capabilities.state.keys"],
        )],
    ),
    (
        "host/package/src/grant/effective.rs",
        &[(
            "only_what_both_name_is_given",
            &[
                "capabilities.secrets.test[]",
                "capabilities.secrets.sign[]",
                "capabilities.workspace.read[]",
                "capabilities.workspace.write[]",
            ],
        )],
    ),
];

const GRANT: Tests = &[
    ("tests/limits.rs", &[("the_grant_of_a_source_can_lower_every_limit", &["limits.*"])]),
    (
        "tests/capabilities/network.rs",
        &[
            ("a_request_goes_where_it_was_asked_for_and_granted_and_nowhere_else", &["addresses[]"]),
            ("either_side_can_name_fewer_urls_and_methods", &["http[].url", "http[].methods[]"]),
            (
                "each_limit_of_the_network_ends_the_call",
                &[
                    "limits.http_*",
                    "http[].requests",
                    "http[].request_bytes",
                    "http[].response_bytes",
                    "http[].time_ms",
                ],
            ),
            ("credentials_are_placed_by_the_host_and_taken_out_of_what_comes_back", &["credentials.*.secret"]),
            (
                "the_operator_can_bind_a_credential_more_tightly_than_it_was_asked_for",
                &["credentials.*.requests[].url", "credentials.*.requests[].methods[]"],
            ),
        ],
    ),
    (
        "tests/capabilities/grants.rs",
        &[
            ("the_environment_is_what_was_asked_for_and_given", &["expires", "env.*"]),
            ("a_rate_in_the_grant_narrows_that_of_the_configuration", &["rate.per_minute", "rate.per_hour"]),
        ],
    ),
    (
        "tests/capabilities/oauth.rs",
        &[
            ("a_token_is_obtained_for_a_granted_client_and_seen_by_nobody", &["credentials.*.oauth2.client_id"]),
            (
                "a_refresh_token_that_the_server_replaces_is_there_for_the_next_process",
                &["credentials.*.oauth2.refresh_token"],
            ),
            (
                "an_update_that_asks_for_tokens_elsewhere_or_for_more_gets_none",
                &["credentials.*.oauth2.token_url", "credentials.*.oauth2.scopes[]", "credentials.*.oauth2.audience"],
            ),
        ],
    ),
    ("tests/capabilities/tools.rs", &[("a_tool_is_called_where_that_was_asked_for_and_granted", &["tools.*"])]),
    (
        "tests/capabilities/state.rs",
        &[("the_quota_is_the_lesser_of_what_was_asked_for_and_granted", &["state.bytes", "state.keys"])],
    ),
    (
        "host/package/src/grant/effective.rs",
        &[(
            "only_what_both_name_is_given",
            &["secrets.test[]", "secrets.sign[]", "workspace.read[]", "workspace.write[]"],
        )],
    ),
];

const CONFIG: Tests = &[
    (
        "tests/settings.rs",
        &[
            ("a_component_that_does_not_fit_the_profile_is_refused_with_the_number", &["engine.profile"]),
            ("metering_by_epoch_counts_no_fuel", &["engine.metering"]),
            ("the_stack_is_as_large_as_set", &["engine.stack_bytes"]),
            ("instances_bound_all_tools_together", &["engine.instances"]),
            ("a_pool_is_there_unless_it_is_turned_off", &["engine.pooling"]),
            ("concurrency_per_caller_and_tool", &["concurrency.per_caller_and_tool"]),
            ("concurrency_per_tool", &["concurrency.per_tool"]),
            ("a_call_waits_for_a_place_as_long_as_it_is_told", &["concurrency.wait_ms"]),
            ("a_record_that_survives_power_is_synchronised_with_the_disk", &["audit.durability"]),
        ],
    ),
    (
        "tests/limits.rs",
        &[
            ("the_operator_can_set_every_limit_for_all_tools", &["limits.*"]),
            ("the_operator_can_set_every_limit_for_one_source", &["tools.*.limits.*"]),
        ],
    ),
    (
        "tests/pipeline.rs",
        &[
            (
                "the_operator_can_set_every_rate_for_all_tools_a_source_and_one_tool",
                &[
                    "rate.per_minute",
                    "rate.per_hour",
                    "rate.unlimited",
                    "tools.*.rate.per_minute",
                    "tools.*.rate.per_hour",
                    "tools.*.rate.unlimited",
                ],
            ),
            ("deny_is_final_and_absent_empty_and_listed_differ", &["policy.allow[]", "policy.deny[]"]),
        ],
    ),
    (
        "tests/capabilities/network.rs",
        &[
            ("each_limit_of_the_network_ends_the_call", &["limits.http_*", "tools.*.limits.http_*"]),
            ("an_authority_of_the_operators_is_trusted", &["network.authorities"]),
            ("a_connection_takes_no_longer_than_it_may", &["network.connect_ms"]),
        ],
    ),
    ("tests/capabilities/files.rs", &[("files_are_read_and_written_as_far_as_that_was_granted", &["workspace.root"])]),
    (
        "tests/capabilities/secrets.rs",
        &[("a_value_is_given_out_where_the_operator_allows_that_and_is_on_record", &["secrets.reveal[]"])],
    ),
    (
        "tests/network_tools/certificates.rs",
        &[("a_name_that_leads_elsewhere_needs_the_same_grants", &["network.hosts.*"])],
    ),
    (
        "tests/distribution/folders.rs",
        &[
            ("a_folder_can_be_served", &["distribution.addresses[]", "distribution.plain_http[]"]),
            ("search_finds_what_is_installed_and_what_the_indexes_list", &["indexes.*"]),
        ],
    ),
];

#[test]
fn every_field_has_a_test_that_fails_when_it_is_ignored() {
    let home = Home::new();
    for (file, tests) in [("manifest", MANIFEST), ("grant", GRANT), ("config", CONFIG)] {
        let schema = home.args(&["schema", file]).json();
        let (published, tested) = (fields(&schema, ""), tests.iter().flat_map(tested).collect::<BTreeSet<_>>());
        let untested: Vec<_> = published.difference(&tested).collect();
        assert!(untested.is_empty(), "no test is named here for these fields of the {file}: {untested:#?}");
        let gone: Vec<_> = tested.difference(&published).collect();
        assert!(gone.is_empty(), "the {file} has no such fields: {gone:#?}");
    }
}

#[test]
fn every_test_that_is_named_is_there() {
    for (file, tests) in [MANIFEST, GRANT, CONFIG].concat() {
        let source = std::fs::read_to_string(repository().join(file)).unwrap();
        for (test, _) in tests {
            let before = source.split_once(&format!("fn {test}(")).map(|(before, _)| before);
            let marked = before.is_some_and(|before| before.lines().rev().take(2).any(|line| line.contains("test")));
            assert!(marked, "{file} has no test `{test}`");
        }
    }
}

/// The fields of the tests in a file.
fn tested((_, tests): &(&str, &[(&str, &[&str])])) -> Vec<String> {
    tests.iter().flat_map(|(_, fields)| fields.iter().flat_map(|field| written_out(field))).collect()
}

/// A field, or all limits where it stands for them.
fn written_out(field: &str) -> Vec<String> {
    let limits =
        |of_http: bool| LimitKind::all().map(LimitKind::key).filter(move |key| key.starts_with("http_") == of_http);
    if let Some(path) = field.strip_suffix("limits.http_*") {
        return limits(true).map(|key| format!("{path}limits.{key}")).collect();
    }
    match field.strip_suffix("limits.*") {
        Some(path) => limits(false).map(|key| format!("{path}limits.{key}")).collect(),
        None => vec![field.to_owned()],
    }
}
