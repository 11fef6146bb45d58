use ringfence_core::tool_state::StateQuota;

use super::*;

fn source() -> SourceName {
    "weather".to_owned().try_into().unwrap()
}

/// What the package asks for, unless a test says otherwise.
fn asks() -> Capabilities {
    let text = "env = [\"LANG\"]\n[[http]]\nurl = \"https://a.example/**\"\n[[http]]\nurl = \"https://b.example/**\"\n[[http]]\n\
                url = \"https://**.example.org/**\"\nmethods = [\"*\"]\n[credentials]\n\
                token = { place = \"bearer\", requests = [] }\nother = { place = \"bearer\", requests = [] }\n\
                [secrets]\ntest = [\"a\", \"b\"]\n[workspace]\nread = [\"docs/**\"]\n[tools]\nsum = \"\"\n\
                [state]\nbytes = 10\nkeys = 1\n";
    toml::from_str(text).unwrap()
}

#[test]
fn a_grant_grows_and_keeps_its_comments() {
    let folder = tempfile::tempdir().unwrap();
    let grants = Grants::open(folder.path().join("grants")).unwrap();
    let change = GrantChange {
        http: vec!["GET https://api.example.org/v1/**".into()],
        credentials: vec![("token".into(), "weather_token".into())],
        read: vec!["docs/**".into()],
        env: vec![("LANG".into(), "en".into())],
        ..GrantChange::default()
    };
    let file = grants.extend(&source(), &asks(), &change).unwrap();
    assert_eq!(file.granted.http.len(), 1);
    fs_err::write(&file.path, format!("# mine\n{}", file.text)).unwrap();
    let more =
        GrantChange { http: vec!["POST https://b.example.org/x".into()], read: vec!["docs/**".into()], ..change };
    let file = grants.extend(&source(), &asks(), &more).unwrap();
    assert!(file.text.starts_with("# mine\n"), "{}", file.text);
    assert_eq!((file.granted.http.len(), file.granted.workspace.read.len()), (2, 1));
    assert_eq!(file.granted.credentials["token"].secret, "weather_token");
    assert_eq!(file.granted.env["LANG"], "en");
    let place = file.place(&["http"], Some(1));
    let line: usize = place.rsplit(':').next().unwrap().parse().unwrap();
    assert_eq!(file.text.lines().nth(line - 1), Some("[[http]]"), "{}", file.text);
    assert!(grants.remove(&source()).unwrap() && !grants.remove(&source()).unwrap());
    assert_eq!(grants.load(&source()).unwrap().granted, Granted::default());
}

#[test]
fn what_is_taken_back_leaves_limits_and_rate() {
    let folder = tempfile::tempdir().unwrap();
    let grants = Grants::open(folder.path().to_owned()).unwrap();
    let change = GrantChange {
        read: vec!["docs/**".into()],
        limits: vec![("fuel".into(), 500)],
        per_hour: Some(9),
        ..GrantChange::default()
    };
    grants.extend(&source(), &asks(), &change).unwrap();
    let change = GrantChange { limits: vec![("fuel".into(), 700)], per_minute: Some(3), ..GrantChange::default() };
    let file = grants.extend(&source(), &asks(), &change).unwrap();
    let words: Vec<String> = file.ceiling().into_iter().map(|(_, text)| text).collect();
    assert_eq!(words, ["fuel 700", "3 calls of each tool in any minute", "9 calls of each tool in any hour"]);
    assert!(grants.remove(&source()).unwrap());
    let left = grants.load(&source()).unwrap();
    assert!(left.granted.workspace.read.is_empty());
    assert_eq!(left.ceiling().len(), 3, "{}", left.text);
    assert!(!grants.remove(&source()).unwrap(), "nothing that gives anything is left");
}

#[test]
fn what_stands_there_in_another_form_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let grants = Grants::open(folder.path().to_owned()).unwrap();
    let path = folder.path().join("weather.toml");
    let text = "http = [{ url = \"https://a.example/\" }]\nsecrets = { test = [\"a\"] }\n\
                credentials = { token = { secret = \"old\" } }\n";
    fs_err::write(&path, text).unwrap();
    let change = GrantChange {
        http: vec!["GET https://b.example/".into()],
        test: vec!["b".into()],
        credentials: vec![("token".into(), "new".into()), ("other".into(), "x".into())],
        ..GrantChange::default()
    };
    let granted = grants.extend(&source(), &asks(), &change).unwrap().granted;
    assert_eq!((granted.http.len(), granted.secrets.test.len(), granted.credentials.len()), (2, 2, 2));
    assert_eq!(granted.credentials["token"].secret, "new");
}

