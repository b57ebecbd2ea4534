//! The store: packets in the order of their arrival.

use alloc::collections::VecDeque;

use crate::{Backlog, Packet};
use units::Bytes;

/// Packets in the order of their arrival, with their number and bytes.
#[derive(Debug)]
pub struct Fifo<P> {
    packets: VecDeque<P>,
    bytes: Bytes,
    /// The senders' packets in them.
    live: u64,
}

impl<P: Packet> Fifo<P> {
    /// An empty one.
    pub const fn new() -> Self {
        Self {
            packets: VecDeque::new(),
            bytes: Bytes::ZERO,
            live: 0,
        }
    }

    /// Puts a packet behind all others.
    pub fn push(&mut self, packet: P) {
        self.bytes += packet.view().size;
        self.live += u64::from(packet.live());
        self.packets.push_back(packet);
    }

    /// Takes the oldest packet.
    pub fn pop(&mut self) -> Option<P> {
        let packet = self.packets.pop_front()?;
        if self.packets.is_empty() {
            // Begins anew at the front, where memory is in the cache.
            self.packets.clear();
        }
        self.forget(&packet);
        Some(packet)
    }

    /// Takes the packet before which `older` others wait.
    pub fn remove(&mut self, older: usize) -> Option<P> {
        let packet = self.packets.remove(older)?;
        self.forget(&packet);
        Some(packet)
    }

    /// Marks the packet before which `older` others wait as having met
    /// congestion; whether that was possible.
    pub fn mark(&mut self, older: usize) -> bool {
        self.packets.get_mut(older).is_some_and(Packet::mark)
    }

    /// How many packets wait.
    pub fn len(&self) -> usize {
        self.packets.len()
    }

    /// Whether none waits.
    pub fn is_empty(&self) -> bool {
        self.packets.is_empty()
    }

    /// How many packets of senders wait, those in bundles counted each.
    pub const fn live(&self) -> u64 {
        self.live
    }

    /// The packets and bytes that it holds.
    pub fn backlog(&self) -> Backlog {
        Backlog {
            packets: u32::try_from(self.packets.len()).unwrap_or(u32::MAX),
            bytes: self.bytes,
        }
    }

    fn forget(&mut self, packet: &P) {
        self.bytes = self.bytes - packet.view().size;
        self.live = self.live.saturating_sub(u64::from(packet.live()));
    }
}

impl<P: Packet> Default for Fifo<P> {
    fn default() -> Self {
        Self::new()
    }
}
