//! Answers, as far as they belong to a probe that was sent.

use core::net::IpAddr;

use units::{Bytes, Span, Time};

use super::super::kind::{Kind, SMALL, bytes};
use super::super::{Answer, AnswerKind, Protocol, QuotedHeader, Reflected, ReplySize, Target};
use super::{History, PacketOutcome, Record};

/// A message that a packet was too big, about a probe that was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::machine) struct Message {
    /// Index of the probe.
    pub(super) probe: usize,
    pub(in crate::machine) router: IpAddr,
    pub(in crate::machine) announced: u32,
    /// The size, protocol, and flow of the probe.
    pub(in crate::machine) size: u32,
    pub(in crate::machine) protocol: Protocol,
    pub(in crate::machine) flow: u16,
    pub(in crate::machine) round: u32,
}

/// A system of the path that answered.
#[derive(Clone, Copy, Debug)]
pub(in crate::machine) struct Seen {
    pub(in crate::machine) address: IpAddr,
    pub(in crate::machine) round_trip: Span,
    pub(in crate::machine) largest: u32,
    pub(in crate::machine) is_far_end: bool,
}

/// The part of an answer that a search uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::machine) enum Response {
    Arrived {
        search: usize,
        id: u64,
    },
    TooBig {
        search: usize,
        id: u64,
        quoted: Bytes,
        announced: Bytes,
    },
}

impl History {
    /// An answer came. One that belongs to no probe, or says again what is known, or
    /// cannot be true of its probe, changes nothing.
    pub(in crate::machine) fn answered(&mut self, now: Time, answer: &Answer) -> Option<Response> {
        let index = *self.by_id.get(&answer.id)?;
        let record = self.sent[index];
        match answer.kind {
            AnswerKind::Reply {
                size,
                fragment_size,
                mss,
                is_unreachable,
                reflected,
            } => {
                let piece = reflected.and_then(|reflected| smaller_piece(&record, reflected));
                match piece {
                    Some(piece) => self.arrived_in_pieces(index, piece, now)?,
                    None => self.arrived(index, answer.from, true, now)?,
                }
                self.reflected(&record, reflected);
                let is_of_round = record.round == self.round_of(record.kind);
                let is_same = record.kind.reply == ReplySize::Same;
                if is_of_round && is_same && record.kind.to == Target::FarEnd {
                    self.replied(&record, size, fragment_size);
                }
                if is_unreachable && record.kind.hop_limit.is_some() {
                    self.pace.reached_far_end(now);
                }
                if record.kind.protocol == Protocol::Tcp {
                    self.mss = self.mss.or(mss);
                }
                if let Some(piece) = piece {
                    return heard_too_big(&record, largest_whole(piece, record.kind.size));
                }
            }
            AnswerKind::HopLimitExceeded { quoted } => {
                let hop = record.kind.hop_limit?;
                self.arrived(index, answer.from, false, now)?;
                if let Some(quoted) = quoted.filter(|_| record.kind.fragment_size.is_none()) {
                    self.quoted(&record, hop, quoted);
                }
            }
            AnswerKind::TooBig { announced, quoted } => {
                return self.too_big(index, answer.from, announced, quoted, now);
            }
            AnswerKind::LocallyTooBig { mtu } => {
                let mtu = u32::try_from(mtu.get()).ok()?;
                if record.outcome != PacketOutcome::UnderWay || mtu >= record.kind.size {
                    return None;
                }
                self.local_mtu = Some(self.local_mtu.map_or(mtu, |known| known.min(mtu)));
                self.rejected(index, now);
                return heard_too_big(&record, Bytes::new(u64::from(mtu)));
            }
            AnswerKind::Unreachable { .. } => {
                if record.outcome == PacketOutcome::UnderWay {
                    self.deadlines.remove(&(record.deadline, index));
                    self.give_up(index, now);
                }
                return None;
            }
        }
        let (search, id) = record.search?;
        Some(Response::Arrived { search, id })
    }

    /// The probe reached the sender of the answer; `None` if that is known.
    fn arrived(&mut self, index: usize, from: IpAddr, is_far_end: bool, now: Time) -> Option<()> {
        let Record {
            kind,
            round,
            at,
            deadline,
            outcome,
            ..
        } = self.sent[index];
        if outcome == PacketOutcome::Answered {
            return None;
        }
        self.sent[index].outcome = PacketOutcome::Answered;
        self.deadlines.remove(&(deadline, index));
        let sample = now.since(at).unwrap_or(Span::ZERO);
        self.trip.measured(sample);
        self.pace
            .answered(kind, outcome == PacketOutcome::UnderWay, now);
        let is_beat = self.is_beat(kind);
        if let Some(counts) = self.all_counts.get_mut(&(round, kind)) {
            counts.answered += 1;
            counts.last_answered = counts.last_answered.max(Some(at));
            match outcome {
                PacketOutcome::UnderWay => counts.under_way -= 1,
                PacketOutcome::Lost { counted } => {
                    counts.lost -= 1;
                    counts.counted -= u32::from(counted);
                    self.beats.lost -= u32::from(is_beat);
                }
                PacketOutcome::Rejected => counts.rejected -= 1,
                PacketOutcome::Answered => {}
            }
        }
        if is_beat {
            self.beats.answered += 1;
            self.worked.insert(at);
        }
        if is_far_end && kind.hop_limit.is_none() && kind.to == Target::FarEnd {
            let least = self.round_trip.map_or(sample, |known| known.min(sample));
            self.round_trip = Some(least);
        }
        if let (Some(hop), 0) = (kind.hop_limit, kind.flow) {
            let seen = self.hops.entry(hop).or_insert(Seen {
                address: from,
                round_trip: sample,
                largest: kind.size,
                is_far_end,
            });
            seen.round_trip = seen.round_trip.min(sample);
            seen.largest = seen.largest.max(kind.size);
            seen.is_far_end |= is_far_end;
        }
        Some(())
    }

