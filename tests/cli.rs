//! The command line: what it prints, how it ends, what it says when something is wrong.

use serde_json::json;

use crate::support::binary::Home;

#[test]
fn answers_go_to_standard_output_and_errors_to_standard_error() {
    let home = Home::new();
    let run = home.args(&["call", "echo", "{\"message\": \"hello\"}"]);
    assert_eq!((run.code, run.out.as_str(), run.err.as_str()), (0, "hello\n", ""));
    let run = home.args(&["call", "echo", "{}"]);
    assert_eq!((run.code, run.out.as_str()), (2, ""));
    assert!(run.err.starts_with("error: the parameters of `echo` are not valid"), "{}", run.err);
    assert!(run.err.contains("`ringfence tools echo` shows the parameters"), "{}", run.err);
}

#[test]
fn exit_codes_tell_kinds_of_no_apart() {
    let home = Home::new();
    home.file("home/config.toml", "[policy]\ndeny = [\"time\"]\n[tools.json.limits]\nparam_bytes = 5\n");
    for (args, code) in [
        (&["call", "echo", "{\"message\": \"x\"}"][..], 0),
        (&["call", "echo", "not json"], 2),
        (&["no-such-command"], 2),
        (&["call", "time"], 3),
        (&["call", "json", "{\"operation\": \"parse\", \"data\": \"1\"}"], 4),
        (&["call", "nobody"], 5),
        (&["remove", "nobody"], 5),
        (&["install", "nowhere.wasm"], 2),
    ] {
        assert_eq!(home.args(args).code, code, "{args:?}");
    }
}

#[test]
fn json_is_one_document_for_answers_and_errors() {
    let home = Home::new();
    assert_eq!(home.args(&["--json", "call", "echo", "{\"message\": \"x\"}"]).json()["content"][0]["text"], "x");
    for command in [
        "tools",
        "list",
        "update",
        "search",
        "trust list",
        "audit",
        "audit --verify",
        "config",
        "config --path",
        "config --check",
    ] {
        home.run(&format!("{command} --json")).json();
    }
    let run = home.args(&["--json", "call", "nobody"]);
    assert_eq!(run.code, 5);
    let error: serde_json::Value = serde_json::from_str(&run.out).unwrap();
    assert_eq!(error["error"]["code"], "not_found");
}

#[test]
fn the_record_is_listed_as_far_back_as_is_said() {
    let home = Home::new();
    for _ in 0..8 {
        home.args(&["call", "echo", "{\"message\": \"x\"}"]).ok();
    }
    let places = |line: &str| {
        let events = home.run(line).json();
        events.as_array().unwrap().iter().map(|event| event["sequence"].as_u64().unwrap()).collect::<Vec<_>>()
    };
    let all = places("audit --json --last 100");
    assert_eq!(all.len(), 24, "a call has three events");
    assert!(all.is_sorted_by(|a, b| a > b), "the newest first: {all:?}");
    assert_eq!(places("audit --json --last 2"), all[..2]);
    assert_eq!(places("audit --json"), all[..20]);
}

#[test]
fn the_log_tells_as_much_as_is_said() {
    let home = Home::new();
    crate::support::packages::install_unsigned(&home, "forged_log");
    let logged = |filter: &str| {
        let mut command = home.command();
        command.env("RINGFENCE_LOG", filter).args(["call", "forged-log__run"]);
        Home::feed(command, "").err
    };
    assert!(home.run("call forged-log__run").err.contains("the vault is open"));
    assert!(logged("").contains("the vault is open"), "nothing is the default");
    assert_eq!(logged("off"), "");
    assert_eq!(logged("guest=warn"), "");
    // What is not said otherwise.
    std::fs::remove_dir_all(home.path().join("home/state/compiled")).unwrap();
    assert!(logged("info").contains("there is no compiled code"));
}

