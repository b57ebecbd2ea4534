//! The record of all probes and answers, from which everything else is computed.

mod answers;
mod chance;
mod counts;
mod pace;

use std::collections::{BTreeMap, BTreeSet};

use units::{Bytes, Seed, Span, Time};

use super::kind::{Kind, Purpose, SMALL};
use super::{Probe, Protocol, Settings, Target};
use crate::machine::stamp::OneWayLoss;
use link::pmtu::{ProbeTimer, RoundTrip};

pub(super) use answers::{Message, Response, Seen};
pub(super) use chance::{TWO_SIDED, at_most, loss_of, share};
pub(super) use counts::Counts;
pub(super) use pace::AnswerLimit;
use pace::Pace;

/// A probe that stands beside a large one tells that the path works, if it was sent at
/// most so much earlier or later.
const BESIDE: Span = Span::from_millis(25);

/// The probes that were sent and what became of them. Its size is bounded by the number
/// of probes, since each one takes one answer of a kind.
#[derive(Debug)]
pub(super) struct History {
    seed: Seed,
    /// Probes of one round are comparable: rounds begin anew when the path has changed.
    pub(super) round: u32,
    sent: Vec<Record>,
    by_id: BTreeMap<u64, usize>,
    all_counts: BTreeMap<(u32, Kind), Counts>,
    /// The indices of the probes of each kind, in the order of sending.
    of_kind: BTreeMap<(u32, Kind), Vec<usize>>,
    deadlines: BTreeSet<(Time, usize)>,
    trip: RoundTrip,
    pace: Pace,
    main: Option<Protocol>,
    limit: Option<AnswerLimit>,
    beat: Option<Kind>,
    /// When probes that show that the path works were sent, and were answered.
    worked: BTreeSet<Time>,
    last_beat: Option<Time>,
    beats: Beats,
    /// The losses of [`Kind::test_packet`] by direction.
    one_way: OneWayLoss,
    ordinary_loss: f64,
    /// The loss of large packets where some of them pass and most do not.
    large_loss: f64,
    messages: Vec<Message>,
    local_mtu: Option<u32>,
    bytes: u64,
    /// Those of earlier rounds.
    earlier_bytes: u64,
    largest_reply: Option<u32>,
    fragmented_reply: Option<u32>,
    /// The largest fragment of probes that arrived in fragments, by the size of the probe.
    pieces: BTreeMap<u32, u32>,
    /// Whether probes arrived with DF set, by the router that quotes them.
    dont_fragment: BTreeMap<u8, bool>,
    mss: Option<u16>,
    round_trip: Option<Span>,
    hops: BTreeMap<u8, Seen>,
}

/// Small probes to the far end whose answers are not limited in rate.
#[derive(Clone, Copy, Debug, Default)]
struct Beats {
    answered: u32,
    lost: u32,
}

/// A small packet that was sent.
#[derive(Clone, Copy, Debug)]
pub(super) struct SmallPacket {
    pub(super) at: Time,
    /// The time since the latest packet of any size that was answered.
    pub(super) since_answer: Option<Span>,
    /// `None`: not known yet.
    pub(super) is_answered: Option<bool>,
}

impl SmallPacket {
    pub(super) fn is_lost(&self) -> bool {
        self.is_answered == Some(false)
    }
}

