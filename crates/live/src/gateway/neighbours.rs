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
    /// For others.
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
    /// Packets that wait for the address; at least one is to be kept [RFC1122 s2.3.2.2].
    held: Vec<Vec<u8>>,
}

impl Known {
    /// Octets of the packets that wait.
    fn octets(&self) -> usize {
        self.held.iter().map(Vec::len).sum()
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
            swept: now,
        }
    }

    /// The own Ethernet address.
    pub(super) const fn own(&self) -> [u8; 6] {
        self.own
    }

    /// Takes note of a frame from the segment.
    pub(super) fn receive(&mut self, now: Time, frame: &[u8]) -> Meaning {
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
            held: Vec::new(),
        };
        let Some(before) = self.known.insert(address, known) else {
            return;
        };
        self.held -= before.octets();
        if now < before.until {
            let packets = before.held.into_iter();
            let due = packets.map(|packet| Due::Packet(link, packet));
            self.due.extend(due);
        } else {
            self.dropped += before.held.len() as u64;
        }
    }

    /// The Ethernet address of the host `to`. Without one, `packet` waits for the answer
    /// to a question.
    pub(super) fn find(&mut self, now: Time, to: IpAddr, packet: &[u8]) -> Option<[u8; 6]> {
        if !self.known.contains_key(&to) {
            if !self.has_room(now) {
                self.dropped += 1;
                return None;
            }
            let new = Known {
                link: None,
                ask: now,
                until: now + PATIENCE,
                held: Vec::new(),
            };
            self.known.insert(to, new);
        }
        let known = self.known.get_mut(&to)?;
        if now >= known.until {
            known.link = None;
            known.until = now + PATIENCE;
            self.held -= known.octets();
            self.dropped += known.held.len() as u64;
            known.held.clear();
        }
        if known.link.is_none() {
            let length = packet.len();
            if known.octets() + length > HELD || self.held + length > ALL_HELD {
                self.dropped += 1;
            } else {
                self.held += length;
                known.held.push(packet.to_vec());
            }
        }
        let link = known.link;
        if now >= known.ask {
            known.ask = now + AGAIN;
            self.ask(to);
        }
        link
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
            let (dropped, held) = (&mut self.dropped, &mut self.held);
            self.known.retain(|_, known| {
                let stays = now < known.until;
                if !stays {
                    *dropped += known.held.len() as u64;
                    *held -= known.octets();
                }
                stays
            });
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
        let held = self.known.values().map(|known| known.held.len() as u64);
        held.sum()
    }

    /// Drops them.
    pub(super) fn abandon(&mut self) {
        self.dropped += self.waiting();
        self.known.clear();
        self.held = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOST: [u8; 6] = [2, 0, 0, 0, 0, 9];

    fn at(millis: u64) -> Time {
        Time::ZERO + Span::from_millis(millis)
    }

    fn router() -> (Neighbours, IpAddr, IpAddr) {
        let own = "10.1.0.1".parse().unwrap();
        (
            Neighbours::new(vec![own], at(0)),
            own,
            "10.1.0.2".parse().unwrap(),
        )
    }

    fn said(by: Node, to: Node) -> Vec<u8> {
        let mut frame = vec![0; LARGEST];
        let length = emit_answer(by, Some(to), &mut frame).unwrap();
        frame.truncate(length);
        frame
    }

    #[test]
    fn packets_wait_for_the_answer_and_leave_with_it_in_their_order() {
        let (mut router, own, host) = router();
        assert_eq!(router.find(at(0), host, b"one"), None);
        assert_eq!(router.take_due().len(), 1, "one question");
        assert_eq!(router.find(at(10), host, b"two"), None);
        assert_eq!((router.take_due().len(), router.take_dropped()), (0, 0));
        assert_eq!(router.waiting(), 2);
        let answer = said((host, HOST), (own, router.own()));
        assert_eq!(router.receive(at(20), &answer), Meaning::Neighbour);
        let expected = [b"one", b"two"].map(|packet| Due::Packet(HOST, packet.to_vec()));
        assert_eq!(router.take_due(), expected);
        assert_eq!(router.find(at(30), host, b"three"), Some(HOST));
        assert_eq!((router.waiting(), router.take_dropped()), (0, 0));
        // Another one is found too late.
        let late = "10.1.0.7".parse().unwrap();
        router.find(at(40), late, b"four");
        router.take_due();
        let answer = said((late, HOST), (own, router.own()));
        router.receive(at(3_040), &answer);
        assert_eq!((router.take_due(), router.take_dropped()), (vec![], 1));
    }

    #[test]
    fn a_host_is_asked_again_before_it_is_forgotten() {
        let (mut router, own, host) = router();
        router.find(at(0), host, b"one");
        let answer = said((host, HOST), (own, router.own()));
        router.receive(at(0), &answer);
        router.take_due();
        assert_eq!(router.find(at(29_999), host, b""), Some(HOST));
        assert_eq!(router.take_due(), []);
        assert_eq!(router.find(at(30_000), host, b""), Some(HOST));
        assert_eq!(router.find(at(30_100), host, b""), Some(HOST));
        assert_eq!(router.take_due().len(), 1);
        assert_eq!(router.find(at(60_000), host, b""), None);
    }

    #[test]
    fn it_answers_for_its_own_address_and_learns_from_nobody_else() {
        let (mut router, own, host) = router();
        let mut frame = vec![0; LARGEST];
        emit_question((host, HOST), own, &mut frame).unwrap();
        assert_eq!(router.receive(at(0), &frame), Meaning::Neighbour);
        let answer = said((own, router.own()), (host, HOST));
        assert_eq!(router.take_due(), [Due::Frame(answer)]);
        assert_eq!(router.find(at(1), host, b""), Some(HOST));
        // A question for another host, an answer that nobody wanted, and one in its name.
        let other: IpAddr = "10.1.0.3".parse().unwrap();
        emit_question((other, HOST), host, &mut frame).unwrap();
        router.receive(at(2), &frame);
        let unwanted = said((other, HOST), (own, router.own()));
        router.receive(at(2), &unwanted);
        let false_name = said((own, HOST), (own, router.own()));
        router.receive(at(2), &false_name);
        assert_eq!(router.take_due(), []);
        assert_eq!(router.find(at(3), other, b""), None);
    }

    #[test]
    fn packets_for_one_host_and_for_all_take_bounded_room() {
        let (mut router, _, host) = router();
        let packet = vec![0; HELD / 4];
        for _ in 0..6 {
            router.find(at(0), host, &packet);
        }
        assert_eq!((router.waiting(), router.take_dropped()), (4, 2));
        for number in 0..100 {
            router.find(at(0), IpAddr::from([10, 1, 1, number]), &packet);
        }
        assert_eq!((router.waiting(), router.take_dropped()), (64, 40));
        router.find(at(3_000), host, &packet);
        assert_eq!((router.waiting(), router.take_dropped()), (61, 4));
    }

    #[test]
    fn unknown_hosts_take_bounded_room_and_are_forgotten() {
        let (mut router, _, _) = router();
        let host = |number: usize| {
            let [high, low] = u16::try_from(number).unwrap().to_be_bytes();
            IpAddr::from([10, 2, high, low])
        };
        for number in 0..MOST + 10 {
            router.find(at(0), host(number), b"packet");
        }
        assert_eq!(router.waiting(), MOST as u64);
        assert_eq!(router.take_dropped(), 10);
        router.find(at(3_000), host(MOST), b"packet");
        assert_eq!((router.waiting(), router.take_dropped()), (1, MOST as u64));
    }
}
