//! The right result of an investigation, computed from the settings.

use plan::Setting;
use plan::setting::middlebox::{Action, Rule};
use plan::setting::{Direction, Link, Probe, Protocol};
use probe::machine::FindingKind;
use serde::Serialize;
use units::{Bytes, IpVersion, Span};

/// Bytes of a TCP header without options, which the segment size does not count
/// [RFC9293 s3.7.1].
const TCP_HEADER: Bytes = Bytes::new(20);

/// The fault of a path, and what the path carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(super) struct GroundTruth {
    /// The fault; `None`: there is none.
    pub(super) fault: Option<Fault>,
    /// The place of its link on the path, from 0; the link is behind the hop of this
    /// number.
    pub(super) link: usize,
    /// The largest packet that passes on every branch and by every protocol at the end, up
    /// to the size asked for.
    pub(super) forward: Bytes,
    /// The same in the other direction.
    pub(super) reverse: Bytes,
    /// The same at the beginning, if a rule that begins or ends changes it.
    pub(super) forward_before: Option<Bytes>,
    /// The same in the other direction.
    pub(super) reverse_before: Option<Bytes>,
}

/// A kind of fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Fault {
    /// The own interface is too small.
    Interface,
    /// A router says that packets are too big.
    Rejected,
    /// Large packets vanish on the first link.
    FirstLink,
    /// Large packets vanish, in this direction.
    BlackHole(Direction),
    /// A router announces less than passes.
    AnnouncedTooSmall,
    /// A router announces more than passes.
    AnnouncedTooLarge,
    /// A router seldom says that packets are too big.
    AnswersLimited,
    /// Large packets of one protocol vanish.
    OneProtocol,
    /// Large packets vanish on one branch.
    Branches,
    /// The segment size is lowered.
    MssClamped,
    /// Fragments vanish.
    FragmentsDropped,
    /// Large packets arrive in fragments, because DF is cleared.
    Fragmented,
    /// Packets of a range of sizes are dropped silently.
    LostRange,
    /// A link of IPv6 drops packets that each must carry [RFC8200 s5].
    BelowIpv6,
    /// Large packets are lost more often than small ones.
    LossBySize,
    /// Large packets vanish from some time on.
    Shrinks,
    /// Large packets vanish up to some time.
    Grows,
}

impl Fault {
    /// Whether the fault is at a link that can be named.
    pub(super) const fn has_place(self) -> bool {
        !matches!(
            self,
            Self::MssClamped
                | Self::FragmentsDropped
                | Self::BelowIpv6
                | Self::LossBySize
                | Self::Shrinks
                | Self::Grows
        )
    }

    /// Whether the finding is this fault.
    pub(super) fn is(self, found: &FindingKind) -> bool {
        if let FindingKind::MtuChanged { before, after } = found {
            return match self {
                Self::Shrinks => after < before,
                Self::Grows => after > before,
                _ => false,
            };
        }
        matches!(
            (self, found),
            (Self::Interface, FindingKind::Interface { .. })
                | (Self::Rejected, FindingKind::Rejected { .. })
                | (Self::FirstLink, FindingKind::FirstLink { .. })
                | (
                    Self::AnnouncedTooSmall,
                    FindingKind::AnnouncedTooSmall { .. }
                )
                | (
                    Self::AnnouncedTooLarge,
                    FindingKind::AnnouncedTooLarge { .. }
                )
                | (Self::AnswersLimited, FindingKind::AnswersLimited { .. })
                | (Self::OneProtocol, FindingKind::OneProtocol { .. })
                | (Self::Branches, FindingKind::Branches { .. })
                | (Self::MssClamped, FindingKind::MssClamped { .. })
                | (Self::FragmentsDropped, FindingKind::FragmentsDropped)
                | (Self::Fragmented, FindingKind::ForwardFragments { .. })
                | (Self::LostRange, FindingKind::LostRange { .. })
                | (Self::BelowIpv6, FindingKind::BelowIpv6 { .. })
                | (Self::LossBySize, FindingKind::LossBySize { .. })
                | (
                    Self::BlackHole(Direction::Forward),
                    FindingKind::BlackHole {
                        direction: Some(Direction::Forward),
                        ..
                    },
                )
                | (
                    Self::BlackHole(Direction::Reverse),
                    FindingKind::BlackHole {
                        direction: Some(Direction::Reverse),
                        ..
                    }
                )
        )
    }
}

impl GroundTruth {
    /// The truth about the path of `setting`.
    pub(super) fn of(setting: &Setting, probe: &Probe) -> Self {
        let links = &setting.network.links;
        let asked = probe.up_to;
        let declared = links.iter().map(|link| link.mtu.bytes()).min();
        let declared = declared.map_or(asked, |smallest| smallest.min(asked));
        let passes = |direction, holds: fn(Rule) -> bool| {
            let rules = links.iter().flat_map(rules);
            let dropping = rules.filter(|rule| {
                rule.direction.is_none_or(|only| only == direction)
                    && holds(*rule)
                    // A filter of ICMP limits no other packets.
                    && rule.protocol != Some(Protocol::Icmp)
                    && (direction == Direction::Forward || is_answered_at_length(*rule, probe))
            });
            let sizes = dropping.filter_map(drops_above);
            sizes.min().map_or(declared, |size| size.min(declared))
        };
        let before = |direction| {
            let size = passes(direction, holds_at_first);
            (size != passes(direction, holds_at_last)).then_some(size)
        };
        let (fault, link) = match fault(setting, declared, asked) {
            Some((fault, link)) => (Some(fault), link),
            None => (None, 0),
        };
        Self {
            fault,
            link,
            forward: passes(Direction::Forward, holds_at_last),
            reverse: passes(Direction::Reverse, holds_at_last),
            forward_before: before(Direction::Forward),
            reverse_before: before(Direction::Reverse),
        }
    }
}

