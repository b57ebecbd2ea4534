//! Why keys of links are refused elsewhere.

/// Why a key needs links that the emulator drives.
pub(super) const EMULATED_ONLY: &str = "needs link = \"emulated\": neither the kernel's links nor, with \"mixed\", those that measure goodput have it";
