use core::net::Ipv4Addr;

use super::*;
use crate::machine::{Direction, DirectionResult, Finding, FindingKind, Limit, PathReport, Place};

fn size(bytes: u64) -> Bytes {
    Bytes::new(bytes)
}

fn interface(name: &str, mtu: u64) -> LocalInterface {
    LocalInterface {
        name: name.to_owned(),
        link_type: None,
        mtu: size(mtu),
        ipv6_mtu: Some(size(mtu)),
        is_up: true,
        below: None,
        controller: None,
        peer: None,
    }
}

fn over(name: &str, mtu: u64, lower: &str, lower_mtu: u64, fits: u64) -> LocalInterface {
    LocalInterface {
        below: Some(LowerInterface {
            name: lower.to_owned(),
            mtu: size(lower_mtu),
            fits: size(fits),
        }),
        ..interface(name, mtu)
    }
}

fn route(network: IpAddr, length: u8, mtu: u64) -> LocalRoute {
    LocalRoute {
        network,
        length,
        router: Some(Ipv4Addr::new(10, 0, 1, 2).into()),
        interfaces: vec!["eth0".to_owned()],
        mtu: Some(size(mtu)),
        is_locked: false,
        is_advertised: false,
        expires: None,
        without_mtu: Some("ip route change default via 10.0.1.2 dev eth0".to_owned()),
    }
}

const ANY: IpAddr = IpAddr::V4(Ipv4Addr::UNSPECIFIED);

fn host(interfaces: Vec<LocalInterface>, routes: Vec<LocalRoute>) -> LocalHost {
    LocalHost {
        interfaces,
        routes,
        settings: LocalSettings {
            tcp_mtu_probing: Some(1),
            tcp_base_mss: Some(1_024),
            ip_no_pmtu_disc: Some(0),
        },
        mss_clamps: Some(Vec::new()),
    }
}

/// The only finding.
#[track_caller]
fn only(host: &LocalHost) -> LocalFinding {
    let mut findings = host.findings();
    assert_eq!(findings.len(), 1, "{findings:?}");
    findings.remove(0)
}

#[test]
fn a_consistent_host_has_no_finding() {
    let interfaces = vec![
        interface("eth0", 9_000),
        over("vx", 8_950, "eth0", 9_000, 8_950),
        LocalInterface {
            controller: Some("br0".to_owned()),
            ..interface("eth1", 1_500)
        },
        interface("br0", 1_500),
        LocalInterface {
            ipv6_mtu: None,
            ..interface("eth2", 1_000)
        },
    ];
    let unset = LocalRoute {
        mtu: None,
        ..route(ANY, 0, 9_000)
    };
    let host = host(interfaces, vec![unset, route(ANY, 0, 9_000)]);
    assert_eq!(host.findings(), []);
    assert_eq!(host.verdict(), Verdict::Clean);
}

#[test]
fn a_route_below_its_interface_is_a_limit_and_one_above_a_fault() {
    for (mtu, is_fault) in [(1_450, false), (8_999, false), (9_001, true)] {
        let host = host(vec![interface("eth0", 9_000)], vec![route(ANY, 0, mtu)]);
        let found = only(&host);
        assert_eq!(found.problem.is_fault(), is_fault, "{mtu}");
        assert_eq!(
            found.command,
            "ip route change default via 10.0.1.2 dev eth0"
        );
        assert_eq!(host.verdict() == Verdict::Problem, is_fault, "{mtu}");
    }
    // The interface is gone, or in another namespace.
    let lost = host(Vec::new(), vec![route(ANY, 0, 1_450)]);
    assert_eq!(lost.findings(), []);
}

#[test]
fn a_cached_path_mtu_is_forgotten_by_the_command_of_its_version() {
    let six: IpAddr = "fd00:3::2".parse().unwrap();
    for (address, length, command) in [
        (IpAddr::from([10, 0, 3, 2]), 32, "ip route flush cache"),
        (six, 128, "ip -6 route flush cache"),
    ] {
        let cached = LocalRoute {
            expires: Some(Span::from_secs(12)),
            ..route(address, length, 1_300)
        };
        let found = only(&host(vec![interface("eth0", 9_000)], vec![cached]));
        assert_eq!(found.command, command);
        assert!(!found.problem.is_fault());
    }
}

#[test]
fn a_tunnel_is_made_smaller_unless_that_takes_ipv6_from_it() {
    let found = only(&host(
        vec![over("vx", 1_500, "eth0", 1_500, 1_450)],
        Vec::new(),
    ));
    assert_eq!(found.command, "ip link set vx mtu 1450");
    assert!(found.problem.is_fault());
    // 1250 bytes are too few for IPv6, so that the interface below must grow.
    let narrow = over("vx", 1_400, "eth0", 1_300, 1_250);
    let found = only(&host(vec![narrow.clone()], Vec::new()));
    assert_eq!(found.command, "ip link set eth0 mtu 1450");
    let without = LocalInterface {
        ipv6_mtu: None,
        ..narrow.clone()
    };
    let found = only(&host(vec![without], Vec::new()));
    assert_eq!(found.command, "ip link set vx mtu 1250");
    let down = LocalInterface {
        is_up: false,
        ..narrow
    };
    assert_eq!(host(vec![down], Vec::new()).findings(), []);
}

