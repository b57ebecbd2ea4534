//! Ring sizes and interrupt coalescing of an interface.

use std::io;
use std::os::fd::BorrowedFd;

use serde::{Deserialize, Serialize};
use units::Span;

use super::ioctl;
use crate::portable::nic_parts::{Coalescing, Rings};

const ETHTOOL_GCOALESCE: u32 = 0x0e;
const ETHTOOL_SCOALESCE: u32 = 0x0f;
const ETHTOOL_GRINGPARAM: u32 = 0x10;
const ETHTOOL_SRINGPARAM: u32 = 0x11;

/// One ring of an interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) enum Ring {
    /// That of arriving frames.
    Receive,
    /// That of departing frames.
    Send,
}

/// One number of the coalescing of an interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) enum CoalescingField {
    /// [`Coalescing::receive_delay`] in microseconds.
    ReceiveDelay,
    /// [`Coalescing::receive_frames`].
    ReceiveFrames,
    /// [`Coalescing::adaptive`]: 1 if it is on.
    Adaptive,
}

/// struct ethtool_ringparam: cmd, then the limits of rx, rx_mini, rx_jumbo and tx, then
/// the four current values.
type RingParameters = [u32; 9];

/// struct ethtool_coalesce: cmd, rx_coalesce_usecs, rx_max_coalesced_frames, seven more,
/// use_adaptive_rx_coalesce, and twelve more.
type CoalescingParameters = [u32; 23];

impl Ring {
    /// The word of [`RingParameters`] with its size.
    const fn word(self) -> usize {
        match self {
            Self::Receive => 5,
            Self::Send => 8,
        }
    }
}

impl CoalescingField {
    /// The word of [`CoalescingParameters`] with its value.
    const fn word(self) -> usize {
        match self {
            Self::ReceiveDelay => 1,
            Self::ReceiveFrames => 2,
            Self::Adaptive => 10,
        }
    }
}

/// The rings of `interface`; an error if its driver has none.
pub(crate) fn rings(control: BorrowedFd<'_>, interface: &str) -> io::Result<Rings> {
    let parameters = ring_parameters(control, interface)?;
    Ok(Rings {
        receive: parameters[Ring::Receive.word()],
        receive_limit: parameters[1],
        send: parameters[Ring::Send.word()],
        send_limit: parameters[4],
    })
}

/// Sets the size of one ring of `interface`, in frames.
pub(crate) fn set_ring(
    control: BorrowedFd<'_>,
    interface: &str,
    ring: Ring,
    frames: u32,
) -> io::Result<()> {
    let mut parameters = ring_parameters(control, interface)?;
    parameters[0] = ETHTOOL_SRINGPARAM;
    parameters[ring.word()] = frames;
    ioctl(control, interface, &mut parameters)
}

/// The coalescing of `interface`; an error if its driver has none.
pub(crate) fn coalescing(control: BorrowedFd<'_>, interface: &str) -> io::Result<Coalescing> {
    let parameters = coalescing_parameters(control, interface)?;
    Ok(Coalescing {
        receive_delay: Span::from_micros(parameters[CoalescingField::ReceiveDelay.word()].into()),
        receive_frames: parameters[CoalescingField::ReceiveFrames.word()],
        adaptive: parameters[CoalescingField::Adaptive.word()] != 0,
    })
}

/// One number of the coalescing of `interface`.
pub(crate) fn coalescing_field(
    control: BorrowedFd<'_>,
    interface: &str,
    field: CoalescingField,
) -> io::Result<u32> {
    Ok(coalescing_parameters(control, interface)?[field.word()])
}

/// Sets one number of the coalescing of `interface`.
pub(crate) fn set_coalescing_field(
    control: BorrowedFd<'_>,
    interface: &str,
    field: CoalescingField,
    value: u32,
) -> io::Result<()> {
    let mut parameters = coalescing_parameters(control, interface)?;
    parameters[0] = ETHTOOL_SCOALESCE;
    parameters[field.word()] = value;
    ioctl(control, interface, &mut parameters)
}

fn ring_parameters(control: BorrowedFd<'_>, interface: &str) -> io::Result<RingParameters> {
    let mut parameters = RingParameters::default();
    parameters[0] = ETHTOOL_GRINGPARAM;
    ioctl(control, interface, &mut parameters)?;
    Ok(parameters)
}

fn coalescing_parameters(
    control: BorrowedFd<'_>,
    interface: &str,
) -> io::Result<CoalescingParameters> {
    let mut parameters = CoalescingParameters::default();
    parameters[0] = ETHTOOL_GCOALESCE;
    ioctl(control, interface, &mut parameters)?;
    Ok(parameters)
}
