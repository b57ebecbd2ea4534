//! The session-sender [RFC8762 s4.2].

use std::collections::BTreeMap;

use units::{Span, Time};
use wire::Error;
use wire::stamp::{
    BASE_LEN, ErrorEstimate, LengthControl, Probe, Reflected, SenderPacket, Timestamp,
};

use crate::Direction;

/// The most packets that are remembered; replies to older ones are unknown.
const MOST: usize = 4_096;

/// A lost packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lost {
    /// The identifier of the probe.
    pub id: u64,
    /// Where it, or the reply, was lost.
    pub direction: Direction,
}

/// The delays of a packet and its reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delays {
    /// From sending the packet until the reply was received.
    pub round_trip: Span,
    /// The part of it that the reflector took; `None` if its timestamps contradict
    /// the round trip.
    pub reflector: Option<Span>,
    /// From sending the packet until the reflector received it, in nanoseconds, plus the
    /// difference between both clocks.
    pub forward: i64,
    /// From the reflector's reply until it was received, less that difference.
    pub backward: i64,
}

/// A reply, accepted once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    /// The identifier of the probe.
    pub id: u64,
    /// The sequence number that the probe had.
    pub sent: u32,
    /// The sequence number of the reply.
    pub sequence: u32,
    /// Whether the reflector says that the latter is its own.
    pub stateful: bool,
    /// The TTL or hop limit with which the probe arrived.
    pub hop_limit: u8,
    /// The reflector's answer to the request for a short reply, if there was one.
    pub length_control: Option<LengthControl>,
    /// The delays.
    pub delays: Delays,
    /// Earlier packets that this reply shows to be lost, and on which direction. Only the
    /// sequence numbers of a reflector with state tell.
    pub lost: Vec<Lost>,
}

/// Why octets are no reply to accept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unmatched {
    /// They are no test packet of a reflector.
    Malformed,
    /// They answer no packet of this session that is remembered.
    Unknown,
    /// They answer one that was answered before.
    Duplicate,
}

/// Counts of a session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Packets sent.
    pub sent: u64,
    /// Packets answered.
    pub answered: u64,
    /// Packets lost on the way there.
    pub lost_forward: u64,
    /// Packets whose replies were lost on the way back.
    pub lost_backward: u64,
    /// Replies to packets that were answered before.
    pub duplicates: u64,
    /// Replies that belong to no packet.
    pub unknown: u64,
    /// Packets that are no replies.
    pub malformed: u64,
}

/// A packet that was sent.
#[derive(Clone, Copy, Debug)]
struct Sent {
    id: u64,
    at: Time,
    packet: SenderPacket,
    answered: bool,
    /// Whether both sequences were followed where it stands, so that it counts.
    followed: bool,
}

/// The latest reply: its place in both sequences. Before the first reply, both are one
/// less than the first number.
#[derive(Clone, Copy, Debug)]
struct Latest {
    sent: i64,
    /// `None` if the reflector does not count.
    sequence: Option<i64>,
}

/// Packets up to the latest reply, without those between two replies whose numbers do not
/// fit each other.
#[derive(Clone, Copy, Debug)]
struct Followed {
    sent: u64,
    arrived: u64,
    answered: u64,
}

/// A session-sender.
#[derive(Debug)]
pub struct Sender {
    session: u16,
    error: ErrorEstimate,
    next: u32,
    packets: BTreeMap<u32, Sent>,
    /// Whether the reflector counts the packets of the session.
    counts: bool,
    latest: Latest,
    followed: Followed,
    totals: Totals,
}

impl Sender {
    /// A session with an identifier that is not zero [RFC8972 s3], of a sender whose
    /// timestamps have this error.
    pub const fn new(session: u16, error: ErrorEstimate) -> Self {
        Self {
            session,
            error,
            next: 0,
            packets: BTreeMap::new(),
            counts: false,
            latest: Latest {
                sent: -1,
                sequence: Some(-1),
            },
            followed: Followed {
                sent: 0,
                arrived: 0,
                answered: 0,
            },
            totals: Totals {
                sent: 0,
                answered: 0,
                lost_forward: 0,
                lost_backward: 0,
                duplicates: 0,
                unknown: 0,
                malformed: 0,
            },
        }
    }

    /// Writes the next packet, which has the length of `octets` and leaves `now`, when
    /// the wall clock shows `unix_nanos`. `id` is a number that nobody off the path can
    /// guess.
    ///
    /// # Errors
    /// Those of [`Probe::emit`]; the packet does not count as sent.
    pub fn send(
        &mut self,
        now: Time,
        unix_nanos: u64,
        id: u64,
        short_reply: bool,
        octets: &mut [u8],
    ) -> Result<(), Error> {
        let packet = SenderPacket {
            sequence: self.next,
            sent: Timestamp::ntp(unix_nanos),
            error: self.error,
            session: self.session,
        };
        let probe = Probe {
            packet,
            id,
            short_reply,
        };
        probe.emit(octets)?;
        if self.packets.len() >= MOST {
            self.packets.pop_first();
        }
        let sent = Sent {
            id,
            at: now,
            packet,
            answered: false,
            followed: true,
        };
        self.packets.insert(self.next, sent);
        self.next = self.next.wrapping_add(1);
        self.totals.sent += 1;
        Ok(())
    }

    /// Takes the packet back that was written last: the system refused to send it.
    pub fn unsent(&mut self) {
        if let Some((sequence, _)) = self.packets.pop_last() {
            self.next = sequence;
            self.totals.sent -= 1;
        }
    }

