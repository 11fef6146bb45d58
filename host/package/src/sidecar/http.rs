//! `http`: what may be reached, how much of it, and with which credentials.

use std::num::NonZeroU64;

use ringfence_core::grant::{HttpRule, Methods, UrlPattern, normal_host};
use ringfence_egress::Placement;
use serde_json::Value;

use super::fields::Fields;
use super::{Imported, Reader, SidecarError};
use crate::grant::{Credential, GrantedCredential, RequestPattern};

/// The methods that IronClaw sends. Naming none there means all of them.
const METHODS: [&str; 6] = ["DELETE", "GET", "HEAD", "PATCH", "POST", "PUT"];

/// The limits of each request.
#[derive(Default)]
struct Limits {
    request_bytes: Option<NonZeroU64>,
    response_bytes: Option<NonZeroU64>,
    time_ms: Option<NonZeroU64>,
}

impl Reader {
    pub(super) fn http(&mut self, mut fields: Fields) -> Result<(), SidecarError> {
        let limits = Limits {
            request_bytes: self.limit(&mut fields, "max_request_bytes", "request_bytes", false, 1)?,
            response_bytes: self.limit(&mut fields, "max_response_bytes", "response_bytes", true, 1)?,
            time_ms: self.limit(&mut fields, "timeout_secs", "time_ms", false, 1000)?,
        };
        let why = "requests are limited for each call (`requests` of a rule), and calls by the operator (`[rate]`)";
        self.rate_limit(&mut fields, why)?;
        for (path, entry) in fields.list("allowlist")? {
            self.endpoint(&path, entry, &limits)?;
        }
        if let Some(mut credentials) = fields.object("credentials")? {
            for (key, credential) in credentials.all_objects()? {
                self.credential(&key, credential)?;
            }
        }
        self.report.unknown(fields);
        Ok(())
    }

    /// A limit that becomes one of each rule, in another unit.
    fn limit(
        &mut self,
        fields: &mut Fields,
        there: &str,
        here: &str,
        enforced_there: bool,
        unit: u64,
    ) -> Result<Option<NonZeroU64>, SidecarError> {
        let Some(value) = fields.number(there)? else { return Ok(None) };
        // 0 lets nothing pass there, and neither does 1 here.
        let limit = NonZeroU64::new(value.saturating_mul(unit)).unwrap_or(NonZeroU64::MIN);
        self.report.mapped(&fields.path(there), enforced_there, &format!("`{here} = {limit}` of each HTTP rule"));
        Ok(Some(limit))
    }

    fn endpoint(&mut self, path: &str, entry: Value, limits: &Limits) -> Result<(), SidecarError> {
        let mut fields = Fields::of(path, entry)?;
        let host = fields.needed("host")?;
        let prefix = fields.text("path_prefix")?;
        let named = fields.texts("methods")?.into_iter().map(|(_, method)| method).collect();
        self.report.unknown(fields);
        match methods(named).and_then(|methods| Ok((urls(&host, prefix.as_deref().unwrap_or("/"))?, methods))) {
            Ok((urls, methods)) => {
                let rules: Vec<_> = urls.into_iter().map(|url| rule(url, methods.clone(), limits)).collect();
                let texts: Vec<_> = rules.iter().map(|rule| format!("`{rule}`")).collect();
                self.report.mapped(path, true, &format!("`http`: {}", texts.join(" and ")));
                self.allow(&rules);
            }
            Err(why) => self.report.left_out(path, true, &why),
        }
        Ok(())
    }

    fn credential(&mut self, key: &str, mut fields: Fields) -> Result<(), SidecarError> {
        let path = fields.place().to_owned();
        // Names are not told by case there.
        let secret = fields.needed("secret_name")?.to_ascii_lowercase();
        let location = fields.object("location")?.ok_or_else(|| SidecarError::Missing(fields.path("location")))?;
        let (hosts, paths) = (fields.texts("host_patterns")?, fields.texts("path_patterns")?);
        let optional = fields.flag("optional")?.unwrap_or(false);
        self.report.unknown(fields);
        let place = self.placement(location)?.and_then(|place| is_secret_name(&secret).map(|()| place));
        let requests = self.requests(&hosts, &paths);
        match place {
            Ok(_) if requests.is_empty() => {
                self.report.left_out(&path, true, "it is for no request: it is placed nowhere");
            }
            Ok(place) => {
                let Imported { capabilities, grant, .. } = &mut self.imported;
                // Called as its secret, because that is how the tool asks for it.
                let taken = capabilities.credentials.contains_key(&secret);
                let name = if taken { format!("{secret}:{key}") } else { secret.clone() };
                // IronClaw replaces placeholders for channels only.
                let enforced_there = !matches!(place, Placement::Path(_));
                self.report.mapped(&path, enforced_there, &format!("`credentials.{name}`"));
                grant.credentials.insert(name.clone(), GrantedCredential { secret, requests: None, oauth2: None });
                let credential = Credential { place, requests, oauth2: None, optional, description: String::new() };
                capabilities.credentials.insert(name, credential);
            }
            Err(why) => self.report.left_out(&path, true, &why),
        }
        Ok(())
    }

