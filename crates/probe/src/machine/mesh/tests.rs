use std::vec;
use std::vec::Vec;

use proptest::prelude::*;

use super::*;
use crate::machine::FindingKind;

const ASKED: Bytes = Bytes::new(9000);
const SMALL: Bytes = Bytes::new(1500);

/// A mesh in which paths carry what `carried` says.
fn mesh(hosts: usize, carried: impl Fn(usize, usize) -> Bytes) -> Mesh {
    let mut mesh = Mesh::new(ASKED, hosts);
    for (from, to) in mesh.clone().pairs() {
        mesh.set(from, to, entry(carried(from, to)));
    }
    mesh
}

fn entry(carried: Bytes) -> MeshEntry {
    let limit = match carried < ASKED {
        true => Limit::Vanish,
        false => Limit::Asked,
    };
    MeshEntry { carried, limit }
}

fn small_if(is_small: bool) -> Bytes {
    if is_small { SMALL } else { ASKED }
}

/// Whether the paths of a place carry little.
fn affects(place: &MeshPlace, from: usize, to: usize) -> bool {
    match place {
        MeshPlace::Everywhere => true,
        MeshPlace::Host(host, HostWay::Both | HostWay::Either) => from == *host || to == *host,
        MeshPlace::Host(host, HostWay::From) => from == *host,
        MeshPlace::Host(host, HostWay::To) => to == *host,
        MeshPlace::Groups(groups) => !groups
            .iter()
            .any(|group| group.contains(&from) && group.contains(&to)),
        MeshPlace::OneWay(senders, receivers) => senders.contains(&from) && receivers.contains(&to),
        MeshPlace::Pair(one, other) => (from, to) == (*one, *other) || (to, from) == (*one, *other),
        MeshPlace::Path(one, other) => (from, to) == (*one, *other),
    }
}

fn fault(place: MeshPlace) -> MeshFault {
    MeshFault {
        place,
        carries: SMALL,
    }
}

/// A number of hosts, and a fault among them.
fn planted() -> impl Strategy<Value = (usize, MeshPlace)> {
    (4_usize..=10).prop_flat_map(|hosts| {
        let host = 0..hosts;
        let ways = prop::sample::select(vec![HostWay::Both, HostWay::From, HostWay::To]);
        let pair = (0..hosts, 1..hosts).prop_map(move |(one, step)| (one, (one + step) % hosts));
        let all: Vec<usize> = (0..hosts).collect();
        let split = (2..=hosts - 2, Just(all).prop_shuffle()).prop_map(|(size, all)| {
            let mut groups = [all[..size].to_vec(), all[size..].to_vec()];
            groups.iter_mut().for_each(|group| group.sort_unstable());
            groups
        });
        let place = prop_oneof![
            Just(MeshPlace::Everywhere),
            (host, ways).prop_map(|(host, way)| MeshPlace::Host(host, way)),
            split.clone().prop_map(|groups| {
                let mut groups = groups.to_vec();
                groups.sort();
                MeshPlace::Groups(groups)
            }),
            split.prop_map(|[from, to]| MeshPlace::OneWay(from, to)),
            pair.clone()
                .prop_map(|(one, other)| MeshPlace::Pair(one.min(other), one.max(other))),
            pair.prop_map(|(one, other)| MeshPlace::Path(one, other)),
        ];
        place.prop_map(move |place| (hosts, place))
    })
}

proptest! {
    #[test]
    fn a_planted_fault_is_named_and_no_other((hosts, place) in planted()) {
        let found = mesh(hosts, |from, to| small_if(affects(&place, from, to))).findings();
        prop_assert_eq!(found.faults, vec![fault(place)]);
        prop_assert_eq!(found.unexplained, vec![]);
    }

    #[test]
    fn nothing_is_named_in_a_clean_mesh(hosts in 0_usize..10, known in prop::collection::vec(any::<bool>(), 100)) {
        let mut mesh = Mesh::new(ASKED, hosts);
        for (from, to) in mesh.clone().pairs() {
            if known[from * 10 + to] {
                mesh.set(from, to, entry(ASKED));
            }
        }
        prop_assert_eq!(mesh.findings(), MeshFindings::default());
    }

    #[test]
    fn paths_that_were_not_seen_accuse_nobody(
        (hosts, place) in planted(),
        known in prop::collection::vec(prop::bool::weighted(0.7), 100),
    ) {
        let mut mesh = Mesh::new(ASKED, hosts);
        for (from, to) in mesh.clone().pairs() {
            if known[from * 10 + to] {
                mesh.set(from, to, entry(small_if(affects(&place, from, to))));
            }
        }
        let found = mesh.findings();
        for one in &found.faults {
            // Each path of a place that is named was affected, as far as it is known.
            if one.place != MeshPlace::Everywhere {
                let wrong = mesh.known().find(|(from, to, size)| {
                    affects(&one.place, *from, *to) && *size == ASKED
                });
                prop_assert_eq!(wrong, None, "{:?}", one);
            }
            if let (MeshPlace::Host(named, _), MeshPlace::Host(host, _)) = (&one.place, &place) {
                prop_assert_eq!(named, host);
            }
            if let MeshPlace::Host(..) = one.place {
                // A group of which one host was seen is that host, as far as is known.
                let several = |group: &Vec<usize>| {
                    let is_seen = |host: &&usize| mesh.known().any(|(a, b, _)| a == **host || b == **host);
                    group.iter().filter(is_seen).count() > 1
                };
                let is_split = match &place {
                    MeshPlace::Groups(groups) => groups.iter().all(several),
                    MeshPlace::OneWay(from, to) => several(from) && several(to),
                    _ => false,
                };
                prop_assert!(!is_split, "{:?}", one);
            }
        }
        // Every path that carries little is explained or listed.
        for (from, to) in mesh.below(|_, _| ASKED) {
            let is_named = found.faults.iter().any(|one| affects(&one.place, from, to));
            prop_assert!(is_named || found.unexplained.contains(&(from, to)));
        }
    }
}

