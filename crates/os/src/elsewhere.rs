//! What systems other than Linux have in place of modules of `linux`, with the same names. The
//! tests run it on Linux, too.

pub mod far_host;
pub mod kernel_clock;
pub mod pacing;
pub mod random;
pub mod secrecy;
pub mod socket;
