//! Atomic replacement of files.

use std::fs::{self, File};
use std::path::Path;

use anyhow::{Context, Result, bail};

/// Writes a file atomically: to a temporary file beside it, then by rename. An
/// existing path that is not a regular file, such as a device, is an error and
/// stays unchanged.
pub fn replace(path: &Path, write: impl FnOnce(&mut File) -> Result<()>) -> Result<()> {
    if fs::metadata(path).is_ok_and(|found| !found.is_file()) {
        bail!(
            "cannot write {}: not a regular file; name another one",
            path.display()
        );
    }
    let name = path
        .file_name()
        .and_then(|name| name.to_str())
        .unwrap_or("file");
    let folder = path.parent().filter(|folder| *folder != Path::new(""));
    let folder = folder.unwrap_or_else(|| Path::new("."));
    let temporary = folder.join(format!(".{name}.{}.tmp", std::process::id()));
    let written = File::create(&temporary)
        .map_err(anyhow::Error::from)
        .and_then(|mut file| {
            write(&mut file)?;
            file.sync_all()?;
            fs::rename(&temporary, path)?;
            // The rename itself must also survive a crash.
            Ok(File::open(folder)?.sync_all()?)
        });
    if written.is_err() {
        let _ = fs::remove_file(&temporary);
    }
    written.with_context(|| {
        format!(
            "cannot write {}; make room or make the folder writable",
            path.display()
        )
    })
}