/// A probe that was sent.
#[derive(Clone, Copy, Debug)]
struct Record {
    kind: Kind,
    round: u32,
    at: Time,
    deadline: Time,
    outcome: PacketOutcome,
    /// The search that sent it, and its identifier there.
    search: Option<(usize, u64)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PacketOutcome {
    UnderWay,
    /// And whether another probe shows that the path worked then.
    Lost {
        counted: bool,
    },
    Answered,
    Rejected,
}

impl History {
    pub(super) fn new(settings: &Settings, seed: Seed) -> Self {
        Self {
            seed,
            round: 0,
            sent: Vec::new(),
            by_id: BTreeMap::new(),
            all_counts: BTreeMap::new(),
            of_kind: BTreeMap::new(),
            deadlines: BTreeSet::new(),
            trip: RoundTrip::new(ProbeTimer::FromRoundTrips {
                least: settings.least_timeout,
                most: settings.most_timeout,
            }),
            pace: Pace::new(settings),
            main: None,
            limit: None,
            beat: None,
            worked: BTreeSet::new(),
            last_beat: None,
            beats: Beats::default(),
            one_way: OneWayLoss::default(),
            ordinary_loss: settings.ordinary_loss,
            large_loss: 0.0,
            messages: Vec::new(),
            local_mtu: None,
            bytes: 0,
            earlier_bytes: 0,
            largest_reply: None,
            fragmented_reply: None,
            pieces: BTreeMap::new(),
            dont_fragment: BTreeMap::new(),
            mss: None,
            round_trip: None,
            hops: BTreeMap::new(),
        }
    }

    /// The path has changed: what answers said about sizes is no longer so.
    pub(super) fn begin_round(&mut self) {
        self.round += 1;
        self.earlier_bytes = self.bytes;
        self.largest_reply = None;
        self.fragmented_reply = None;
        self.pieces.clear();
    }

    /// Records a probe that is sent now.
    pub(super) fn send(&mut self, kind: Kind, search: Option<(usize, u64)>, now: Time) -> Probe {
        let index = self.sent.len();
        let id = self.seed.with(index as u64).get();
        let round = self.round_of(kind);
        let deadline = now + self.trip.timeout();
        self.sent.push(Record {
            kind,
            round,
            at: now,
            deadline,
            outcome: PacketOutcome::UnderWay,
            search,
        });
        self.by_id.insert(id, index);
        self.of_kind.entry((round, kind)).or_default().push(index);
        self.deadlines.insert((deadline, index));
        self.bytes += u64::from(kind.size);
        self.pace.sent(kind, now);
        if self.is_beat(kind) {
            self.last_beat = Some(now);
        }
        let counts = self.all_counts.entry((round, kind)).or_default();
        counts.sent += 1;
        counts.under_way += 1;
        counts.last_sent = Some(now);
        kind.probe(id)
    }

    /// The probes that had no answer in time count as lost.
    pub(super) fn expire(&mut self, now: Time) {
        while let Some(&(deadline, index)) = self.deadlines.first() {
            if deadline > now {
                return;
            }
            self.deadlines.pop_first();
            self.give_up(index, now);
        }
    }

    /// The probe of this index is lost, as far as is known.
    fn give_up(&mut self, index: usize, now: Time) {
        let Record {
            kind, at, round, ..
        } = self.sent[index];
        let counted = self.worked_at(at);
        self.sent[index].outcome = PacketOutcome::Lost { counted };
        let beat = self.is_beat(kind);
        self.beats.lost += u32::from(beat);
        let is_answered = self.counts(kind).answered > 0;
        self.pace.lost(kind, is_answered, now);
        if let Some(counts) = self.all_counts.get_mut(&(round, kind)) {
            counts.under_way -= 1;
            counts.lost += 1;
            counts.counted += u32::from(counted);
            counts.first_lost = counts.first_lost.or(Some(at));
        }
    }

    /// Whether another probe shows that the path carried small packets at this time, or
    /// there is no protocol to show it with.
    fn worked_at(&self, at: Time) -> bool {
        let from = Time::from_picos(at.as_picos().saturating_sub(BESIDE.as_picos()));
        self.beat.is_none() || self.worked.range(from..=at + BESIDE).next().is_some()
    }

    /// Small probes of this kind show from now on that the path works.
    pub(super) fn beat_with(&mut self, kind: Kind) {
        if self.beat.is_none() {
            self.beat = Some(kind);
            let counts = self.counts(kind);
            self.beats.answered = counts.answered;
            self.beats.lost = counts.lost;
            self.worked.extend(counts.last_answered);
        }
    }

    pub(super) const fn beat(&self) -> Option<Kind> {
        self.beat
    }

