mod answer_rate;
mod loss_by_size;
mod losses;
mod pieces;
mod sizes;

use crate::machine::{AnswerKind, QuotedHeader, ReplySize, Target};
use link::TooBig;
use link::middlebox::Action;
use link::{Direction, Protocol};
use queue::{Limit, Spec};
use units::Rate;

use super::*;

const VERSIONS: [IpVersion; 2] = [IpVersion::V4, IpVersion::V6];

/// A prober that sends given probes, each so long after the one before, and notes the
/// answers.
struct Script {
    probes: Vec<Probe>,
    gap: Span,
    next_at: Time,
    answers: Vec<(Span, Answer)>,
    sent_at: Vec<Time>,
}

impl Script {
    fn new(gap: Span, probes: impl IntoIterator<Item = Probe>) -> Self {
        let mut probes: Vec<Probe> = probes.into_iter().collect();
        for (probe, number) in probes.iter_mut().zip(1_u64..) {
            probe.id = number << 40 | number;
        }
        probes.reverse();
        Self {
            probes,
            gap,
            next_at: Time::ZERO,
            answers: Vec::new(),
            sent_at: Vec::new(),
        }
    }

    /// The answer to each probe, in order of the probes.
    fn kinds(&self) -> Vec<Option<AnswerKind>> {
        let numbers = 1..=self.sent_at.len() as u64;
        let kind = |number: u64| {
            let id = number << 40 | number;
            let found = self.answers.iter().find(|(_, answer)| answer.id == id);
            found.map(|(_, answer)| answer.kind)
        };
        numbers.map(kind).collect()
    }
}

impl Prober for Script {
    fn poll_probe(&mut self, now: Time) -> Option<Probe> {
        if now < self.next_at {
            return None;
        }
        let probe = self.probes.pop()?;
        self.next_at = now + self.gap;
        self.sent_at.push(now);
        Some(probe)
    }

    fn poll_timeout(&self) -> Option<Time> {
        (!self.probes.is_empty()).then_some(self.next_at)
    }

    fn answered(&mut self, now: Time, answer: &Answer) {
        let number = usize::try_from(answer.id >> 40).unwrap() - 1;
        let since = now.since(self.sent_at[number]).unwrap();
        self.answers.push((since, *answer));
    }

    fn is_done(&self) -> bool {
        false
    }
}

fn probe(protocol: Protocol, size: u64) -> Probe {
    Probe {
        id: 0,
        protocol,
        to: Target::FarEnd,
        size: Bytes::new(size),
        hop_limit: None,
        flow: 0,
        fragment_size: None,
        reply: ReplySize::Same,
    }
}

fn link(name: &str, mtu: u64) -> PathLink {
    let queue = Spec::DropTail {
        limit: Limit::Bytes(Bytes::new(1 << 20)),
    };
    let settings = Settings {
        delay: Span::from_millis(2),
        ..Settings::perfect(Rate::from_bits_per_second(1_000_000_000), queue)
    };
    PathLink {
        name: name.to_owned(),
        mtu: Bytes::new(mtu),
        directions: [settings.clone(), settings],
        rules: Vec::new(),
        cross: [None, None],
    }
}

/// Four links with three routers; the third link is the one that tests change.
fn path(version: IpVersion, mtu: u64) -> ProbePath {
    ProbePath {
        version,
        links: vec![
            link("first", 9_000),
            link("second", 9_000),
            link("third", mtu),
            link("fourth", 9_000),
        ],
        far_end: FarEnd {
            listens: true,
            reflects: false,
        },
        seed: Seed::new(20),
    }
}

fn run(path: &ProbePath, probes: impl IntoIterator<Item = Probe>) -> Script {
    let mut script = Script::new(Span::from_millis(100), probes);
    path.run(&mut script).unwrap();
    script
}

fn size_of(kind: Option<AnswerKind>) -> Option<(u64, Option<u64>)> {
    match kind? {
        AnswerKind::Reply {
            size,
            fragment_size,
            ..
        } => Some((size.get(), fragment_size.map(Bytes::get))),
        _ => None,
    }
}

const ALL: [Protocol; 3] = [Protocol::Icmp, Protocol::Udp, Protocol::Tcp];

#[test]
fn the_far_end_answers_every_protocol_after_a_round_trip() {
    for version in VERSIONS {
        let script = run(
            &path(version, 9_000),
            ALL.map(|protocol| probe(protocol, 9_000)),
        );
        let far_end = addresses(version, 4)[3][1];
        assert!(
            script
                .answers
                .iter()
                .all(|(_, answer)| answer.from == far_end)
        );
        // Eight links of 2 ms, and four times 73 us for a large packet.
        for (since, _) in &script.answers {
            assert!((16.2..17.0).contains(&since.as_millis_f64()), "{since:?}");
        }
        let [echo, udp, tcp] = script.kinds()[..] else {
            panic!("{:?}", script.answers);
        };
        assert_eq!(size_of(echo), Some((9_000, None)));
        assert!(matches!(
            udp,
            Some(AnswerKind::Reply {
                is_unreachable: true,
                ..
            })
        ));
        let mss = 9_000 - 20 - version.header().get();
        let expected = u16::try_from(mss).ok();
        assert!(matches!(tcp, Some(AnswerKind::Reply { mss, .. }) if mss == expected));
    }
}

