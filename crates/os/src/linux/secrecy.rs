//! The memory of a process that holds a secret.

use std::ffi::c_void;
use std::io;
use std::path::Path;
use std::ptr::NonNull;

use nix::sys::mman::mlock;
use nix::sys::prctl::set_dumpable;
use secret::Secret;

use crate::error::{OperationContext, Result};

/// Leaves the memory of this process out of core dumps, and closed to other processes of its
/// user [prctl(2)]. A program that it starts is not affected.
///
/// # Errors
/// If the kernel rejects.
pub fn forbid_dumps() -> Result<()> {
    set_dumpable(false).during(|| "keeping secrets out of core dumps")
}

/// Keeps `bytes` out of swap if the limit of locked memory allows it [mlock(2)]. The pages
/// stay locked until the process ends, because others may share them.
pub fn keep_out_of_swap(bytes: &[u8]) {
    #[expect(unsafe_code, reason = "the call takes an address")]
    // SAFETY: the bytes are mapped, and the call changes nothing in them.
    let _ = unsafe { mlock(NonNull::from(bytes).cast::<c_void>(), bytes.len()) };
}

/// Reads the secret in the file at `path`, without the final line break. Afterwards the memory
/// of this process is in no core dump, and the secret, where the limit of locked memory
/// allows it, in no swap.
///
/// # Errors
/// The file is open to others, too small or too large, or cannot be read; the message has the
/// command that corrects this.
pub fn read_secret(path: &Path) -> io::Result<Secret> {
    forbid_dumps().map_err(io::Error::other)?;
    let bytes = files::read_secret(path, Secret::LONGEST)?;
    keep_out_of_swap(&bytes);
    Secret::of_file(bytes).ok_or_else(|| {
        io::Error::other(
            "a secret must have 8 to 4096 bytes; create one: jumbolab gateway keygen --preshared FILE",
        )
    })
}

#[cfg(test)]
mod tests {
    use nix::sys::prctl::get_dumpable;

    use super::*;

    #[test]
    fn a_process_with_a_secret_is_not_dumped() {
        forbid_dumps().unwrap();
        keep_out_of_swap(b"correct horse");
        assert!(!get_dumpable().unwrap());
    }
}
