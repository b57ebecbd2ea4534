//! The hosts on an Ethernet segment on which the gateway is a router of its own: it
//! answers for its addresses, and asks for hosts. This module does no I/O.

use std::collections::BTreeMap;
use std::net::IpAddr;

use units::{Span, Time};
use wire::neighbour::{LARGEST, Neighbour, Node, emit_answer, emit_question};
use wire::protocol::ethernet::{self, ether_type};

/// The most hosts that are remembered.
const MOST: usize = 1 << 12;

/// For how long a host is where it was: timeouts are to be of the order of a minute
/// [RFC1122 s2.3.2.1].
const MEMORY: Span = Span::from_secs(60);

/// The age from which a host is asked again while packets still go to it.
const STALE: Span = Span::from_secs(30);

/// The time between two questions for a host: at most one a second [RFC1122 s2.3.2.1].
const AGAIN: Span = Span::from_secs(1);

/// For how long a packet waits for the answer: three questions [RFC4861 s10].
const PATIENCE: Span = Span::from_secs(3);

/// Octets of packets that wait for one host at most: a bundle's worth and more.
const HELD: usize = 1 << 18;

/// Octets of packets that wait for all hosts at most.
const ALL_HELD: usize = 1 << 22;

/// The time between two looks for hosts to forget.
const SWEEP: Span = Span::from_secs(1);

/// The meaning of a frame from the segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Meaning {
    /// An IP packet to be forwarded.
    Packet,
    /// A question or an answer.
    Neighbour,
    Other,
}

/// The neighbours of a router on Ethernet.
pub(super) struct Neighbours {
    own: [u8; 6],
    addresses: Vec<IpAddr>,
    known: BTreeMap<IpAddr, Known>,
    /// Frames to be sent now: answers, questions, and packets whose host was found.
    due: Vec<Due>,
    /// Octets of packets that wait.
    held: usize,
    /// Packets that were dropped since they were last taken.
    dropped: u64,
    /// When a question or the end of a wait is due, at the earliest.
    timeout: Option<Time>,
    swept: Time,
}

/// A frame to be sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Due {
    /// A whole frame of ARP or Neighbour Discovery.
    Frame(Vec<u8>),
    /// A packet to an Ethernet address.
    Packet([u8; 6], Vec<u8>),
}

struct Known {
    link: Option<[u8; 6]>,
    /// When to ask, if there are packets.
    ask: Time,
    /// When to forget it.
    until: Time,
    held: Held,
}

/// Packets that wait for an address; at least one is to be kept [RFC1122 s2.3.2.2].
#[derive(Default)]
struct Held {
    packets: Vec<Vec<u8>>,
    octets: usize,
}

impl Known {
    /// A host whose link address is not known, to be asked for at once.
    fn sought(now: Time) -> Self {
        Self {
            link: None,
            ask: now,
            until: now + PATIENCE,
            held: Held::default(),
        }
    }
}

impl Neighbours {
    /// A router with `addresses`. Its Ethernet address is locally administered
    /// [IEEE802 s8.4] and follows from the first of them, so that it is the same after a
    /// restart.
    pub(super) fn new(addresses: Vec<IpAddr>, now: Time) -> Self {
        let [a, b, c, d] = match addresses.first() {
            Some(IpAddr::V4(address)) => address.octets(),
            Some(IpAddr::V6(address)) => {
                let [.., a, b, c, d] = address.octets();
                [a, b, c, d]
            }
            None => [0; 4],
        };
        Self {
            own: [0x02, b'j', a, b, c, d],
            addresses,
            known: BTreeMap::new(),
            due: Vec::new(),
            held: 0,
            dropped: 0,
            timeout: None,
            swept: now,
        }
    }

    /// The own Ethernet address.
    pub(super) const fn own(&self) -> [u8; 6] {
        self.own
    }

    /// Takes note of a frame from the segment.
    pub(super) fn receive(&mut self, now: Time, frame: &[u8]) -> Meaning {
        self.handle_timeout(now);
        let Ok(header) = ethernet::Fields::parse(frame) else {
            return Meaning::Other;
        };
        let [to, from] = header.addresses;
        let is_group = to[0] & 1 != 0;
        if from == self.own || !is_group && to != self.own {
            return Meaning::Other;
        }
        if matches!(header.kind, ether_type::ARP | ether_type::IPV6)
            && let Ok(neighbour) = Neighbour::parse(frame)
        {
            self.hear(now, neighbour);
            return Meaning::Neighbour;
        }
        match header.kind {
            ether_type::IPV4 | ether_type::IPV6 if !is_group => Meaning::Packet,
            _ => Meaning::Other,
        }
    }

