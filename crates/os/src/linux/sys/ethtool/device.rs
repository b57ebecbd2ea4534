//! The device of an interface, as its driver describes it.

use std::io;
use std::os::fd::BorrowedFd;

use super::{STRING_LEN, bytes, ioctl, names, text};

const ETHTOOL_GDRVINFO: u32 = 0x03;
const ETHTOOL_GSTATS: u32 = 0x1d;
const ETHTOOL_GET_TS_INFO: u32 = 0x41;
/// The string set with the names of the statistics.
const ETH_SS_STATS: u32 = 1;

/// The names that a driver gives.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct DriverInfo {
    /// Its own name.
    pub(crate) driver: Option<String>,
    /// The version of the device's firmware.
    pub(crate) firmware: Option<String>,
}

/// The driver of an interface, and the firmware of its device.
pub(crate) fn driver_info(control: BorrowedFd<'_>, interface: &str) -> io::Result<DriverInfo> {
    // struct ethtool_drvinfo: cmd, driver, version, fw_version, bus_info and
    // erom_version of 32 bytes each, 12 bytes, and five numbers.
    const WORDS: usize = 1 + (5 * STRING_LEN + 12) / 4 + 5;
    const DRIVER: usize = 4;
    const FIRMWARE: usize = 4 + 2 * STRING_LEN;
    let mut request = [0; WORDS];
    request[0] = ETHTOOL_GDRVINFO;
    ioctl(control, interface, &mut request)?;
    let bytes = bytes(&request);
    let word = |at: usize| {
        let word = text(&bytes[at..at + STRING_LEN]);
        Some(word).filter(|word| !word.is_empty() && word != "N/A")
    };
    Ok(DriverInfo {
        driver: word(DRIVER),
        firmware: word(FIRMWARE),
    })
}

/// The stamps and the clock of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stamping {
    /// Whether the device stamps arriving packets.
    pub(crate) receive: bool,
    /// The number of its PTP hardware clock: 0 is `/dev/ptp0`.
    pub(crate) clock: Option<u32>,
}

/// The stamps of a device [LinuxUapi net_tstamp.h].
pub(crate) fn stamping(control: BorrowedFd<'_>, interface: &str) -> io::Result<Stamping> {
    // struct ethtool_ts_info: cmd, so_timestamping, phc_index, tx_types, three words,
    // rx_filters, three words. The index is -1 without a clock.
    let mut request = [0; 11];
    request[0] = ETHTOOL_GET_TS_INFO;
    ioctl(control, interface, &mut request)?;
    Ok(Stamping {
        receive: request[1] & libc::SOF_TIMESTAMPING_RX_HARDWARE != 0,
        clock: Some(request[2]).filter(|&index| index < u32::MAX >> 1),
    })
}

/// The statistics of the driver, by its own names.
pub(crate) fn statistics(
    control: BorrowedFd<'_>,
    interface: &str,
) -> io::Result<Vec<(String, u64)>> {
    let names = names(control, interface, ETH_SS_STATS)?;
    // struct ethtool_stats: cmd, n_stats, then 64 bits each.
    let mut request = vec![0; 2 + 2 * names.len()];
    request[0] = ETHTOOL_GSTATS;
    request[1] = u32::try_from(names.len()).map_err(io::Error::other)?;
    ioctl(control, interface, &mut request)?;
    let bytes = bytes(&request[2..]);
    let values = bytes
        .as_chunks::<8>()
        .0
        .iter()
        .map(|value| u64::from_ne_bytes(*value));
    Ok(names.into_iter().zip(values).collect())
}
