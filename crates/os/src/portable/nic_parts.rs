//! Network interfaces in words, which are the same on every system: their settings, their
//! addresses and their counters.

use std::net::IpAddr;

use serde::{Deserialize, Serialize};
use units::{Rate, Span};

/// A network interface in the caller's namespace.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Interface {
    pub name: String,
    /// Its MTU in bytes.
    pub mtu: u32,
    /// The largest MTU in bytes that its driver accepts, if it says so.
    pub largest_mtu: Option<u32>,
    /// Whether it is up.
    pub up: bool,
    /// Its addresses, link-local ones left out [RFC4291 s2.5.6].
    pub addresses: Vec<IpAddr>,
    /// Segmentation and receive offloads that are on, by the kernel's names.
    pub offloads: Vec<String>,
}

/// A network interface; properties unknown to its driver are absent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Nic {
    /// Its name, e.g. `eth0`.
    pub name: String,
    /// Whether it can carry packets now.
    pub up: bool,
    /// Its MTU in bytes.
    pub mtu: u32,
    /// The largest MTU in bytes that its driver accepts.
    pub largest_mtu: Option<u32>,
    /// Name of its driver.
    pub driver: Option<String>,
    /// The version of its firmware.
    pub firmware: Option<String>,
    /// Whether its link carries packets in both directions at once.
    pub full_duplex: Option<bool>,
    /// The processors that serve its interrupts, as the kernel lists them: `0-1,4`.
    pub interrupt_processors: Vec<String>,
    /// Whether the device itself stamps arriving packets.
    pub receive_stamps: bool,
    /// The number of its PTP hardware clock: 0 is `/dev/ptp0`.
    pub ptp_clock: Option<u32>,
    pub counters: Counters,
    /// Data rate of its link; virtual interfaces have none.
    pub speed: Option<Rate>,
    /// Sizes of its rings.
    pub rings: Option<Rings>,
    /// Its interrupt coalescing.
    pub coalescing: Option<Coalescing>,
    /// Segmentation and receive offloads that are on, by the kernel's names.
    pub offloads: Vec<String>,
}

/// Sizes of the rings between driver and hardware.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rings {
    /// Frames in the receive ring.
    pub receive: u32,
    /// Largest receive ring of the hardware.
    pub receive_limit: u32,
    /// Frames in the send ring.
    pub send: u32,
    /// Largest send ring of the hardware.
    pub send_limit: u32,
}

/// Interrupt coalescing: how the hardware aggregates packets before an interrupt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Coalescing {
    /// The longest delay of an interrupt after an arrival.
    pub receive_delay: Span,
    /// The number of arrivals that trigger an interrupt in any case; 0: no limit.
    pub receive_frames: u32,
    /// Whether the driver adapts the settings to the traffic.
    pub adaptive: bool,
}

/// The counters of an interface since it was made. GSO super-packets may count as one
/// packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counters {
    /// Arrivals.
    pub received: Directed,
    /// Departures.
    pub sent: Directed,
}

/// The counters of one direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Directed {
    /// Bytes of the frames, without preamble and gap.
    pub bytes: u64,
    pub packets: u64,
    /// Packets dropped for lack of room, in the device or in the kernel.
    pub dropped: u64,
    /// Damaged packets, and those that could not be sent.
    pub errors: u64,
    /// Pause frames, by which an end stops the other [IEEE802.3]; `None` if the driver
    /// does not count them.
    pub pauses: Option<u64>,
}

impl Counters {
    /// The counts since `earlier`.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        Self {
            received: self.received.since(&earlier.received),
            sent: self.sent.since(&earlier.sent),
        }
    }

    /// The sum of both counts.
    #[must_use]
    pub fn and(&self, other: &Self) -> Self {
        Self {
            received: self.received.and(&other.received),
            sent: self.sent.and(&other.sent),
        }
    }
}

impl Directed {
    fn and(&self, other: &Self) -> Self {
        Self {
            bytes: self.bytes.saturating_add(other.bytes),
            packets: self.packets.saturating_add(other.packets),
            dropped: self.dropped.saturating_add(other.dropped),
            errors: self.errors.saturating_add(other.errors),
            pauses: self
                .pauses
                .zip(other.pauses)
                .map(|(one, other)| one.saturating_add(other)),
        }
    }

    fn since(&self, earlier: &Self) -> Self {
        // Counters of 64 bits do not wrap; a driver that was reset begins at zero.
        let count = |now: u64, before: u64| now.checked_sub(before).unwrap_or(now);
        Self {
            bytes: count(self.bytes, earlier.bytes),
            packets: count(self.packets, earlier.packets),
            dropped: count(self.dropped, earlier.dropped),
            errors: count(self.errors, earlier.errors),
            pauses: self
                .pauses
                .zip(earlier.pauses)
                .map(|(now, before)| count(now, before)),
        }
    }
}

pub(crate) fn is_link_local(address: &IpAddr) -> bool {
    match address {
        IpAddr::V4(four) => four.is_link_local(),
        IpAddr::V6(six) => six.is_unicast_link_local(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_counts_from_zero_after_a_reset_and_makes_up_no_pauses() {
        let directed = |bytes, pauses| Directed {
            bytes,
            packets: bytes,
            dropped: bytes,
            errors: bytes,
            pauses,
        };
        let counters = |bytes, pauses| Counters {
            received: directed(bytes, pauses),
            sent: directed(bytes, pauses),
        };
        let (early, late) = (counters(10, Some(1)), counters(25, Some(4)));
        assert_eq!(late.since(&early), counters(15, Some(3)));
        assert_eq!(early.since(&late), counters(10, Some(1)));
        assert_eq!(late.since(&counters(5, None)).sent.pauses, None);
        assert_eq!(late.since(&early).and(&early), late);
    }
}