#[test]
fn each_router_tells_that_the_hop_limit_is_used_up() {
    for version in VERSIONS {
        for protocol in ALL {
            let probes = (1..=4).map(|hops| Probe {
                hop_limit: Some(hops),
                ..probe(protocol, 200)
            });
            let script = run(&path(version, 9_000), probes);
            let from: Vec<_> = script
                .answers
                .iter()
                .map(|(_, answer)| answer.from)
                .collect();
            let expected: Vec<_> = addresses(version, 4).iter().map(|ends| ends[1]).collect();
            assert_eq!(from, expected);
            let kinds = script.kinds();
            let quoted = Some(QuotedHeader {
                piece: None,
                dont_fragment: true,
            });
            let exceeded = Some(AnswerKind::HopLimitExceeded { quoted });
            assert!(kinds[..3].iter().all(|kind| *kind == exceeded));
            assert!(matches!(kinds[3], Some(AnswerKind::Reply { .. })));
        }
    }
}

#[test]
fn a_router_in_front_of_a_smaller_link_says_so_and_the_own_interface_too() {
    for version in VERSIONS {
        for protocol in ALL {
            let sizes = [1_500, 1_501, 9_001].map(|size| probe(protocol, size));
            let script = run(&path(version, 1_500), sizes);
            let kinds = script.kinds();
            assert!(matches!(kinds[0], Some(AnswerKind::Reply { .. })));
            let rejected = AnswerKind::TooBig {
                announced: Bytes::new(1_500),
                quoted: Bytes::new(1_501),
            };
            assert_eq!(kinds[1], Some(rejected));
            assert_eq!(script.answers[1].1.from, addresses(version, 4)[1][1]);
            let mtu = Bytes::new(9_000);
            assert_eq!(kinds[2], Some(AnswerKind::LocallyTooBig { mtu }));
        }
    }
}

#[test]
fn error_messages_are_limited_and_those_about_size_are_not() {
    let fast = |probes: Vec<Probe>, path: &ProbePath| {
        let mut script = Script::new(Span::from_millis(10), probes);
        path.run(&mut script).unwrap();
        script.answers.len()
    };
    for version in VERSIONS {
        // Six at once, and one more within the 1.5 seconds.
        let closed = vec![probe(Protocol::Udp, 200); 150];
        assert_eq!(fast(closed, &path(version, 9_000)), 7);
        let exceeded = Probe {
            hop_limit: Some(2),
            ..probe(Protocol::Icmp, 200)
        };
        assert_eq!(fast(vec![exceeded; 150], &path(version, 9_000)), 7);
        let large = vec![probe(Protocol::Icmp, 9_000); 150];
        assert_eq!(fast(large, &path(version, 1_500)), 150);
    }
}

#[test]
fn echoes_are_answered_by_routers_too() {
    for version in VERSIONS {
        let router = addresses(version, 4)[1][1];
        let to_router = Probe {
            to: Target::Router(router),
            ..probe(Protocol::Icmp, 8_000)
        };
        let script = run(&path(version, 1_500), [to_router]);
        assert_eq!(script.answers[0].1.from, router);
        assert_eq!(size_of(script.kinds()[0]), Some((8_000, None)));
    }
}

#[test]
fn fragments_arrive_as_one_packet_and_the_reply_is_fragmented_where_it_must_be() {
    for version in VERSIONS {
        let fragments = Probe {
            fragment_size: Some(Bytes::new(1_300)),
            ..probe(Protocol::Icmp, 4_000)
        };
        // The far end learns the smaller MTU of IPv6 from the first reply that is lost.
        let script = run(&path(version, 1_500), [fragments, fragments]);
        let Some((size, Some(largest))) = size_of(script.kinds()[1]) else {
            panic!("{:?}", script.answers);
        };
        assert_eq!(size, 4_000);
        assert!((1_480..=1_500).contains(&largest), "{largest}");
        let mut dropping = path(version, 9_000);
        dropping.links[1].rules = vec![Rule::always(Action::DropFragments)];
        let script = run(&dropping, [fragments, probe(Protocol::Icmp, 4_000)]);
        assert_eq!(size_of(script.kinds()[0]), None);
        assert_eq!(size_of(script.kinds()[1]), Some((4_000, None)));
    }
}