#[test]
fn what_callers_send_is_not_logged_however_much_is() {
    let home = Home::new();
    let value = "a-value-that-only-the-caller-knows";
    let init = r#"{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"c","version":"1"}}"#;
    let lines = [
        format!(r#"{{"jsonrpc":"2.0","id":1,"method":"initialize","params":{init}}}"#),
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#.to_owned(),
        format!(
            r#"{{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{{"name":"echo","arguments":{{"message":"{value}"}}}}}}"#
        ),
    ];
    let mut command = home.command();
    command.env("RINGFENCE_LOG", "trace").arg("serve");
    let run = Home::feed(command, &(lines.join("\n") + "\n"));
    assert!(run.out.contains(value), "{run:?}");
    assert!(!run.err.contains(value), "{}", run.err);
}

#[test]
fn parameters_can_come_from_standard_input() {
    let home = Home::new();
    assert_eq!(home.fed(&["call", "echo", "-"], "{\"message\": \"piped\"}").ok(), "piped\n");
}

#[test]
fn a_bare_name_is_enough_where_it_is_unique() {
    let home = Home::new();
    crate::support::packages::install_unsigned(&home, "mirror");
    home.args(&["call", "run", "{}"]).ok();
    crate::support::packages::install_unsigned(&home, "slow");
    home.args(&["call", "run", "{}"]).fails(5, &["there is no tool `run`"]);
    home.args(&["tools", "run"]).fails(5, &["mirror__run", "slow__run"]);
}

#[test]
fn a_wrong_configuration_names_the_key_and_the_remedy() {
    let home = Home::new();
    home.file("home/config.toml", "[limits]\nfule = 1\n");
    for command in ["tools", "config --check"] {
        home.run(command).fails(1, &["did you mean `fuel`", "ringfence config"]);
    }
    home.file("home/config.toml", "[rate]\nper_minute = 0\n");
    home.run("config --check").fails(1, &["at least 1"]);
}

#[test]
fn a_policy_that_cannot_be_read_closes_calls_and_nothing_else() {
    let home = Home::new();
    crate::support::packages::install_unsigned(&home, "mirror");
    // A source may be called as built-ins of other systems are.
    let calc = home.file("calc.wasm", crate::support::guests::package("mirror", "calc", "1.0.0"));
    home.args(&["install", calc.to_str().unwrap(), "--allow-unsigned"]).ok();
    for (slip, hint) in [
        ("mirror", "a source, which is written `group:mirror`"),
        ("calc", "a source, which is written `group:calc`"),
        ("eco", "did you mean `echo`?"),
        ("group:A b", ""),
        ("group:wams", "did you mean `group:wasm`?"),
        ("group:buitin", "did you mean `group:builtin`?"),
        ("group:session", "did you mean `group:sessions`?"),
    ] {
        home.file("home/config.toml", format!("[policy]\ndeny = [\"{slip}\"]\n"));
        for command in ["tools", "call echo {\"message\":\"x\"}", "config --check"] {
            let place = format!("[policy] in config.toml:2: `{slip}` under `deny`");
            home.run(command).fails(3, &[&place, hint, "group:NAME", "no call is allowed"]);
        }
    }
    for command in ["list", "audit", "audit --verify", "trust list"] {
        home.run(command).ok();
    }
}

#[test]
fn a_rule_for_a_source_that_is_not_there_waits_for_it() {
    for entry in ["mirror__run", "mirror/run", "group:mirror"] {
        let home = Home::new();
        home.file("home/config.toml", format!("[policy]\ndeny = [\"{entry}\"]\n"));
        let run = home.args(&["call", "echo", "{\"message\":\"x\"}"]);
        assert!(run.code == 0 && run.err.contains(&format!("`{entry}` under `deny` names a source")), "{run:?}");
        crate::support::packages::install_unsigned(&home, "mirror");
        let run = home.run("config --check");
        assert!(run.code == 0 && run.err.is_empty(), "{run:?}");
        home.args(&["call", "mirror__run", "{}"]).fails(3, &["of `deny`"]);
        // Removed, it stops nobody else.
        let out = home.run("remove mirror").ok();
        assert!(out.contains("[policy]") && out.contains(&entry.replace("mirror/", "mirror__")), "{out}");
        home.run("tools").ok();
    }
    // `allow` opens nothing for others, and the tool when it is there.
    let home = Home::new();
    home.file("home/config.toml", "[policy]\nallow = [\"mirror__run\"]\n");
    home.args(&["call", "echo", "{\"message\":\"x\"}"]).fails(3, &["`allow`"]);
    crate::support::packages::install_unsigned(&home, "mirror");
    home.args(&["call", "mirror__run", "{}"]).ok();
}

#[test]
fn a_rule_for_a_tool_that_its_source_has_no_more_stops_nobody_else() {
    let home = Home::new();
    crate::support::packages::install_unsigned(&home, "mirror");
    let echo = ["call", "echo", "{\"message\":\"x\"}"];
    let told = "names a tool of `mirror` that is not there (did you mean `mirror__run`?)";
    home.file("home/config.toml", "[policy]\ndeny = [\"mirror__rum\"]\n");
    let run = home.args(&echo);
    assert!(run.code == 0 && run.err.contains(&format!("`mirror__rum` under `deny` {told}")), "{run:?}");
    home.args(&["call", "mirror__run", "{}"]).ok();
    // What `allow` names opens nothing else.
    home.file("home/config.toml", "[policy]\nallow = [\"echo\", \"mirror__rum\"]\n");
    let run = home.args(&echo);
    assert!(run.code == 0 && run.err.contains(&format!("`mirror__rum` under `allow` {told}")), "{run:?}");
    home.args(&["call", "mirror__run", "{}"]).fails(3, &["`allow`"]);
}

#[test]
fn the_bare_name_of_a_stopped_tool_tells_that_it_is_stopped_and_why() {
    let (home, file) = crate::support::packages::signed("mirror", "1.0.0");
    home.args(&["install", file.to_str().unwrap()]).ok();
    home.args(&["call", "run", "{}"]).ok();
    home.args(&["trust", "revoke", &key_id(&home)]).ok();
    home.args(&["call", "run", "{}"]).fails(6, &["`mirror__run`", "`mirror` is stopped: ", "was revoked"]);
    let run = home.args(&["call", "run", "{}", "--json"]);
    let error = &serde_json::from_str::<serde_json::Value>(&run.out).unwrap()["error"];
    assert!(error["message"].as_str().unwrap().contains("was revoked") && error["hint"].is_null(), "{error}");
    home.args(&["tools", "run"]).fails(5, &["`mirror` is stopped", "was revoked"]);
    home.args(&["call", "rum", "{}"]).fails(5, &["there is no tool `rum`"]);
}

#[test]
fn revoking_a_key_names_what_still_speaks_of_what_it_signed() {
    let (home, file) = crate::support::packages::signed("mirror", "1.0.0");
    home.args(&["install", file.to_str().unwrap()]).ok();
    let grant = home.file("home/grants/mirror.toml", "[limits]\nfuel = 1000\n");
    home.file("home/config.toml", "[policy]\ndeny = [\"mirror__run\", \"time\"]\n");
    let id = key_id(&home);
    let out = home.args(&["trust", "revoke", &id]).ok();
    for part in ["Stopped mirror.", grant.to_str().unwrap(), "[policy]", "`mirror__run`"] {
        assert!(out.contains(part), "{out}");
    }
    assert!(!out.contains("time"), "{out}");
    let told = home.args(&["trust", "revoke", &id, "--json"]).json();
    assert_eq!(told["stopped"], json!([{"source": "mirror", "grant": grant, "policy": ["mirror__run"]}]));
}

#[test]
fn what_asks_for_nothing_is_granted_nothing() {
    let home = Home::new();
    crate::support::packages::install_unsigned(&home, "mirror");
    home.run("grant mirror --all").fails(2, &["`mirror` asks for nothing"]);
    assert!(!home.path().join("home/grants/mirror.toml").exists());
    home.run("grant mirror --all --per-minute 5").ok();
}

#[test]
fn a_folder_without_a_project_is_told() {
    let home = Home::new();
    home.run("build").fails(2, &[". has no ringfence.toml", "`ringfence new NAME`"]);
}

#[test]
fn a_publisher_can_be_renamed() {
    let (home, file) = crate::support::packages::signed("mirror", "1.0.0");
    home.args(&["install", file.to_str().unwrap()]).ok();
    let id = key_id(&home);
    home.run("trust add acme.pub --publisher other --sign maps")
        .fails(3, &[&format!("`ringfence trust rename {id} NAME`")]);
    let renamed = home.args(&["trust", "rename", &id, "Acme Corp"]).ok();
    assert!(renamed.contains(&id) && renamed.contains("Acme Corp"), "{renamed}");
    assert_eq!(home.run("trust list --json").json()[0]["publisher"], "Acme Corp");
    assert_eq!(home.run("list --json").json()[0]["publisher"], "Acme Corp");
    home.args(&["call", "mirror__run", "{}"]).ok();
    home.args(&["trust", "add", "acme.pub", "--publisher", "Acme Corp", "--sign", "maps"]).ok();
    assert_eq!(home.run("trust list --json").json()[0]["names"], json!(["*", "maps"]));
    home.args(&["trust", "rename", &id, "two\nlines"]).fails(2, &["the name of the publisher"]);
    home.run("trust rename 0123456789ABCDEF nobody").fails(5, &["there is no key 0123456789ABCDEF"]);
    // Revoked, it stays so.
    home.args(&["trust", "revoke", &id]).ok();
    home.args(&["trust", "rename", &id, "Former"]).ok();
    home.args(&["call", "mirror__run", "{}"]).fails(6, &["of Former was revoked"]);
}

/// The id of the only key that is trusted.
fn key_id(home: &Home) -> String {
    home.run("trust list --json").json()[0]["key_id"].as_str().unwrap().to_owned()
}

#[test]
fn settings_for_what_is_not_there_are_told() {
    let home = Home::new();
    home.file("home/config.toml", "[tools.\"ecko\".limits]\nresult_bytes = 5\n");
    let run = home.run("tools");
    assert!(run.err.contains("[tools.\"ecko\"]"), "{run:?}");
}

#[test]
fn settings_for_what_is_not_there_are_told_once_and_where_tools_are_used() {
    let home = Home::new();
    let config = "[policy]\ndeny = [\n  \"time\",\n  \"maps__find\",\n]\n[tools.\"ecko\".limits]\nresult_bytes = 5\n";
    let config = home.file("home/config.toml", config).display().to_string();
    let file = crate::support::packages::package(&home, "mirror", "1.0.0");
    for args in [
        &["install", file.to_str().unwrap(), "--allow-unsigned"][..],
        &["update"],
        &["list"],
        &["grants"],
        &["secret", "list"],
        &["audit"],
    ] {
        let run = home.args(args);
        assert_eq!((run.code, run.err.as_str()), (0, ""), "{args:?}");
    }
    for args in [&["tools"][..], &["tools", "echo"], &["call", "echo", "{\"message\": \"x\"}"], &["config", "--check"]]
    {
        let told = home.args(args).err;
        let lines: Vec<_> = told.lines().collect();
        let rule =
            format!("warning: [policy] in {config}:4: `maps__find` under `deny` names a source that is not there");
        let section = format!("warning: [tools.\"ecko\"] in {config}:6 names no source");
        assert!(lines.len() == 2 && lines[0].starts_with(&rule) && lines[1].starts_with(&section), "{told}");
    }
}

#[test]
fn a_tool_that_the_policy_hides_is_told_with_the_rule_and_its_line() {
    let home = Home::new();
    crate::support::packages::install_unsigned(&home, "mirror");
    let config = home
        .file("home/config.toml", "[policy]\ndeny = [\n  \"time\",\n  \"group:mirror\",\n]\n")
        .display()
        .to_string();
    home.run("tools time").fails(3, &["hides `time`: the entry `time` of `deny` decided", &format!("{config}:3")]);
    for name in ["run", "mirror__run"] {
        let rule = "hides `mirror__run`: the entry `group:mirror` of `deny` decided";
        home.args(&["tools", name]).fails(3, &[rule, &format!("{config}:4")]);
    }
    home.run("tools tim").fails(5, &["there is no tool `tim`"]);
    home.file("home/config.toml", "# mine\n[policy]\nallow = [\"echo\"]\n");
    home.run("tools time")
        .fails(3, &["hides `time`: `allow`, which does not name it, decided", &format!("{config}:3")]);
    home.run("tools echo").ok();
}

#[test]
fn a_limit_or_a_rate_that_stops_a_call_is_named_by_the_section_that_decides() {
    let home = Home::new();
    crate::support::packages::install_unsigned(&home, "mirror");
    let call = || home.args(&["call", "mirror__run", "{}"]);
    for section in ["limits", "tools.\"mirror\".limits", "tools.\"mirror__run\".limits"] {
        home.file("home/config.toml", format!("[{section}]\nfuel = 1\n"));
        call().fails(4, &[&format!("`fuel` under [{section}] in ")]);
    }
    for (section, user) in [("rate", "a"), ("tools.\"mirror\".rate", "b"), ("tools.\"mirror__run\".rate", "c")] {
        home.file("home/config.toml", format!("[{section}]\nper_hour = 1\n"));
        let call = || home.args(&["call", "mirror__run", "{}", "--user", user]);
        call().ok();
        call().fails(3, &[&format!("`per_hour` under [{section}] in ")]);
    }
    home.file("home/config.toml", "");
    home.run("grant mirror --per-minute 1").ok();
    let call = || home.args(&["call", "mirror__run", "{}", "--user", "d"]);
    call().ok();
    call().fails(3, &["`per_minute` under [rate] in the grant of its source"]);
}

#[test]
fn the_nearest_command_is_suggested_first() {
    let home = Home::new();
    let run = home.run("intall x");
    let suggested = run.err.split("exist").nth(1).unwrap();
    assert!(suggested.split('\'').nth(1) == Some("install"), "{run:?}");
}

#[test]
fn trusting_a_key_again_says_that_nothing_has_changed() {
    let home = Home::new();
    home.key("acme");
    let add = |name: &str| home.args(&["trust", "add", "acme.pub", "--publisher", "acme", "--sign", name]).ok();
    assert!(add("weather").starts_with("Trusted "));
    assert!(add("weather").contains(" of acme is already trusted for weather: nothing has changed."));
    assert!(add("maps").contains("is already trusted. Now it may sign maps as well, in all weather, maps."));
}

#[test]
fn an_installation_says_what_is_not_believed_and_what_that_means() {
    let home = Home::new();
    let file = home.file("calc.wasm", crate::support::guests::own_package("calc"));
    let install =
        |more: &[&str]| home.args(&[&["install", file.to_str().unwrap(), "--allow-unsigned"], more].concat()).ok();
    let out = install(&[]);
    for part in ["`evaluate` only reads", "Nobody has checked that", "may change things", "--accept-effects"] {
        assert!(out.contains(part), "{part}: {out}");
    }
    assert!(!install(&["--accept-effects"]).contains("believed"));
    // One that claims nothing.
    let silent = crate::support::packages::package(&home, "slow", "1.0.0");
    assert!(!home.args(&["install", silent.to_str().unwrap(), "--allow-unsigned"]).ok().contains("believed"));
}

#[test]
fn a_secret_is_not_taken_as_an_argument() {
    let home = Home::new();
    for command in ["set", "rotate"] {
        let run = home.args(&["secret", command, "token", "hunter22-hunter22"]);
        assert!(!format!("{run:?}").contains("hunter22"), "{run:?}");
        run.fails(2, &["not taken as an argument", "history of the shell", "standard input"]);
        assert!(!home.run(&format!("secret {command} --help")).ok().contains("[VALUES]"));
    }
    assert_eq!(home.run("secret list --json").json()["secrets"], json!([]));
}

#[test]
fn how_long_a_secret_has_to_be_is_said_before_it_is_typed() {
    let home = Home::new();
    let least = format!("{} bytes or more", ringfence_egress::MIN_CREDENTIAL);
    for command in [["secret", "set"], ["secret", "rotate"]] {
        let help = help(&home, &command);
        assert!(help.contains(&least), "{help}");
    }
}

#[test]
fn an_empty_file_is_told_from_one_that_is_no_component() {
    let home = Home::new();
    let manifest = "name = \"x\"\nversion = \"1.0.0\"\npublisher = \"x\"\ndescription = \"x\"\nlicense = \"MIT\"\n";
    home.file("ringfence.toml", manifest);
    for (content, expected) in [("", "the file is empty"), ("#!/bin/sh", "not WebAssembly")] {
        home.file("x.wasm", content);
        for command in [
            "inspect x.wasm",
            "install x.wasm --allow-unsigned",
            "pack x.wasm --manifest ringfence.toml -o packed.wasm",
        ] {
            let run = home.run(command);
            assert!(run.code != 0 && run.err.to_lowercase().contains(&expected.to_lowercase()), "{command}: {run:?}");
        }
    }
}

#[test]
fn what_to_do_about_an_error_names_the_file_and_has_a_field_of_its_own() {
    let home = Home::new();
    let config = home.file("home/config.toml", "[policy]\ndeny = [\"time\"]\n");
    let hint = format!("under [policy] in {}", config.display());
    home.run("call time").fails(3, &[&format!("\n  hint: the entry `time` of `deny` decided, {hint}")]);
    let run = home.run("call time --json");
    let error = &serde_json::from_str::<serde_json::Value>(&run.out).unwrap()["error"];
    assert!(error["hint"].as_str().unwrap().ends_with(&hint), "{error}");
    assert_eq!(error["message"], "the operator's policy does not allow `time`");
}

#[test]
fn a_warning_reads_like_other_messages_and_is_a_log_line_for_who_asks_for_a_log() {
    let home = Home::new();
    let config = home.file("home/config.toml", "[tools.\"ecko\".limits]\nresult_bytes = 5\n");
    let warning = format!("warning: [tools.\"ecko\"] in {}:1 names no source", config.display());
    let run = home.run("tools");
    assert!(run.err.starts_with(&warning), "{run:?}");
    let logged = home.traced(&["tools"]).err;
    assert!(logged.contains(" WARN ") && !logged.contains("warning: "), "{logged}");
}

#[test]
fn folders_that_cannot_be_used_are_named_with_what_to_do() {
    let home = Home::new();
    home.file("there/x", "");
    home.run("demo --keep there").fails(2, &["`there`", "name one that is not"]);
    home.run("demo --keep no/where").fails(2, &["`no/where`", "make that first"]);
    home.run("key generate no/acme --no-password").fails(2, &["there is no `no`"]);
    home.run("build nowhere").fails(2, &["there is no `nowhere`"]);
}

#[test]
fn rates_hold_across_processes() {
    let home = Home::new();
    home.file("home/config.toml", "[rate]\nper_minute = 1\n");
    home.args(&["call", "echo", "{\"message\": \"x\"}"]).ok();
    home.args(&["call", "echo", "{\"message\": \"x\"}"]).fails(3, &["at most 1 in a minute", "try again in"]);
}

#[test]
fn trusting_a_key_for_more_names_keeps_those_that_it_has() {
    let home = Home::new();
    home.key("acme");
    home.trust("acme", &["weather"]);
    home.trust("acme", &["maps*"]);
    assert_eq!(home.run("trust list --json").json()[0]["names"], json!(["weather", "maps*"]));
    home.run("trust add nowhere.pub --publisher x --sign y").fails(2, &["nowhere.pub"]);
}

#[test]
fn the_home_moves_configuration_and_state() {
    let home = Home::new();
    let places = home.run("config --path --json").json();
    assert_eq!(places["config"], json!(home.path().join("home/config.toml")));
    assert_eq!(places["state"], json!(home.path().join("home/state")));
    let other = home.path().join("elsewhere");
    let places = home.args(&["config", "--path", "--json", "--home", other.to_str().unwrap()]).json();
    assert_eq!(places["state"], json!(other.join("state")));
    home.args(&["tools", "--home", other.to_str().unwrap()]).ok();
    assert!(other.join("state/state.db").is_file());
}

#[test]
fn a_state_folder_that_is_open_to_others_is_refused() {
    use std::os::unix::fs::PermissionsExt as _;
    let home = Home::new();
    home.run("tools").ok();
    let state = home.path().join("home/state");
    std::fs::set_permissions(&state, std::fs::Permissions::from_mode(0o755)).unwrap();
    home.run("tools").fails(1, &["open to other users", "chmod 700"]);
}

#[test]
fn what_says_what_tools_may_do_is_written_by_its_owner_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let home = Home::new();
    let config = home.file("home/config.toml", "");
    std::fs::create_dir(home.path().join("home/grants")).unwrap();
    home.run("tools").ok();
    for path in [config, home.path().join("home"), home.path().join("home/grants")] {
        let mode = |mode| std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
        for open in [0o777, 0o720, 0o702] {
            mode(open);
            home.run("tools").fails(1, &["open to other users", &format!("chmod go-w {}", path.display())]);
        }
        mode(0o755);
        home.run("tools").ok();
    }
}

