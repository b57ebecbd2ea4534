//! The file of this program.

use std::fs::File;
use std::io::Read;
use std::path::PathBuf;
use std::process::Command;

use sha2::{Digest, Sha256};

use crate::error::{OperationContext, Result};

/// The file, also if it was renamed or removed since this process started.
#[cfg(target_os = "linux")]
pub(crate) const FILE: &str = "/proc/self/exe";

/// The file, on Linux also if it was renamed or removed since this process started.
///
/// # Errors
/// The system does not tell.
pub fn path() -> Result<PathBuf> {
    #[cfg(target_os = "linux")]
    return Ok(PathBuf::from(FILE));
    #[cfg(not(target_os = "linux"))]
    return std::env::current_exe().during(|| "looking for the program itself");
}

/// A command that starts this program again, without the terminal: Ctrl-C does not reach it.
///
/// # Errors
/// As [`path`].
pub fn command() -> Result<Command> {
    let mut command = Command::new(path()?);
    #[cfg(unix)]
    {
        use std::os::unix::process::CommandExt as _;
        command.arg0("jumbolab").process_group(0);
    }
    #[cfg(windows)]
    {
        use std::os::windows::process::CommandExt as _;
        // CREATE_NEW_PROCESS_GROUP
        command.creation_flags(0x200);
    }
    Ok(command)
}

/// Opens the file for reading.
///
/// # Errors
/// It cannot be read.
pub fn open() -> Result<File> {
    File::open(path()?).during(|| "reading the program itself")
}

/// A hash of the file, equal for equal builds. Sweeps ask for it before each part, of a file
/// of tens of megabytes where it is not optimised: processors have instructions for this hash.
///
/// # Errors
/// It cannot be read.
pub fn hash() -> Result<String> {
    let mut file = open()?;
    let mut hasher = Sha256::new();
    let mut bytes = vec![0; 1 << 20];
    loop {
        let count = file
            .read(&mut bytes)
            .during(|| "reading the program itself")?;
        if count == 0 {
            return Ok(short(&hasher.finalize()));
        }
        hasher.update(&bytes[..count]);
    }
}

/// The first sixteen digits of a hash.
fn short(hash: &[u8]) -> String {
    hash.iter()
        .take(8)
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_files_have_equal_hashes() {
        let whole = Sha256::digest(std::fs::read(path().unwrap()).unwrap());
        assert_eq!(hash().unwrap(), short(&whole));
    }
}
