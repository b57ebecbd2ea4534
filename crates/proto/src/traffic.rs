//! When the packets of a flow leave and how large they are: laws of gaps and
//! sizes, drawn without I/O, so that a simulator, an emulator and a sender
//! that follow the same law with the same seed offer the same packets.

mod draw;
mod law;
mod path_mtu;
mod schedule;
mod seen;

use units::{Bytes, Rate};

pub use law::{BadLaw, Law};
pub use path_mtu::PathMtu;
pub use schedule::{Bursts, Schedule};
pub use seen::Seen;

/// The mean gap, in picoseconds, between packets that take `size` octets of a
/// wire each and `rate` together. It is no whole number.
pub fn mean_gap(size: Bytes, rate: Rate) -> f64 {
    const PICOS: f64 = 1e12;
    size.bits() as f64 * PICOS / rate.bits_per_second() as f64
}

#[cfg(test)]
mod tests;