    /// Whether packets of this kind show that the path works.
    pub(super) fn is_beat(&self, kind: Kind) -> bool {
        let is_shown_by = |purpose| self.beat == Some(kind.with_purpose(purpose));
        kind.purpose != Purpose::Recheck && is_shown_by(Purpose::Question)
    }

    pub(super) const fn last_beat(&self) -> Option<Time> {
        self.last_beat
    }

    /// Counts of the probes of a kind in this round, by their outcome.
    pub(super) fn counts(&self, kind: Kind) -> Counts {
        let counts = self.all_counts.get(&(self.round_of(kind), kind));
        counts.copied().unwrap_or_default()
    }

    /// Small probes tell the same in all rounds, unless they are compared with large ones.
    const fn round_of(&self, kind: Kind) -> u32 {
        let is_compared = matches!(kind.purpose, Purpose::Loss);
        if kind.size <= SMALL && !is_compared {
            0
        } else {
            self.round
        }
    }

    /// The counts of all kinds of this round.
    pub(super) fn all_counts(&self) -> impl Iterator<Item = (Kind, Counts)> {
        let of_round = |&(round, kind): &(u32, Kind)| round == self.round_of(kind);
        let all = self.all_counts.iter();
        all.filter(move |(key, _)| of_round(key))
            .map(|(&(_, kind), &counts)| (kind, counts))
    }

    /// Fixes the protocol of the first search.
    pub(super) fn choose(&mut self, main: Protocol) {
        self.main = self.main.or(Some(main));
    }

    /// The protocol of the first search.
    pub(super) const fn main(&self) -> Option<Protocol> {
        self.main
    }

    /// The answers of a protocol are limited in rate: its losses show nothing about sizes,
    /// its packets are sent at that rate, and the first search may be by another protocol.
    pub(super) fn limit_answers(&mut self, limit: AnswerLimit, now: Time) {
        self.limit = Some(limit);
        self.pace.limit(limit, now);
        self.beat = None;
        self.beats = Beats::default();
        self.worked.clear();
        if self.main.take().is_some() {
            self.begin_round();
        }
    }

    pub(super) const fn limit(&self) -> Option<AnswerLimit> {
        self.limit
    }

    /// Whether the answers of a protocol are limited in rate.
    pub(super) fn is_limited(&self, protocol: Protocol) -> bool {
        self.limit.is_some_and(|limit| limit.protocol == protocol)
    }

    /// When a probe of this kind may be sent, so that its answer is not held back.
    pub(super) fn ready_at(&self, kind: Kind, now: Time) -> Time {
        self.pace.ready_at(kind, now)
    }

    pub(super) fn next_deadline(&self) -> Option<Time> {
        self.deadlines.first().map(|&(deadline, _)| deadline)
    }

    /// The time after which a probe counts as lost.
    pub(super) fn timeout(&self) -> Span {
        self.trip.timeout()
    }

    /// The smallest round-trip time to the far end.
    pub(super) const fn round_trip(&self) -> Option<Span> {
        self.round_trip
    }

    pub(super) fn probes(&self) -> u64 {
        self.sent.len() as u64
    }

    pub(super) const fn bytes(&self) -> Bytes {
        Bytes::new(self.bytes)
    }

    /// The bytes that this round may send.
    pub(super) const fn bytes_of_round(&self, settings: &Settings) -> u64 {
        settings.most_bytes.get().saturating_sub(self.earlier_bytes)
    }

    /// The probes and bytes that are left of an investigation, if those of this round for a
    /// purpose had not been sent.
    pub(super) fn left_for(
        &self,
        settings: &Settings,
        is_of_purpose: impl Fn(Kind) -> bool,
    ) -> [u64; 2] {
        let those = self.all_counts().filter(|&(kind, _)| is_of_purpose(kind));
        let [sent, bytes] = those.fold([0, 0], |[sent, bytes], (kind, counts)| {
            let more = u64::from(counts.sent);
            [sent + more, bytes + more * u64::from(kind.size)]
        });
        let probes = u64::from(settings.most_probes) + sent;
        let bytes = settings.most_bytes.get() + bytes;
        [
            probes.saturating_sub(self.probes()),
            bytes.saturating_sub(self.bytes),
        ]
    }

