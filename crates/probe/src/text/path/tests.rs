//! Reports of paths that were made up.

mod losses;
mod unstated;

use std::net::{IpAddr, Ipv4Addr};

use link::{Direction, Protocol};
use serde_json::Value;
use units::{Bytes, Span};

use super::*;
use crate::machine::{
    Advice, Device, DirectionResult, Evidence, Finding, FindingKind, Hop, Limit, Loss, NotSeen,
    PathReport, Place, ProtocolResult, Remedy, Tunnel, Verdict,
};
use losses::size_loss;

const FAR_END: IpAddr = IpAddr::V4(Ipv4Addr::new(192, 0, 2, 7));

fn hop(number: u8, largest: u64) -> Hop {
    Hop {
        number,
        address: Some(match number {
            3 => FAR_END,
            _ => Ipv4Addr::new(10, 0, 0, number).into(),
        }),
        round_trip: Some(Span::from_micros(150 * u64::from(number))),
        largest: Some(Bytes::new(largest)),
    }
}

/// A black hole behind the second hop.
fn hole() -> PathReport {
    let direction = |limit| DirectionResult {
        mtu: Some(Bytes::new(1500)),
        limit,
        loss: None,
    };
    PathReport {
        far_end: FAR_END,
        asked: Bytes::new(9000),
        verdict: Verdict::Problem,
        forward: direction(Limit::Vanish),
        reverse: direction(Limit::NotSeen),
        round_trip: Some(Span::from_micros(450)),
        hops: vec![hop(1, 9000), hop(2, 9000), hop(3, 1500)],
        protocols: vec![ProtocolResult {
            protocol: Protocol::Icmp,
            answers: true,
            largest: Some(Bytes::new(1500)),
            fails_from: Some(Bytes::new(1501)),
            mss: None,
        }],
        loss: None,
        losses: Vec::new(),
        findings: vec![Finding {
            kind: FindingKind::BlackHole {
                direction: Some(Direction::Forward),
                from: Bytes::new(1501),
                place: Place {
                    behind: Some(hop(2, 9000)),
                    before: Some(hop(3, 1500)),
                    is_known: true,
                },
            },
            evidence: vec![Evidence {
                protocol: Protocol::Icmp,
                size: Bytes::new(1501),
                hop_limit: None,
                router: None,
                flow: 0,
                fragments: false,
                sent: 5,
                answered: 0,
                rejected: 0,
            }],
        }],
        advice: vec![Advice {
            device: Device::Own,
            remedy: Remedy::Mtu(Bytes::new(1500)),
        }],
        not_seen: vec![NotSeen::Reverse, NotSeen::TcpSizes],
        probes: 42,
        bytes: Bytes::new(120_000),
        took: Span::from_millis(1234),
    }
}

fn probed(report: &PathReport) -> Probed<'_> {
    Probed {
        host: "host.example",
        interface: "eth0",
        interface_mtu: Bytes::new(9000),
        gateway: Some(Ipv4Addr::new(10, 0, 0, 1).into()),
        report,
    }
}

#[test]
fn a_report_begins_with_the_verdict_and_names_place_and_remedy() {
    let report = hole();
    let text = document::text(&of_path(&probed(&report)), 120);
    let first = path_sentence(&probed(&report));
    assert!(text.starts_with(&first[..60]), "{text}");
    for words in [
        "host.example (192.0.2.7)",
        "is 1500 bytes, not 9000: an MTU black hole",
        "10.0.0.2",
    ] {
        assert!(first.contains(words), "{words}: {first}");
    }
    for words in [
        "hop  system",
        "0.45",
        "0 of 5 answered",
        "ip route replace 192.0.2.7 via 10.0.0.1 dev eth0 mtu 1500",
        "jumbolab recv",
        "CAP_NET_RAW",
        "42 probes, 120000 bytes, 1.2 s",
    ] {
        assert!(text.contains(words), "{words}: {text}");
    }
    // Columns line up: all numbers of a column end at the same place.
    let ends = |word: &str| {
        let lines = text.lines().filter(|line| line.contains(word));
        lines.map(|line| line.trim_end().len()).collect::<Vec<_>>()
    };
    let hops = ends("10.0.0.");
    assert!(hops.len() >= 2, "{text}");
}

