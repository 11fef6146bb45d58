//! Files below the workspace, for guests that were granted some of them.
//!
//! A path is resolved below an open handle of the root, what it resolves to is held against the grant, and that is then
//! opened step by step without following links. So a link inside the workspace works where its target is granted, and
//! one that is swapped meanwhile leads nowhere.

use std::io::{self, ErrorKind, Read as _, Write as _};
use std::path::Path;
use std::sync::Arc;

use cap_fs_ext::{DirExt as _, FollowSymlinks, MetadataExt as _, OpenOptionsFollowExt as _};
use cap_std::ambient_authority;
use cap_std::fs::{Dir, File, OpenOptions, OpenOptionsExt as _, Permissions, PermissionsExt as _};
use ringfence_package::{Effective, hides};
use rustix::fs::OFlags;
use wasmtime::Result;

use crate::bindings::ringfence::tool::workspace::{self, Entry, Error};
use crate::reach::Reach;
use crate::state::GuestState;

/// Bytes of a file that is read or written at once.
const MAX_FILE: u64 = 16 << 20;

/// Entries of a folder that are listed.
const MAX_ENTRIES: usize = 10_000;

/// The root of the workspace.
#[derive(Clone)]
pub struct Workspace(Arc<Dir>);

impl Workspace {
    /// The workspace below the folder `root`.
    ///
    /// # Errors
    /// When it is no folder that can be opened.
    pub fn open(root: &Path) -> io::Result<Self> {
        Dir::open_ambient_dir(root, ambient_authority()).map(|root| Self(Arc::new(root)))
    }

    pub(crate) fn read(&self, grant: &Effective, path: &str) -> std::result::Result<Vec<u8>, Error> {
        let path = self.resolve(path).map_err(|error| self.shown(error, path, |path| grant.may_read(path)))?;
        allowed(grant.may_read(&as_strs(&path)))?;
        let file = self.open_file(&path)?;
        let mut content = Vec::new();
        file.take(MAX_FILE + 1).read_to_end(&mut content).map_err(fault)?;
        if content.len() as u64 > MAX_FILE { Err(Error::TooLarge) } else { Ok(content) }
    }

    pub(crate) fn write(&self, grant: &Effective, path: &str, content: &[u8]) -> std::result::Result<(), Error> {
        let path = self.resolve_new(path).map_err(|error| self.shown(error, path, |path| grant.may_write(path)))?;
        allowed(grant.may_write(&as_strs(&path)))?;
        if content.len() as u64 > MAX_FILE {
            return Err(Error::TooLarge);
        }
        let Some((name, folder)) = path.split_last() else { return Err(Error::WrongKind) };
        let folder = self.open_folder(folder)?;
        let old = match folder.symlink_metadata(name) {
            // A link that leads to nothing, and a second name: either may lie outside of what is granted.
            Ok(there) if there.file_type().is_symlink() => return Err(Error::Denied),
            Ok(there) if !there.is_file() => return Err(Error::WrongKind),
            Ok(there) if there.nlink() > 1 => return Err(Error::Denied),
            there => there.ok(),
        };
        // A name of its own beside the file, so that the old content stays whole until the new one is.
        let mut temporary = cap_tempfile::TempFile::new(&folder).map_err(fault)?;
        if let Some(old) = old {
            // Before there is content that others could read. Bits such as set-user-ID are not for a guest's content.
            let permissions = Permissions::from_mode(old.permissions().mode() & 0o777);
            temporary.as_file().set_permissions(permissions).map_err(fault)?;
        }
        temporary.write_all(content).and_then(|()| temporary.as_file().sync_all()).map_err(fault)?;
        temporary.replace(name).map_err(fault)
    }

