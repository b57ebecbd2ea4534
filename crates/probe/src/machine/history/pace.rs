//! The pace at which systems send error messages.
//!
//! Linux sends six time-exceeded or unreachable messages in a row to one peer and one in a
//! second from then on; echo replies and messages that a packet was too big are not
//! limited [LinuxDoc ip-sysctl]. Probes beyond that rate would get no answer, which looks like loss.

use std::collections::BTreeMap;

use units::{Span, Time};

use super::super::kind::Kind;
use super::super::{AnswerRate, Protocol, Settings, Target};

/// A limit of the rate at which the far end answers a protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::machine) struct AnswerLimit {
    pub(in crate::machine) protocol: Protocol,
    /// The time from one answer to the next.
    pub(in crate::machine) every: Span,
}

/// The error messages of all systems that answer with them.
#[derive(Debug)]
pub(super) struct Pace {
    rate: AnswerRate,
    reflector: bool,
    senders: BTreeMap<Sender, Allowance>,
    /// A limit that was recognised, and when its protocol may be sent again.
    limit: Option<(AnswerLimit, Time)>,
}

/// Packets of a protocol whose answers are limited are sent more slowly than they are
/// answered by one part of so many: the rate is an estimate.
const SLOWER: u64 = 4;

/// A system that sends error messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Sender {
    FarEnd,
    Hop(u8),
}

/// The rest of a system's allowance, as the time until it is whole again.
#[derive(Clone, Copy, Debug, Default)]
struct Allowance {
    spent: Span,
    at: Time,
    under_way: u32,
}

impl Allowance {
    fn spend(&mut self, span: Span, now: Time) {
        self.spent = self.spent_at(now) + span;
        self.at = now;
        self.under_way = self.under_way.saturating_sub(1);
    }

    fn spent_at(&self, now: Time) -> Span {
        self.spent - now.since(self.at).unwrap_or(Span::ZERO)
    }
}

impl Pace {
    pub(super) const fn new(settings: &Settings) -> Self {
        Self {
            rate: settings.answer_rate,
            reflector: settings.reflector.is_there(),
            senders: BTreeMap::new(),
            limit: None,
        }
    }

    /// The far end limits its answers to one protocol.
    pub(super) fn limit(&mut self, limit: AnswerLimit, now: Time) {
        self.limit = Some((limit, now + limit.every));
    }

    /// Whether answers to this kind of probe are limited.
    fn is_limited(limit: AnswerLimit, kind: Kind) -> bool {
        let is_far = kind.to == Target::FarEnd && kind.hop_limit.is_none();
        is_far && kind.protocol == limit.protocol
    }

    /// The system that answers probes of this kind with an error message.
    fn sender(&self, kind: Kind) -> Option<Sender> {
        match kind.hop_limit {
            Some(hop) => Some(Sender::Hop(hop)),
            None if kind.protocol == Protocol::Udp
                && kind.to == Target::FarEnd
                && !self.reflector =>
            {
                Some(Sender::FarEnd)
            }
            None => None,
        }
    }

    fn allowance(&mut self, kind: Kind) -> Option<&mut Allowance> {
        let sender = self.sender(kind)?;
        Some(self.senders.entry(sender).or_default())
    }

    pub(super) fn sent(&mut self, kind: Kind, now: Time) {
        if let Some((limit, next)) = &mut self.limit
            && Self::is_limited(*limit, kind)
        {
            let every = limit.every.as_picos();
            *next = now + Span::from_picos(every + every / SLOWER);
        }
        if let Some(allowance) = self.allowance(kind) {
            allowance.under_way += 1;
        }
    }

    pub(super) fn answered(&mut self, kind: Kind, is_in_time: bool, now: Time) {
        let every = self.rate.every;
        if let Some(allowance) = self.allowance(kind) {
            allowance.under_way += u32::from(!is_in_time);
            allowance.spend(every, now);
        }
    }

    /// The far end answered a probe with a hop limit by port unreachable.
    pub(super) fn reached_far_end(&mut self, now: Time) {
        let allowance = self.senders.entry(Sender::FarEnd).or_default();
        allowance.under_way += 1;
        allowance.spend(self.rate.every, now);
    }

    /// The answer may have been sent and lost, which is likely if others of the kind were
    /// answered.
    pub(super) fn lost(&mut self, kind: Kind, is_answered: bool, now: Time) {
        let every = self.rate.every;
        if let Some(allowance) = self.allowance(kind) {
            let spent = match is_answered {
                true => every,
                false => Span::from_picos(every.as_picos() / 4),
            };
            allowance.spend(spent, now);
        }
    }

    /// Another system answered.
    pub(super) fn rejected(&mut self, kind: Kind, now: Time) {
        if let Some(allowance) = self.allowance(kind) {
            allowance.spend(Span::ZERO, now);
        }
    }

    /// When a probe of this kind gets an answer if it arrives.
    pub(super) fn ready_at(&self, kind: Kind, now: Time) -> Time {
        if let Some((limit, next)) = self.limit
            && Self::is_limited(limit, kind)
        {
            return now.max(next);
        }
        let Some(allowance) = self.sender(kind).and_then(|one| self.senders.get(&one)) else {
            return now;
        };
        let AnswerRate { burst, every } = self.rate;
        let with_this = allowance.spent_at(now) + every * u64::from(allowance.under_way + 1);
        now + (with_this - every * u64::from(burst))
    }
}
