//! Packets of which it is not known yet whether they arrive, and the rows behind them.

use std::collections::{BTreeMap, VecDeque};

use super::row::Packet;
use super::{CHUNK, Place};

/// The most rows that wait: some 60 MB. A packet that has not arrived this many rows later counts
/// as lost.
pub(super) const WINDOW: usize = 1 << 19;

/// Rows that wait until it is known whether those before them are rows.
#[derive(Default)]
pub(super) struct Undecided {
    held: VecDeque<Held>,
    /// The number of rows that were held before the first one of `held`.
    before: u64,
    /// The numbers of the rows in `held` of packets that have not arrived, by the flow in the
    /// receiver's log and the sequence number.
    waiting: BTreeMap<(Place, u64), u64>,
}

#[derive(Clone, Copy)]
enum Held {
    Row(Packet),
    /// A packet that was sent, and its flow in the receiver's log.
    Sent(Packet, Place),
    /// A packet that was sent and arrived, and so has a row elsewhere.
    Arrived,
}

impl Undecided {
    pub(super) fn is_empty(&self) -> bool {
        self.held.is_empty()
    }

    /// Whether the first packet must be decided.
    pub(super) fn is_full(&self) -> bool {
        self.held.len() >= WINDOW
    }

    /// Adds a row.
    pub(super) fn push(&mut self, packet: Packet, rows: &mut Vec<Packet>) {
        match self.held.is_empty() {
            true => rows.push(packet),
            false => self.held.push_back(Held::Row(packet)),
        }
    }

    /// Adds a packet that was sent to `receiver`.
    pub(super) fn wait(&mut self, receiver: Place, packet: Packet) {
        let number = self.before + self.held.len() as u64;
        self.waiting.insert((receiver, packet.sequence), number);
        self.held.push_back(Held::Sent(packet, receiver));
    }

    /// Takes a packet that arrived from those that wait.
    pub(super) fn arrived(&mut self, receiver: Place, sequence: u64) {
        let Some(number) = self.waiting.remove(&(receiver, sequence)) else {
            return;
        };
        let index = usize::try_from(number - self.before).unwrap_or(usize::MAX);
        if let Some(held) = self.held.get_mut(index) {
            *held = Held::Arrived;
        }
    }

    /// Makes the first packet, which has not arrived, a row with its `outcome`.
    pub(super) fn give_up(&mut self, outcome: impl Fn(&Packet) -> Option<bool>) {
        let Some(front) = self.held.front_mut() else {
            return;
        };
        if let Held::Sent(mut packet, receiver) = *front {
            packet.lost = outcome(&packet);
            *front = Held::Row(packet);
            let key = (receiver, packet.sequence);
            if self.waiting.get(&key) == Some(&self.before) {
                self.waiting.remove(&key);
            }
        }
    }

    /// Passes on the rows in front of the first packet that is not decided, up to a chunk.
    pub(super) fn release(&mut self, rows: &mut Vec<Packet>) {
        while rows.len() < CHUNK
            && let Some(Held::Row(_) | Held::Arrived) = self.held.front()
        {
            if let Some(Held::Row(packet)) = self.held.pop_front() {
                rows.push(packet);
            }
            self.before += 1;
        }
    }
}
