//! The JSON Schemas of the files that people write, for editors. The types behind the files are where they come from.

#[cfg(test)]
mod tests;

use clap::ValueEnum;
use ringfence_package::{Granted, PackageInfo};
use schemars::generate::SchemaSettings;
use schemars::transform::RecursiveTransform;
use schemars::{JsonSchema, Schema};
use serde_json::Value;

use crate::config::Config;

/// A file that people write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum File {
    /// An author's ringfence.toml.
    Manifest,
    /// An operator's grants/SOURCE.toml.
    Grant,
    /// An operator's config.toml.
    Config,
}

impl File {
    /// The schema, in the draft that editors of TOML know.
    pub(crate) fn schema(self) -> Schema {
        let (title, mut schema) = match self {
            Self::Manifest => ("ringfence.toml", of::<PackageInfo>()),
            Self::Grant => ("grants/SOURCE.toml", of::<Granted>()),
            Self::Config => ("config.toml", of::<Config>()),
        };
        schema.insert("title".into(), title.into());
        schema
    }
}

/// Every part stands where it is used: not all editors follow references.
fn of<T: JsonSchema>() -> Schema {
    let mut settings = SchemaSettings::draft07().with_transform(RecursiveTransform(without_null));
    settings.inline_subschemas = true;
    settings.into_generator().into_root_schema_for::<T>()
}

/// TOML has no null: what may be null is left out. The defaults of a table stand at its fields.
fn without_null(schema: &mut Schema) {
    if let Some(Value::Array(types)) = schema.get_mut("type") {
        types.retain(|name| name != "null");
        if let [only] = types.as_slice() {
            let only = only.clone();
            schema.insert("type".into(), only);
        }
    }
    if schema.get("default").is_some_and(|default| default.is_null() || default.is_object()) {
        schema.remove("default");
    }
}
