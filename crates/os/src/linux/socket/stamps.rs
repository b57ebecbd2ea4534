//! The kernel's timestamps of arrivals, and of departures from a socket's error queue
//! [LinuxUapi net_tstamp.h].

use std::net::{IpAddr, Ipv4Addr};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use nix::sys::socket::{TimestampingFlag, setsockopt, sockopt};

use super::errors::next_error;
use super::kind::bare;
use crate::error::{OperationContext, Result};
use crate::portable::socket_parts::Kind;

/// Stamps of arrivals.
pub const ARRIVALS: TimestampingFlag = TimestampingFlag::SOF_TIMESTAMPING_RX_SOFTWARE
    .union(TimestampingFlag::SOF_TIMESTAMPING_SOFTWARE);

/// Numbers of departures, without the packets themselves.
pub const NUMBERS: TimestampingFlag = TimestampingFlag::SOF_TIMESTAMPING_OPT_ID
    .union(TimestampingFlag::SOF_TIMESTAMPING_OPT_TSONLY)
    .union(TimestampingFlag::SOF_TIMESTAMPING_SOFTWARE);

/// SOF_TIMESTAMPING_OPT_ID_TCP: numbers count from the bytes written, not from those
/// acknowledged.
pub const COUNT_WRITTEN: TimestampingFlag = TimestampingFlag::from_bits_retain(1 << 16);

/// SOF_TIMESTAMPING_TX_SCHED: stamps of departures in front of the queueing discipline.
pub const QUEUED: TimestampingFlag = TimestampingFlag::from_bits_retain(1 << 8);

/// Stamps of departures at the interface.
pub const LEFT: TimestampingFlag = TimestampingFlag::SOF_TIMESTAMPING_TX_SOFTWARE;

/// SOF_TIMESTAMPING_TX_ACK: stamps of the acknowledgements of departures.
pub const ACKNOWLEDGED: TimestampingFlag = TimestampingFlag::from_bits_retain(1 << 9);

/// Whether the kernel can timestamp arrivals.
pub const STAMPS_ARRIVALS: bool = true;

/// Enables the kernel's receive timestamps.
pub fn stamp_arrivals(socket: impl AsFd) -> Result<()> {
    setsockopt(&socket, sockopt::Timestamping, &ARRIVALS).during(|| "asking for receive stamps")
}

/// Makes the kernel timestamp these events from here on, and no other ones.
pub fn stamp_departures(socket: BorrowedFd<'_>, events: TimestampingFlag) -> Result<()> {
    setsockopt(&socket, sockopt::Timestamping, &events).during(|| "asking for stamps of departures")
}

/// A socket that makes the kernel timestamp arrivals while it is open. The kernel
/// starts and stops a little after the first and the last such socket, so the first
/// arrivals of a transfer could lack timestamps.
///
/// # Errors
/// If the kernel rejects.
pub fn keep_stamping() -> Result<OwnedFd> {
    let socket = bare(Kind::Datagram, IpAddr::V4(Ipv4Addr::LOCALHOST), false)?;
    stamp_arrivals(&socket)?;
    Ok(socket)
}

/// A timestamp of a departure.
pub struct Stamp {
    /// CLOCK_REALTIME at the departure, in nanoseconds since 1970.
    pub at: u64,
    /// The point at which it was taken (`SCM_TSTAMP_*`).
    pub place: u32,
    /// The kernel's number: of the byte in a stream, or of the datagram.
    pub number: u32,
}

/// Passes all waiting timestamps of `socket` to `take`.
pub fn read_departures(socket: BorrowedFd<'_>, mut take: impl FnMut(Stamp)) -> Result<()> {
    while let Some(queued) = next_error(socket).during(|| "reading stamps of departures")? {
        if let (Some(at), Some((error, _))) = (queued.stamp, queued.reported) {
            take(Stamp {
                at,
                place: error.ee_info,
                number: error.ee_data,
            });
        }
    }
    Ok(())
}
