//! How large jumbograms may be.

/// The largest payload that is carried: a kernel makes a packet that comes with
/// its headers in one piece, of at most 4 MiB, and puts its own records behind it.
pub const LARGEST: u32 = (4 << 20) - 1_024;

/// The MTU that a link needs at least for a jumbogram: 65 536 octets behind the
/// IPv6 header of 40 [RFC2675 s1].
pub const LEAST_MTU: u32 = 65_576;
