//! A part of a trial's recording of one queue, packet by packet.

use std::collections::VecDeque;

use units::Time;

use crate::Factors;

/// Why a packet did not leave a queue, or was lost behind it, as recordings name
/// it, and in words.
const LOSSES: [(&str, &str); 7] = [
    ("full", "the queue was full"),
    ("early", "an early drop"),
    ("forced", "a forced drop: the average was too long"),
    ("late", "it had waited too long"),
    ("too-big", "larger than the link carries"),
    ("lost", "lost on the wire"),
    ("damaged", "damaged on the wire"),
];

/// A part of what a trial recorded of a link.
#[derive(Clone, Debug, PartialEq)]
pub struct QueueRecording {
    /// The trial's name.
    pub trial: String,
    /// The factors of its cell.
    pub factors: Factors,
    /// The link's name.
    pub link: String,
    /// The part.
    pub window: QueueWindow,
}

/// Successive packets of one direction of a link.
#[derive(Clone, Debug, PartialEq)]
pub struct QueueWindow {
    /// 0 from the link's first end to its second, 1 back.
    pub direction: usize,
    /// The names of the flows.
    pub flows: Vec<String>,
    /// The packets in order of arrival.
    pub packets: Vec<QueuedPacket>,
    /// The place in `packets` of the first one that was lost or marked, or of which a
    /// part was, after the instant that was looked for.
    pub decided: Option<usize>,
    /// The number of packets in the whole recording of this direction.
    pub recorded: u64,
}

/// A packet that came to a queue.
#[derive(Clone, Debug, PartialEq)]
pub struct QueuedPacket {
    /// When it came.
    pub at: Time,
    /// The packets that waited before it.
    pub waiting: u32,
    /// The average queue before it, in frames.
    pub average: Option<f64>,
    /// The index of its flow.
    pub flow: usize,
    /// Octets of its IP packet.
    pub size: u64,
    /// Packets of senders in it: 1, unless it is a bundle.
    pub inner: u32,
    /// When it left the queue, and whether as a loss; `None`: not in this trial.
    pub left: Option<(Time, Option<Loss>)>,
    /// Whether the queue marked it as having met congestion.
    pub is_marked: bool,
    /// Drops of packets out of it.
    pub inner_drops: Vec<(Time, Loss)>,
}

impl QueuedPacket {
    /// Whether the queue dropped or marked the packet, or dropped something in it, or
    /// it was lost behind the queue.
    pub fn is_decided(&self) -> bool {
        let is_lost = self.left.is_some_and(|(_, loss)| loss.is_some());
        is_lost || self.is_marked || !self.inner_drops.is_empty()
    }
}

/// The part of a recording that is shown: the packets of one direction about the
/// first decision after an instant, or the latest ones as long as there is none.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Excerpt {
    /// The packets in order of arrival.
    pub packets: VecDeque<QueuedPacket>,
    /// The place of the packet with the decision.
    pub decided: Option<usize>,
}

impl Excerpt {
    /// The most packets before the decision.
    pub const BEFORE: usize = 1_000;

    /// The most packets from the decision on.
    pub const AFTER: usize = 2_500;

    /// Takes the next packet; decisions before `from` are not looked for.
    pub fn take(&mut self, packet: QueuedPacket, from: Time) {
        if self.is_whole() {
            return;
        }
        if self.decided.is_none() && packet.at >= from && packet.is_decided() {
            let surplus = self.packets.len().saturating_sub(Self::BEFORE);
            self.packets.drain(..surplus);
            self.decided = Some(self.packets.len());
        }
        if self.decided.is_none() && self.packets.len() == Self::BEFORE + Self::AFTER {
            self.packets.pop_front();
        }
        self.packets.push_back(packet);
    }

    /// Whether further packets would change nothing.
    pub fn is_whole(&self) -> bool {
        self.decided
            .is_some_and(|decided| self.packets.len() >= decided + Self::AFTER)
    }

    /// The direction of a link to show, and its part: the first one, in which most
    /// traffic goes, unless only the other one has a decision or packets.
    pub fn of_link([forward, backward]: [Self; 2]) -> (usize, Self) {
        let is_second = match (forward.decided, backward.decided) {
            (Some(_), _) => false,
            (None, Some(_)) => true,
            (None, None) => backward.packets.len() > forward.packets.len(),
        };
        if is_second {
            (1, backward)
        } else {
            (0, forward)
        }
    }
}

/// Why a packet was lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Loss(usize);

impl Loss {
    /// The loss that recordings call `word`.
    pub fn named(word: &str) -> Option<Self> {
        let place = LOSSES.iter().position(|(name, _)| *name == word);
        place.map(Self)
    }

    /// Its name in recordings.
    pub const fn name(self) -> &'static str {
        LOSSES[self.0].0
    }

    /// Its name and meaning.
    pub const fn words(self) -> &'static str {
        LOSSES[self.0].1
    }
}
