//! The file of this program.

use std::fs::File;
use std::hash::{DefaultHasher, Hasher};
use std::io::Read;

use crate::error::{During, Result};

/// The file, also if it was renamed or removed since this process started.
pub(crate) const FILE: &str = "/proc/self/exe";

/// Opens the file for reading.
///
/// # Errors
/// It cannot be read.
pub fn open() -> Result<File> {
    File::open(FILE).during(|| "reading the program itself")
}

/// A hash of the file, equal for equal builds.
///
/// # Errors
/// It cannot be read.
pub fn hash() -> Result<String> {
    let mut file = open()?;
    let mut hasher = DefaultHasher::new();
    let mut octets = vec![0; 1 << 20];
    loop {
        let count = file
            .read(&mut octets)
            .during(|| "reading the program itself")?;
        if count == 0 {
            return Ok(format!("{:016x}", hasher.finish()));
        }
        hasher.write(&octets[..count]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_files_have_equal_hashes() {
        let mut whole = DefaultHasher::new();
        whole.write(&std::fs::read(FILE).unwrap());
        assert_eq!(hash().unwrap(), format!("{:016x}", whole.finish()));
    }
}
