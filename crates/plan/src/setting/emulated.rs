//! Links in the form that the emulator and the simulator take.

use link::{Settings, TooBig};
use units::{Framing, Span};

use super::{Link, Network};

/// The hold time of a frame to be overtaken on a link without a rate.
const HOLD: Span = Span::from_millis(1);

impl Network {
    /// The settings of `link`, one of this network's links. A frame to be
    /// overtaken is held for the transmission time of four frames of the
    /// largest size, so that three can overtake it.
    pub fn emulated(&self, link: &Link) -> Settings {
        let carries = link.carries().bytes();
        let largest = Framing::Ethernet.wire_size(carries);
        let hold = link.rate.map_or(HOLD, |rate| rate.serialise(largest * 4));
        Settings {
            largest_packet: Some(carries),
            delay: link.impairments.delay,
            jitter: link.impairments.jitter,
            loss: link.impairments.loss,
            bit_error_rate: link.impairments.bit_error_rate,
            reorder: link.impairments.reorder,
            hold,
            duplicate: link.impairments.duplicate,
            jitter_distribution: link.impairments.jitter_distribution,
            too_big: match link.impairments.narrow {
                Some(narrow) if narrow.answers => TooBig::Answer,
                _ => TooBig::Drop,
            },
            cut_through: self.cut_through,
            ethernet: link.framing == Framing::Ethernet,
            ..Settings::perfect(link.rate, link.queue())
        }
    }
}
