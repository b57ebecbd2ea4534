//! Lookahead: the parts of a network in which the future of a packet is known as soon
//! as it enters them [Fujimoto1990].
//!
//! A fast link knows at the arrival of a packet when it will deliver it. Where all that
//! enters the next link comes from this one, packets enter both in the same order, so
//! the next link can decide its outcome at once, too. A host that only receives, and at
//! most acknowledges every segment at once, goes on in the same way. So does a host that
//! is nothing but the sender of one connection, as long as no timer of the connection
//! comes first. No event is then needed between the first link and the last. All times
//! and decisions are the same as with an event for each arrival. `engine/ahead.rs` makes
//! use of what is found here.

use tcp::Acknowledging;

use crate::direction::Direction;
use crate::engine::Node;
use crate::routes::{Routes, walk};
use crate::{Scenario, Traffic};

/// The kind of place behind a direction of a link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Downstream {
    /// Each packet needs an event at its arrival.
    #[default]
    Unknown,
    /// Some of the following links can be entered ahead of time.
    Links,
    /// A host whose flows can be delivered ahead of time, and the direction by which
    /// all its acknowledgements leave.
    Host(u32),
    /// A host that sends one connection, to which acknowledgements can be delivered
    /// ahead of time, and the direction by which its segments leave.
    Sender(u32),
}

/// The source of the packets that enter a direction or reach a host.
#[derive(Clone, Copy, PartialEq, Eq)]
enum UpstreamSource {
    Nothing,
    /// Its own host.
    Host,
    /// Another direction.
    Direction(usize),
    Several,
}

impl UpstreamSource {
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
struct HostRoles {
    arrivals: UpstreamSource,
    /// The first directions of its acknowledgements.
    replies: Vec<usize>,
    /// The flows that begin here, and the first direction of the latest one.
    flows: usize,
    first: Option<usize>,
    /// Whether an arrival needs its time: it is processed, or has consequences
    /// besides an acknowledgement.
    needs_time: bool,
    /// Whether a sender's acknowledgement needs its time.
    sender_needs_time: bool,
}

/// Finds the directions that packets can enter ahead of time, and those behind which
/// they can go on. `deliveries`: whether hosts can be reached ahead of time, too, and
/// `senders`: whether senders can.
///
/// No packet may be in the network but those of flows and acknowledgements: no router
/// answers, aggregates, or notifies sources.
pub(crate) fn look(
    scenario: &Scenario,
    routes: &Routes,
    directions: &mut [Direction],
    nodes: &[Node],
    deliveries: bool,
    senders: bool,
) {
    let mut feeders = vec![UpstreamSource::Nothing; directions.len()];
    let mut duties: Vec<HostRoles> = nodes
        .iter()
        .map(|node| {
            let works = node.receive.is_some() || node.send.is_some();
            HostRoles {
                arrivals: UpstreamSource::Nothing,
                replies: Vec::new(),
                flows: 0,
                first: None,
                needs_time: !deliveries || works,
                sender_needs_time: !senders || works,
            }
        })
        .collect();
    let mut follow = |path: &[(usize, usize)], to: usize, duties: &mut [HostRoles]| {
        let mut before = UpstreamSource::Host;
        for (_, direction) in path {
            feeders[*direction].and(before);
            before = UpstreamSource::Direction(*direction);
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
        duties[flow.to].sender_needs_time = true;
        duties[flow.from].flows += 1;
        duties[flow.from].first = forth.first().map(|at| at.1);
        if let Traffic::Tcp(tcp) = &flow.traffic {
            let back = walk(scenario, routes, flow.to, flow.from);
            follow(&back, flow.from, &mut duties);
            duties[flow.from].needs_time = true;
            duties[flow.from].sender_needs_time |= tcp.messages.is_some();
            let to = &mut duties[flow.to];
            to.needs_time |= tcp.messages.is_some();
            to.needs_time |= tcp.settings.acknowledging != Acknowledging::Each;
            to.replies.extend(back.first().map(|at| at.1));
        }
    }
    let known: Vec<bool> = directions.iter().map(|of| of.is_known).collect();
    for (direction, feeder) in feeders.iter().enumerate() {
        if let UpstreamSource::Direction(before) = *feeder
            && known[before]
            && known[direction]
        {
            directions[direction].ahead = true;
            directions[before].beyond = Downstream::Links;
        }
    }
    for duties in duties {
        let UpstreamSource::Direction(last) = duties.arrivals else {
            continue;
        };
        if !known[last] {
            continue;
        }
        let reply = duties.replies.first().copied();
        // Its acknowledgements leave in order only if nothing else leaves.
        let prompt = reply.is_none_or(|reply| {
            duties.flows == 0 && known[reply] && duties.replies.iter().all(|of| *of == reply)
        });
        if prompt && !duties.needs_time {
            directions[last].beyond = Downstream::Host(reply.map_or(u32::MAX, short));
            if let Some(reply) = reply {
                directions[reply].ahead = true;
            }
        } else if duties.flows == 1
            && duties.replies.is_empty()
            && let Some(first) = duties.first
            && known[first]
            && feeders[first] == UpstreamSource::Host
            && !duties.sender_needs_time
        {
            directions[last].beyond = Downstream::Sender(short(first));
        }
    }
}

fn short(direction: usize) -> u32 {
    u32::try_from(direction).expect("checked with the scenario")
}