#[test]
fn what_is_made_is_closed_to_others_whatever_the_umask() {
    use std::os::unix::fs::PermissionsExt as _;
    let home = Home::new();
    let asks = "[capabilities]\nenv = [\"LANG\"]\n";
    let file = home.file("reach.wasm", crate::support::guests::package_with("surroundings", "reach", asks));
    let command = |line: &str| {
        let mut command = std::process::Command::new("sh");
        let binary = home.command();
        command.arg("-c").arg(format!("umask 000; exec {} {line}", binary.get_program().to_str().unwrap()));
        command.envs(binary.get_envs().filter_map(|(name, value)| Some((name, value?))));
        assert!(command.output().unwrap().status.success(), "{line}");
    };
    command(&format!("install {} --allow-unsigned", file.display()));
    command("grant reach --env LANG=en");
    for (path, mode) in
        [("home", 0o700), ("home/state", 0o700), ("home/grants", 0o700), ("home/grants/reach.toml", 0o600)]
    {
        let permissions = std::fs::metadata(home.path().join(path)).unwrap().permissions();
        assert_eq!(permissions.mode() & 0o777, mode, "{path}");
    }
    for part in ["state", "state/audit", "state/tools", "state/compiled"] {
        for entry in std::fs::read_dir(home.path().join("home").join(part)).unwrap().map(|entry| entry.unwrap()) {
            let mode = entry.metadata().unwrap().permissions().mode() & 0o777;
            assert_eq!(mode & 0o077, 0, "{}: {mode:o}", entry.path().display());
        }
    }
}