#[test]
fn each_verdict_has_its_sentence() {
    let mut report = hole();
    report.verdict = Verdict::Unclear;
    report.findings = vec![Finding {
        kind: FindingKind::NoAnswer,
        evidence: Vec::new(),
    }];
    report.forward.mtu = None;
    let sentence = path_sentence(&probed(&report));
    assert_eq!(
        sentence,
        "It is unclear whether the path to host.example (192.0.2.7) delivers packets of 9000 bytes: nothing answers."
    );
    report = hole();
    report.verdict = Verdict::Clean;
    report.findings.clear();
    for direction in [&mut report.forward, &mut report.reverse] {
        direction.mtu = Some(Bytes::new(9000));
    }
    let sentence = path_sentence(&probed(&report));
    assert_eq!(
        sentence,
        "The path to host.example (192.0.2.7) delivers packets of 9000 bytes in both directions."
    );
}

#[test]
fn json_lines_have_the_values_of_the_text() {
    let report = hole();
    let lines: Vec<Value> = path_json(&probed(&report))
        .iter()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let kinds: Vec<&str> = lines
        .iter()
        .filter_map(|line| line["kind"].as_str())
        .collect();
    assert_eq!(
        kinds,
        [
            "path", "hop", "hop", "hop", "protocol", "finding", "advice", "not_seen", "not_seen"
        ]
    );
    let path = &lines[0];
    assert_eq!(path["verdict"], "problem");
    assert_eq!(
        (&path["requested_bytes"], &path["forward"]["mtu"]),
        (&9000.into(), &1500.into())
    );
    assert_eq!(path["round_trip_s"], 450e-6);
    let finding = &lines[5];
    assert_eq!(finding["finding"], "black_hole");
    assert_eq!(
        (
            &finding["place"]["after_hop"]["hop"],
            &finding["place"]["before_hop"]["round_trip_s"]
        ),
        (&2.into(), &450e-6.into())
    );
    assert_eq!(finding["evidence"][0]["sent"], 5);
    assert!(finding.get("router").is_none());
    assert!(lines.iter().all(|line| line["far_end"] == "192.0.2.7"));
}

#[test]
fn a_loss_is_told_for_each_direction_that_a_reflector_counted() {
    let text = document::text(&of_path(&probed(&hole())), 120);
    assert!(!text.contains("small packets lost"), "{text}");
    let mut report = hole();
    let loss = |lost| Loss {
        sent: 40,
        lost,
        share: f64::from(lost) / 40.0,
        low: 0.04,
        high: 0.24,
    };
    report.forward.loss = Some(loss(4));
    report.reverse.loss = Some(loss(0));
    let text = document::text(&of_path(&probed(&report)), 120);
    assert!(
        text.contains("4 of 40 (10.0 %; 95 % interval 4.0 to 24.0 %)"),
        "{text}"
    );
    assert!(text.contains("0 of 40"), "{text}");
    let path = &path_json(&probed(&report))[0];
    let path: Value = serde_json::from_str(path).unwrap();
    let loss = &path["forward"]["loss"];
    assert_eq!((&loss["lost"], &loss["share"]), (&4.into(), &0.1.into()));
    assert_eq!((&loss["low"], &loss["high"]), (&0.04.into(), &0.24.into()));
}

#[test]
fn a_link_that_takes_a_vlan_tag_is_called_by_its_mtu() {
    let mut report = hole();
    report.forward.mtu = Some(Bytes::new(1504));
    let sentence = path_sentence(&probed(&report));
    assert!(
        sentence.contains(" is 1500 bytes (+4), not 9000:"),
        "{sentence}"
    );
    let path: Value = serde_json::from_str(&path_json(&probed(&report))[0]).unwrap();
    assert_eq!(
        (&path["advised_mtu"], &path["forward"]["mtu"]),
        (&1500.into(), &1504.into())
    );
    report.forward.limit = Limit::Rejected;
    let sentence = path_sentence(&probed(&report));
    assert!(sentence.contains(" is 1504 bytes, not 9000:"), "{sentence}");
}