    /// The probe reached the far end in fragments, the largest of which has this size: to the
    /// search it is too big. `None` if its outcome is known.
    fn arrived_in_pieces(&mut self, index: usize, piece: u32, now: Time) -> Option<()> {
        let record = self.sent[index];
        let is_known = matches!(
            record.outcome,
            PacketOutcome::Answered | PacketOutcome::Rejected
        );
        (!is_known).then_some(())?;
        self.trip
            .measured(now.since(record.at).unwrap_or(Span::ZERO));
        if record.round == self.round {
            let known = self.pieces.entry(record.kind.size).or_default();
            *known = piece.max(*known);
        }
        self.rejected(index, now);
        Some(())
    }

    /// A router quoted the header with which a probe arrived there, which left whole and with
    /// DF set.
    fn quoted(&mut self, record: &Record, hop: u8, quoted: QuotedHeader) {
        self.dont_fragment.insert(hop, quoted.dont_fragment);
        let piece = quoted
            .piece
            .and_then(|piece| u32::try_from(piece.get()).ok());
        let possible = piece.filter(|piece| (SMALL..record.kind.size).contains(piece));
        if let Some(piece) = possible.filter(|_| record.round == self.round) {
            self.pieces.insert(record.kind.size, piece);
        }
    }

    /// A reflector's reply. The driver numbers the packets of a flow as they are sent.
    fn reflected(&mut self, record: &Record, reflected: Option<Reflected>) {
        let Some(reflected) = reflected.filter(|_| record.kind == Kind::test_packet()) else {
            return;
        };
        let Reflected {
            sequence,
            sent,
            stateful,
            ..
        } = reflected;
        if sent < self.counts(record.kind).sent {
            self.one_way.reply(sent, sequence, stateful);
        }
    }

    /// The far end answered with a packet of this size.
    fn replied(&mut self, record: &Record, size: Bytes, fragment_size: Option<Bytes>) {
        // An answer cannot be larger than its probe: nothing larger is believed.
        let size = u32::try_from(size.get()).unwrap_or(u32::MAX);
        let size = size.min(record.kind.size);
        match fragment_size.and_then(|size| u32::try_from(size.get()).ok()) {
            None => self.largest_reply = self.largest_reply.max(Some(size)),
            Some(fragment) if record.kind.fragment_size.is_none() => {
                let fragment = fragment.min(size);
                self.fragmented_reply = self.fragmented_reply.max(Some(fragment));
            }
            Some(_) => {}
        }
    }

    /// A message that the probe was too big; used only if it quotes the probe with its
    /// true size [RFC8899 s4.6.1].
    fn too_big(
        &mut self,
        index: usize,
        router: IpAddr,
        announced: Bytes,
        quoted: Bytes,
        now: Time,
    ) -> Option<Response> {
        let record = self.sent[index];
        let kind = record.kind;
        let is_about_it = quoted.get() == u64::from(kind.size) && kind.fragment_size.is_none();
        if !is_about_it
            || matches!(
                record.outcome,
                PacketOutcome::Answered | PacketOutcome::Rejected
            )
        {
            return None;
        }
        self.messages.push(Message {
            probe: index,
            router,
            announced: u32::try_from(announced.get()).unwrap_or(u32::MAX),
            size: kind.size,
            protocol: kind.protocol,
            flow: kind.flow,
            round: record.round,
        });
        self.rejected(index, now);
        heard_too_big(&record, announced)
    }

    fn rejected(&mut self, index: usize, now: Time) {
        let Record {
            kind,
            round,
            deadline,
            outcome,
            ..
        } = self.sent[index];
        self.sent[index].outcome = PacketOutcome::Rejected;
        self.deadlines.remove(&(deadline, index));
        if outcome == PacketOutcome::UnderWay {
            self.pace.rejected(kind, now);
        }
        if let Some(counts) = self.all_counts.get_mut(&(round, kind)) {
            counts.rejected += 1;
            match outcome {
                PacketOutcome::UnderWay => counts.under_way -= 1,
                PacketOutcome::Lost { counted } => {
                    counts.lost -= 1;
                    counts.counted -= u32::from(counted);
                }
                PacketOutcome::Answered | PacketOutcome::Rejected => {}
            }
        }
    }
}

/// The largest piece in which a whole probe arrived, if it arrived in fragments.
fn smaller_piece(record: &Record, reflected: Reflected) -> Option<u32> {
    let piece = u32::try_from(reflected.piece?.get()).ok()?;
    let is_smaller = record.kind.fragment_size.is_none() && piece < record.kind.size;
    is_smaller.then_some(piece)
}

/// The largest packet that may arrive whole if the largest piece of one of `size` bytes had
/// `piece` bytes: data is cut at multiples of eight bytes [RFC791 s3.2].
fn largest_whole(piece: u32, size: u32) -> Bytes {
    bytes((piece + 7).min(size - 1))
}

fn heard_too_big(record: &Record, announced: Bytes) -> Option<Response> {
    let (search, id) = record.search?;
    Some(Response::TooBig {
        search,
        id,
        quoted: Bytes::new(u64::from(record.kind.size)),
        announced,
    })
}