#[test]
fn tools_are_named_and_what_is_kept_is_measured() {
    let folder = tempfile::tempdir().unwrap();
    let grants = Grants::open(folder.path().to_owned()).unwrap();
    let extend =
        |requested: &Capabilities, change: GrantChange| grants.extend(&source(), requested, &change).unwrap().granted;
    let state = |bytes, keys| Some(StateQuota { bytes, keys });
    let tool = |tool: &str| vec![("sum".to_owned(), tool.to_owned())];
    let nothing = asks();
    let granted = extend(&nothing, GrantChange { tools: tool("calc__evaluate"), ..GrantChange::default() });
    assert_eq!((granted.tools["sum"].as_str(), granted.state), ("calc__evaluate", None));
    let change = GrantChange { tools: tool("echo"), state: state(10, 1), ..GrantChange::default() };
    let granted = extend(&nothing, change);
    assert_eq!((granted.tools["sum"].as_str(), granted.state), ("echo", state(10, 1)));
    // All that is asked for takes nothing away; what is said does.
    let asks = Capabilities { state: state(5, 2), ..asks() };
    assert_eq!(extend(&asks, GrantChange { all: true, ..GrantChange::default() }).state, state(10, 2));
    assert_eq!(extend(&asks, GrantChange { state: state(3, 1), ..GrantChange::default() }).state, state(3, 1));
}

#[test]
fn a_client_is_written_with_what_is_asked_for_at_that_time() {
    let folder = tempfile::tempdir().unwrap();
    let grants = Grants::open(folder.path().to_owned()).unwrap();
    let asks = |scopes: &str| {
        let text = format!(
            "[credentials.token]\nplace = \"bearer\"\nrequests = []\n[credentials.token.oauth2]\n\
             token_url = \"https://a.example/token\"\ngrant = \"refresh_token\"\nscopes = {scopes}\n"
        );
        toml::from_str::<Capabilities>(&text).unwrap()
    };
    let change = GrantChange {
        credentials: vec![("token".into(), "client_secret".into())],
        clients: vec![("token".into(), "id".into())],
        refresh_tokens: vec![("token".into(), "login".into())],
        ..GrantChange::default()
    };
    let granted = |capabilities: &Capabilities, change: &GrantChange| {
        let file = grants.extend(&source(), capabilities, change).unwrap();
        file.granted.credentials["token"].oauth2.clone().unwrap()
    };
    let first = granted(&asks("[\"a\"]"), &change);
    assert_eq!((first.client_id.as_str(), first.refresh_token.as_deref()), ("id", Some("login")));
    assert_eq!((first.token_url.to_string().as_str(), first.scopes.len()), ("https://a.example/token", 1));
    let again = GrantChange { clients: vec![("token".into(), "other".into())], ..GrantChange::default() };
    let second = granted(&asks("[\"a\", \"b\"]"), &again);
    assert_eq!((second.client_id.as_str(), second.scopes.len()), ("other", 2));
    let error = grants.extend(&source(), &Capabilities::default(), &again).unwrap_err();
    assert!(error.to_string().contains("`token`"), "{error}");
}

#[test]
fn what_is_not_asked_for_is_not_granted() {
    let folder = tempfile::tempdir().unwrap();
    let grants = Grants::open(folder.path().to_owned()).unwrap();
    let pair = |name: &str| vec![(name.to_owned(), "x".to_owned())];
    for (change, said) in [
        (GrantChange { credentials: pair("tokn"), ..GrantChange::default() }, "`tokn` (did you mean `token`?)"),
        (GrantChange { env: pair("PATH"), ..GrantChange::default() }, "`PATH`"),
        (GrantChange { http: vec!["GET https://c.example/".into()], ..GrantChange::default() }, "HTTP GET"),
    ] {
        let error = grants.extend(&source(), &asks(), &change).unwrap_err();
        assert!(error.to_string().contains(said), "{error}");
    }
    assert!(grants.file(&source()).is_none());
    // What was written by hand is the operator's own, and in nobody's way.
    fs_err::write(folder.path().join("weather.toml"), "[env]\nPATH = \"/bin\"\n").unwrap();
    let change = GrantChange { env: pair("LANG"), ..GrantChange::default() };
    assert_eq!(grants.extend(&source(), &asks(), &change).unwrap().granted.env.len(), 2);
}

#[test]
fn what_a_kill_left_half_written_is_removed() {
    let folder = tempfile::tempdir().unwrap();
    let left = folder.path().join(".tmp-x");
    fs_err::write(&left, "x").unwrap();
    Grants::open(folder.path().to_owned()).unwrap();
    assert!(!left.exists());
}

