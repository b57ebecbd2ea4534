//! Sealed gateways under mixed load and every fault, for long in virtual time.
//! `JUMBOLAB_ENDURANCE` is the seconds of load.

use std::collections::BTreeSet;

use units::IpVersion;

use super::super::*;
use super::hostile::Chance;
use super::sealed::sealed;
use super::support::*;

/// Seconds of load in the gate.
const SECONDS: u64 = 20;
/// The interval of packets from each side, and of faults.
const GAP: Span = Span::from_millis(10);
const FAULT: Span = Span::from_millis(150);
/// The time that a message takes through the core.
const DELAY: Span = Span::from_micros(500);
/// The most bytes that a gateway keeps for later: its pool of buffers.
const KEPT: usize = 8 << 20;

/// A message on its way, with the packets and pieces in it.
struct Message {
    at: Time,
    bytes: Vec<u8>,
    entries: u64,
}

/// Packets and pieces that ended where no counter of a gateway counts.
#[derive(Debug, Default)]
struct Lost {
    /// In the core: by chance, on a link that was down, or as too large.
    core: u64,
    /// In messages that a gateway rejected, as it had just started, or as they were late.
    rejected: u64,
    /// With a gateway that was killed: those that waited in it.
    killed: u64,
}

/// A gateway at one end, over all its starts.
struct End {
    gateway: Gateway,
    starts: u8,
    /// The counters of its earlier starts.
    before: Traffic,
    /// Packets and pieces that this start accepted in messages.
    accepted: u64,
    /// Messages on their way to it.
    way: Vec<Message>,
    lost: Lost,
    /// The numbers of the packets that it let out.
    out: BTreeSet<u32>,
}

/// Both ends, and the core between them.
struct Bed {
    ends: [End; 2],
    now: Time,
    chance: Chance,
    mtu: usize,
    is_down: bool,
    is_lossy: bool,
    /// The next number of a packet.
    number: u32,
}

/// The gateway of an end at one of its starts.
fn started(end: usize, start: u8) -> Gateway {
    let (here, there) = [(HERE_V4, THERE_V4), (THERE_V4, HERE_V4)][end];
    let keys = [[1, 2], [2, 1]][end];
    let mut settings = sealed(settings(udp(here, there)), keys, 1);
    // Each start draws other keys; the clock goes on.
    settings.entropy = [start.wrapping_mul(2).wrapping_add(u8::from(end == 1)) | 1; 32];
    settings.entropy[1] = [11, 22][end];
    settings.entropy[2] = start;
    settings.probe = Some(Span::from_secs(1));
    for peer in &mut settings.peers {
        if let Some(sealing) = &mut peer.sealing {
            sealing.rekey_after = Span::from_secs(1);
        }
    }
    gateway(settings)
}

impl Bed {
    fn new() -> Self {
        let end = |number| End {
            gateway: started(number, 0),
            starts: 0,
            before: Traffic::default(),
            accepted: 0,
            way: Vec::new(),
            lost: Lost::default(),
            out: BTreeSet::new(),
        };
        Self {
            ends: [end(0), end(1)],
            now: Time::ZERO,
            chance: Chance(5),
            mtu: 9_000,
            is_down: false,
            is_lossy: false,
            number: 0,
        }
    }

    /// The packet with this number: small ones, ones that fit a bundle, and larger ones, of
    /// either version of IP.
    fn packet(number: u32) -> Vec<u8> {
        let mut chance = Chance(number.into());
        let length = match chance.below(12) {
            0..5 => chance.below(200),
            5..8 => chance.below(1_400),
            8..11 => chance.below(9_000),
            _ => chance.below(65_000),
        };
        let sample = Sample {
            version: match chance.below(2) {
                0 => IpVersion::V4,
                _ => IpVersion::V6,
            },
            length: 4 + u16::try_from(length).unwrap(),
            number,
            ..Sample::SMALL
        };
        sample.bytes()
    }

    /// Load and faults for `span`.
    fn run(&mut self, span: Span, with_faults: bool) {
        let end = self.now + span;
        let (mut packet, mut fault) = (self.now, self.now + FAULT);
        while self.now < end {
            let timeouts = self.ends.iter_mut();
            let timeout = timeouts.filter_map(|end| end.gateway.next_timeout(self.now));
            let next = timeout.chain([packet, fault, end]).min();
            let ways = self.ends.iter().flat_map(|end| &end.way);
            let next = ways.map(|message| message.at).chain(next).min();
            self.now = self.now.max(next.unwrap());
            if self.now >= packet {
                packet += GAP;
                for end in &mut self.ends {
                    let bytes = Self::packet(self.number);
                    self.number += 1;
                    end.gateway.receive_inside(self.now, &bytes);
                }
            }
            if self.now >= fault {
                fault += FAULT;
                if with_faults {
                    self.fault();
                }
            }
            self.exchange();
        }
    }

    /// A fault begins or ends.
    fn fault(&mut self) {
        match self.chance.below(10) {
            0 | 1 => self.is_lossy = !self.is_lossy,
            2 => self.is_down = true,
            3..6 => self.is_down = false,
            6..9 => self.mtu = 1_280 + self.chance.below(7_721),
            _ => {
                let end = self.chance.below(2);
                self.kill(end);
            }
        }
    }

