//! Whether a request would be sent, and which line of which file says so.

use ringfence_core::grant::{HttpRefusal, HttpRule};
use ringfence_core::name::SourceName;
use ringfence_egress::{BoundCredential, CredentialError, CredentialValue, Denied, EgressError, Request};
use ringfence_package::{Installed, PackageInfo, reading};
use serde::{Deserialize, Serialize};

use crate::grants::GrantFile;
use crate::means::{Means, MeansError, SourceGrant};

/// Whether a request would be sent, and who says so.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Explanation {
    /// Whether it would be sent.
    pub(crate) allowed: bool,
    /// Who says so, in sentences, in the order in which they are asked.
    pub(crate) reasons: Vec<String>,
}

/// The two that have to let a request pass, in the order in which they are asked.
struct Sides<'a> {
    source: &'a SourceName,
    package: &'a PackageInfo,
    file: &'a GrantFile,
}

impl Means {
    /// Whether a request by the tools of `installed` would be sent. It is decided once, as it would be at a call.
    pub(crate) fn explain(&self, installed: &Installed, request: &Request) -> Result<Explanation, MeansError> {
        let SourceGrant { file, effective: grant, suspended } = self.grant(installed)?;
        let sides = Sides { source: installed.source(), package: &installed.manifest().package, file: &file };
        if let Some(suspended) = suspended {
            return Ok(refused(vec![format!("{}: {suspended}", file.path.display())]));
        }
        if grant.has_ended() {
            return Ok(refused(vec![format!("{}: the grant has ended", file.place(&["expires"], None))]));
        }
        let access = self.access(installed.source(), &grant)?;
        let decision = match access.decide(request.target(), request.method()) {
            Ok(decision) => decision,
            Err(EgressError::Denied(denied)) => return Ok(refused(sides.denied(&denied))),
            Err(error) => return Ok(refused(vec![error.for_operator(installed.source().as_str())])),
        };
        if let Some(problem) = decision.credentials.iter().find_map(|bound| misfit(bound)) {
            return Ok(refused(vec![problem.to_string()]));
        }
        let passed: Vec<usize> = decision.rules.iter().map(|(place, _)| *place).collect();
        let mut reasons = sides.allowed(&passed);
        reasons.extend(file.ceiling().into_iter().map(|(place, text)| format!("{place}: at most {text}")));
        let placed = decision.credentials.iter().map(|bound| format!("the secret `{}` is placed into it", bound.name));
        reasons.extend(placed);
        Ok(Explanation { allowed: true, reasons })
    }
}

/// Why the credential could not be placed, whatever the request is. Of a token that is still to be obtained, nobody knows.
fn misfit(bound: &BoundCredential) -> Option<CredentialError> {
    match &bound.value {
        CredentialValue::Fixed(secret) => bound.placement.fits(&bound.name, secret).err(),
        CredentialValue::Token(_) => None,
    }
}

fn refused(reasons: Vec<String>) -> Explanation {
    Explanation { allowed: false, reasons }
}

impl Sides<'_> {
    /// Who let the request pass, by the places of their rules.
    fn allowed(&self, passed: &[usize]) -> Vec<String> {
        let allows = |(side, place): (usize, &usize)| match self.rules(side).get(*place) {
            Some(rule) => format!("{}: `{rule}` allows it", self.place(side, *place)),
            None => format!("{} allows it", self.whose(side)),
        };
        passed.iter().enumerate().map(allows).collect()
    }

    /// Who let the request pass, and who then refused it.
    fn denied(&self, denied: &Denied) -> Vec<String> {
        let Denied { passed, refusal } = denied;
        let side = passed.len();
        if self.rules(side).is_empty() {
            let nothing = match side {
                0 => "asks for no requests",
                _ => "gives none (nothing of that was granted, or it was revoked)",
            };
            let refuses = format!("{} {nothing}; {}", self.whose(side), self.remedy(side, refusal));
            return self.allowed(passed).into_iter().chain([refuses]).collect();
        }
        let nearest = match &refusal.nearest {
            Some(near) => format!("; the nearest rule is {}: `{}`", self.place(side, near.index), near.rule),
            None => String::new(),
        };
        let refuses = format!("{} refuses it: {refusal}{nearest}; {}", self.whose(side), self.remedy(side, refusal));
        self.allowed(passed).into_iter().chain([refuses]).collect()
    }

    fn whose(&self, side: usize) -> String {
        format!("the {} of `{}`", if side == 0 { "manifest" } else { "grant" }, self.source)
    }

    fn rules(&self, side: usize) -> &[HttpRule] {
        if side == 0 { &self.package.capabilities.http } else { &self.file.granted.http }
    }

    /// Where a rule stands: a line of the manifest, as `ringfence inspect` prints it, or of the grant file.
    fn place(&self, side: usize, rule: usize) -> String {
        if side == 1 {
            return self.file.place(&["http"], Some(rule));
        }
        let text = self.package.to_toml().unwrap_or_default();
        match reading::line_of(&text, &["capabilities", "http"], Some(rule)) {
            Some(line) => format!("ringfence.toml:{line} of `{}`", self.source),
            None => format!("HTTP rule {} of {}", rule + 1, self.whose(side)),
        }
    }

    fn remedy(&self, side: usize, refusal: &HttpRefusal) -> String {
        match side {
            0 => "its author has to ask for it in the manifest".to_owned(),
            _ => {
                let (source, HttpRefusal { method, target, .. }) = (self.source, refusal);
                format!("`ringfence grant {source} --http \"{method} {target}\"` would allow it")
            }
        }
    }
}