    /// The probes of a kind in this round, in the order of sending.
    fn records(&self, kind: Kind) -> impl DoubleEndedIterator<Item = &Record> {
        let indices = self.of_kind.get(&(self.round_of(kind), kind));
        indices
            .into_iter()
            .flatten()
            .map(|&index| &self.sent[index])
    }

    /// Whether the first packets of a kind in this round were answered, in the order of
    /// sending; `None`: not known yet.
    pub(super) fn series(&self, kind: Kind, number: usize) -> impl Iterator<Item = Option<bool>> {
        let first = self.records(kind).take(number);
        first.map(|record| match record.outcome {
            PacketOutcome::UnderWay => None,
            PacketOutcome::Answered => Some(true),
            PacketOutcome::Lost { .. } | PacketOutcome::Rejected => Some(false),
        })
    }

    /// The small packets of a protocol to the far end, in the order of sending.
    pub(super) fn small(&self, protocol: Protocol) -> Vec<SmallPacket> {
        let mut small = Vec::new();
        let mut last_answered: Option<Time> = None;
        for Record {
            kind, at, outcome, ..
        } in &self.sent
        {
            let is_far = kind.to == Target::FarEnd && kind.hop_limit.is_none();
            if !is_far || kind.protocol != protocol {
                continue;
            }
            let is_answered = match outcome {
                PacketOutcome::UnderWay => None,
                PacketOutcome::Lost { .. } => Some(false),
                PacketOutcome::Answered => Some(true),
                PacketOutcome::Rejected => continue,
            };
            if kind.size <= SMALL {
                small.push(SmallPacket {
                    at: *at,
                    since_answer: last_answered.and_then(|last| at.since(last)),
                    is_answered,
                });
            }
            if is_answered == Some(true) {
                last_answered = Some(*at);
            }
        }
        small
    }

    /// The messages of this round, without those about a probe that arrived: a router
    /// does not forward what it rejects, so they are forged.
    pub(super) fn messages(&self) -> impl Iterator<Item = &Message> {
        let round = self.round;
        let rejected = |one: &&Message| self.sent[one.probe].outcome != PacketOutcome::Answered;
        let of_round = move |one: &&Message| one.round == round;
        self.messages.iter().filter(of_round).filter(rejected)
    }

    /// The MTU that the local system reported.
    pub(super) const fn local_mtu(&self) -> Option<u32> {
        self.local_mtu
    }

    /// The largest answer that arrived whole, as an answer of the same size.
    pub(super) const fn largest_reply(&self) -> Option<u32> {
        self.largest_reply
    }

    /// The largest fragment of answers that arrived in fragments.
    pub(super) const fn fragmented_reply(&self) -> Option<u32> {
        self.fragmented_reply
    }

    /// The last router at which probes arrived with DF set, and the first at which they did
    /// not; `None` if there is none.
    pub(super) fn where_df_is_cleared(&self) -> Option<(Option<u8>, u8)> {
        let mut quotes = self.dont_fragment.iter();
        let (&cleared, _) = quotes.find(|(_, is_set)| !**is_set)?;
        let before = self.dont_fragment.range(..cleared).next_back();
        Some((before.map(|(&hop, _)| hop), cleared))
    }

    /// The largest fragment of whole probes of this size, if they arrived in fragments.
    pub(super) fn piece(&self, size: u32) -> Option<u32> {
        self.pieces.get(&size).copied()
    }

    /// The systems that answered small probes of the first flow, by hop limit.
    pub(super) const fn hops(&self) -> &BTreeMap<u8, Seen> {
        &self.hops
    }

    /// The MSS option of the far end.
    pub(super) const fn mss(&self) -> Option<u16> {
        self.mss
    }
}