#[test]
fn advice_is_a_command_where_one_does() {
    let report = hole();
    let line = |device, remedy| {
        let probed = Probed {
            gateway: None,
            ..probed(&report)
        };
        advice::line(&Advice { device, remedy }, &probed)
    };
    let mtu = Bytes::new(1500);
    for (device, remedy, expected) in [
        (
            Device::Own,
            Remedy::Mtu(mtu),
            "This host: send packets of 1500 bytes at most: ip route replace 192.0.2.7 dev eth0 mtu 1500",
        ),
        (
            Device::Own,
            Remedy::InterfaceMtu(mtu),
            "This host: ip link set eth0 mtu 1500",
        ),
        (
            Device::Own,
            Remedy::Command("ip route flush cache".to_owned()),
            "This host: ip route flush cache",
        ),
        (
            Device::FarEnd,
            Remedy::Mtu(mtu),
            "The far end, 192.0.2.7: set MTU 1500 on its route to this host",
        ),
        (
            Device::FarEnd,
            Remedy::InterfaceMtu(mtu),
            "The far end, 192.0.2.7: set MTU 1500 on its interface",
        ),
    ] {
        assert_eq!(line(device, remedy), expected);
    }
}

#[test]
fn a_size_is_explained_by_headers_and_by_products() {
    let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    let report = hole();
    for (below, headers, products, expected) in [
        (
            Some(1500),
            vec!["GRE"],
            vec![],
            "1476 bytes are 1500 less the headers of GRE",
        ),
        (
            Some(1500),
            vec!["A", "B"],
            vec!["C"],
            "1476 bytes are 1500 less the headers of A or B, and the MTU of C",
        ),
        (
            None,
            vec![],
            vec!["C", "D"],
            "1476 bytes are the MTU of C or D",
        ),
    ] {
        let kind = FindingKind::Tunnel(Tunnel {
            mtu: Bytes::new(1476),
            below: below.map(Bytes::new),
            names: names(&headers),
            products: names(&products),
        });
        assert_eq!(words::phrase(&kind, &probed(&report)), expected);
    }
}

#[test]
fn a_change_says_whether_the_path_shrank_or_grew() {
    let small = hole();
    let mut large = hole();
    large.forward.mtu = Some(Bytes::new(9000));
    let sentence = |after, before| path_change_sentence(&probed(after), before);
    let grew = sentence(&large, &small);
    let expected = "The path MTU grew from 1500 to 9000 bytes (forward). ";
    assert!(grew.starts_with(expected), "{grew}");
    let shrank = sentence(&small, &large);
    let expected = "The path MTU shrank from 9000 to 1500 bytes (forward). The path MTU to ";
    assert!(shrank.starts_with(expected), "{shrank}");
    let mut silent = hole();
    silent.forward.mtu = None;
    let back = sentence(&small, &silent);
    let expected = "Packets of up to 1500 bytes pass again. ";
    assert!(back.starts_with(expected), "{back}");
    let gone = sentence(&silent, &small);
    assert!(gone.starts_with("No packets pass any more. "), "{gone}");
}

