//! Granting and taking back, and what is granted.

use ringfence_core::SourceName;
use ringfence_core::error::CallError;
use ringfence_package::grant::{Capabilities, unused};
use ringfence_package::{Granted, Installed, KeyError, Signer, UNSIGNED};

use super::{Packages, refused};
use crate::means;
use crate::request::{ErrorKind, Explanation, GrantChange, GrantEntry, RequestError};

impl Packages {
    pub(super) fn grant(&self, source: &str, change: &GrantChange) -> Result<GrantEntry, RequestError> {
        let installed = self.installed(source)?;
        change.tools.iter().try_for_each(|(_, tool)| self.known(tool))?;
        let wrong = |error: &dyn std::error::Error| RequestError::new(ErrorKind::Refused, "grant", error);
        match (&change.accept_signer, self.means.grant(&installed).map_err(|error| wrong(&error))?.suspended) {
            (Some(signer), _) => is_signed_by(&installed, signer)?,
            (None, Some(suspended)) => {
                let code = "grant.suspended".into();
                return Err(RequestError { kind: ErrorKind::Refused, code, message: suspended.to_string() });
            }
            (None, None) => {}
        }
        if *change == (GrantChange { all: true, ..GrantChange::default() })
            && installed.manifest().package.capabilities == Capabilities::default()
        {
            let message = format!("`{source}` asks for nothing, so nothing can be granted to it");
            return Err(RequestError { kind: ErrorKind::Usage, code: "grant.nothing_asked".into(), message });
        }
        if *change != (GrantChange { accept_signer: change.accept_signer.clone(), ..GrantChange::default() }) {
            let requested = &installed.manifest().package.capabilities;
            let extended = self.means.grants.extend(installed.source(), requested, change);
            drop(extended.map_err(|error| RequestError::new(error.kind(), "grant", &error))?);
        }
        if change.accept_signer.is_some() {
            self.means.holders.give(&installed).map_err(|error| wrong(&error))?;
        }
        self.start(&installed);
        self.grant_entry(&installed)
    }

    /// Checks that there is a tool of this wire name: a slip would only show when the tool is called.
    fn known(&self, tool: &str) -> Result<(), RequestError> {
        if self.registry.get(tool).is_some() {
            return Ok(());
        }
        let tools = self.registry.all();
        let nearest = ringfence_core::name::nearest(tool, tools.iter().map(|tool| tool.wire_name()), 1);
        let error = CallError::NotFound { name: tool.to_owned(), nearest };
        Err(RequestError {
            kind: ErrorKind::NotFound,
            code: "grant.tool".into(),
            message: format!("{error}; `ringfence tools` lists them all"),
        })
    }

    pub(super) fn revoke_grant(&self, source: &str) -> Result<(), RequestError> {
        let installed = self.installed(source)?;
        let removed = self.means.grants.remove(installed.source());
        if !removed.map_err(|error| RequestError::new(ErrorKind::Failed, "grant", &error))? {
            let message =
                format!("nothing is granted to `{source}` that could be taken back; `ringfence grants` lists what is");
            return Err(RequestError { kind: ErrorKind::NotFound, code: "grant".into(), message });
        }
        let forgotten = self.means.holders.forget(installed.source());
        forgotten.map_err(|error| RequestError::new(ErrorKind::Failed, "grant", &error))?;
        self.start_afresh(&installed);
        Ok(())
    }

    /// The sources whose grants name the secret `name`.
    pub(crate) fn naming(&self, name: &str) -> Result<Vec<String>, RequestError> {
        let installed = self.installer.inventory().map_err(refused)?.installed;
        // One that cannot be read names nothing: it gives nothing either.
        let names_it = |source: &SourceName| self.means.grants.load(source).is_ok_and(|file| file.granted.names(name));
        let sources = installed.iter().map(Installed::source).filter(|source| names_it(source));
        Ok(sources.map(ToString::to_string).collect())
    }

    pub(super) fn grants(&self) -> Result<Vec<GrantEntry>, RequestError> {
        let inventory = self.installer.inventory().map_err(refused)?;
        let unusable = |installed: &Installed, error: RequestError| GrantEntry {
            source: installed.source().to_string(),
            file: self.means.grants.path(installed.source()),
            expires: None,
            asked: means::asked(
                installed.source(),
                &installed.manifest().package.capabilities,
                &Granted::default(),
                &[],
            ),
            ceiling: Vec::new(),
            suspended: None,
            unused: Vec::new(),
            unusable: Some(error.message),
        };
        let entry =
            |installed: &Installed| self.grant_entry(installed).unwrap_or_else(|error| unusable(installed, error));
        Ok(inventory.installed.iter().map(entry).collect())
    }

    pub(super) fn grant_entry(&self, installed: &Installed) -> Result<GrantEntry, RequestError> {
        let grant = self.means.grant(installed);
        let grant = grant.map_err(|error| RequestError::new(ErrorKind::Refused, "grant", &error))?;
        let file = &grant.file;
        Ok(GrantEntry {
            source: installed.source().to_string(),
            expires: file.granted.expires.clone(),
            asked: grant.asked(installed.source(), &self.means.vault),
            ceiling: file.ceiling().into_iter().map(|(_, text)| text).collect(),
            suspended: grant.suspended.as_ref().map(ToString::to_string),
            unused: unused(grant.effective.requested(), &file.granted),
            file: file.path.clone(),
            unusable: None,
        })
    }

    pub(super) fn explain(&self, tool: &str, request: &str) -> Result<Explanation, RequestError> {
        let (source, name) = tool.split_once("__").map_or((tool, None), |(source, name)| (source, Some(name)));
        let installed = self.installed(source)?;
        if let Some(name) = name
            && !installed.manifest().tools.iter().any(|tool| tool.name == name)
        {
            let tools = installed.manifest().tools.iter().map(|tool| tool.name.as_str()).collect::<Vec<_>>().join(", ");
            let message = format!("`{source}` has no tool `{name}`: it has {tools}");
            return Err(RequestError { kind: ErrorKind::NotFound, code: "explain.tool".into(), message });
        }
        let wrong = |kind, error: &dyn std::error::Error| RequestError::new(kind, "explain", error);
        let has_method = request.contains(' ');
        let (method, url) = request.split_once(' ').unwrap_or(("GET", request));
        let request = ringfence_egress::Request::new(method, url.trim(), [], "");
        let request = request.map_err(|error| wrong(ErrorKind::Usage, &error))?;
        let mut explained =
            self.means.explain(&installed, &request).map_err(|error| wrong(ErrorKind::Refused, &error))?;
        if !has_method {
            explained.reasons.insert(0, "no method was given, so GET was looked at".into());
        }
        Ok(explained)
    }
}

/// Checks that `signer` is who signed the package, as `ringfence list` shows it.
fn is_signed_by(installed: &Installed, signer: &str) -> Result<(), RequestError> {
    let wrong = |error: KeyError| RequestError::new(ErrorKind::Usage, "grant.signer", &error);
    let said: Signer = signer.parse().map_err(wrong)?;
    let signed_by = installed.key_id().unwrap_or(UNSIGNED);
    if said.to_string() == signed_by {
        return Ok(());
    }
    let message = format!("the signer of `{}` is {signed_by}, not {said}", installed.source());
    Err(RequestError { kind: ErrorKind::Refused, code: "grant.signer".into(), message })
}
