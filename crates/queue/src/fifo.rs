//! The store: packets in the order of their arrival.

use alloc::collections::VecDeque;

use crate::{Backlog, Packet};
use units::Bytes;

/// Packets in the order of their arrival, with their number and octets.
#[derive(Debug)]
pub struct Fifo<P> {
    packets: VecDeque<P>,
    bytes: Bytes,
}

impl<P: Packet> Fifo<P> {
    /// An empty one.
    pub const fn new() -> Self {
        Self {
            packets: VecDeque::new(),
            bytes: Bytes::ZERO,
        }
    }

    /// Puts a packet behind all others.
    pub fn push(&mut self, packet: P) {
        self.bytes += packet.view().size;
        self.packets.push_back(packet);
    }

    /// Takes the oldest packet.
    pub fn pop(&mut self) -> Option<P> {
        let packet = self.packets.pop_front()?;
        self.bytes = self.bytes - packet.view().size;
        Some(packet)
    }

    /// What it holds.
    pub fn backlog(&self) -> Backlog {
        Backlog {
            packets: u32::try_from(self.packets.len()).unwrap_or(u32::MAX),
            bytes: self.bytes,
        }
    }
}

impl<P: Packet> Default for Fifo<P> {
    fn default() -> Self {
        Self::new()
    }
}
