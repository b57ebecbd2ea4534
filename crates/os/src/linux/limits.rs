//! Limits of the system that leave the program too little to begin.

use std::fs;

use nix::sys::resource::{Resource, getrlimit};

use units::Bytes;

use crate::error::{Error, OperationContext, Result};

const KIB: u64 = 1024;

/// The least stack in KiB: the program needs less than half of it.
const LEAST_STACK: u64 = 1024;

/// The least address space in KiB, besides what the program has when it starts.
const LEAST_SPACE: u64 = 32 * 1024;

/// Checks that stack and address space suffice to begin. Where they do not, the system
/// would end the program without a word.
///
/// # Errors
/// The limit, and what to type.
pub fn check() -> Result<()> {
    let operation = || "reading the limits of the process";
    let limit = |of| getrlimit(of).during(operation).map(|(soft, _)| soft);
    let stack = limit(Resource::RLIMIT_STACK)? / KIB;
    if stack < LEAST_STACK {
        return Err(Error::new(
            format!("the limit of the stack is {stack} KiB"),
            format!("at least {LEAST_STACK} are needed; type: ulimit -s 8192"),
        ));
    }
    let space = limit(Resource::RLIMIT_AS)? / KIB;
    let needed = in_use() + LEAST_SPACE;
    if space < needed {
        return Err(Error::new(
            format!("the limit of address space is {space} KiB"),
            format!("at least {needed} are needed; type: ulimit -v unlimited"),
        ));
    }
    Ok(())
}

/// The address space that this process may still take.
pub(crate) fn address_space_left() -> Option<Bytes> {
    let (limit, _) = getrlimit(Resource::RLIMIT_AS).ok()?;
    Some(Bytes::new(limit.saturating_sub(in_use() * KIB)))
}

/// The address space of this process in KiB; 0 if the system does not tell.
fn in_use() -> u64 {
    let text = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("VmSize:"));
    let number = line.and_then(|line| line.split_whitespace().next());
    number.and_then(|number| number.parse().ok()).unwrap_or(0)
}