#[test]
fn rules_in_front_of_a_link_break_what_they_name() {
    for version in VERSIONS {
        let with = |mtu: u64, rule: Rule| {
            let mut path = path(version, mtu);
            path.links[1].rules = vec![rule];
            let probes = ALL.map(|protocol| probe(protocol, 4_000));
            run(&path, probes).kinds()
        };
        let above = Action::DropAbove(Bytes::new(1_500));
        assert_eq!(with(9_000, Rule::always(above)), [None; 3]);
        let back = Rule {
            direction: Some(Direction::Reverse),
            ..Rule::always(above)
        };
        let kinds = with(9_000, back);
        assert_eq!(kinds[0], None, "the reply is as large as the echo");
        assert!(kinds[1].is_some() && kinds[2].is_some());
        let udp = Rule {
            protocol: Some(Protocol::Udp),
            ..Rule::always(above)
        };
        let kinds = with(9_000, udp);
        assert!(kinds[0].is_some() && kinds[1].is_none() && kinds[2].is_some());
        assert_eq!(with(1_500, Rule::always(Action::DropTooBig)), [None; 3]);
        let lie = with(1_500, Rule::always(Action::AnnounceMtu(1_300)));
        let told = AnswerKind::TooBig {
            announced: Bytes::new(1_300),
            quoted: Bytes::new(4_000),
        };
        assert_eq!(lie, [Some(told); 3]);
        let clamped = with(9_000, Rule::always(Action::ClampMss(1_360)))[2];
        assert!(matches!(
            clamped,
            Some(AnswerKind::Reply {
                mss: Some(1_360),
                ..
            })
        ));
    }
}

#[test]
fn a_link_may_carry_less_than_its_interfaces_in_silence_or_not() {
    for version in VERSIONS {
        for (too_big, told) in [(TooBig::Drop, false), (TooBig::Answer, true)] {
            let mut path = path(version, 9_000);
            for direction in &mut path.links[0].directions {
                direction.largest_packet = Some(Bytes::new(1_500));
                direction.too_big = too_big;
            }
            let script = run(
                &path,
                [probe(Protocol::Icmp, 1_500), probe(Protocol::Icmp, 1_501)],
            );
            let kinds = script.kinds();
            assert!(matches!(kinds[0], Some(AnswerKind::Reply { .. })));
            let rejected = matches!(kinds[1], Some(AnswerKind::TooBig { .. }));
            assert_eq!(rejected, told);
        }
    }
}

#[test]
fn a_reflector_answers_small_if_asked_and_counts_what_arrived() {
    for version in VERSIONS {
        let mut path = path(version, 9_000);
        path.far_end.reflects = true;
        path.links[2].rules = vec![Rule {
            direction: Some(Direction::Reverse),
            ..Rule::always(Action::DropAbove(Bytes::new(1_500)))
        }];
        let large = probe(Protocol::Udp, 4_000);
        let small = Probe {
            reply: ReplySize::Small,
            ..large
        };
        let script = run(&path, [small, large, small]);
        let kinds = script.kinds();
        assert_eq!(kinds[1], None, "the large reply vanishes");
        let counted = [kinds[0], kinds[2]].map(|kind| match kind {
            Some(AnswerKind::Reply {
                size,
                reflected: Some(reflected),
                ..
            }) if size.get() < 200 => (reflected.sent, reflected.sequence, reflected.hop_limit),
            other => panic!("{other:?}"),
        });
        assert_eq!(counted, [(0, 0, 61), (2, 2, 61)]);
    }
}

#[test]
fn flows_take_their_branch_and_stay_there() {
    for version in VERSIONS {
        let mut path = path(version, 9_000);
        path.links[1].rules = vec![Rule {
            direction: Some(Direction::Forward),
            share: 0.5,
            ..Rule::always(Action::DropAbove(Bytes::new(1_500)))
        }];
        let flows = |flow| Probe {
            flow,
            ..probe(Protocol::Icmp, 4_000)
        };
        let probes = (0..32).chain(0..32).map(flows);
        let passed: Vec<bool> = run(&path, probes)
            .kinds()
            .iter()
            .map(Option::is_some)
            .collect();
        let (first, second) = passed.split_at(32);
        assert_eq!(first, second);
        let many = first.iter().filter(|passed| **passed).count();
        assert!((6..=26).contains(&many), "{many}");
    }
}

#[test]
fn cross_traffic_delays_and_drops_probes_of_any_size() {
    let mut path = path(IpVersion::V6, 9_000);
    let queue = Spec::DropTail {
        limit: Limit::Packets(40),
    };
    let slow = Settings::perfect(Rate::from_bits_per_second(10_000_000), queue);
    path.links[1].directions = [slow.clone(), slow];
    path.links[1].cross[0] = Some(Cross {
        packet: Bytes::new(1_500),
        // 9 Mbit/s and 1.1 times the rate.
        gaps: Distribution::Exponential(1.1e9),
    });
    let probes = vec![probe(Protocol::Icmp, 200); 100];
    let script = run(&path, probes);
    let lost = script.kinds().iter().filter(|kind| kind.is_none()).count();
    assert!((1..60).contains(&lost), "{lost}");
    let waited = script
        .answers
        .iter()
        .map(|(since, _)| *since)
        .max()
        .unwrap();
    assert!(waited > Span::from_millis(30), "{waited:?}");
}

#[test]
fn the_same_seed_gives_the_same_answers_and_another_one_others() {
    let lossy = |seed| {
        let mut path = path(IpVersion::V4, 9_000);
        path.seed = Seed::new(seed);
        for direction in &mut path.links[1].directions {
            direction.loss = 0.3;
        }
        run(&path, vec![probe(Protocol::Icmp, 500); 100]).answers
    };
    assert_eq!(lossy(1), lossy(1));
    assert_ne!(lossy(1), lossy(2));
}
