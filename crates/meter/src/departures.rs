//! Departures and sizes of the packets of a flow: distributions of gaps and sizes, drawn without
//! I/O. A simulator, an emulator and a sender that use the same distribution and seed offer the
//! same packets.

mod captured;
mod distribution;
mod draw;
mod encoded;
mod path_mtu;
mod schedule;
mod seen;
mod values;
mod written;

use units::{Bytes, Rate};

pub use distribution::{BadDistribution, Distribution};
pub use path_mtu::PathMtu;
pub use schedule::{Bursts, Schedule};
pub use seen::Seen;
pub use written::{FILE, Measure, WrittenDistribution, is_file};

/// The mean gap in picoseconds, not rounded, between packets that each take `size`
/// bytes of wire and together have `rate`.
pub fn mean_gap(size: Bytes, rate: Rate) -> f64 {
    const PICOS: f64 = 1e12;
    size.bits() as f64 * PICOS / rate.bits_per_second() as f64
}

#[cfg(test)]
mod tests;