    /// A gateway ends without a word, and starts again.
    fn kill(&mut self, number: usize) {
        let end = &mut self.ends[number];
        let counts = end.gateway.counts().total();
        let waiting = end.gateway.waiting();
        let held = end.accepted - counts.inward.unpacked;
        assert!(held >= waiting.bundles && (held == 0) == (waiting.bundles == 0));
        end.lost.killed += waiting.inward + held;
        end.before.add(&counts);
        end.accepted = 0;
        end.starts = end.starts.wrapping_add(1);
        end.gateway = started(number, end.starts);
        self.ends[1 - number].lost.killed += waiting.outward;
    }

    /// Passes on what is due.
    fn exchange(&mut self) {
        let mut any = true;
        while std::mem::take(&mut any) {
            for from in [0, 1] {
                any |= self.send(from);
                any |= self.receive(from);
            }
        }
    }

    /// Takes what the gateway of an end sends. Returns whether there was anything.
    fn send(&mut self, from: usize) -> bool {
        let (mut any, now) = (false, self.now);
        let [one, other] = &mut self.ends;
        let (near, far) = if from == 0 {
            (one, other)
        } else {
            (other, one)
        };
        near.gateway.handle_timeout(now);
        while let Some(transmit) = near.gateway.poll_transmit(now) {
            any = true;
            match transmit {
                Transmit::Core { bytes, packets, .. } => {
                    let is_lost = self.is_lossy && self.chance.below(30) == 0;
                    if self.is_down || is_lost || bytes.len() > self.mtu {
                        far.lost.core += packets;
                        continue;
                    }
                    // A few overtake others.
                    let late = if self.chance.below(40) == 0 { 4 } else { 1 };
                    far.way.push(Message {
                        at: now + DELAY * late,
                        bytes: bytes.to_vec(),
                        entries: packets,
                    });
                }
                Transmit::Inside { bytes } => {
                    let end = IpPacket::parse_whole(bytes).unwrap().payload;
                    let number = u32::from_be_bytes(end[8..12].try_into().unwrap());
                    assert!(near.out.insert(number), "{number} came twice");
                    assert!(bytes == one_hop_on(Self::packet(number)), "{number}");
                }
                Transmit::Error { .. } => {}
            }
        }
        conserved(&near.gateway);
        any
    }

    /// Hands the messages to an end that have arrived. Returns whether there were any.
    fn receive(&mut self, to: usize) -> bool {
        let end = &mut self.ends[to];
        let rejected = |gateway: &Gateway| gateway.counts().total().inward.rejections.total();
        let mut any = false;
        end.way.sort_by_key(|message| message.at);
        let due = end.way.partition_point(|message| message.at <= self.now);
        for message in end.way.drain(..due) {
            any = true;
            let before = rejected(&end.gateway);
            end.gateway.receive_core(self.now, &message.bytes);
            match rejected(&end.gateway) == before {
                true => end.accepted += message.entries,
                false => end.lost.rejected += message.entries,
            }
            // Some come twice, and are rejected.
            if self.chance.below(50) == 0 {
                let before = rejected(&end.gateway);
                end.gateway.receive_core(self.now, &message.bytes);
                assert_eq!(rejected(&end.gateway), before + 1);
            }
        }
        any
    }

    /// The counters of an end over all its starts.
    fn counts(&self, end: usize) -> Traffic {
        let mut counts = self.ends[end].before;
        counts.add(&self.ends[end].gateway.counts().total());
        counts
    }
}

#[test]
#[expect(clippy::print_stdout, reason = "figures of a long run")]
fn in_is_out_and_counted_drops_to_the_packet_whatever_fails() {
    let asked = std::env::var("JUMBOLAB_ENDURANCE").ok();
    let seconds = asked.as_ref();
    let seconds = seconds.map_or(SECONDS, |text| text.parse().expect("a number of seconds"));
    let mut bed = Bed::new();
    bed.run(Span::from_secs(seconds), true);
    // The path is sound again, and all packets cross once keys and sizes are found.
    (bed.is_down, bed.is_lossy, bed.mtu) = (false, false, 9_000);
    bed.run(Span::from_secs(6), false);
    let healed = bed.number;
    bed.run(Span::from_secs(1), false);
    let sent = bed.number;
    // What waits leaves, without further load.
    for _ in 0..2_000 {
        bed.now += Span::from_millis(1);
        bed.exchange();
    }
    for to in [0, 1] {
        let (out, inward) = (bed.counts(1 - to).outward, bed.counts(to).inward);
        let end = &bed.ends[to];
        if asked.is_some() {
            println!("start {}: {:?}\n{out:?}\n{inward:?}", end.starts, end.lost);
        }
        assert_eq!(end.gateway.waiting(), Waiting::default());
        let kept = end.gateway.pool.bytes();
        assert!(kept < KEPT, "{kept}");
        let drops = out.drops.total() + inward.drops.total();
        let Lost {
            core,
            rejected,
            killed,
        } = end.lost;
        assert_eq!(
            out.came + out.pieces,
            inward.released + inward.joined + drops + core + rejected + killed
        );
        assert_eq!(inward.released, end.out.len() as u64);
        // Each end sends every second number, the first one the even ones.
        let is_from_far = |number: &u32| *number % 2 == u32::from(to == 0);
        assert_eq!(out.came, (0..sent).filter(is_from_far).count() as u64);
        assert!(
            (healed..sent)
                .filter(is_from_far)
                .all(|number| end.out.contains(&number))
        );
        for (what, count) in [
            ("lost", core),
            ("rejected", rejected),
            ("killed", killed),
            ("handshakes", inward.handshakes),
            ("incomplete", inward.drops.of(Cause::Incomplete)),
            ("joined", inward.joined),
        ] {
            assert!(count > 0, "{what}");
        }
    }
}