#[test]
fn a_configuration_that_is_missing_is_told_and_a_link_to_nowhere_is_refused() {
    let home = Home::new();
    assert!(home.run("config --check").ok().contains("is not there: every key has its default"));
    assert_eq!(home.run("config --check --json").json()["file"], false);
    home.file("home/config.toml", "");
    assert!(home.run("config --check").ok().contains("can be used"));
    std::fs::remove_file(home.path().join("home/config.toml")).unwrap();
    std::os::unix::fs::symlink("nowhere.toml", home.path().join("home/config.toml")).unwrap();
    for command in ["config --check", "tools", "list"] {
        home.run(command).fails(1, &["config.toml is a link that leads nowhere"]);
    }
}

#[test]
fn lines_that_were_copied_behind_the_end_of_the_audit_log_stop_a_start_and_nothing_is_lost() {
    let home = Home::new();
    let call = || home.args(&["call", "echo", "{\"message\": \"x\"}"]);
    call().ok();
    call().ok();
    let log = home.path().join("home/state/audit/00000000000000000001.jsonl");
    let good = std::fs::read_to_string(&log).unwrap();
    let block: String = good.split_inclusive('\n').take(3).collect();
    std::fs::write(&log, format!("{good}{block}")).unwrap();
    call().fails(1, &[&format!("truncate --size={} ", good.len()), "keep a copy"]);
    assert_eq!(std::fs::read_to_string(&log).unwrap(), format!("{good}{block}"), "it is evidence");
    std::fs::write(&log, good).unwrap();
    call().ok();
    assert_eq!(home.run("audit --verify --json").json()["events"], 9);
}

