//! What a queue may know of a packet, and do to it.

use units::Bytes;

/// What a queue sees of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct View {
    /// The octets that it takes in the queue: those of its frame.
    pub size: Bytes,
    /// Which flow it belongs to; packets of one flow have the same number.
    pub flow: u64,
}

/// Anything that can wait in a queue.
pub trait Packet {
    /// Its size and flow.
    fn view(&self) -> View;

    /// How many packets of senders it carries that are still alive: one,
    /// unless it is a bundle.
    fn live(&self) -> u32 {
        1
    }

    /// Marks it as having met congestion (CE) [RFC3168 s5]. Returns whether
    /// that was possible.
    fn mark(&mut self) -> bool {
        false
    }
}
