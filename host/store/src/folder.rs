//! The folder that holds a host's state, and the lock that gives it one owner.

use std::fs::{DirBuilder, Metadata, Permissions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use fs_err::File;
use fs_err::os::unix::fs::OpenOptionsExt as _;
use rustix::fs::{FlockOperation, OFlags, flock};
use rustix::io::Errno;

use crate::atomic_file::TEMPORARY_PREFIX;
use crate::error::StoreError;

/// The name of the socket in a state folder, for those who do not own it.
pub const SOCKET: &str = "socket";

/// A state folder, locked. The lock lasts as long as this value and dies with the process, however that ends.
#[derive(Debug)]
pub struct StateFolder {
    root: PathBuf,
    _lock: Lock,
}

/// The lock of a state folder.
#[derive(Debug)]
struct Lock(File);

impl Drop for Lock {
    /// Gives the lock back before the file is closed. A child that another thread of this process has just begun holds
    /// the file as well until it runs its program, and would keep the lock that long.
    fn drop(&mut self) {
        if let Err(error) = flock(&self.0, FlockOperation::Unlock) {
            tracing::warn!("the lock {} is given back only when it is closed: {error}", self.0.path().display());
        }
    }
}

impl StateFolder {
    /// Takes the folder at `root`, and makes it when it is not there. Only its owner may look into it.
    ///
    /// # Errors
    /// [`StoreError::Busy`] when another process has it, [`StoreError::TooOpen`] when others can look into it.
    pub fn open(root: &Path) -> Result<Self, StoreError> {
        make_private(root)?;
        let lock = lock(root)?;
        let folder = Self { root: root.to_owned(), _lock: lock };
        for part in [folder.audit(), folder.tools(), folder.compiled()] {
            make_private(&part)?;
            remove_temporary_files(&part)?;
        }
        remove_temporary_files(root)?;
        Ok(folder)
    }

    /// The folder itself.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The SQLite database.
    pub fn database(&self) -> PathBuf {
        self.root.join("state.db")
    }

    /// The key that authenticates what this host wrote.
    pub fn host_key(&self) -> PathBuf {
        self.root.join("host.key")
    }

    /// Whether a host has worked here: records and components are made after the database.
    pub(crate) fn is_used(&self) -> io::Result<bool> {
        for part in [self.audit(), self.tools()] {
            if fs_err::read_dir(part)?.next().is_some() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Where the record of calls is.
    pub fn audit(&self) -> PathBuf {
        self.root.join("audit")
    }

    /// Where installed components are.
    pub fn tools(&self) -> PathBuf {
        self.root.join("tools")
    }

    /// Where compiled code is.
    pub fn compiled(&self) -> PathBuf {
        self.root.join("compiled")
    }

    /// The Unix socket over which other processes speak to the owner.
    pub fn socket(&self) -> PathBuf {
        self.root.join(SOCKET)
    }
}

/// Makes the folder, or checks that the one that is there is closed to others.
///
/// A folder that is still empty is closed without asking. One with something in it may be somebody's home, or `/tmp`:
/// closing that would be worse than refusing it.
fn make_private(path: &Path) -> Result<(), StoreError> {
    make_closed(path)?;
    let metadata = fs_err::metadata(path)?;
    check_owner(path, &metadata)?;
    let mode = metadata.permissions().mode() & 0o777;
    if mode & 0o077 == 0 {
        return Ok(());
    }
    if fs_err::read_dir(path)?.next().is_some() {
        return Err(StoreError::TooOpen { path: path.to_owned(), mode, wanted: "700" });
    }
    Ok(fs_err::set_permissions(path, Permissions::from_mode(0o700))?)
}

/// Makes the folder of the operator's own files, closed to others, or checks that nobody else can write the one that is
/// there.
///
/// # Errors
/// [`StoreError::TooOpen`] and [`StoreError::ForeignOwner`], as by [`check_own`].
pub fn make_own(path: &Path) -> Result<(), StoreError> {
    make_closed(path)?;
    check_own(path)
}

/// Checks that nobody but the user of this process, or root, can write the file or folder at `path`; it need not be
/// there. Whoever writes the configuration or a grant says what tools may do. Others may read them: they hold no
/// secrets.
///
/// # Errors
/// [`StoreError::TooOpen`] when others can write it, [`StoreError::ForeignOwner`] when it belongs to somebody else.
pub fn check_own(path: &Path) -> Result<(), StoreError> {
    let metadata = match fs_err::metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        metadata => metadata?,
    };
    check_owner(path, &metadata)?;
    let mode = metadata.permissions().mode() & 0o777;
    if mode & 0o022 == 0 {
        return Ok(());
    }
    Err(StoreError::TooOpen { path: path.to_owned(), mode, wanted: "go-w" })
}

/// Makes the folder and those above it that are missing, closed to others whatever the process's umask is.
fn make_closed(path: &Path) -> Result<(), StoreError> {
    let named = |error: io::Error| io::Error::new(error.kind(), format!("cannot make {}: {error}", path.display()));
    Ok(DirBuilder::new().recursive(true).mode(0o700).create(path).map_err(named)?)
}

/// Makes the database at `path`, where there is none, and closes it to others whatever the process's umask is: with the
/// files that SQLite keeps beside it. Those that it makes later get the mode of the database.
pub(crate) fn make_private_database(path: &Path) -> Result<(), StoreError> {
    let mut options = fs_err::OpenOptions::new();
    options.append(true).create(true).mode(0o600).custom_flags(OFlags::NOFOLLOW.bits().cast_signed());
    options.open(path)?;
    for suffix in ["", "-wal", "-shm"] {
        let mut file = path.as_os_str().to_owned();
        file.push(suffix);
        let file = PathBuf::from(file);
        let metadata = match fs_err::metadata(&file) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            metadata => metadata?,
        };
        check_owner(&file, &metadata)?;
        fs_err::set_permissions(&file, Permissions::from_mode(0o600))?;
    }
    Ok(())
}

/// Checks that the file or folder belongs to the user of this process, or to root.
pub(crate) fn check_owner(path: &Path, metadata: &Metadata) -> Result<(), StoreError> {
    let (owner, user) = (metadata.uid(), rustix::process::geteuid().as_raw());
    if owner == user || owner == 0 {
        return Ok(());
    }
    Err(StoreError::ForeignOwner { path: path.to_owned(), owner, user })
}

/// How long a process waits for itself: see [`lock`].
const GIVING_BACK: Duration = Duration::from_secs(1);

/// Takes the lock and leaves the process's number in it, for the message that the next one gets. A host that this
/// process has just dropped may have work that ends a moment later; that is waited for.
fn lock(root: &Path) -> Result<Lock, StoreError> {
    let path = root.join("lock");
    let mut file = fs_err::OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .custom_flags(OFlags::NOFOLLOW.bits().cast_signed())
        .open(&path)?;
    let until = Instant::now() + GIVING_BACK;
    while let Err(error) = flock(&file, FlockOperation::NonBlockingLockExclusive) {
        if error != Errno::WOULDBLOCK {
            return Err(io::Error::from(error).into());
        }
        let pid = fs_err::read_to_string(&path)?.trim().parse().ok();
        if pid != Some(std::process::id()) || Instant::now() > until {
            return Err(StoreError::Busy { folder: root.to_owned(), pid });
        }
        std::thread::sleep(GIVING_BACK / 100);
    }
    file.set_len(0)?;
    writeln!(file, "{}", std::process::id())?;
    Ok(Lock(file))
}

/// Removes what a kill left half written in `folder`. Only for whoever holds the lock: nobody else writes there then.
///
/// # Errors
/// When the folder cannot be read or a file cannot be removed.
pub fn remove_temporary_files(folder: &Path) -> Result<(), StoreError> {
    for entry in fs_err::read_dir(folder)? {
        let entry = entry?;
        if entry.file_name().as_encoded_bytes().starts_with(TEMPORARY_PREFIX.as_bytes()) {
            fs_err::remove_file(entry.path())?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn has_one_owner_and_the_other_learns_who() {
        let dir = tempfile::tempdir().unwrap();
        let folder = StateFolder::open(dir.path()).unwrap();
        let error = StateFolder::open(dir.path()).unwrap_err();
        assert!(matches!(error, StoreError::Busy { pid: Some(pid), .. } if pid == std::process::id()), "{error}");
        drop(folder);
        StateFolder::open(dir.path()).unwrap();
    }

    #[test]
    fn what_this_process_is_about_to_give_back_is_waited_for() {
        let dir = tempfile::tempdir().unwrap();
        let folder = StateFolder::open(dir.path()).unwrap();
        let ending = std::thread::spawn(move || {
            std::thread::sleep(GIVING_BACK / 10);
            drop(folder);
        });
        StateFolder::open(dir.path()).unwrap();
        ending.join().unwrap();
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "what is tested is what processes do that are begun meanwhile")]
    fn is_free_at_once_whatever_processes_are_begun_meanwhile() {
        let dir = tempfile::tempdir().unwrap();
        let done = std::sync::atomic::AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !done.load(std::sync::atomic::Ordering::Relaxed) {
                    assert!(std::process::Command::new("true").status().unwrap().success());
                }
            });
            let opened: Vec<_> = (0..2000).map(|_| StateFolder::open(dir.path()).map(drop)).collect();
            done.store(true, std::sync::atomic::Ordering::Relaxed);
            assert!(opened.iter().all(Result::is_ok), "{opened:?}");
        });
    }

    #[test]
    fn is_made_closed_and_refused_when_others_can_look_into_it() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("a/b");
        drop(StateFolder::open(&root).unwrap());
        assert_eq!(fs_err::metadata(&root).unwrap().permissions().mode() & 0o777, 0o700);
        fs_err::set_permissions(&root, Permissions::from_mode(0o750)).unwrap();
        let error = StateFolder::open(&root).unwrap_err();
        assert!(error.to_string().contains("chmod 700"), "{error}");
    }

    #[test]
    fn what_only_others_must_not_write_may_be_read_by_them() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("a/grants");
        make_own(&folder).unwrap();
        for made in [folder.as_path(), folder.parent().unwrap()] {
            assert_eq!(fs_err::metadata(made).unwrap().permissions().mode() & 0o777, 0o700);
        }
        for (mode, good) in [(0o755, true), (0o770, false), (0o702, false)] {
            fs_err::set_permissions(&folder, Permissions::from_mode(mode)).unwrap();
            match (make_own(&folder), good) {
                (Ok(()), true) => {}
                (Err(error), false) => assert!(error.to_string().contains("chmod go-w"), "{error}"),
                (result, _) => panic!("{mode:o}: {result:?}"),
            }
        }
        check_own(&dir.path().join("nothing")).unwrap();
    }

    #[test]
    fn what_belongs_to_somebody_else_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let metadata = fs_err::metadata(dir.path()).unwrap();
        check_owner(dir.path(), &metadata).unwrap();
        // Only root can give files away.
        if metadata.uid() == 0 {
            std::os::unix::fs::chown(dir.path(), Some(4242), None).unwrap();
            for error in [check_own(dir.path()).unwrap_err(), StateFolder::open(dir.path()).unwrap_err()] {
                assert!(error.to_string().contains("user 4242"), "{error}");
            }
        }
    }

    #[test]
    fn half_written_files_are_removed() {
        let dir = tempfile::tempdir().unwrap();
        drop(StateFolder::open(dir.path()).unwrap());
        let left = dir.path().join("tools").join(".tmp-abc");
        fs_err::write(&left, "x").unwrap();
        drop(StateFolder::open(dir.path()).unwrap());
        assert!(!left.exists());
    }
}