#[test]
fn a_byte_that_is_put_into_the_audit_log_costs_no_event() {
    let home = Home::new();
    let call = || home.args(&["call", "echo", "{\"message\": \"x\"}"]);
    call().ok();
    call().ok();
    let log = home.path().join("home/state/audit/00000000000000000001.jsonl");
    let good = std::fs::read(&log).unwrap();
    for place in [0, 20] {
        for altered in [[&good[..place], b"x", &good[place..]].concat(), [&good[..place], &good[place + 1..]].concat()]
        {
            std::fs::write(&log, &altered).unwrap();
            for command in ["audit --verify", "audit", "list"] {
                home.run(command).fails(1, &["line 1 of ", "5 or more behind it", "cut nothing off", "evidence"]);
            }
            assert_eq!(std::fs::read(&log).unwrap(), altered, "it is evidence");
        }
    }
    std::fs::write(&log, good).unwrap();
    assert_eq!(home.run("audit --verify --json").json()["events"], 6);
}

#[test]
fn many_commands_at_once_share_one_state() {
    let home = Home::new();
    let calls: Vec<_> = (0..12)
        .map(|i| {
            let mut command = home.command();
            command.args(["call", "echo", &format!("{{\"message\": \"{i}\"}}")]);
            std::thread::spawn(move || command.output().unwrap())
        })
        .collect();
    for (i, call) in calls.into_iter().enumerate() {
        let output = call.join().unwrap();
        assert_eq!(
            String::from_utf8(output.stdout).unwrap(),
            format!("{i}\n"),
            "{:?}",
            String::from_utf8(output.stderr)
        );
    }
    let whole = home.run("audit --verify --json").json();
    assert_eq!(whole["events"], 36);
}

