//! Invalid domains.

use super::*;

#[test]
fn what_cannot_be_a_domain_is_rejected_in_one_line() {
    let wire = Settings {
        largest_packet: Some(Bytes::new(1_500)),
        ..bare(1_000_000_000, 1_000)
    };
    let big = bare(1_000_000_000, 1_000);
    let rejected = |domain: Domain| {
        let checked = line([&big, &wire, &big], constant(1.0, 100, 1)).check();
        match checked.unwrap().with_domain(domain).err() {
            Some(BadScenario::Domain(why)) => {
                assert!(!why.to_string().contains('\n'));
                why
            }
            other => panic!("not rejected as a domain: {other:?}"),
        }
    };
    let usual = || domain(Trigger::Timer(MILLI));
    let network = address(0);
    for (domain, why) in [
        (
            usual(),
            BadDomain::TooBig {
                link: "one-two".into(),
                largest: 1_500,
                ingress: "in".into(),
                mtu: 9_000,
            },
        ),
        (
            domain(Trigger::Timer(Span::ZERO)),
            BadDomain::Aggregator {
                node: "in".into(),
                why: BadAggregator::Timer,
            },
        ),
        (
            Domain {
                table: Vec::new(),
                ..usual()
            },
            BadDomain::NoPrefixes,
        ),
        (
            Domain {
                table: vec![row(0, 24, 1, 3), row(0, 24, 2, 3)],
                ..usual()
            },
            BadDomain::Overlap {
                network,
                length: 24,
            },
        ),
        (
            Domain {
                table: vec![row(1, 24, 1, 3)],
                ..usual()
            },
            BadDomain::Prefix {
                network: address(1),
                length: 24,
            },
        ),
        (
            Domain {
                table: vec![row(0, 24, 1, 4)],
                ..usual()
            },
            BadDomain::NoEdge {
                network,
                length: 24,
                node: "one".into(),
            },
        ),
        (
            Domain {
                edges: vec![Edge {
                    node: 1,
                    aggregate: None,
                }],
                ..usual()
            },
            BadDomain::NoRouter("b".into()),
        ),
        (
            Domain {
                addresses: vec![(9, address(1))],
                ..usual()
            },
            BadDomain::NoSuchNode(9),
        ),
    ] {
        assert_eq!(rejected(domain), why);
    }
    let mut small = usual();
    small.edges[0].aggregate = Some(Ingress {
        mtu: Bytes::new(70),
        ..ingress(Trigger::Full)
    });
    let why = BadAggregator::Mtu { mtu: 70, least: 74 };
    let node = "in".into();
    assert_eq!(rejected(small), BadDomain::Aggregator { node, why });
    let mut twice = usual();
    twice.edges.push(twice.edges[0]);
    assert_eq!(rejected(twice), BadDomain::Twice("in".into()));
    // Packets to hosts behind `out` would have to leave through an edge off the path.
    let mut astray = line([&big; 3], constant(1.0, 100, 1));
    astray.nodes.push(node_aside());
    astray.links.push(link("aside", [4, 6], &big));
    let mut beside = usual();
    beside.edges.push(Edge {
        node: 6,
        aggregate: None,
    });
    beside.table = vec![row(0, 24, 1, 6)];
    let error = astray.check().unwrap().with_domain(beside).err().unwrap();
    assert!(matches!(
        error,
        BadScenario::Domain(BadDomain::Astray { .. })
    ));
    let mut repeating = big.clone();
    repeating.duplicate = 0.1;
    let checked = line([&big, &big, &repeating], constant(1.0, 100, 1)).check();
    let error = checked.unwrap().with_domain(usual()).err().unwrap();
    assert!(matches!(
        error,
        BadScenario::Domain(BadDomain::Duplicates(_))
    ));
}

fn node_aside() -> jumbolab_sim::Node {
    node("aside", Role::Router)
}
