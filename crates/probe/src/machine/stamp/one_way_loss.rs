//! Losses by direction, from the sequence numbers of both ends [RFC8762 s4.3].

/// Packets of a session up to its latest reply.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OneWayCounts {
    /// Packets sent.
    pub sent: u32,
    /// Those of them that arrived at the reflector.
    pub arrived: u32,
    /// Those of them whose replies arrived at the sender.
    pub answered: u32,
}

/// Follows the sequence numbers of a session: between two replies the reflector's numbers
/// grow by the number of packets that arrived there, the sender's by the number of packets
/// sent.
#[derive(Clone, Debug)]
pub struct OneWayLoss {
    /// Whether the reflector is known to count: one without state repeats the sender's
    /// numbers [RFC8762 s4.3].
    counts: bool,
    /// The sender's number with which the present count began.
    begin: i64,
    /// The sender's and the reflector's number of the latest packet that arrived.
    latest: [i64; 2],
    present: OneWayCounts,
    /// The counts before the reflector began anew.
    earlier: OneWayCounts,
}

impl Default for OneWayLoss {
    fn default() -> Self {
        Self {
            counts: false,
            begin: 0,
            // The numbers before the first ones.
            latest: [-1; 2],
            present: OneWayCounts::default(),
            earlier: OneWayCounts::default(),
        }
    }
}

impl OneWayLoss {
    /// A reply, the first one to the packet with the number `sent`; `sequence` is the number
    /// of the reply, and `stateful` whether the reflector says that it is its own.
    pub fn reply(&mut self, sent: u32, sequence: u32, stateful: bool) {
        self.counts |= stateful || sent != sequence;
        let [sent, sequence] = [sent, sequence].map(i64::from);
        let [latest_sent, latest_sequence] = self.latest;
        if sent <= latest_sent {
            self.late(sent, sequence);
            return;
        }
        let skipped = sent - latest_sent - 1;
        let arrived = sequence - latest_sequence - 1;
        self.latest = [sent, sequence];
        // Otherwise the reflector began anew, or received duplicates.
        if let (Ok(skipped), Ok(arrived)) = (u32::try_from(skipped), u32::try_from(arrived))
            && arrived <= skipped
        {
            self.present.sent += skipped + 1;
            self.present.arrived += arrived + 1;
            self.present.answered += 1;
        } else {
            self.earlier = self.total();
            self.begin = sent;
            self.present = OneWayCounts {
                sent: 1,
                arrived: 1,
                answered: 1,
            };
        }
    }

    /// A reply to a packet that was sent before the latest one.
    fn late(&mut self, sent: i64, sequence: i64) {
        if sent < self.begin {
            return;
        }
        // The reflector received it behind the latest one.
        if sequence == self.latest[1] + 1 && self.present.arrived < self.present.sent {
            self.latest[1] = sequence;
            self.present.arrived += 1;
        }
        // A packet with a reply arrived, whatever the numbers of the reflector say.
        let present = &mut self.present;
        present.answered = (present.answered + 1).min(present.sent);
        present.arrived = present.arrived.max(present.answered);
    }

    /// The counts so far; `None` while the reflector is not known to count.
    pub fn counts(&self) -> Option<OneWayCounts> {
        self.counts.then(|| self.total())
    }

    const fn total(&self) -> OneWayCounts {
        OneWayCounts {
            sent: self.earlier.sent + self.present.sent,
            arrived: self.earlier.arrived + self.present.arrived,
            answered: self.earlier.answered + self.present.answered,
        }
    }
}
