//! A device inside a path that breaks packets, without I/O: rules on the bytes of IP
//! packets.
//!
//! The rules are the faults that path MTU discovery meets [RFC8899 s1]: packets above a
//! size vanish, messages that a packet was too big are dropped, rare or wrong, the
//! maximum segment size is changed, fragments are dropped. The emulator applies them to
//! frames, the simulator to packets.

mod flow;
#[cfg(test)]
mod tests;

use units::{Bytes, Seed, Span, Time};
use wire::icmp_error::{Cause, cause, set_announced_mtu};
use wire::ip_packet::{IpPacket, clear_dont_fragment, in_frame};
use wire::probe::clamp_segment_size;

use crate::{Direction, Protocol};
use flow::Flow;

#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Rule {
    /// The direction that it applies to; `None`: both.
    pub direction: Option<Direction>,
    /// The protocol that it applies to; `None`: all.
    pub protocol: Option<Protocol>,
    /// The share of flows that it applies to, from 0 to 1: those that take one branch of
    /// several paths of equal cost.
    pub share: f64,
    /// When it begins, counted from the start of the middlebox.
    pub from: Span,
    /// When it ends; `None`: never.
    pub until: Option<Span>,
    /// The effect.
    pub action: Action,
}

/// The effect of a rule on the packets that it applies to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Action {
    /// Packets above this size are dropped without a message.
    DropAbove(Bytes),
    /// Messages that a packet was too big are dropped.
    DropTooBig,
    /// One such message may pass, and then one after each of these spans.
    LimitTooBig(Span),
    /// Such messages announce this MTU.
    AnnounceMtu(u32),
    /// A SYN announces no larger segments than these [RFC9293 s3.7.1].
    ClampMss(u16),
    /// Fragments are dropped.
    DropFragments,
    /// Packets of these sizes are dropped, smaller and larger ones are not.
    DropBetween { from: Bytes, to: Bytes },
    /// Packets of IPv4 no longer ask routers not to fragment them (DF).
    ClearDontFragment,
    /// Of packets above this size, so many of a thousand are dropped at random.
    DropShareAbove { above: Bytes, per_mille: u16 },
    /// Packets of any size beyond a token bucket are dropped: so many pass in a row, and
    /// one more after each span.
    LimitRate { burst: u32, every: Span },
}

impl Rule {
    /// A rule for all packets at any time.
    pub const fn always(action: Action) -> Self {
        Self {
            direction: None,
            protocol: None,
            share: 1.0,
            from: Span::ZERO,
            until: None,
            action,
        }
    }

    fn is_active(&self, since_start: Span) -> bool {
        self.from <= since_start && self.until.is_none_or(|until| since_start < until)
    }
}

/// The outcome of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It goes on, possibly changed.
    Forward,
    /// It is dropped.
    Drop,
}

/// A device with rules.
#[derive(Clone, Debug)]
pub struct Middlebox {
    rules: Vec<State>,
    seed: Seed,
    start: Time,
}

/// A rule and the state of its rate limit.
#[derive(Clone, Debug)]
struct State {
    rule: Rule,
    /// When the next limited message may pass, or the token bucket is full.
    next: Time,
    /// Packets that were dropped or not at random.
    drawn: u64,
}

impl State {
    /// Whether the next packet is one of so many of a thousand.
    fn draws(&mut self, seed: Seed, per_mille: u16) -> bool {
        self.drawn += 1;
        let number = seed.derive("losses").with(self.drawn).get();
        number % 1000 < u64::from(per_mille)
    }

    /// Whether the token bucket has nothing left for a packet.
    fn is_spent(&mut self, now: Time, burst: u32, every: Span) -> bool {
        let full_at = self.next.max(now) + every;
        let is_left = full_at <= now + every * u64::from(burst);
        if is_left {
            self.next = full_at;
        }
        !is_left
    }
}

impl Middlebox {
    /// A device that starts at `start`. The seed decides which flows the rules for a
    /// share of them apply to; it should be the same for all devices of one path whose
    /// rules belong to one branch.
    pub fn new(rules: impl IntoIterator<Item = Rule>, seed: Seed, start: Time) -> Self {
        let state = |rule| State {
            rule,
            next: Time::ZERO,
            drawn: 0,
        };
        Self {
            rules: rules.into_iter().map(state).collect(),
            seed,
            start,
        }
    }

    /// Starts again at `start`, as if new with this seed.
    pub fn restart(&mut self, start: Time, seed: Seed) {
        self.start = start;
        self.seed = seed;
        for state in &mut self.rules {
            state.next = Time::ZERO;
            state.drawn = 0;
        }
    }

    /// Lets the times of rules count from `start`.
    pub const fn begin(&mut self, start: Time) {
        self.start = start;
    }

    /// Applies the rules to the IP packet in `bytes`. A packet that is malformed goes
    /// on as it is.
    pub fn pass(&mut self, now: Time, bytes: &mut [u8], direction: Direction) -> Outcome {
        if self.rules.is_empty() {
            return Outcome::Forward;
        }
        let since_start = now.since(self.start).unwrap_or(Span::ZERO);
        let Ok(packet) = IpPacket::parse_whole(bytes) else {
            return Outcome::Forward;
        };
        let (size, is_fragment) = (u64::from(packet.size), packet.fragment.is_some());
        let flow = Flow::of(&packet);
        for state in &mut self.rules {
            let rule = state.rule;
            let concerned = rule.direction.is_none_or(|only| only == direction)
                && rule.protocol.is_none_or(|only| flow.protocol == Some(only))
                && rule.is_active(since_start)
                && (rule.share >= 1.0 || flow.place(self.seed) < rule.share);
            if !concerned {
                continue;
            }
            let dropped = match rule.action {
                Action::DropAbove(most) => size > most.get(),
                Action::DropFragments => is_fragment,
                Action::DropBetween { from, to } => (from.get()..=to.get()).contains(&size),
                Action::DropShareAbove { above, per_mille } => {
                    size > above.get() && state.draws(self.seed, per_mille)
                }
                Action::LimitRate { burst, every } => state.is_spent(now, burst, every),
                Action::DropTooBig => is_too_big(bytes),
                Action::LimitTooBig(every) => {
                    is_too_big(bytes) && {
                        let early = now < state.next;
                        if !early {
                            state.next = now + every;
                        }
                        early
                    }
                }
                Action::ClearDontFragment => {
                    let _ = clear_dont_fragment(bytes);
                    false
                }
                // A malformed packet is not changed.
                Action::AnnounceMtu(mtu) => {
                    let _ = set_announced_mtu(bytes, mtu);
                    false
                }
                Action::ClampMss(most) => {
                    let _ = clamp_segment_size(bytes, most);
                    false
                }
            };
            if dropped {
                return Outcome::Drop;
            }
        }
        Outcome::Forward
    }

    /// Applies the rules to the IP packet in an Ethernet frame without FCS; other frames
    /// go on.
    pub fn pass_frame(&mut self, now: Time, frame: &mut [u8], direction: Direction) -> Outcome {
        match in_frame(frame) {
            Some(packet) => self.pass(now, packet, direction),
            None => Outcome::Forward,
        }
    }
}

fn is_too_big(bytes: &[u8]) -> bool {
    matches!(cause(bytes), Some(Cause::TooBig { .. }))
}
