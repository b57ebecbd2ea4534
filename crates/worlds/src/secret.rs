//! Secrets in files, for every command that has one.

use std::path::Path;

use anyhow::{Context as _, Result};
use secret::Secret;

/// Reads the secret in the file at `path`, without the final line break. Afterwards the memory
/// of this process is in no core dump, and the secret, where the limit of locked memory
/// allows it, in no swap.
///
/// # Errors
/// The file is open to others, too small or too large, or cannot be read; the message has the
/// command that corrects this.
pub fn read(path: &Path) -> Result<Secret> {
    os::secrecy::forbid_dumps()?;
    let octets = files::read_secret(path, Secret::LONGEST)?;
    os::secrecy::keep_out_of_swap(&octets);
    Secret::of_file(octets).context(
        "a secret must have 8 to 4096 bytes; create one: jumbolab gateway --new-secret FILE",
    )
}
