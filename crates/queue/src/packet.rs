//! What a queue may know of a packet, and do to it.

use units::Bytes;

/// What a queue sees of a packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct View {
    /// The octets that it takes in the queue: those of its frame.
    pub size: Bytes,
    /// Which flow it belongs to; packets of one flow have the same number.
    pub flow: u64,
    /// Its class: the higher the number, the better it is to be treated, as
    /// the class selectors order them, 0 to 7 [RFC2474 s4.2.2.2].
    pub class: u8,
    /// Its drop precedence: 0 is inside of what its sender may send, more is
    /// outside and dropped sooner [RFC2597 s2].
    pub precedence: u8,
}

/// Anything that can wait in a queue.
pub trait Packet {
    /// Its size, flow and class.
    fn view(&self) -> View;

    /// The octets of its VLAN tags, which count on a wire and in no MTU.
    fn tags(&self) -> Bytes {
        Bytes::ZERO
    }

    /// How many packets of senders it carries that are still alive: one,
    /// unless it is a bundle. It does not change while the packet waits.
    fn live(&self) -> u32 {
        1
    }

    /// Whether [`Packet::mark`] would be possible.
    fn markable(&self) -> bool {
        false
    }

    /// Marks it as having met congestion (CE) [RFC3168 s5]. Returns whether
    /// that was possible.
    fn mark(&mut self) -> bool {
        false
    }
}