#[test]
fn ports_and_other_ends_that_are_too_small_are_named() {
    let port = LocalInterface {
        controller: Some("br0".to_owned()),
        ..interface("eth1", 1_500)
    };
    let found = only(&host(vec![port, interface("br0", 9_000)], Vec::new()));
    assert_eq!(found.command, "ip link set eth1 mtu 9000");
    let end = |name: &str, peer: &str, mtu| LocalInterface {
        peer: Some(peer.to_owned()),
        ..interface(name, mtu)
    };
    let ends = vec![end("v0", "v1", 4_000), end("v1", "v0", 1_500)];
    let found = only(&host(ends, Vec::new()));
    assert_eq!(found.command, "ip link set v1 mtu 4000");
    assert!(found.problem.is_fault());
}

#[test]
fn the_mtu_of_a_router_advertisement_is_told_once() {
    let mut eth0 = interface("eth0", 9_000);
    eth0.ipv6_mtu = Some(size(1_480));
    let any: IpAddr = "::".parse().unwrap();
    let advertised = LocalRoute {
        is_advertised: true,
        ..route(any, 0, 1_480)
    };
    let found = only(&host(vec![eth0], vec![advertised]));
    assert_eq!(
        found.command,
        "sysctl -w net/ipv6/conf/eth0/accept_ra_mtu=0 net/ipv6/conf/eth0/mtu=9000"
    );
}

#[test]
fn the_settings_of_the_kernel_are_told() {
    let mut host = host(Vec::new(), Vec::new());
    for (probing, disc, expected, general) in [
        (Some(0), Some(0), 1, 0),
        (Some(2), Some(0), 1, 1),
        (Some(1), Some(1), 1, 1),
        (Some(1), Some(3), 0, 0),
        (None, None, 0, 0),
    ] {
        host.settings.tcp_mtu_probing = probing;
        host.settings.ip_no_pmtu_disc = disc;
        assert_eq!(host.findings().len(), expected, "{probing:?} {disc:?}");
        assert_eq!(host.general_findings().len(), general);
        assert_eq!(host.verdict(), Verdict::Clean);
    }
}

/// A path that passes packets of this size, of 9000 asked for.
fn path(passed: u64) -> PathReport {
    let mut report = PathReport::nothing_seen([10, 0, 3, 2].into(), size(9_000));
    report.verdict = Verdict::Clean;
    report.forward = DirectionResult {
        mtu: Some(size(passed)),
        limit: Limit::Asked,
        loss: None,
    };
    report
}

#[test]
fn what_limits_this_host_below_the_path_is_a_problem_of_the_path() {
    for (passed, mtu, is_problem) in [
        (9_000, 1_450, true),
        (1_500, 1_450, true),
        // The route has what the path supports.
        (1_450, 1_450, false),
        // An interface takes four bytes more than its MTU.
        (1_504, 1_500, false),
        (1_505, 1_500, true),
        (1_400, 1_450, false),
    ] {
        let host = host(vec![interface("eth0", 9_000)], vec![route(ANY, 0, mtu)]);
        let mut report = path(passed);
        report.add_local(host.findings());
        assert_eq!(
            report.findings.len(),
            usize::from(is_problem),
            "{passed} {mtu}"
        );
        assert_eq!(report.verdict == Verdict::Problem, is_problem);
        assert_eq!(report.advice.len(), usize::from(is_problem));
    }
}

#[test]
fn nothing_is_said_of_a_route_if_nothing_is_known_of_the_path() {
    let host = host(vec![interface("eth0", 9_000)], vec![route(ANY, 0, 1_450)]);
    let mut report = PathReport::nothing_seen([10, 0, 3, 2].into(), size(9_000));
    report.add_local(host.findings());
    assert_eq!(report.findings, []);
    assert_eq!(report.verdict, Verdict::Unclear);
}

#[test]
fn a_port_matters_only_where_packets_are_lost() {
    let port = LocalInterface {
        controller: Some("br0".to_owned()),
        ..interface("eth1", 1_500)
    };
    let host = host(vec![port, interface("br0", 9_000)], Vec::new());
    for (passed, expected) in [(9_000, 0), (1_504, 1), (1_500, 1), (2_000, 0)] {
        let mut report = path(passed);
        report.add_local(host.findings());
        assert_eq!(report.findings.len(), expected, "{passed}");
    }
}

