//! `auth` and `setup`: what people read of the secrets, and how they get them.

use super::fields::Fields;
use super::{Reader, SidecarError};

/// The longest text about a credential, in bytes: what fits on a few lines of a terminal.
const MAX_TEXT: usize = 500;

const LOGIN: &str =
    "a login is not made from this file: get the token yourself and store it with `ringfence secret set`";

/// What people read of a secret.
pub(super) struct Text {
    /// Where it stands.
    path: String,
    secret: String,
    text: String,
}

impl Reader {
    pub(super) fn auth(&mut self, mut fields: Fields) -> Result<(), SidecarError> {
        let secret = fields.needed("secret_name")?.to_ascii_lowercase();
        self.report.mapped(&fields.path("secret_name"), true, "which credential the texts below are about");
        for name in ["display_name", "instructions", "setup_url", "token_hint"] {
            if let Some(text) = fields.text(name)? {
                self.text_of(&fields.path(name), &secret, text);
            }
        }
        if let Some(variable) = fields.text("env_var")? {
            let why = format!("secrets are not read from variables: `ringfence secret set {secret}` stores {variable}");
            self.report.left_out(&fields.path("env_var"), true, &why);
        }
        if fields.text("provider")?.is_some() {
            self.report.left_out(&fields.path("provider"), false, "it only sorts secrets");
        }
        if let Some(endpoint) = fields.object("validation_endpoint")? {
            self.leave_out_all(endpoint, "a stored secret is not tried out");
        }
        if let Some(oauth) = fields.object("oauth")? {
            self.leave_out_all(oauth, LOGIN);
        }
        self.report.unknown(fields);
        Ok(())
    }

    pub(super) fn setup(&mut self, mut fields: Fields) -> Result<(), SidecarError> {
        for (path, item) in fields.list("required_secrets")? {
            let mut secret = Fields::of(&path, item)?;
            let (name, prompt) = (secret.needed("name")?.to_ascii_lowercase(), secret.needed("prompt")?);
            self.text_of(&path, &name, prompt);
            if secret.flag("optional")?.is_some() {
                let why = "what a request needs is said by `http.credentials`";
                self.report.left_out(&secret.path("optional"), true, why);
            }
            self.report.unknown(secret);
        }
        for (path, item) in fields.list("required_fields")? {
            Fields::of(&path, item)?.needed("name")?;
            self.report.left_out(&path, true, "a component of this contract reads no settings");
        }
        self.report.unknown(fields);
        Ok(())
    }

    /// Texts go to their credentials, in the order in which they came.
    pub(super) fn describe(&mut self) {
        for Text { path, secret, text } in std::mem::take(&mut self.texts) {
            let Some(credential) = self.imported.capabilities.credentials.get_mut(&secret) else {
                self.report.left_out(&path, true, &format!("no request carries the secret {secret:?}"));
                continue;
            };
            let separator = if credential.description.is_empty() { "" } else { ". " };
            let text = format!("{}{separator}{}", credential.description.trim_end_matches('.'), one_line(&text));
            credential.description = text[..text.floor_char_boundary(MAX_TEXT)].to_owned();
            self.report.mapped(&path, true, &format!("`description` of the credential `{secret}`"));
        }
    }

    fn text_of(&mut self, path: &str, secret: &str, text: String) {
        self.texts.push(Text { path: path.to_owned(), secret: secret.to_owned(), text });
    }

    fn leave_out_all(&mut self, fields: Fields, why: &str) {
        for field in fields.rest() {
            self.report.left_out(&field, true, why);
        }
    }
}

fn one_line(text: &str) -> String {
    let clean: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    clean.split_whitespace().collect::<Vec<_>>().join(" ")
}
