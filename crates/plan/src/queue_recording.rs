//! A part of a trial's recording of one queue, packet by packet.

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

/// Successive packets of one direction of a link.
#[derive(Clone, Debug, PartialEq)]
pub struct QueueRecording {
    /// The trial's name.
    pub trial: String,
    /// The factors of its cell.
    pub factors: Factors,
    /// The link's name.
    pub link: String,
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
    /// The average queue before it, in the unit of the thresholds.
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