    pub(crate) fn entries(&self, grant: &Effective, path: &str) -> std::result::Result<Vec<Entry>, Error> {
        let path = self.resolve(path).map_err(|error| self.shown(error, path, |path| grant.may_read(path)))?;
        let granted = grant.may_read(&as_strs(&path));
        let folder = self.open_folder(&path).map_err(|error| if granted { error } else { Error::Denied })?;
        let mut entries = Vec::new();
        for entry in folder.entries().map_err(fault)? {
            let entry = entry.map_err(fault)?;
            let Ok(name) = entry.file_name().into_string() else { continue };
            let metadata = match entry.metadata() {
                // It went while the folder was read.
                Err(error) if error.kind() == ErrorKind::NotFound => continue,
                metadata => metadata.map_err(fault)?,
            };
            // No path could have it.
            if !name.chars().all(is_plain) {
                continue;
            }
            let below: Vec<&str> = path.iter().map(String::as_str).chain([name.as_str()]).collect();
            if !grant.may_read(&below) {
                continue;
            }
            if entries.len() == MAX_ENTRIES {
                return Err(Error::TooLarge);
            }
            let folder = metadata.is_dir();
            entries.push(Entry { name, folder, size: if folder { 0 } else { metadata.len() } });
        }
        // Neither allowed to see the folder nor anything in it: it may as well not be there.
        allowed(!entries.is_empty() || granted)?;
        entries.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(entries)
    }

    /// What `path` leads to, behind all links, as segments below the root.
    fn resolve(&self, path: &str) -> std::result::Result<Vec<String>, Error> {
        let segments = segments(path)?;
        if segments.is_empty() {
            return Ok(Vec::new());
        }
        let resolved = self.0.canonicalize(segments.join("/")).map_err(fault)?;
        let segment = |part: std::path::Component<'_>| part.as_os_str().to_str().map(str::to_owned);
        resolved.components().map(segment).collect::<Option<_>>().ok_or(Error::Denied)
    }

    /// The same for a file that need not be there yet.
    fn resolve_new(&self, path: &str) -> std::result::Result<Vec<String>, Error> {
        match self.resolve(path) {
            Err(Error::Missing) => {
                let segments = segments(path)?;
                let Some((name, folder)) = segments.split_last() else { return Err(Error::WrongKind) };
                let mut resolved = if folder.is_empty() { Vec::new() } else { self.resolve(&folder.join("/"))? };
                resolved.push((*name).to_owned());
                Ok(resolved)
            }
            resolved => resolved,
        }
    }

    /// What a guest learns of `error`, with which `path` could not be resolved: whether something is there is for whom the
    /// place is granted.
    fn shown(&self, error: Error, path: &str, granted: impl Fn(&[&str]) -> bool) -> Error {
        let place = segments(path).ok().and_then(|segments| self.place(&segments));
        if place.is_some_and(|place| granted(&as_strs(&place))) { error } else { Error::Denied }
    }

    /// Where a path would lead that leads to nothing: as far as it can be followed, and from there on as it stands. `None`
    /// where it ends at a link, which may point anywhere.
    fn place(&self, segments: &[&str]) -> Option<Vec<String>> {
        let followed = |count: usize| self.resolve(&segments[..count].join("/")).ok().map(|place| (count, place));
        let (count, mut place) = (1..segments.len()).rev().find_map(followed).unwrap_or_default();
        let next = segments.get(..=count)?.join("/");
        if self.0.symlink_metadata(next).is_ok_and(|there| there.file_type().is_symlink()) {
            return None;
        }
        place.extend(segments[count..].iter().map(|segment| (*segment).to_owned()));
        Some(place)
    }

    fn open_folder(&self, path: &[String]) -> std::result::Result<Dir, Error> {
        let mut folder = self.0.try_clone().map_err(fault)?;
        for name in path {
            folder = folder.open_dir_nofollow(name).map_err(fault)?;
        }
        Ok(folder)
    }

    fn open_file(&self, path: &[String]) -> std::result::Result<File, Error> {
        let Some((name, folder)) = path.split_last() else { return Err(Error::WrongKind) };
        let mut options = OpenOptions::new();
        // To open a pipe must not make the host wait.
        options.read(true).follow(FollowSymlinks::No).custom_flags(OFlags::NONBLOCK.bits().cast_signed());
        let file = self.open_folder(folder)?.open_with(name, &options).map_err(fault)?;
        let metadata = file.metadata().map_err(fault)?;
        if !metadata.is_file() {
            return Err(Error::WrongKind);
        }
        // A second name may lie outside of the workspace.
        allowed(metadata.nlink() == 1)?;
        Ok(file)
    }
}