    fn hear(&mut self, now: Time, neighbour: Neighbour) {
        match neighbour {
            Neighbour::Question { from, target } => {
                let is_own = self.addresses.contains(&target);
                if let Some(node) = from {
                    self.learn(now, node, is_own);
                }
                if is_own {
                    let mut frame = vec![0; LARGEST];
                    if let Ok(length) = emit_answer((target, self.own), from, &mut frame) {
                        frame.truncate(length);
                        self.due.push(Due::Frame(frame));
                    }
                }
            }
            Neighbour::Answer(node) => self.learn(now, node, false),
        }
    }

    /// Takes note of a node: one that was asked for, or that wants to talk to the gateway
    /// [RFC826].
    fn learn(&mut self, now: Time, (address, link): Node, talks_to_us: bool) {
        if link[0] & 1 != 0 || self.addresses.contains(&address) {
            return;
        }
        if !self.known.contains_key(&address) && (!talks_to_us || !self.has_room(now)) {
            return;
        }
        let known = Known {
            link: Some(link),
            ask: now + STALE,
            until: now + MEMORY,
            held: Held::default(),
        };
        if let Some(before) = self.known.insert(address, known) {
            self.held -= before.held.octets;
            let packets = before.held.packets.into_iter();
            let due = packets.map(|packet| Due::Packet(link, packet));
            self.due.extend(due);
        }
    }

    /// The Ethernet address of the host `to`. Without one, `packet` waits for the answer
    /// to a question.
    pub(super) fn find(&mut self, now: Time, to: IpAddr, packet: &[u8]) -> Option<[u8; 6]> {
        self.handle_timeout(now);
        if !self.known.contains_key(&to) {
            if !self.has_room(now) {
                self.dropped += 1;
                return None;
            }
            self.known.insert(to, Known::sought(now));
        }
        let known = self.known.get_mut(&to)?;
        if now >= known.until {
            *known = Known::sought(now);
        }
        let link = known.link;
        if link.is_none() {
            let length = packet.len();
            if known.held.octets + length > HELD || self.held + length > ALL_HELD {
                self.dropped += 1;
            } else {
                self.held += length;
                known.held.octets += length;
                known.held.packets.push(packet.to_vec());
            }
        }
        if now >= known.ask {
            known.ask = now + AGAIN;
            if link.is_none() {
                let next = known.ask.min(known.until);
                self.timeout = Some(self.timeout.map_or(next, |timeout| timeout.min(next)));
            }
            self.ask(to);
        }
        link
    }

    /// When [`Neighbours::handle_timeout`] has something to do.
    pub(super) const fn next_timeout(&self) -> Option<Time> {
        self.timeout
    }

    /// Asks again for hosts that have not answered, and drops what has waited for too long.
    pub(super) fn handle_timeout(&mut self, now: Time) {
        if self.timeout.is_none_or(|timeout| now < timeout) {
            return;
        }
        let (dropped, held) = (&mut self.dropped, &mut self.held);
        let (mut again, mut next) = (Vec::new(), None::<Time>);
        self.known.retain(|address, known| {
            if known.link.is_some() {
                return true;
            }
            if now >= known.until {
                *dropped += known.held.packets.len() as u64;
                *held -= known.held.octets;
                return false;
            }
            if now >= known.ask {
                known.ask = now + AGAIN;
                again.push(*address);
            }
            let timeout = known.ask.min(known.until);
            next = Some(next.map_or(timeout, |next| next.min(timeout)));
            true
        });
        self.timeout = next;
        for address in again {
            self.ask(address);
        }
    }

    fn ask(&mut self, target: IpAddr) {
        let own = self.addresses.iter();
        let mut own = own.filter(|own| own.is_ipv4() == target.is_ipv4());
        let Some(own) = own.next() else {
            return;
        };
        let mut frame = vec![0; LARGEST];
        if let Ok(length) = emit_question((*own, self.own), target, &mut frame) {
            frame.truncate(length);
            self.due.push(Due::Frame(frame));
        }
    }

    /// Whether one more host can be remembered.
    fn has_room(&mut self, now: Time) -> bool {
        if now >= self.swept + SWEEP {
            self.swept = now;
            self.known.retain(|_, known| now < known.until);
        }
        self.known.len() < MOST
    }

    /// Takes the frames that are due.
    pub(super) fn take_due(&mut self) -> Vec<Due> {
        std::mem::take(&mut self.due)
    }

    /// Takes the number of packets that were dropped.
    pub(super) fn take_dropped(&mut self) -> u64 {
        std::mem::take(&mut self.dropped)
    }

    /// Packets that wait for a host to be found.
    pub(super) fn waiting(&self) -> u64 {
        let held = self.known.values();
        held.map(|known| known.held.packets.len() as u64).sum()
    }

    /// Drops them.
    pub(super) fn abandon(&mut self) {
        self.dropped += self.waiting();
        self.known.clear();
        self.held = 0;
        self.timeout = None;
    }
}

#[cfg(test)]
mod tests;