#[test]
fn a_peer_that_asks_nothing_does_not_keep_the_owner() {
    use std::os::unix::net::UnixStream;
    use std::process::Stdio;
    let home = Home::new();
    let mut owner = home.command().arg("serve").stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    let state = std::fs::canonicalize(home.path()).unwrap().join("home/state");
    let peer = (0..200).find_map(|_| {
        std::thread::sleep(std::time::Duration::from_millis(50));
        UnixStream::connect(state.join("socket")).ok()
    });
    assert!(peer.is_some(), "the owner listens");
    drop(owner.stdin.take());
    let left = (0..100).any(|_| {
        std::thread::sleep(std::time::Duration::from_millis(50));
        owner.try_wait().unwrap().is_some()
    });
    let _ = owner.kill();
    assert!(left, "the owner ends although somebody is connected");
}

/// The help that `args` ask for, on a wide terminal.
fn help(home: &Home, args: &[&str]) -> String {
    let mut command = home.command();
    command.args(args).arg("--help").env("COLUMNS", "1000");
    Home::feed(command, "").ok()
}

#[test]
fn completions_and_help_exist_for_every_command() {
    let home = Home::new();
    for shell in ["bash", "zsh", "fish"] {
        assert!(home.run(&format!("completions {shell}")).ok().contains("ringfence"));
    }
    let all = help(&home, &[]);
    assert!(all.contains("RINGFENCE_LOG") && all.contains("Exit codes:"), "{all}");
    let listed = all.split("Commands:\n").nth(1).unwrap().lines().take_while(|line| !line.is_empty());
    let listed: Vec<_> = listed.map(|line| line.trim_start().split_once(' ').unwrap()).collect();
    assert!(listed.len() > 30, "{listed:?}");
    for (command, short) in listed.into_iter().filter(|(command, _)| *command != "help") {
        let long = help(&home, &[command]);
        assert_eq!(long.lines().next().unwrap().trim_end_matches('.'), short.trim(), "{command}");
        assert!(!long.contains('\\'), "{long}");
        // Wrapped by hand, a text would be wrapped once more by a narrow terminal.
        let goes_on = |line: &str| line.starts_with(|c: char| c.is_ascii_lowercase() || c.is_ascii_digit());
        assert!(!long.lines().skip(1).any(goes_on), "{long}");
    }
    assert!(!all.lines().skip(1).any(|line| line.starts_with(|c: char| c.is_ascii_lowercase() || c.is_ascii_digit())));
}

