//! Reasons for rejecting keys of links.

/// The reason for keys that need emulated links.
pub(super) const EMULATED_ONLY: &str = "needs an emulated link, which \"kernel\" has nowhere and \"mixed\" not for goodput; write link = \"emulated\"";