#[test]
fn faults_of_different_size_are_told_apart() {
    let least = |from: usize, to: usize| {
        let limit = |host| [9000, 1500, 9000, 4000, 9000][host];
        Bytes::new(limit(from).min(limit(to)))
    };
    let found = mesh(5, least).findings();
    let places = found
        .faults
        .iter()
        .map(|one| (&one.place, one.carries.get()));
    let (one, three) = (
        MeshPlace::Host(1, HostWay::Both),
        MeshPlace::Host(3, HostWay::Both),
    );
    assert_eq!(places.collect::<Vec<_>>(), [(&one, 1500), (&three, 4000)]);
    assert_eq!(found.unexplained, []);
}

#[test]
fn a_host_and_a_pair_are_both_named() {
    let carried = |from: usize, to: usize| match (from.min(to), from.max(to)) {
        (2, 4) => Bytes::new(4000),
        (one, other) => small_if(one == 0 || other == 0),
    };
    let found = mesh(6, carried).findings();
    let pair = MeshFault {
        place: MeshPlace::Pair(2, 4),
        carries: Bytes::new(4000),
    };
    assert_eq!(
        found.faults,
        [fault(MeshPlace::Host(0, HostWay::Both)), pair]
    );
}

#[test]
fn two_hosts_or_one_prober_decide_nothing_about_a_place() {
    // Two hosts: their link, whatever it is.
    let found = mesh(2, |_, _| SMALL).findings();
    assert_eq!(found.faults, [fault(MeshPlace::Everywhere)]);
    // Only host 0 probes, and host 2 carries little: its port or a link to it.
    let mut star = Mesh::new(ASKED, 4);
    for other in 1..4 {
        star.set(0, other, entry(small_if(other == 2)));
        star.set(other, 0, entry(small_if(other == 2)));
    }
    let found = star.findings();
    assert_eq!(found.faults, []);
    assert_eq!(found.unexplained, [(0, 2), (2, 0)]);
}

#[test]
fn three_switches_are_three_groups_and_a_silent_host_is_a_host() {
    let found = mesh(6, |from, to| small_if(from / 2 != to / 2)).findings();
    let groups = vec![vec![0, 1], vec![2, 3], vec![4, 5]];
    assert_eq!(found.faults, [fault(MeshPlace::Groups(groups))]);
    let silent = |from: usize, to: usize| {
        if from == 3 || to == 3 {
            Bytes::ZERO
        } else {
            ASKED
        }
    };
    let mut silent = mesh(4, silent);
    let found = silent.findings();
    assert_eq!(found.faults[0].place, MeshPlace::Host(3, HostWay::Both));
    assert_eq!(found.faults[0].carries, Bytes::ZERO);
    silent.forget(3);
    assert_eq!(silent.findings(), MeshFindings::default());
}

#[test]
fn a_target_that_does_not_answer_large_packets_has_unseen_directions() {
    // Hosts 0 to 2 probe; host 3 is a target without a reflector.
    let mut mesh = mesh(4, |_, _| ASKED);
    mesh.forget(3);
    for prober in 0..3 {
        mesh.set(prober, 3, entry(SMALL));
    }
    let found = mesh.findings();
    assert_eq!(found.faults, [fault(MeshPlace::Host(3, HostWay::Either))]);
}

#[test]
fn a_hosts_own_result_counts_more_than_what_another_saw_of_its_answers() {
    let direction = |carried, limit| DirectionResult {
        mtu: Some(carried),
        limit,
        loss: None,
    };
    let report = |forward, reverse, findings| PathReport {
        far_end: std::net::Ipv4Addr::LOCALHOST.into(),
        asked: ASKED,
        verdict: crate::machine::Verdict::Unclear,
        forward,
        reverse,
        round_trip: None,
        hops: vec![],
        protocols: vec![],
        loss: None,
        losses: vec![],
        findings,
        advice: vec![],
        not_seen: vec![],
        probes: 0,
        bytes: Bytes::ZERO,
        took: units::Span::ZERO,
    };
    let passes = direction(ASKED, Limit::Asked);
    let vanishes = direction(SMALL, Limit::Vanish);
    let unseen = direction(SMALL, Limit::NotSeen);
    let mut mesh = Mesh::new(ASKED, 2);
    mesh.note(0, 1, &report(passes, unseen, vec![]));
    assert_eq!([mesh.get(0, 1), mesh.get(1, 0)], [Some(ASKED), None]);
    mesh.note(0, 1, &report(passes, passes, vec![]));
    assert_eq!(mesh.get(1, 0), Some(ASKED));
    mesh.note(1, 0, &report(vanishes, vanishes, vec![]));
    assert_eq!(mesh.entry(1, 0), Some(entry(SMALL)));
    assert_eq!(mesh.get(0, 1), Some(ASKED));
    let silence = crate::machine::Finding {
        kind: FindingKind::NoAnswer,
        evidence: vec![],
    };
    let nothing = DirectionResult {
        mtu: None,
        limit: Limit::NotSeen,
        loss: None,
    };
    mesh.note(0, 1, &report(nothing, nothing, vec![silence]));
    assert_eq!(mesh.get(0, 1), Some(Bytes::ZERO));
}
