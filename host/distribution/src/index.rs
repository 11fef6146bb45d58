//! The index of a folder or site: which packages are there. It is a help to find them and vouches for nothing.

use ringfence_core::SourceName;
use ringfence_core::name::nearest;
use ringfence_package::{Manifest, PackageFile};
use ringfence_store::Digest;
use semver::Version;
use serde::{Deserialize, Serialize};

use crate::client::{Ask, Client};
use crate::download;
use crate::error::DistributionError;
use crate::fetch::{Wanted, expect};
use crate::folder;
use crate::location::IndexPlace;

/// The name of the index in its folder.
pub(crate) const FILE: &str = "index.json";

/// The largest index, in bytes: ten thousand packages.
pub(crate) const MAX_BYTES: usize = 8 << 20;

/// The format that this version writes and reads.
const FORMAT: u32 = 1;

/// Which packages are in a folder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Index {
    /// 1.
    pub format: u32,
    /// The packages, every version by itself.
    pub packages: Vec<Entry>,
}

/// A package in an index.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// What it is called.
    pub name: SourceName,
    /// Its version.
    pub version: Version,
    /// Who made it, as its manifest says.
    pub publisher: String,
    /// What it is for.
    pub description: String,
    /// The names of its tools.
    pub tools: Vec<String>,
    /// SHA-256 of the component, as hexadecimal digits.
    pub sha256: String,
    /// The component's file, beside the index. Its signature stands beside that.
    pub file: String,
}

impl Default for Index {
    fn default() -> Self {
        Self { format: FORMAT, packages: Vec::new() }
    }
}

impl Index {
    /// Reads the text of an index.
    ///
    /// # Errors
    /// What is wrong with it.
    pub(crate) fn parse(bytes: &[u8]) -> Result<Self, String> {
        let index: Self = serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
        if index.format != FORMAT {
            return Err(format!("it has format {}, this ringfence reads {FORMAT}", index.format));
        }
        match index.packages.iter().find(|entry| !entry.is_beside()) {
            Some(entry) => Err(format!("the file {:?} of `{}` is not beside the index", entry.file, entry.name)),
            None => Ok(index),
        }
    }

    /// Reads the index at `place`.
    pub(crate) async fn read(place: &IndexPlace, client: &Client) -> Result<Self, DistributionError> {
        let bytes = match place {
            IndexPlace::Folder(folder) => folder::read_index(folder)?,
            IndexPlace::Url(target) => {
                client.allowance.check_plain(target)?;
                let url = target.url().as_str();
                client.ask(&Ask::get(url, url, MAX_BYTES as u64), None).await?.success(url)?.to_vec()
            }
        };
        Self::parse(&bytes).map_err(|problem| DistributionError::Index { index: place.to_string(), problem })
    }

    /// The entry of `name` with `version`, or with the highest one; one that is no release only where there is no other.
    pub(crate) fn find(&self, name: &SourceName, version: Option<&Version>) -> Option<&Entry> {
        let named = self.packages.iter().filter(|entry| entry.name == *name);
        let meant = named.filter(|entry| version.is_none_or(|version| entry.version == *version));
        meant.max_by_key(|entry| (entry.version.pre.is_empty(), &entry.version))
    }

    /// The highest version of each package that has all of `words` in its name, description, publisher or tools.
    pub fn search(&self, words: &[String]) -> Vec<&Entry> {
        let mut found: Vec<&Entry> = Vec::new();
        for entry in &self.packages {
            let newest = self.find(&entry.name, None) == Some(entry);
            let texts = [entry.name.as_str(), &entry.description, &entry.publisher].into_iter();
            if newest && matches(words, texts.chain(entry.tools.iter().map(String::as_str))) {
                found.push(entry);
            }
        }
        found
    }

    /// Puts `entry` in, in the place of one with the same name and version.
    pub(crate) fn put(&mut self, entry: Entry) {
        self.packages.retain(|other| (&other.name, &other.version) != (&entry.name, &entry.version));
        self.packages.push(entry);
        self.packages.sort_by(|a, b| (a.name.as_str(), &a.version).cmp(&(b.name.as_str(), &b.version)));
    }
}

impl Entry {
    /// The entry of a package with this manifest.
    pub(crate) fn new(manifest: &Manifest, digest: &Digest) -> Self {
        let package = &manifest.package;
        Self {
            name: package.name.clone(),
            version: package.version.clone(),
            publisher: package.publisher.clone(),
            description: package.description.clone(),
            tools: manifest.tools.iter().map(|tool| tool.name.clone()).collect(),
            sha256: digest.to_string(),
            file: format!("{}-{}.wasm", package.name, package.version),
        }
    }

    /// An index must not lead out of its folder.
    fn is_beside(&self) -> bool {
        let plain = |c: char| c.is_ascii_alphanumeric() || "-._+".contains(c);
        !self.file.is_empty() && !self.file.starts_with('.') && self.file.chars().all(plain)
    }
}

