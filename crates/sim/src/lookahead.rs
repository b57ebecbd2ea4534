//! Lookahead: the parts of a network in which the future of a packet is known as soon
//! as it enters them [Fujimoto1990].
//!
//! A fast link knows at the arrival of a packet when it will deliver it. Where all that
//! enters the next link comes from this one, packets enter both in the same order, so
//! the next link can decide its fate at once, too. A host that only receives, and at
//! most acknowledges every segment at once, goes on in the same way. No event is then
//! needed between the first link and the last. All instants and decisions are the same
//! as with an event for each arrival.

use proto::tcp::Acknowledging;

use crate::direction::Direction;
use crate::engine::Node;
use crate::routes::{Routes, walk};
use crate::{Scenario, Traffic};

/// The kind of place behind a direction of a link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Beyond {
    /// Each packet needs an event at its arrival.
    #[default]
    Unknown,
    /// Some of the following links can be entered ahead of time.
    Links,
    /// A host whose flows can be delivered ahead of time.
    Host,
}

/// The source of the packets that enter a direction or reach a host.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Feeder {
    Nothing,
    /// Its own host.
    Host,
    /// Another direction.
    Direction(usize),
    Several,
}

impl Feeder {
    fn and(&mut self, other: Self) {
        *self = match *self {
            Self::Nothing => other,
            same if same == other => same,
            _ => Self::Several,
        };
    }
}

/// The work of a host.
#[derive(Clone)]
struct Duties {
    arrivals: Feeder,
    /// The first directions of its acknowledgements.
    replies: Vec<usize>,
    sends: bool,
    /// Whether an arrival needs its instant: it is processed, or has consequences
    /// besides an acknowledgement.
    needs_time: bool,
}

/// Finds the directions that packets can enter ahead of time, and those behind which
/// they can go on. `deliveries`: whether hosts can be reached ahead of time, too.
///
/// No packet may be in the network but those of flows and acknowledgements: no router
/// answers, gathers, or notifies sources.
pub(crate) fn look(
    scenario: &Scenario,
    routes: &Routes,
    directions: &mut [Direction],
    nodes: &[Node],
    deliveries: bool,
) {
    let mut feeders = vec![Feeder::Nothing; directions.len()];
    let mut duties: Vec<Duties> = nodes
        .iter()
        .map(|node| Duties {
            arrivals: Feeder::Nothing,
            replies: Vec::new(),
            sends: false,
            needs_time: !deliveries || node.receive.is_some() || node.send.is_some(),
        })
        .collect();
    let mut follow = |path: &[(usize, usize)], to: usize, duties: &mut [Duties]| {
        let mut before = Feeder::Host;
        for (_, direction) in path {
            feeders[*direction].and(before);
            before = Feeder::Direction(*direction);
        }
        duties[to].arrivals.and(before);
    };
    for flow in &scenario.flows {
        let forth = walk(scenario, routes, flow.from, flow.to);
        let mtu = |at: &(usize, usize)| directions[at.1].mtu;
        let first = forth.first().map_or(u32::MAX, mtu);
        if forth.iter().any(|at| mtu(at) < first) {
            // Routers cut, or answer.
            return;
        }
        follow(&forth, flow.to, &mut duties);
        duties[flow.from].sends = true;
        if let Traffic::Tcp(tcp) = &flow.traffic {
            let back = walk(scenario, routes, flow.to, flow.from);
            follow(&back, flow.from, &mut duties);
            duties[flow.from].needs_time = true;
            let to = &mut duties[flow.to];
            to.needs_time |= tcp.messages.is_some();
            to.needs_time |= tcp.settings.acknowledging != Acknowledging::Each;
            to.replies.extend(back.first().map(|at| at.1));
        }
    }
    let known: Vec<bool> = directions.iter().map(Direction::is_known).collect();
    for (direction, feeder) in feeders.iter().enumerate() {
        if let Feeder::Direction(before) = *feeder
            && known[before]
            && known[direction]
        {
            directions[direction].ahead = true;
            directions[before].beyond = Beyond::Links;
        }
    }
    for duties in duties {
        // Its acknowledgements leave in order only if nothing else leaves.
        let mut replies = duties.replies.iter();
        let prompt =
            duties.replies.is_empty() || !duties.sends && replies.all(|reply| known[*reply]);
        if let Feeder::Direction(last) = duties.arrivals
            && known[last]
            && prompt
            && !duties.needs_time
        {
            directions[last].beyond = Beyond::Host;
            for reply in duties.replies {
                directions[reply].ahead = true;
            }
        }
    }
}