#[test]
fn a_file_that_others_can_write_grants_nothing() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().unwrap();
    let grants = Grants::open(folder.path().to_owned()).unwrap();
    let change = GrantChange { read: vec!["docs/**".into()], ..GrantChange::default() };
    let path = grants.extend(&source(), &asks(), &change).unwrap().path;
    let mode = |path: &std::path::Path, mode| {
        fs_err::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
        grants.load(&source()).map_err(|error| error.to_string())
    };
    mode(&path, 0o644).unwrap();
    assert!(mode(&path, 0o664).unwrap_err().contains("chmod go-w"));
    mode(&path, 0o600).unwrap();
    assert!(mode(folder.path(), 0o777).unwrap_err().contains("chmod go-w"));
    // And neither does a link that leads nowhere, which would forget limits and rate.
    mode(folder.path(), 0o700).unwrap();
    fs_err::remove_file(&path).unwrap();
    std::os::unix::fs::symlink("nowhere", &path).unwrap();
    assert!(grants.load(&source()).unwrap_err().to_string().contains("leads nowhere"));
}

#[test]
fn what_means_nothing_is_not_written() {
    let folder = tempfile::tempdir().unwrap();
    let grants = Grants::open(folder.path().to_owned()).unwrap();
    for change in [
        GrantChange { http: vec!["https://a.example".into()], ..GrantChange::default() },
        GrantChange { http: vec!["GET https://*".into()], ..GrantChange::default() },
        GrantChange { expires: Some("soon".into()), ..GrantChange::default() },
        GrantChange { addresses: vec!["localhost".into()], ..GrantChange::default() },
        GrantChange { read: vec!["../x".into()], ..GrantChange::default() },
        GrantChange { limits: vec![("feul".into(), 1)], ..GrantChange::default() },
        GrantChange { limits: vec![("fuel".into(), 0)], ..GrantChange::default() },
        GrantChange { per_minute: Some(0), ..GrantChange::default() },
    ] {
        assert!(grants.extend(&source(), &asks(), &change).is_err(), "{change:?}");
    }
    assert!(!folder.path().join("weather.toml").exists());
    for (text, expected) in [
        ("htpp = []\n", "weather.toml:1:1: unknown field `htpp`: did you mean `http`?"),
        ("\n[limits]\nfeul = 1\n", "weather.toml:3:1: unknown field `feul`: did you mean `fuel`?"),
        ("\nexpires = \"soon\"\n", "weather.toml:2: `expires` is"),
    ] {
        fs_err::write(folder.path().join("weather.toml"), text).unwrap();
        let error = grants.load(&source()).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn what_is_written_looks_as_if_somebody_had_written_it() {
    let folder = tempfile::tempdir().unwrap();
    let grants = Grants::open(folder.path().to_owned()).unwrap();
    let path = folder.path().join("weather.toml");
    let all = || GrantChange { http: vec!["GET https://c.example/".into()], ..GrantChange::default() };
    let dated = || GrantChange { expires: Some("2030-01-01T00:00:00Z".into()), ..GrantChange::default() };
    let rule = "[[http]]\nurl = \"https://c.example/\"\nmethods = [\"GET\"]\n";
    let expires = "expires = \"2030-01-01T00:00:00Z\"\n";
    let asked: Capabilities =
        toml::from_str("[[http]]\nurl = \"https://c.example/\"\n[workspace]\nread = [\"**\"]\n").unwrap();
    for (before, change, after) in [
        // A comment stays in front of what comes.
        ("# mine\n".to_owned(), all(), format!("# mine\n\n{rule}")),
        (String::new(), all(), rule.to_owned()),
        // A table is set off from what is put in front of it.
        (rule.to_owned(), dated(), format!("{expires}\n{rule}")),
        (format!("# rules\n{rule}"), dated(), format!("{expires}\n# rules\n{rule}")),
        (format!("{expires}[limits]\nfuel = 5\n"), all(), format!("{expires}[limits]\nfuel = 5\n\n{rule}")),
        // A list in lines goes on in lines, and each comment stays where it was.
        (
            "http = [\n  { url = \"https://a.example/\" }, # a\n]\n".to_owned(),
            all(),
            "http = [\n  { url = \"https://a.example/\" }, # a\n  { url = \"https://c.example/\", methods = [\"GET\"] },\n]\n"
                .to_owned(),
        ),
        (
            "[workspace]\nread = [\n  \"a\",\n]\n".to_owned(),
            GrantChange { read: vec!["b".into()], ..GrantChange::default() },
            "[workspace]\nread = [\n  \"a\",\n  \"b\",\n]\n".to_owned(),
        ),
        (
            "[workspace]\nread = [\"a\"]\n".to_owned(),
            GrantChange { read: vec!["b".into()], ..GrantChange::default() },
            "[workspace]\nread = [\"a\", \"b\"]\n".to_owned(),
        ),
    ] {
        fs_err::write(&path, &before).unwrap();
        assert_eq!(grants.extend(&source(), &asked, &change).unwrap().text, after, "{before}");
    }
}