    /// Where a credential goes, or why it cannot.
    fn placement(&mut self, mut location: Fields) -> Result<Result<Placement, String>, SidecarError> {
        let kind = location.needed("type")?;
        let placement = match kind.as_str() {
            "bearer" => Placement::Bearer,
            "basic" => Placement::Basic { username: location.needed("username")? },
            "header" => {
                let name = match location.text("name")? {
                    Some(name) => name,
                    None => location.needed("header_name")?,
                };
                Placement::Header { name, prefix: location.text("prefix")?.unwrap_or_default() }
            }
            "query_param" => Placement::Query(location.needed("name")?),
            "url_path" => {
                let placeholder = location.needed("placeholder")?;
                Placement::Path(placeholder.trim_start_matches('{').trim_end_matches('}').to_owned())
            }
            other => return Ok(Err(format!("there is no place {other:?} for a credential"))),
        };
        self.report.unknown(location);
        Ok(placement.check().map(|()| placement).map_err(|error| error.to_string()))
    }

    /// The requests that carry a credential: each of its hosts with each of its paths.
    fn requests(&mut self, hosts: &[(String, String)], paths: &[(String, String)]) -> Vec<RequestPattern> {
        let all = (String::new(), "/".to_owned());
        let paths = if paths.is_empty() { std::slice::from_ref(&all) } else { paths };
        let mut rules = Vec::new();
        for ((host_place, host), (path_place, path)) in
            hosts.iter().flat_map(|host| paths.iter().map(move |path| (host, path)))
        {
            match urls(host, path) {
                Ok(urls) => rules.extend(urls.into_iter().map(|url| RequestPattern { url, methods: all_methods() })),
                Err(why) => {
                    let place = if path_place.is_empty() { host_place } else { path_place };
                    self.report.left_out(place, true, &why);
                }
            }
        }
        rules
    }
}

fn rule(url: UrlPattern, methods: Methods, limits: &Limits) -> HttpRule {
    let Limits { request_bytes, response_bytes, time_ms } = *limits;
    HttpRule { request_bytes, response_bytes, time_ms, ..HttpRule::new(url, methods) }
}

fn all_methods() -> Methods {
    Methods::Named(METHODS.map(str::to_owned).into())
}

/// Methods are not told by case there.
fn methods(named: Vec<String>) -> Result<Methods, String> {
    if named.is_empty() {
        return Ok(all_methods());
    }
    let known = |method: String| Some(method.to_ascii_uppercase()).filter(|name| METHODS.contains(&name.as_str()));
    let methods: std::collections::BTreeSet<String> = named.into_iter().filter_map(known).collect();
    if methods.is_empty() {
        Err("it names no method that IronClaw can send".into())
    } else {
        Ok(Methods::Named(methods))
    }
}

/// The patterns that match no URL which `host` and `prefix` do not match there.
fn urls(host: &str, prefix: &str) -> Result<Vec<UrlPattern>, String> {
    let host = host_pattern(host)?;
    let url = |path: String| {
        let url = format!("https://{host}{path}").parse::<UrlPattern>();
        url.map_err(|error| error.to_string())
    };
    paths(prefix)?.into_iter().map(url).collect()
}

/// `*.` stands for any depth there. All else is compared as it stands with the host of the parsed URL.
fn host_pattern(text: &str) -> Result<String, String> {
    let (wildcard, domain) = text.strip_prefix("*.").map_or(("", text), |domain| ("**.", domain));
    match normal_host(domain).map(|host| host.to_string()) {
        Some(host) if host == domain => Ok(format!("{wildcard}{domain}")),
        Some(host) => Err(format!("IronClaw compares {text:?} as it stands, so no URL matches it: write `{host}`")),
        None => Err(format!("{text:?} is not a host, so no URL matches it")),
    }
}

/// The paths that begin with `prefix`, as far as they do so by whole segments.
fn paths(prefix: &str) -> Result<Vec<String>, String> {
    if matches!(prefix, "" | "/") {
        return Ok(vec!["/**".into()]);
    }
    // There the prefix is compared as it stands with a path that was decoded and resolved.
    let segments = prefix.strip_prefix('/').map(|path| path.strip_suffix('/').unwrap_or(path));
    let plain = |segment: &str| !matches!(segment, "" | "." | "..") && !segment.contains(['%', '*', '?', '#', '\\']);
    if !segments.is_some_and(|path| path.split('/').all(plain)) {
        return Err(format!("{prefix:?} stands for itself there, and no path that is asked for begins so"));
    }
    Ok(match prefix.ends_with('/') {
        // What is inside, and not the path without the `/`.
        true => vec![prefix.to_owned(), format!("{prefix}*/**")],
        false => vec![format!("{prefix}/**")],
    })
}

/// Whether the vault can have a secret of this name.
fn is_secret_name(name: &str) -> Result<(), String> {
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"_.-".contains(&byte);
    if name.len() <= 64 && name.starts_with(|c: char| c.is_ascii_lowercase()) && name.bytes().all(plain) {
        return Ok(());
    }
    Err(format!(
        "{name:?} is no name of a secret here: it begins with a letter and goes on with a-z, 0-9, `_`, `.`, `-`"
    ))
}
