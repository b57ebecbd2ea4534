//! The counters of an interface.

use std::os::fd::AsFd;

use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::netlink::Route;
use crate::socket::control;
use crate::sys::ethtool;

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

/// The names of pause frames in statistics of drivers, received and sent. A driver may
/// count them twice; the first name that it has counts.
const PAUSES: [[&str; 2]; 6] = [
    ["rx_pause", "tx_pause"],
    ["rx_pause_ctrl_phy", "tx_pause_ctrl_phy"],
    ["rx_pause_frames", "tx_pause_frames"],
    ["rx_flow_control_xoff", "tx_flow_control_xoff"],
    ["port.link_xoff_rx", "port.link_xoff_tx"],
    ["link_xoff_rx.nic", "link_xoff_tx.nic"],
];

impl Counters {
    /// Reads the counters of the interface of this name.
    ///
    /// # Errors
    /// If there is none.
    pub fn sample(interface: &str) -> Result<Self> {
        let counted = Route::open()?.counters(interface)?;
        let control = control()?;
        let statistics = ethtool::statistics(control.as_fd(), interface).unwrap_or_default();
        let [pauses_received, pauses_sent] = pauses(&statistics);
        Ok(Self {
            received: Directed {
                bytes: counted.rx_bytes,
                packets: counted.rx_packets,
                // Full rings are counted apart from the kernel's own drops.
                dropped: counted.rx_dropped + counted.rx_missed_errors,
                errors: counted.rx_errors,
                pauses: pauses_received,
            },
            sent: Directed {
                bytes: counted.tx_bytes,
                packets: counted.tx_packets,
                dropped: counted.tx_dropped,
                errors: counted.tx_errors,
                pauses: pauses_sent,
            },
        })
    }

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

/// The received and sent pause frames in statistics of a driver.
fn pauses(statistics: &[(String, u64)]) -> [Option<u64>; 2] {
    let value = |wanted: &str| {
        statistics
            .iter()
            .find_map(|(name, value)| (name == wanted).then_some(*value))
    };
    [0, 1].map(|direction| PAUSES.iter().find_map(|names| value(names[direction])))
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

    #[test]
    fn pause_frames_are_found_under_the_names_of_drivers_and_counted_once() {
        let statistics = |names: &[&str]| {
            let values = (1..)
                .zip(names)
                .map(|(value, name)| ((*name).to_owned(), value));
            pauses(&values.collect::<Vec<_>>())
        };
        assert_eq!(
            statistics(&[
                "rx_packets",
                "tx_pause_ctrl_phy",
                "rx_pause_ctrl_phy",
                "rx_prio0_pause"
            ]),
            [Some(3), Some(2)]
        );
        assert_eq!(statistics(&["rx_packets"]), [None, None]);
    }

    #[test]
    fn loopback_counts_as_many_bytes_in_as_out() {
        let counters = Counters::sample("lo").unwrap();
        assert_eq!(counters.received.bytes, counters.sent.bytes);
        assert!(Counters::sample("no-such-name").is_err());
    }
}