#[test]
fn tcp_that_does_not_look_for_black_holes_is_told_where_there_is_one_forward() {
    let mut host = host(Vec::new(), Vec::new());
    host.settings.tcp_mtu_probing = Some(0);
    for (direction, expected) in [
        (Some(Direction::Forward), 2),
        (None, 2),
        (Some(Direction::Reverse), 1),
    ] {
        let mut report = path(1_500);
        let kind = FindingKind::BlackHole {
            direction,
            from: size(1_501),
            place: Place::default(),
        };
        let evidence = Vec::new();
        report.findings.push(Finding { kind, evidence });
        report.add_local(host.findings());
        assert_eq!(report.findings.len(), expected, "{direction:?}");
        assert!(matches!(
            report.findings[0].kind,
            FindingKind::BlackHole { .. }
        ));
    }
}

fn clamp(mss: u64, syns: Syns) -> LocalMssClamp {
    LocalMssClamp {
        table: "inet t".to_owned(),
        chain: "o".to_owned(),
        rule: 4,
        syns,
        mss: size(mss),
        version: None,
        interface: None,
        is_conditional: false,
        deletion: "nft delete rule inet t o handle 4".to_owned(),
    }
}

fn host_with(clamp: LocalMssClamp) -> LocalHost {
    LocalHost {
        mss_clamps: Some(vec![clamp]),
        ..host(
            vec![interface("eth0", 1_500), interface("eth1", 9_000)],
            Vec::new(),
        )
    }
}

#[test]
fn an_mss_below_the_interface_is_a_limit_that_a_command_removes() {
    let of = |version, interface: Option<&str>, mss| LocalMssClamp {
        version,
        interface: interface.map(str::to_owned),
        ..clamp(mss, Syns::Leaving)
    };
    for (clamp, is_limit) in [
        // The header of IPv4 has 20 bytes, that of IPv6 40, that of TCP 20.
        (of(None, None, 8_959), true),
        (of(None, None, 8_960), false),
        (of(Some(IpVersion::V6), None, 8_940), false),
        (of(Some(IpVersion::V6), None, 8_939), true),
        (of(None, Some("eth0"), 1_460), false),
        (of(None, Some("eth0"), 1_459), true),
        (of(None, Some("gone"), 536), false),
    ] {
        let host = host_with(clamp.clone());
        assert_eq!(!host.findings().is_empty(), is_limit, "{clamp:?}");
        assert_eq!(host.verdict(), Verdict::Clean);
    }
    let found = only(&host_with(clamp(1_360, Syns::Forwarded)));
    assert_eq!(found.command, "nft delete rule inet t o handle 4");
    assert!(!found.problem.is_fault());
}

#[test]
fn an_mss_concerns_the_direction_whose_segments_it_limits() {
    let reverse = |mtu, limit| DirectionResult {
        mtu: Some(size(mtu)),
        limit,
        loss: None,
    };
    // A clamp of 1360 bytes is for packets of 1400, and the path is asked for 9000.
    for (syns, forward, reverse, expected) in [
        (Syns::Arriving, 9_000, reverse(1_400, Limit::Vanish), 1),
        (Syns::Arriving, 1_404, reverse(9_000, Limit::Asked), 0),
        (Syns::Leaving, 1_404, reverse(9_000, Limit::Asked), 1),
        (Syns::Leaving, 9_000, reverse(1_404, Limit::Vanish), 0),
        // The reverse direction was not seen.
        (Syns::Leaving, 9_000, reverse(100, Limit::NotSeen), 1),
        (Syns::Forwarded, 9_000, reverse(9_000, Limit::Asked), 0),
    ] {
        let mut report = path(forward);
        report.reverse = reverse;
        report.add_local(host_with(clamp(1_360, syns)).findings());
        assert_eq!(report.findings.len(), expected, "{syns:?} {forward}");
        assert_eq!(report.verdict == Verdict::Problem, expected == 1);
    }
    // One that depends on addresses or ports may not concern this path.
    let conditional = LocalMssClamp {
        is_conditional: true,
        ..clamp(1_360, Syns::Arriving)
    };
    let mut report = path(9_000);
    report.add_local(host_with(conditional).findings());
    assert_eq!(report.findings.len(), 1);
    assert_eq!(report.verdict, Verdict::Clean);
}

#[test]
fn a_report_with_local_findings_is_read_back() {
    let cached = LocalRoute {
        expires: Some(Span::from_millis(2_500)),
        ..route([10, 0, 3, 2].into(), 32, 1_300)
    };
    let mut host = host(
        vec![interface("eth0", 9_000)],
        vec![route(ANY, 0, 1_450), cached],
    );
    host.settings.ip_no_pmtu_disc = Some(2);
    host.mss_clamps = Some(vec![clamp(1_360, Syns::Arriving)]);
    let mut report = path(9_000);
    report.add_local(host.findings());
    assert_eq!(report.findings.len(), 4);
    let text = serde_json::to_string(&report).unwrap();
    let read: PathReport = serde_json::from_str(&text).unwrap();
    assert_eq!(read, report);
    assert!(
        text.contains(r#""finding":"cached_path_mtu","address":"10.0.3.2""#),
        "{text}"
    );
    assert!(text.contains(r#""expires_s":2.5"#), "{text}");
}
