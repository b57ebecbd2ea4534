//! Sizes of jumbograms.

/// The largest payload: the kernel allocates a packet written with its headers in one
/// block of at most 4 MiB, which also holds its bookkeeping.
pub const LARGEST: u32 = (4 << 20) - 1_024;

/// The smallest MTU of a link for jumbograms: 65 536 bytes behind the IPv6 header of
/// 40 [RFC2675 s1].
pub const LEAST_MTU: u32 = 65_576;