/// The rules of a link. A wire that carries less than its interfaces send drops packets
/// as a switch does.
fn rules(link: &Link) -> impl Iterator<Item = Rule> {
    let wire = link.impairments.narrow.map(|narrow| {
        let most = narrow.mtu.bytes();
        Rule::always(Action::DropAbove(most))
    });
    wire.into_iter()
        .chain(link.impairments.faults.iter().copied())
}

const fn drops_above(rule: Rule) -> Option<Bytes> {
    match rule.action {
        Action::DropAbove(most) => Some(most),
        _ => None,
    }
}

/// Whether the packets of a rule include large answers to probes: those of echoes, and
/// those of a reflector.
fn is_answered_at_length(rule: Rule, probe: &Probe) -> bool {
    match rule.protocol {
        None => true,
        Some(Protocol::Udp) => probe.reflector,
        Some(Protocol::Icmp | Protocol::Tcp) => false,
    }
}

fn holds_at_first(rule: Rule) -> bool {
    rule.from == Span::ZERO
}

const fn holds_at_last(rule: Rule) -> bool {
    rule.until.is_none()
}

/// The fault, and the place of its link.
fn fault(setting: &Setting, declared: Bytes, asked: Bytes) -> Option<(Fault, usize)> {
    let links = &setting.network.links;
    let vanishing = links.iter().enumerate().find_map(|(place, link)| {
        let mut rules = rules(link);
        let rule = &rules.find(|rule| drops_above(*rule).is_some_and(|size| size < declared))?;
        let below = drops_above(*rule)? < Bytes::new(setting.network.ip.smallest_mtu().into());
        let is_below = setting.network.ip == IpVersion::V6 && below && rule.protocol.is_none();
        Some(match is_below {
            true => (Fault::BelowIpv6, place),
            false => (of_dropping(*rule, place), place),
        })
    });
    if vanishing.is_some() {
        return vanishing;
    }
    let smallest = |link: &Link| link.mtu.bytes() <= declared;
    if declared < asked
        && let Some(place) = links.iter().position(smallest)
    {
        let clears = links[..=place].iter().position(|link| {
            rules(link).any(|rule| {
                setting.network.ip == IpVersion::V4 && rule.action == Action::ClearDontFragment
            })
        });
        return Some(match clears {
            Some(cleared) => (Fault::Fragmented, cleared),
            None => (of_declared(links, declared, place), place),
        });
    }
    let other = |rule: Rule| match rule.action {
        Action::ClampMss(most) => {
            let headers = setting.network.ip.header() + TCP_HEADER;
            (Bytes::new(most.into()) + headers < declared).then_some(Fault::MssClamped)
        }
        Action::DropFragments => Some(Fault::FragmentsDropped),
        Action::DropBetween { from, .. } => (from <= declared).then_some(Fault::LostRange),
        Action::DropShareAbove { above, .. } => (above < declared).then_some(Fault::LossBySize),
        _ => None,
    };
    links.iter().enumerate().find_map(|(place, link)| {
        let has_errors = link.impairments.bit_error_rate > 0.0;
        let fault = rules(link).find_map(other);
        let fault = fault.or_else(|| has_errors.then_some(Fault::LossBySize))?;
        Some((fault, place))
    })
}

/// The fault that a rule for large packets is.
fn of_dropping(rule: Rule, place: usize) -> Fault {
    if !holds_at_last(rule) {
        Fault::Grows
    } else if !holds_at_first(rule) {
        Fault::Shrinks
    } else if rule.share < 1.0 {
        Fault::Branches
    } else if rule.protocol.is_some() {
        Fault::OneProtocol
    } else {
        match rule.direction {
            Some(Direction::Reverse) => Fault::BlackHole(Direction::Reverse),
            // Nobody but the local host and the first router is on the first link.
            None if place == 0 => Fault::FirstLink,
            Some(Direction::Forward) if place == 0 => Fault::FirstLink,
            _ => Fault::BlackHole(Direction::Forward),
        }
    }
}

/// The fault of a link whose interfaces have a small MTU: what becomes of the messages
/// of the router in front of it, on the links that they take.
fn of_declared(links: &[Link], declared: Bytes, place: usize) -> Fault {
    if place == 0 {
        return Fault::Interface;
    }
    // The messages pass the nearest link last.
    let rules = links[..place].iter().rev().flat_map(rules);
    let mut announced = declared;
    let mut is_limited = false;
    for rule in rules {
        match rule.action {
            Action::DropTooBig => return Fault::BlackHole(Direction::Forward),
            Action::LimitTooBig(_) => is_limited = true,
            Action::AnnounceMtu(mtu) => announced = Bytes::new(mtu.into()),
            _ => {}
        }
    }
    if is_limited {
        Fault::AnswersLimited
    } else if announced < declared {
        Fault::AnnouncedTooSmall
    } else if announced > declared {
        Fault::AnnouncedTooLarge
    } else {
        Fault::Rejected
    }
}
