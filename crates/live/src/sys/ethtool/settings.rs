//! Ring sizes and interrupt coalescing of an interface.

use std::io;
use std::os::fd::BorrowedFd;

use units::Span;

use super::ioctl;

const ETHTOOL_GCOALESCE: u32 = 0x0e;
const ETHTOOL_GRINGPARAM: u32 = 0x10;

/// Sizes of the rings between driver and hardware.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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

/// Interrupt coalescing: how the hardware gathers packets before an interrupt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Coalescing {
    /// The longest delay of an interrupt after an arrival.
    pub receive_delay: Span,
    /// The number of arrivals that trigger an interrupt in any case; 0: no limit.
    pub receive_frames: u32,
    /// Whether the driver adapts the settings to the traffic.
    pub adaptive: bool,
}

/// The rings of `interface`; an error if its driver has none.
pub(crate) fn rings(control: BorrowedFd<'_>, interface: &str) -> io::Result<Rings> {
    // struct ethtool_ringparam: cmd, then the limits of rx, rx_mini, rx_jumbo and tx,
    // then the four current values.
    let mut request = [0; 9];
    request[0] = ETHTOOL_GRINGPARAM;
    ioctl(control, interface, &mut request)?;
    Ok(Rings {
        receive: request[5],
        receive_limit: request[1],
        send: request[8],
        send_limit: request[4],
    })
}

/// The coalescing of `interface`; an error if its driver has none.
pub(crate) fn coalescing(control: BorrowedFd<'_>, interface: &str) -> io::Result<Coalescing> {
    // struct ethtool_coalesce: cmd, rx_coalesce_usecs, rx_max_coalesced_frames,
    // seven more, use_adaptive_rx_coalesce, and twelve more.
    let mut request = [0; 23];
    request[0] = ETHTOOL_GCOALESCE;
    ioctl(control, interface, &mut request)?;
    Ok(Coalescing {
        receive_delay: Span::from_micros(request[1].into()),
        receive_frames: request[2],
        adaptive: request[10] != 0,
    })
}