impl workspace::Host for GuestState {
    async fn read(&mut self, path: String) -> Result<std::result::Result<Vec<u8>, Error>> {
        self.in_workspace(move |files, grant| files.read(grant, &path)).await
    }

    async fn write(&mut self, path: String, content: Vec<u8>) -> Result<std::result::Result<(), Error>> {
        self.take_workspace_write(content.len() as u64)?;
        self.in_workspace(move |files, grant| files.write(grant, &path, &content)).await
    }

    async fn entries(&mut self, path: String) -> Result<std::result::Result<Vec<Entry>, Error>> {
        self.in_workspace(move |files, grant| files.entries(grant, &path)).await
    }
}

impl GuestState {
    /// Does `work` with the files, where blocking is allowed.
    async fn in_workspace<T: Send + 'static>(
        &mut self,
        work: impl FnOnce(&Workspace, &Effective) -> std::result::Result<T, Error> + Send + 'static,
    ) -> Result<std::result::Result<T, Error>> {
        self.take_workspace_call()?;
        let Some(Reach { workspace: Some(files), grant, .. }) = self.reach() else { return Ok(Err(Error::Denied)) };
        let (files, grant) = (files.clone(), grant.clone());
        let done = tokio::task::spawn_blocking(move || work(&files, &grant)).await;
        Ok(done.unwrap_or(Err(Error::Failed)))
    }
}

/// The segments of a path; none for `.`, which is the root.
fn segments(path: &str) -> std::result::Result<Vec<&str>, Error> {
    if path == "." {
        return Ok(Vec::new());
    }
    let plain = |segment: &&str| !matches!(*segment, "" | "." | "..") && segment.chars().all(is_plain);
    let segments: Vec<&str> = path.split('/').collect();
    if segments.iter().all(plain) { Ok(segments) } else { Err(Error::Denied) }
}

/// Whether a name may hold `character`: people read names in terminals and logs, where what controls the text, turns its
/// direction or shows nothing lets them read another name.
fn is_plain(character: char) -> bool {
    !character.is_control() && !hides(character) && character != '\\'
}

fn as_strs(path: &[String]) -> Vec<&str> {
    path.iter().map(String::as_str).collect()
}

fn allowed(allowed: bool) -> std::result::Result<(), Error> {
    if allowed { Ok(()) } else { Err(Error::Denied) }
}

