//! Ring sizes and interrupt coalescing of an interface.

use std::io;
use std::os::fd::BorrowedFd;

use units::Span;

use super::ioctl;

const ETHTOOL_GCOALESCE: u32 = 0x0e;
const ETHTOOL_GRINGPARAM: u32 = 0x10;

/// Frames that wait between driver and hardware.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rings {
    /// Frames to be received.
    pub receive: u32,
    /// The most of them that the hardware offers.
    pub receive_limit: u32,
    /// Frames to be sent.
    pub send: u32,
    /// The most of them that the hardware offers.
    pub send_limit: u32,
}

/// How the hardware gathers packets before it interrupts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Coalescing {
    /// How long an arrival may wait for an interrupt.
    pub receive_delay: Span,
    /// After how many arrivals it comes in any case; 0 for no such rule.
    pub receive_frames: u32,
    /// Whether the driver adapts this to the traffic.
    pub adaptive: bool,
}

/// The rings of `interface`; an error where its driver has none.
pub(crate) fn rings(control: BorrowedFd<'_>, interface: &str) -> io::Result<Rings> {
    // struct ethtool_ringparam: cmd, then the limits of rx, rx_mini, rx_jumbo
    // and tx, then the same four as they are.
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

/// The coalescing of `interface`; an error where its driver has none.
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