#[test]
fn a_report_with_every_finding_reads_back_equal() {
    let mut report = hole();
    let size = Bytes::new;
    let router = FAR_END;
    let place = Place {
        behind: Some(hop(1, 9000)),
        ..Place::default()
    };
    let loss = Loss {
        sent: 3,
        lost: 1,
        share: 1.0 / 3.0,
        low: 0.06,
        high: 0.79,
    };
    report.loss = Some(loss);
    report.losses = vec![size_loss(1440, 200, 0), size_loss(9000, 100, 19)];
    report.took = Span::from_picos(1_234_567_890_123);
    report.round_trip = Some(Span::from_picos(450_123_457));
    let kinds = [
        FindingKind::NoAnswer,
        FindingKind::Interface { mtu: size(1500) },
        FindingKind::FirstLink {
            from: size(1501),
            first: hop(1, 1500),
        },
        FindingKind::BlackHole {
            direction: None,
            from: size(1501),
            place,
        },
        FindingKind::Rejected {
            mtu: size(1400),
            router,
            hop: Some(2),
        },
        FindingKind::RejectsAll {
            router,
            hop: None,
            size: size(44),
            announced: size(9000),
        },
        FindingKind::BelowIpv6 {
            direction: Direction::Reverse,
            mtu: size(1124),
        },
        FindingKind::LostRange {
            direction: None,
            from: size(1401),
            to: size(1500),
            protocol: Some(Protocol::Icmp),
            place: Some(place),
        },
        FindingKind::ForwardFragments {
            mtu: size(1400),
            cleared: Some(place),
        },
        FindingKind::OuterFragments {
            made: 7,
            fits: size(1450),
        },
        FindingKind::ReverseLimit { mtu: size(1500) },
        FindingKind::AnnouncedTooSmall {
            router,
            announced: size(1300),
            passes: size(1400),
        },
        FindingKind::AnnouncedTooLarge {
            router,
            announced: size(1500),
            fails_from: size(1450),
        },
        FindingKind::AnswersLimited {
            router,
            sent: 9,
            answered: 2,
        },
        FindingKind::OneProtocol {
            protocol: Protocol::Udp,
            from: size(1501),
            others: size(9000),
            place: None,
        },
        FindingKind::Branches {
            flows: vec![1, 3],
            of: 8,
            small: size(1500),
            large: size(9000),
            place: Some(place),
        },
        FindingKind::MssClamped {
            seen: 1400,
            expected: 8960,
        },
        FindingKind::FragmentsDropped,
        FindingKind::MtuChanged {
            before: size(9000),
            after: size(1500),
        },
        FindingKind::Tunnel(Tunnel {
            mtu: size(1450),
            below: Some(size(1500)),
            names: vec!["VXLAN".to_owned()],
            products: vec!["Calico".to_owned()],
        }),
        FindingKind::Loss(loss),
        FindingKind::AnswerRate {
            protocol: Protocol::Icmp,
            per_second: 10.5,
            instead: Some(Protocol::Tcp),
        },
        FindingKind::LossBySize {
            direction: Some(Direction::Reverse),
            small: size_loss(1440, 200, 0),
            large: size_loss(9000, 100, 19),
            per_bit: Some(3e-6),
        },
    ];
    let with_evidence = |kind| Finding {
        kind,
        evidence: report.findings[0].evidence.clone(),
    };
    report.findings = kinds.map(with_evidence).into();
    let text = serde_json::to_string(&report).unwrap();
    assert_eq!(serde_json::from_str::<PathReport>(&text).unwrap(), report);
    for line in path_json(&probed(&report)) {
        for key in ["kind", "far_end"] {
            let count = line.matches(&format!("\"{key}\":")).count();
            assert_eq!(count, 1, "{key}: {line}");
        }
    }
}

#[test]
fn a_router_that_the_system_does_not_name_has_no_address_in_the_text() {
    let unknown = Ipv4Addr::UNSPECIFIED.into();
    let mut report = hole();
    report.findings[0].kind = FindingKind::Rejected {
        mtu: Bytes::new(1500),
        router: unknown,
        hop: None,
    };
    report.advice[0].device = Device::Router(unknown);
    let text = document::text(&of_path(&probed(&report)), 120);
    for words in [
        "A router without a name rejects packets larger than 1500 bytes",
        "That router: set MTU 1500",
    ] {
        assert!(text.contains(words), "{words}: {text}");
    }
    assert!(!text.contains("0.0.0.0"), "{text}");
}