#[test]
fn the_help_of_a_command_says_more_than_the_list_of_commands() {
    let home = Home::new();
    for (command, more) in [
        ("explain", "Nothing is sent. Exit code 3 when it would be refused."),
        ("grant", "a file that is yours to edit"),
        ("remove", "no older one can come back unnoticed"),
        ("revoke", "limits and rate in its grant still hold"),
        ("publish", "A folder gets an index"),
        ("import-capabilities", "never allows more than it did there"),
    ] {
        let (all, own) = (help(&home, &[]), help(&home, &[command]));
        assert!(own.contains(more) && !all.contains(more), "{own}");
    }
}

#[test]
fn the_record_shows_when_a_call_was_made_and_for_whom() {
    let home = Home::new();
    home.args(&["call", "echo", "{\"message\": \"x\"}", "--user", "ada"]).ok();
    let calls = home.run("audit").ok();
    assert_eq!(calls.lines().count(), 2, "one row a call: {calls}");
    let call = calls.lines().last().unwrap();
    assert!(["echo", "ada", " ok "].iter().all(|part| call.contains(part)), "{calls}");
    let listed = home.run("audit --events").ok();
    assert_eq!(listed.lines().count(), 4, "{listed}");
    let opened = listed.lines().find(|line| line.contains("opened")).unwrap();
    assert!(listed.contains("TIME") && listed.contains("USER"), "{listed}");
    assert!(opened.contains("ada") && opened.contains(" UTC ") && opened.contains("20"), "{opened}");
    let events = home.run("audit --json").json();
    let opened = events.as_array().unwrap().iter().find(|event| event["event"] == "opened").unwrap();
    assert_eq!((&opened["user"], &opened["tool"]), (&json!("ada"), &json!("echo")));
    assert!(opened["time"].as_u64().unwrap() > 1_700_000_000_000, "{opened}");
}

#[test]
fn a_listing_shows_the_number_of_tools_and_limits_stand_in_lines() {
    let home = Home::new();
    crate::support::packages::install_unsigned(&home, "mirror");
    let listed = home.run("list").ok();
    assert!(!listed.contains("DIGEST") && !listed.contains("mirror__run"), "{listed}");
    assert_eq!(listed.lines().nth(1).unwrap().split_whitespace().nth(4), Some("1"), "{listed}");
    assert!(home.run("list --json").json()[0]["digest"].is_string());
    let shown = home.run("tools mirror__run").ok();
    assert!(shown.lines().any(|line| line.split_whitespace().eq(["deadline_ms", "60000"])), "{shown}");
}
