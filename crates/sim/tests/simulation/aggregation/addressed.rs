//! Effects of the outer destination of bundles.

use jumbolab_sim::ExplicitRoute;
use queue::FqCodelSettings;

use super::*;

/// The same line with a router `aside` (6), which is linked to `one` and `two`.
fn with_a_detour() -> Scenario {
    let wire = bare(1_000_000_000, 1_000);
    let mut scenario = line([&wire; 3], constant(1e-5, 100, 1_000));
    scenario.nodes.push(node("aside", Role::Router));
    scenario.links.push(link("one-aside", [4, 6], &wire));
    scenario.links.push(link("aside-two", [6, 5], &wire));
    scenario
}

fn labelled(via: &[&[usize]]) -> Domain {
    let detour = |(next_as, via): (u32, &&[usize])| ExplicitRoute {
        next_as,
        egress: 3,
        via: via.to_vec(),
    };
    Domain {
        destination: Destination::Label((64_500..).zip(via).map(detour).collect()),
        ..domain(Trigger::Timer(MILLI))
    }
}

#[test]
fn a_core_that_switches_by_labels_sends_bundles_where_their_path_was_laid() {
    let straight = run(with_a_detour(), labelled(&[]));
    let round = run(with_a_detour(), labelled(&[&[6]]));
    for outcome in [&straight, &round] {
        assert_eq!(outcome.flows[0].received, 1_000);
        assert_eq!(edge(outcome, "out").survivors, 1_000);
    }
    let bundles = edge(&round, "in").bundles;
    let forwarded = |outcome: &Outcome| outcome.nodes[6].forwarded;
    assert_eq!((forwarded(&straight), forwarded(&round)), (0, bundles));
    let direct = |outcome: &Outcome| outcome.links[2].directions[0].counters.arrived;
    assert_eq!((direct(&straight), direct(&round)), (bundles, 0));
    // The shortest path by labels equals the path by addresses.
    let routed = run(with_a_detour(), domain(Trigger::Timer(MILLI)));
    assert_eq!(routed.flows, straight.flows);
}

#[test]
fn a_path_may_pass_a_router_twice_and_what_is_alone_takes_the_shortest_path() {
    let domain = Domain {
        shaping: false,
        ..labelled(&[&[6, 4, 5]])
    };
    let outcome = run(with_a_detour(), domain);
    let bundles = edge(&outcome, "in").bundles;
    assert_eq!(outcome.flows[0].received, 1_000);
    assert_eq!(outcome.nodes[4].forwarded, 2 * bundles);
    let mut seldom = with_a_detour();
    seldom.flows = vec![flow("f", 0, 1, constant(0.1, 100, 20))];
    let outcome = run(seldom, labelled(&[&[6]]));
    assert_eq!(
        (edge(&outcome, "in").bare, outcome.nodes[6].forwarded),
        (20, 0)
    );
}

#[test]
fn two_systems_behind_one_edge_may_have_paths_of_their_own() {
    let wire = bare(1_000_000_000, 1_000);
    let mut scenario = with_a_detour();
    scenario.nodes.push(host("c"));
    scenario.links.push(link("out-c", [3, 7], &wire));
    let other = flow("to-c", 0, 7, constant(1e-5, 100, 1_000));
    scenario.flows.push(other);
    let mut domain = labelled(&[&[], &[6]]);
    domain.addresses.push((7, address(7)));
    domain.table.push(row(7, 32, 64_501, 3));
    let outcome = run(scenario, domain);
    assert!(outcome.flows.iter().all(|flow| flow.received == 1_000));
    let round = outcome.nodes[6].forwarded;
    assert!(round > 0 && round < edge(&outcome, "in").bundles);
}

#[test]
fn a_path_via_a_router_that_is_not_connected_is_rejected() {
    let mut scenario = with_a_detour();
    scenario.nodes.push(node("island", Role::Router));
    let error = |via: &[usize]| {
        let checked = scenario.clone().check().unwrap();
        checked.with_domain(labelled(&[via])).err()
    };
    let expected = BadDomain::NoPath {
        from: "in".into(),
        egress: "out".into(),
    };
    assert_eq!(error(&[7]), Some(expected.clone().into()));
    assert_eq!(error(&[7, 5]), Some(expected.into()));
}

#[test]
fn a_queue_that_is_fair_to_flows_sees_one_of_bundles_or_those_of_their_first_packets() {
    let fast = bare(1_000_000_000, 1_000);
    let limit = Limit::Packets(1_000);
    let mut fair = bare(10_000_000, 1_000);
    fair.queue = Spec::FqCodel(FqCodelSettings::new(limit, Bytes::new(9_000)));
    let mut scenario = line([&fast, &fair, &fast], constant(2e-5, 100, 50_000));
    scenario.nodes.push(host("c"));
    scenario.links.push(link("out-c", [3, 6], &fast));
    let second = flow("g", 0, 1, constant(2.3e-5, 100, 43_000));
    let plain = flow("plain", 0, 6, constant(5e-4, 972, 2_000));
    scenario.flows.extend([second, plain]);
    let plain = |destination| {
        let domain = Domain {
            destination,
            ..domain(Trigger::Timer(MILLI))
        };
        run(scenario.clone(), domain).flows[2].received
    };
    let (of_two, of_three) = (plain(Destination::Egress), plain(Destination::FirstPacket));
    assert!(of_three * 5 < of_two * 4, "{of_three} and {of_two}");
}
