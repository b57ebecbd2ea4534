//! The settings of an interface that a run may change, and those that the kernel
//! changes along with them.

use serde::{Deserialize, Serialize};

use super::Wanted;
use crate::sys::ethtool::{CoalescingField, Ring};

/// A setting of an interface. Its value is a number.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) enum Setting {
    /// The MTU in bytes.
    Mtu,
    /// The MTU that IPv6 uses, in bytes: it follows the interface's.
    Ipv6Mtu,
    /// The MTU in the metrics of this IPv6 route, in bytes: likewise.
    RouteMtu(Vec<u8>),
    /// The offload of this name: [`REQUESTED`] and [`ACTIVE`].
    Offload(String),
    /// The size of a ring in frames.
    Ring(Ring),
    /// A number of the interrupt coalescing.
    Coalescing(CoalescingField),
}

/// Bit of an offload that is asked for.
pub(super) const REQUESTED: u32 = 1;
/// Bit of an offload that is on. One that is asked for stays off without the features
/// that it needs.
pub(super) const ACTIVE: u32 = 2;

impl Setting {
    /// Whether its value `now` is what a run wants.
    pub(super) fn is(&self, now: u32, wanted: u32) -> bool {
        match self {
            Self::Offload(_) => (now & ACTIVE != 0) == (wanted & REQUESTED != 0),
            _ => now == wanted,
        }
    }

    /// Whether two of its values are the same. An offload that is asked for is on as far
    /// as other features allow, which the kernel decides anew at each change.
    pub(super) const fn same(&self, one: u32, other: u32) -> bool {
        match self {
            Self::Offload(_) => (one ^ other) & REQUESTED == 0,
            _ => one == other,
        }
    }

    /// Its name in messages.
    pub(super) fn name(&self) -> String {
        match self {
            Self::Mtu => "the MTU".to_owned(),
            Self::Ipv6Mtu => "the MTU of IPv6".to_owned(),
            Self::RouteMtu(_) => "the MTU of an IPv6 route".to_owned(),
            Self::Offload(name) => format!("the offload {name}"),
            Self::Ring(Ring::Receive) => "the receive ring".to_owned(),
            Self::Ring(Ring::Send) => "the send ring".to_owned(),
            Self::Coalescing(CoalescingField::ReceiveDelay) => "the interrupt delay in us".into(),
            Self::Coalescing(CoalescingField::ReceiveFrames) => "the frames per interrupt".into(),
            Self::Coalescing(CoalescingField::Adaptive) => "adaptive coalescing".into(),
        }
    }

    /// A value that the kernel states, in messages: an offload that is asked for may be off.
    pub(super) fn show_in_force(&self, value: u32) -> String {
        match self {
            Self::Offload(_) => self.show(value & ACTIVE),
            _ => self.show(value),
        }
    }

    /// A value in messages.
    pub(super) fn show(&self, value: u32) -> String {
        let word = |on: bool| if on { "on" } else { "off" };
        match self {
            Self::Offload(_) => word(value & (REQUESTED | ACTIVE) != 0).to_owned(),
            Self::Coalescing(CoalescingField::Adaptive) => word(value != 0).to_owned(),
            _ => value.to_string(),
        }
    }
}

impl Wanted {
    /// The settings to change with their values, the MTU last: drivers compare a new MTU
    /// with offloads and rings.
    pub(super) fn settings(&self) -> Vec<(Setting, u32)> {
        let offloads = self
            .offloads
            .iter()
            .map(|(name, on)| (Setting::Offload(name.clone()), u32::from(*on)));
        let rings = [
            (Ring::Receive, self.rings.receive),
            (Ring::Send, self.rings.send),
        ]
        .map(|(ring, frames)| Some((Setting::Ring(ring), frames?)));
        let delay = self.coalescing.receive_delay.map(|delay| {
            let micros = delay.as_nanos() / 1_000;
            u32::try_from(micros).unwrap_or(u32::MAX)
        });
        // Adaptive first: a driver that adapts the others rejects or overwrites them.
        let coalescing = [
            (
                CoalescingField::Adaptive,
                self.coalescing.adaptive.map(u32::from),
            ),
            (CoalescingField::ReceiveDelay, delay),
            (
                CoalescingField::ReceiveFrames,
                self.coalescing.receive_frames,
            ),
        ]
        .map(|(field, value)| Some((Setting::Coalescing(field), value?)));
        offloads
            .chain(rings.into_iter().flatten())
            .chain(coalescing.into_iter().flatten())
            .chain(self.mtu.map(|mtu| (Setting::Mtu, mtu)))
            .collect()
    }
}