/// The package that the index at `place` lists; `None` when that is the one that is there already.
pub(crate) async fn fetch(
    client: &Client,
    place: &IndexPlace,
    name: &SourceName,
    version: Option<&Version>,
    wanted: &Wanted,
) -> Result<Option<PackageFile>, DistributionError> {
    let index = Index::read(place, client).await?;
    let entry = index.find(name, version).ok_or_else(|| not_listed(place, &index, name, version))?;
    let wrong = |problem: String| DistributionError::Index { index: place.to_string(), problem };
    let digest: Digest = entry.sha256.parse().map_err(|_| wrong(format!("`sha256` of `{name}` is no digest")))?;
    if wanted.have == Some(digest) {
        return Ok(None);
    }
    let package = match place {
        IndexPlace::Folder(folder) => PackageFile::read(&folder.join(&entry.file))?,
        IndexPlace::Url(index) => {
            let target = index.join(&entry.file).map_err(|error| wrong(error.to_string()))?;
            let package = download::download(client, &target, Some(&digest), None).await?;
            // The digest is the index's own word, and whoever can change the package there can change that as well.
            if package.signature.is_none() && wanted.digest.is_none() {
                return Err(download::unproven(&target));
            }
            package
        }
    };
    expect(Some(&digest), &package.component, &entry.file)?;
    Ok(Some(package))
}

fn not_listed(place: &IndexPlace, index: &Index, name: &SourceName, version: Option<&Version>) -> DistributionError {
    let others = index.packages.iter().filter(|entry| entry.name == *name).map(|entry| entry.version.to_string());
    let others: Vec<String> = others.collect();
    let near = nearest(name.as_str(), index.packages.iter().map(|entry| entry.name.as_str()), 1).pop();
    let hint = match (others.is_empty(), near) {
        (false, _) => format!(": it has {}", others.join(", ")),
        (true, Some(near)) => format!(": did you mean `{near}`?"),
        (true, None) => ": `ringfence search` shows what it has".into(),
    };
    DistributionError::NotListed { index: place.to_string(), name: name.clone(), version: version.cloned(), hint }
}

/// Whether every one of `words` occurs in one of `texts`, whatever the case.
pub fn matches<'a>(words: &[String], texts: impl IntoIterator<Item = &'a str>) -> bool {
    let texts: Vec<String> = texts.into_iter().map(str::to_lowercase).collect();
    words.iter().all(|word| texts.iter().any(|text| text.contains(&word.to_lowercase())))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(name: &str, version: &str) -> Entry {
        Entry {
            name: name.to_owned().try_into().unwrap(),
            version: version.parse().unwrap(),
            publisher: "acme".into(),
            description: "Says what the weather is.".into(),
            tools: vec!["forecast".into()],
            sha256: String::new(),
            file: format!("{name}-{version}.wasm"),
        }
    }

    fn index(entries: &[(&str, &str)]) -> Index {
        let mut index = Index::default();
        entries.iter().for_each(|(name, version)| index.put(entry(name, version)));
        index
    }

    #[test]
    fn the_highest_release_is_meant_unless_a_version_is_named() {
        let index = index(&[("w", "1.10.0"), ("w", "1.9.0"), ("w", "2.0.0-rc.1"), ("p", "0.1.0-a")]);
        let found = |name: &str, version: Option<&str>| {
            let version = version.map(|version| version.parse().unwrap());
            index.find(&name.to_owned().try_into().unwrap(), version.as_ref()).map(|entry| entry.version.to_string())
        };
        assert_eq!(found("w", None).as_deref(), Some("1.10.0"));
        assert_eq!(found("w", Some("1.9.0")).as_deref(), Some("1.9.0"));
        assert_eq!(found("p", None).as_deref(), Some("0.1.0-a"));
        assert_eq!(found("w", Some("3.0.0")), None);
    }

    #[test]
    fn a_version_stands_once() {
        let index = index(&[("w", "1.0.0"), ("a", "1.0.0"), ("w", "1.0.0")]);
        assert_eq!(index.packages.iter().map(|entry| entry.name.as_str()).collect::<Vec<_>>(), ["a", "w"]);
    }

    #[test]
    fn an_index_leads_nowhere_else() {
        for file in ["../w.wasm", "/etc/passwd", "https://evil.example/w", "a/b", ".hidden", "", "a\\b", "a b"] {
            let bad = Index { packages: vec![Entry { file: file.into(), ..entry("w", "1.0.0") }], ..Index::default() };
            let error = Index::parse(&serde_json::to_vec(&bad).unwrap()).unwrap_err();
            assert!(error.contains("not beside the index"), "{file}: {error}");
        }
        assert!(Index::parse(br#"{"format": 2, "packages": []}"#).unwrap_err().contains("format 2"));
        assert!(Index::parse(br#"{"format": 1, "packages": [], "x": 1}"#).unwrap_err().contains("x"));
    }

    #[test]
    fn all_words_have_to_occur() {
        let index = index(&[("w", "1.0.0"), ("w", "1.1.0")]);
        let found =
            |words: &[&str]| index.search(&words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>()).len();
        assert_eq!([found(&["WEATHER"]), found(&["forecast", "acme"]), found(&["forecast", "maps"])], [1, 1, 0]);
        assert_eq!(found(&[]), 1, "without words all are shown, each once");
    }
}
