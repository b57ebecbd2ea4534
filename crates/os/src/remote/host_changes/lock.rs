//! The folder of a host in which a run locks it and keeps its former values.

use std::fs::{self, File, TryLockError};
use std::io::{self, Write as _};
use std::os::unix::fs::MetadataExt as _;
use std::os::unix::process::parent_id;
use std::path::{Path, PathBuf};
use std::time::Duration;

use files::Folder;
use serde::{Deserialize, Serialize};

use super::former_values::FormerValues;
use crate::clock::Epoch;
use crate::error::{Error, OperationContext, Result};
use crate::linux::users::{self, effective_user};

/// The lock of this host, and the record of changes beside it.
///
/// The kernel releases the lock when the process ends. The folder is removed when the
/// value is dropped, unless a record is left in it.
pub(super) struct HostLock {
    /// `/run/jumbolab` or its replacement.
    base: PathBuf,
    /// The name of the folder of this network namespace.
    name: String,
    folder: Folder,
    /// Locked.
    _file: File,
}

/// The run that has locked a host.
#[derive(Serialize, Deserialize)]
struct LockOwner {
    run: String,
    user: String,
    process: u32,
    /// In RFC 3339.
    since: String,
}

/// A record, and the boot in which it is valid: a reboot resets every interface.
#[derive(Serialize, Deserialize)]
struct StoredChanges {
    boot: String,
    former_values: FormerValues,
}

const LOCK: &str = "lock";
const LOCK_OWNER: &str = "holder.json";
const FORMER_VALUES: &str = "changes.json";

/// The most bytes of a file in the folder: records hold routes.
const LARGEST: u64 = 16 << 20;

/// The most attempts to lock the folder while the run before removes it.
const ATTEMPTS: u32 = 100;

impl HostLock {
    /// Locks the host for a run.
    ///
    /// # Errors
    /// If another run has locked it, with its name; if no folder can be made.
    pub(super) fn take(run: &str) -> Result<Self> {
        let operation = || "locking this host for the run";
        let base = base().during(operation)?;
        let namespace = fs::metadata("/proc/self/ns/net").during(operation)?;
        let name = format!("network-{}", namespace.ino());
        for _ in 0..ATTEMPTS {
            let open = || {
                let folder = Folder::create(&base)?.folder(&name)?;
                let file = folder.append(LOCK)?;
                Ok((folder, file))
            };
            let (folder, file) = match open() {
                // The run before removed the folder between two of these steps.
                Err(error) if io::Error::kind(&error) == io::ErrorKind::NotFound => continue,
                opened => opened.during(operation)?,
            };
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => {
                    return Err(Error::new(operation(), in_use(&folder)));
                }
                Err(TryLockError::Error(error)) => return Err(error).during(operation),
            }
            // A lock on a file that was removed meanwhile excludes nobody.
            let present = Folder::open(&base.join(&name)).and_then(|folder| folder.open_file(LOCK));
            let same = present.and_then(|there| Ok(there.metadata()?.ino()));
            if same.is_ok_and(|inode| file.metadata().is_ok_and(|own| own.ino() == inode)) {
                let lock = Self {
                    base,
                    name,
                    folder,
                    _file: file,
                };
                lock.write(LOCK_OWNER, &LockOwner::of(run))?;
                return Ok(lock);
            }
        }
        Err(Error::new(
            operation(),
            format!("{} is removed again and again", base.display()),
        ))
    }

    /// The record that an earlier run left because its watchdog was killed.
    pub(super) fn left_behind(&self) -> Option<FormerValues> {
        let text = self.folder.read_text(FORMER_VALUES, LARGEST).ok()?;
        let kept: StoredChanges = serde_json::from_str(&text).ok()?;
        (kept.boot == boot()).then_some(kept.former_values)
    }

    /// Keeps the record for the next run, or removes the kept one if nothing is left.
    pub(super) fn keep(&self, former_values: &FormerValues) -> Result<()> {
        if former_values.is_empty() {
            return match self.folder.remove(FORMER_VALUES) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    Err(error).during(|| "removing the former values")
                }
                _ => Ok(()),
            };
        }
        self.write(
            FORMER_VALUES,
            &StoredChanges {
                boot: boot(),
                former_values: former_values.clone(),
            },
        )
    }

    fn write(&self, name: &str, content: &impl Serialize) -> Result<()> {
        let operation = || format!("writing {}", self.folder.path().join(name).display());
        let text = serde_json::to_string(content)
            .map_err(|error| Error::new(operation(), error.to_string()))?;
        self.folder
            .replace(name, |file| Ok(file.write_all(text.as_bytes())?))
            .map_err(|error| Error::new(operation(), error.root_cause().to_string()))
    }
}

impl Drop for HostLock {
    fn drop(&mut self) {
        if self.folder.holds(FORMER_VALUES) {
            return;
        }
        // The lock goes last: who waits for it finds nothing or all. Failures leave
        // files behind that the next run takes over.
        for name in [LOCK_OWNER, LOCK] {
            let _ = self.folder.remove(name);
        }
        if let Ok(base) = Folder::open(&self.base) {
            let _ = base.remove_folder(&self.name);
        }
        let _ = files::remove_folder(&self.base);
    }
}

impl LockOwner {
    fn of(run: &str) -> Self {
        let now = Duration::from_nanos(Epoch::now().unix_nanos());
        Self {
            run: run.to_owned(),
            user: std::env::var("SUDO_USER").unwrap_or_else(|_| users::name()),
            process: parent_id(),
            since: humantime::format_rfc3339_seconds(std::time::UNIX_EPOCH + now).to_string(),
        }
    }
}

/// The rejection of a locked host.
fn in_use(folder: &Folder) -> String {
    let holder = folder.read_text(LOCK_OWNER, LARGEST).ok();
    match holder.and_then(|text| serde_json::from_str::<LockOwner>(&text).ok()) {
        Some(LockOwner {
            run,
            user,
            process,
            since,
        }) => format!(
            "it is in use by the run {run} of {user} since {since} (process {process}); wait for \
             its end or stop it"
        ),
        None => "it is in use by another run; wait for its end".to_owned(),
    }
}

/// The folder of this user's locks, which does not outlive the boot: that of the
/// system, of the user's session, or a private one of the user's.
fn base() -> io::Result<PathBuf> {
    let session = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
    let shared = [Some(PathBuf::from("/run")), session];
    let made = shared
        .into_iter()
        .flatten()
        .map(|parent| parent.join("jumbolab"))
        .find(|path| files::create_folder(path).is_ok() && is_own(path));
    if let Some(path) = made {
        return Ok(path);
    }
    let path = PathBuf::from(format!("/tmp/jumbolab-{}", effective_user()));
    files::create_folder(&path)?;
    match is_own(&path) {
        true => Ok(path),
        false => Err(io::Error::other(format!(
            "{} belongs to another user; remove it",
            path.display()
        ))),
    }
}

/// Whether a path is a folder of this user, and no link to one.
fn is_own(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|found| found.is_dir() && found.uid() == effective_user())
}

/// Identifies the boot of this machine.
fn boot() -> String {
    fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default()
}
