//! Reasons for refusing keys of links.

/// The reason for keys that need emulated links.
pub(super) const EMULATED_ONLY: &str = "needs link = \"emulated\": neither the kernel's links nor, with \"mixed\", those that measure goodput have it";
