use core::net::{IpAddr, Ipv4Addr};

use serde_json::Value;
use units::Span;

use super::*;
use crate::machine::{LocalMssClamp, LocalSettings, LowerInterface};

/// A host with a tunnel that is too large, a route that limits, and a cached path MTU.
fn host() -> LocalHost {
    let eth0 = LocalInterface {
        name: "eth0".to_owned(),
        link_type: None,
        mtu: Bytes::new(1_500),
        ipv6_mtu: None,
        is_up: true,
        below: None,
        controller: None,
        peer: None,
    };
    let tunnel = LocalInterface {
        name: "vx7".to_owned(),
        link_type: Some("vxlan".to_owned()),
        ipv6_mtu: Some(Bytes::new(1_500)),
        below: Some(LowerInterface {
            name: "eth0".to_owned(),
            mtu: Bytes::new(1_500),
            fits: Bytes::new(1_450),
        }),
        ..eth0.clone()
    };
    let limited = LocalRoute {
        network: Ipv4Addr::UNSPECIFIED.into(),
        length: 0,
        router: Some(Ipv4Addr::new(10, 0, 1, 2).into()),
        interfaces: vec!["eth0".to_owned()],
        mtu: Some(Bytes::new(1_450)),
        is_locked: true,
        is_advertised: false,
        expires: None,
        without_mtu: Some("ip route change default via 10.0.1.2 dev eth0".to_owned()),
    };
    let cached = LocalRoute {
        network: IpAddr::from([192, 0, 2, 7]),
        length: 32,
        mtu: Some(Bytes::new(1_300)),
        is_locked: false,
        expires: Some(Span::from_secs(42)),
        ..limited.clone()
    };
    LocalHost {
        interfaces: vec![eth0, tunnel],
        routes: vec![limited, cached],
        settings: LocalSettings {
            tcp_mtu_probing: Some(0),
            ..LocalSettings::default()
        },
        mss_clamps: None,
    }
}

#[test]
fn the_report_of_a_host_names_what_contradicts_and_what_limits_with_commands() {
    let text = document::text(&of_local(&host()), 160);
    for words in [
        "The MTUs of this host contradict each other in 1 place; 2 limits may be intended.",
        "The interface vx7 has MTU 1500, but only packets of 1450 bytes fit MTU 1500 of eth0 below it.",
        "ip link set vx7 mtu 1450",
        "The route `default via 10.0.1.2 dev eth0` of this host limits packets to 1450 bytes (locked).",
        "This host caches a path MTU of 1300 bytes to 192.0.2.7, which expires in 42 s.",
        "ip route flush cache",
        "interfaces: 2, routes: 1, cached path MTUs: 1, tcp_mtu_probing: 0",
        "MSS clamps in nftables: not seen (needs CAP_NET_ADMIN)",
    ] {
        assert!(text.contains(words), "{words}: {text}");
    }
}

#[test]
fn an_mss_clamp_is_named_by_table_chain_and_rule() {
    let clamp = |syns, interface: Option<&str>, is_conditional| LocalMssClamp {
        table: "inet t".to_owned(),
        chain: "o".to_owned(),
        rule: 4,
        syns,
        mss: Bytes::new(1_360),
        version: None,
        interface: interface.map(str::to_owned),
        is_conditional,
        deletion: "nft delete rule inet t o handle 7".to_owned(),
    };
    for (clamp, words) in [
        (
            clamp(Syns::Leaving, None, false),
            "clamps the MSS to 1360 bytes in SYNs that leave this host.",
        ),
        (
            clamp(Syns::Arriving, Some("eth0"), true),
            "in some SYNs that enter this host through eth0.",
        ),
        (
            clamp(Syns::Forwarded, None, false),
            "in SYNs that this host forwards.",
        ),
    ] {
        let mut host = host();
        host.mss_clamps = Some(vec![clamp]);
        let text = document::text(&of_local(&host), 160);
        for words in [
            "Rule 4 of the chain o of the nftables table inet t ",
            words,
            "nft delete rule inet t o handle 7",
            "MSS clamps in nftables: 1",
        ] {
            assert!(text.contains(words), "{words}: {text}");
        }
    }
}

#[test]
fn a_host_without_findings_has_its_tables_only() {
    let mut host = host();
    host.routes.clear();
    host.interfaces.pop();
    let text = document::text(&of_local(&host), 100);
    assert!(
        text.starts_with("The interfaces and routes of this host are consistent."),
        "{text}"
    );
    assert!(
        !text.contains("Problems") && !text.contains("set by"),
        "{text}"
    );
}

#[test]
fn each_line_of_json_has_a_kind_and_the_problem_counts() {
    let lines = local_json(&host());
    let objects = lines.iter().map(|line| serde_json::from_str(line).unwrap());
    let objects: Vec<Value> = objects.collect();
    let kinds: Vec<&str> = objects
        .iter()
        .filter_map(|one| one["kind"].as_str())
        .collect();
    let expected = [
        "local_host",
        "local_interface",
        "local_interface",
        "local_route",
        "local_route",
        "local_finding",
        "local_finding",
        "local_finding",
    ];
    assert_eq!(kinds, expected);
    assert_eq!(objects[0]["verdict"], "problem");
    assert_eq!(objects[0]["routes"], 1);
    assert_eq!(objects[2]["type"], "vxlan");
    assert_eq!(objects[4]["expires_s"], 42.0);
    assert_eq!(objects[5]["finding"], "small_below");
    assert_eq!(objects[5]["problem"], true);
    assert_eq!(objects[6]["problem"], false);
}
