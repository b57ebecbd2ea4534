//! Which protocols the far end answers.

use units::Span;

use super::super::asker::{Asker, Outcome};
use super::super::kind::Kind;
use super::super::{HopProbes, Protocol, Reflector, Settings, TcpProbes};

/// Small probes that measure the loss.
const LEAST_BEATS: u32 = 20;

/// The time between them.
const APART: Span = Span::from_millis(5);

/// The protocols that the far end answers.
#[derive(Debug, Default)]
pub(in crate::machine) struct Reachability {
    /// Those with answers to packets of any size.
    pub(in crate::machine) answers: Vec<Protocol>,
    /// Whether TCP is answered without data in the segment.
    pub(in crate::machine) tcp: bool,
    /// The protocol of the first search.
    pub(in crate::machine) main: Option<Protocol>,
    /// The protocol of probes for routers.
    pub(in crate::machine) route: Option<Protocol>,
    /// Packets to show with that the path works: their answers are not limited in rate.
    pub(in crate::machine) beat: Option<Kind>,
}

/// Sends a small probe of each protocol, and more where they are not answered.
pub(in crate::machine) fn walk(ask: &mut Asker<'_>) -> Reachability {
    let mut reach = Reachability::default();
    let mut main_is_open = false;
    for protocol in preferred(ask.settings) {
        let is_limited = ask.history.is_limited(protocol);
        let outcome = if protocol == Protocol::Tcp {
            let bare = Kind::bare_syn(ask.settings.version());
            reach.tcp = ask.answers(bare) == Outcome::Passes;
            if reach.tcp {
                reach.beat = reach.beat.or_else(|| Some(bare).filter(|_| !is_limited));
            }
            match ask.settings.tcp {
                TcpProbes::Any => ask.answers(Kind::small(protocol)),
                TcpProbes::Connect | TcpProbes::None => Outcome::Unclear,
            }
        } else {
            ask.answers(Kind::small(protocol))
        };
        match outcome {
            Outcome::Passes => {
                reach.answers.push(protocol);
                if !main_is_open {
                    reach.main = reach.main.or(Some(protocol));
                }
                let beat = match (protocol, ask.settings.reflector) {
                    (Protocol::Udp, Reflector::None) => None,
                    (Protocol::Udp, _) => Some(Kind::test_packet()),
                    _ => Some(Kind::small(protocol)),
                };
                reach.beat = reach.beat.or_else(|| beat.filter(|_| !is_limited));
            }
            Outcome::Open => main_is_open = true,
            Outcome::Rejected | Outcome::Vanishes | Outcome::Unclear => {}
        }
        // Routers answer whatever the far end answers; echo requests are let through
        // most.
        let can_route = protocol != Protocol::Tcp || ask.settings.tcp == TcpProbes::Any;
        if can_route && outcome != Outcome::Unclear {
            reach.route = reach.route.or(Some(protocol));
        }
    }
    if let Some(limit) = ask.history.limit() {
        let can_search = |protocol: &Protocol| match protocol {
            Protocol::Icmp | Protocol::Tcp => *protocol != limit.protocol,
            Protocol::Udp => ask.settings.reflector.is_there(),
        };
        let mut answers = reach.answers.iter().copied();
        reach.main = answers.find(can_search).or(reach.main);
    }
    reach.main = ask.history.main().or(reach.main);
    let first = preferred(ask.settings).first().copied();
    reach.route = match ask.settings.hop_probes {
        HopProbes::Any => ask.history.main().or(reach.route).or(first),
        HopProbes::Echo => Some(Protocol::Icmp),
        HopProbes::None => None,
    };
    reach
}

/// The protocols that were asked for and can be sent, those that tell most first: a
/// reflector tells the directions apart, echo shows both, the others forward only.
pub(super) fn preferred(settings: &Settings) -> Vec<Protocol> {
    let order = match settings.reflector.is_short() {
        true => [Protocol::Udp, Protocol::Icmp, Protocol::Tcp],
        false => [Protocol::Icmp, Protocol::Tcp, Protocol::Udp],
    };
    let can_send = |protocol: &Protocol| match protocol {
        Protocol::Icmp => settings.can_echo,
        Protocol::Udp => true,
        Protocol::Tcp => settings.tcp != TcpProbes::None,
    };
    let asked = |protocol: &Protocol| settings.protocols.contains(protocol);
    order.into_iter().filter(asked).filter(can_send).collect()
}

/// Measures the loss of small probes, and that of each direction if there is a reflector.
pub(in crate::machine) fn count_loss(ask: &mut Asker<'_>, reach: &Reachability) {
    if let Some(beat) = ask.history.beat() {
        ask.sends(beat, LEAST_BEATS, APART);
    }
    if ask.settings.reflector.is_there() && reach.answers.contains(&Protocol::Udp) {
        ask.sends(Kind::test_packet(), LEAST_BEATS, APART);
    }
}
