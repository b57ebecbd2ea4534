//! The user of this process.

use nix::unistd::{User, geteuid, getuid};

/// The number of the user whose permissions this process has.
pub fn effective_user() -> u32 {
    geteuid().as_raw()
}

/// The name of the user who started this process, or a number.
pub(crate) fn name() -> String {
    let user = User::from_uid(getuid()).ok().flatten();
    user.map_or_else(|| format!("user {}", getuid()), |user| user.name)
}