fn fault(error: io::Error) -> Error {
    match error.kind() {
        ErrorKind::NotFound => Error::Missing,
        ErrorKind::NotADirectory | ErrorKind::IsADirectory => Error::WrongKind,
        // What cap-std says of a path that leads out of the root, and the system of a link where none is followed.
        ErrorKind::PermissionDenied => Error::Denied,
        _ if error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error()) => Error::Denied,
        _ => Error::Failed,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn granted(read: &str, write: &str) -> Effective {
        let text = format!("[workspace]\nread = [\"{read}\"]\nwrite = [\"{write}\"]\n");
        Effective::new(toml::from_str(&text).unwrap(), toml::from_str(&text).unwrap()).unwrap()
    }

    /// A workspace with some files, beside a file that is none of its.
    fn workspace() -> (tempfile::TempDir, Workspace) {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("ws");
        fs_err::create_dir_all(root.join("docs/deep")).unwrap();
        fs_err::create_dir_all(root.join("out")).unwrap();
        fs_err::write(root.join("docs/a.txt"), "a").unwrap();
        fs_err::write(root.join("private.txt"), "private").unwrap();
        fs_err::write(folder.path().join("outside.txt"), "outside").unwrap();
        // Its name begins with that of the workspace.
        fs_err::create_dir_all(folder.path().join("ws-other")).unwrap();
        fs_err::write(folder.path().join("ws-other/b.txt"), "outside").unwrap();
        let workspace = Workspace::open(&root).unwrap();
        (folder, workspace)
    }

    #[test]
    fn files_are_read_and_written_where_that_is_granted() {
        let (folder, files) = workspace();
        let grant = granted("docs/**", "out/**");
        assert_eq!(files.read(&grant, "docs/a.txt").unwrap(), b"a");
        files.write(&grant, "out/b.txt", b"new").unwrap();
        assert_eq!(fs_err::read(folder.path().join("ws/out/b.txt")).unwrap(), b"new");
        for (path, error) in [
            ("private.txt", Error::Denied),
            ("docs/none.txt", Error::Missing),
            ("docs/deep", Error::WrongKind),
            ("out/b.txt", Error::Denied),
            ("../outside.txt", Error::Denied),
            ("../ws-other/b.txt", Error::Denied),
            ("/etc/passwd", Error::Denied),
            ("docs/../private.txt", Error::Denied),
            ("docs//a.txt", Error::Denied),
            ("", Error::Denied),
        ] {
            assert_eq!(files.read(&grant, path).unwrap_err(), error, "{path}");
        }
        assert_eq!(files.write(&grant, "docs/a.txt", b"x").unwrap_err(), Error::Denied);
        assert_eq!(files.write(&grant, "out/none/x", b"x").unwrap_err(), Error::Missing);
    }

    proptest! {
        #[test]
        fn no_name_holds_what_misleads_people(
            before in "[a-z\u{e4}\u{5d0} ]{0,5}",
            bad in "[\\x00-\\x1f\\x7f-\u{9f}\u{2028}\u{2029}\u{202a}-\u{202e}\u{2066}-\u{2069}]",
            after in "[a-z\u{e4}\u{5d0} ]{0,5}",
        ) {
            let (folder, files) = workspace();
            let grant = granted("**", "**");
            for path in [format!("out/{before}{bad}{after}"), format!("out{bad}/{before}"), format!("{before}{bad}/x")] {
                prop_assert_eq!(files.read(&grant, &path).unwrap_err(), Error::Denied);
                prop_assert_eq!(files.write(&grant, &path, b"x").unwrap_err(), Error::Denied);
                prop_assert_eq!(files.entries(&grant, &path).err(), Some(Error::Denied));
            }
            prop_assert_eq!(fs_err::read_dir(folder.path().join("ws/out")).unwrap().count(), 0);
            // One that is there already is not shown either; its neighbour is.
            if bad != "\0" {
                fs_err::write(folder.path().join(format!("ws/out/{before}{bad}{after}")), "").unwrap();
            }
            let good = format!("out/a{before}{after}b");
            files.write(&grant, &good, b"x").unwrap();
            let names: Vec<_> = files.entries(&grant, "out").unwrap().into_iter().map(|entry| entry.name).collect();
            prop_assert_eq!(names, [format!("a{before}{after}b")]);
        }
    }

    #[test]
    fn links_lead_no_further_than_the_grant() {
        use std::os::unix::fs::symlink;
        let (folder, files) = workspace();
        let docs = folder.path().join("ws/docs");
        let grant = granted("docs/**", "docs/**");
        symlink("../../outside.txt", docs.join("out-of-root")).unwrap();
        symlink("../private.txt", docs.join("out-of-grant")).unwrap();
        symlink("a.txt", docs.join("inside")).unwrap();
        symlink("../../nowhere", docs.join("dangling")).unwrap();
        fs_err::hard_link(folder.path().join("outside.txt"), docs.join("hard")).unwrap();
        assert_eq!(files.read(&grant, "docs/inside").unwrap(), b"a");
        for name in ["out-of-root", "out-of-grant", "dangling", "hard"] {
            let path = format!("docs/{name}");
            assert!(files.read(&grant, &path).is_err(), "{name}");
            assert!(files.write(&grant, &path, b"changed").is_err(), "{name}");
        }
        assert_eq!(fs_err::read(folder.path().join("outside.txt")).unwrap(), b"outside");
        assert_eq!(fs_err::read(folder.path().join("ws/private.txt")).unwrap(), b"private");
    }

    #[test]
    fn what_is_there_is_told_where_it_is_granted_only() {
        use std::os::unix::fs::symlink;
        let (folder, files) = workspace();
        let root = folder.path().join("ws");
        fs_err::create_dir_all(root.join("closed/deep")).unwrap();
        fs_err::write(root.join("closed/there.txt"), "closed").unwrap();
        symlink("../closed", root.join("docs/folder")).unwrap();
        symlink("../closed/there.txt", root.join("docs/good")).unwrap();
        symlink("../closed/absent.txt", root.join("docs/dangling")).unwrap();
        let grant = granted("docs/**", "docs/**");
        for path in [
            "private.txt",
            "absent.txt",
            "private.txt/below",
            "closed",
            "closed/there.txt",
            "closed/absent.txt",
            "closed/there.txt/below",
            "absent/absent.txt",
            "docs/folder/there.txt",
            "docs/folder/absent.txt",
            "docs/folder/absent/absent.txt",
            "docs/good",
            "docs/dangling",
        ] {
            assert_eq!(files.read(&grant, path).unwrap_err(), Error::Denied, "read {path}");
            assert_eq!(files.write(&grant, path, b"x").unwrap_err(), Error::Denied, "write {path}");
            assert_eq!(files.entries(&grant, path).err(), Some(Error::Denied), "entries {path}");
        }
        assert_eq!(files.read(&grant, "docs/a.txt/below").unwrap_err(), Error::WrongKind);
        assert_eq!(files.read(&grant, "docs/absent/absent.txt").unwrap_err(), Error::Missing);
        assert_eq!(files.write(&grant, "docs/absent/absent.txt", b"x").unwrap_err(), Error::Missing);
        assert_eq!(files.entries(&grant, "docs/absent").err(), Some(Error::Missing));
        assert_eq!(files.entries(&grant, "docs/a.txt").err(), Some(Error::WrongKind));
    }

    #[test]
    fn a_file_that_is_written_again_is_open_to_the_same_people() {
        use std::os::unix::fs::PermissionsExt as _;
        let (folder, files) = workspace();
        let grant = granted("out/**", "out/**");
        let path = folder.path().join("ws/out/b.txt");
        for (mode, kept) in [(0o600, 0o600), (0o640, 0o640), (0o777, 0o777), (0o4755, 0o755)] {
            fs_err::write(&path, "old").unwrap();
            fs_err::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
            files.write(&grant, "out/b.txt", b"new").unwrap();
            assert_eq!(fs_err::metadata(&path).unwrap().permissions().mode() & 0o7777, kept, "{mode:o}");
            assert_eq!(fs_err::read(&path).unwrap(), b"new");
        }
    }

    #[test]
    fn a_workspace_may_be_reached_through_a_link() {
        let (folder, _files) = workspace();
        let link = folder.path().join("link");
        std::os::unix::fs::symlink("ws", &link).unwrap();
        let (files, grant) = (Workspace::open(&link).unwrap(), granted("docs/**", "docs/**"));
        assert_eq!(files.read(&grant, "docs/a.txt").unwrap(), b"a");
        files.write(&grant, "docs/b.txt", b"new").unwrap();
        assert_eq!(fs_err::read(folder.path().join("ws/docs/b.txt")).unwrap(), b"new");
        assert_eq!(files.read(&grant, "docs/../../outside.txt").unwrap_err(), Error::Denied);
    }

    #[test]
    fn a_folder_shows_what_may_be_read() {
        let (_folder, files) = workspace();
        let names = |grant: &Effective, path: &str| {
            files.entries(grant, path).map(|list| list.into_iter().map(|entry| entry.name).collect::<Vec<_>>())
        };
        assert_eq!(names(&granted("docs/**", "none"), "docs").unwrap(), ["a.txt", "deep"]);
        assert_eq!(names(&granted("docs/**", "none"), ".").unwrap(), ["docs"]);
        assert_eq!(names(&granted("docs/**", "none"), "out").unwrap_err(), Error::Denied);
    }
}
