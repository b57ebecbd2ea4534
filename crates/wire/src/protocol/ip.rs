//! What IPv4 [RFC791] and IPv6 [RFC8200] have in common.

/// How many routers may still pass on what is sent: what hosts begin with.
pub(crate) const HOP_LIMIT: u8 = 64;
