//! The counters of an interface.

use std::os::fd::AsFd;

use crate::error::Result;
use crate::netlink::Route;
use crate::portable::nic_parts::{Counters, Directed};
use crate::socket::control;
use crate::sys::ethtool;

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