    /// Reads a reply that was received at `now`, when the wall clock showed `unix_nanos`.
    /// It has to repeat the sequence number, the timestamp and the identifier of a packet;
    /// the latter only if it is longer than the base.
    ///
    /// # Errors
    /// The reason if the octets are no reply to accept. No such octets change what
    /// [`Self::receive`] returns for others.
    pub fn receive(
        &mut self,
        now: Time,
        unix_nanos: u64,
        octets: &[u8],
    ) -> Result<Reply, Unmatched> {
        let result = self.attempt(now, unix_nanos, octets);
        match result {
            Ok(_) => self.totals.answered += 1,
            Err(Unmatched::Malformed) => self.totals.malformed += 1,
            Err(Unmatched::Unknown) => self.totals.unknown += 1,
            Err(Unmatched::Duplicate) => self.totals.duplicates += 1,
        }
        result
    }

    fn attempt(&mut self, now: Time, unix_nanos: u64, octets: &[u8]) -> Result<Reply, Unmatched> {
        let reflected = Reflected::parse(octets).map_err(|_| Unmatched::Malformed)?;
        let request = reflected.packet.request;
        let sent = self.packets.get_mut(&request.sequence);
        let sent = sent.ok_or(Unmatched::Unknown)?;
        // A reflector that knows no session identifiers returns zero [RFC8972 s3].
        let session = [0, self.session].contains(&request.session);
        let same =
            session && (request.sent, request.error) == (sent.packet.sent, sent.packet.error);
        // One that returns the base alone returns no identifier.
        let id = reflected
            .id
            .map_or(octets.len() == BASE_LEN, |id| id == sent.id);
        if !same || !id {
            return Err(Unmatched::Unknown);
        }
        if sent.answered {
            return Err(Unmatched::Duplicate);
        }
        sent.answered = true;
        let (id, at) = (sent.id, sent.at);
        self.followed.answered += u64::from(sent.followed);
        Ok(Reply {
            id,
            sent: request.sequence,
            sequence: reflected.packet.sequence,
            stateful: reflected.stateful,
            hop_limit: reflected.packet.hop_limit,
            length_control: reflected.length_control,
            delays: delays(&reflected, now.since(at).unwrap_or_default(), unix_nanos),
            lost: self.follow(&reflected),
        })
    }

    /// Follows both sequences to this reply. Returns the packets since the one before
    /// that are lost, if it is certain on which direction.
    fn follow(&mut self, reflected: &Reflected) -> Vec<Lost> {
        let (sent, sequence) = (
            i64::from(reflected.packet.request.sequence),
            i64::from(reflected.packet.sequence),
        );
        // A reflector without state repeats the number of each packet.
        self.counts |= reflected.stateful || sent != sequence;
        let before = self.latest;
        if sent <= before.sent {
            // The reflector received it behind a packet that was sent later.
            let followed = &mut self.followed;
            if before.sequence == Some(sequence - 1) && followed.arrived < followed.sent {
                self.latest.sequence = Some(sequence);
                followed.arrived += 1;
            }
            return Vec::new();
        }
        self.latest = Latest {
            sent,
            sequence: self.counts.then_some(sequence),
        };
        let skipped = sent - before.sent - 1;
        let arrived = before.sequence.map(|before| sequence - before - 1);
        // Otherwise the reflector began anew, does not count, or received duplicates.
        let arrived = arrived.filter(|arrived| self.counts && (0..=skipped).contains(arrived));
        self.followed.sent += 1 + arrived.map_or(0, |_| skipped.cast_unsigned());
        self.followed.arrived += 1 + arrived.map_or(0, i64::cast_unsigned);
        let first = u32::try_from(before.sent + 1).unwrap_or(u32::MAX);
        let between = self
            .packets
            .range_mut(first..reflected.packet.request.sequence);
        let Some(arrived) = arrived else {
            between.for_each(|(_, sent)| sent.followed = false);
            return Vec::new();
        };
        let direction = match arrived {
            0 => Direction::Forward,
            all if all == skipped => Direction::Backward,
            _ => return Vec::new(),
        };
        between
            .map(|(_, sent)| Lost {
                id: sent.id,
                direction,
            })
            .collect()
    }

    /// The counts so far. Packets behind the latest reply are in none of the losses.
    pub const fn totals(&self) -> Totals {
        let Followed {
            sent,
            arrived,
            answered,
        } = self.followed;
        // What was answered arrived, whatever the reflector's numbers say.
        let arrived = if arrived < answered {
            answered
        } else {
            arrived
        };
        Totals {
            lost_forward: sent.saturating_sub(arrived),
            lost_backward: if self.counts {
                arrived.saturating_sub(answered)
            } else {
                0
            },
            ..self.totals
        }
    }

    #[cfg(test)]
    pub(super) fn remembered(&self) -> usize {
        self.packets.len()
    }
}

/// The delays of a packet whose reply took `round_trip` and was received when the wall
/// clock showed `unix_nanos`.
fn delays(reflected: &Reflected, round_trip: Span, unix_nanos: u64) -> Delays {
    let packet = &reflected.packet;
    let instant = |stamp: Timestamp, error: ErrorEstimate| stamp.unix_nanos(error.format);
    let left = instant(packet.request.sent, packet.request.error);
    let received = instant(packet.received, packet.error);
    let returned = instant(packet.sent, packet.error);
    let reflector = returned.checked_sub(received).map(Span::from_nanos);
    Delays {
        round_trip,
        reflector: reflector.filter(|time| *time <= round_trip),
        forward: received.wrapping_sub(left).cast_signed(),
        backward: unix_nanos.wrapping_sub(returned).cast_signed(),
    }
}
