//! Reports of meshes that were made up.

use std::net::Ipv4Addr;

use proptest::prelude::*;
use serde_json::Value;
use units::{Bytes, Span};

use super::*;
use crate::machine::{DirectionResult, MeshHost, PathReport, Verdict};

const ASKED: Bytes = Bytes::new(9000);

/// The result of a path that carries `size` in both directions.
fn report(size: u64) -> PathReport {
    let is_clean = Bytes::new(size) >= ASKED;
    let direction = DirectionResult {
        mtu: Some(Bytes::new(size)),
        limit: if is_clean {
            Limit::Asked
        } else {
            Limit::Vanish
        },
        loss: None,
    };
    PathReport {
        far_end: Ipv4Addr::LOCALHOST.into(),
        asked: ASKED,
        verdict: if is_clean {
            Verdict::Clean
        } else {
            Verdict::Problem
        },
        forward: direction,
        reverse: direction,
        round_trip: Some(Span::from_micros(100)),
        hops: Vec::new(),
        protocols: Vec::new(),
        loss: None,
        findings: Vec::new(),
        advice: Vec::new(),
        not_seen: Vec::new(),
        probes: 9,
        bytes: ASKED,
        took: Span::from_millis(10),
    }
}

/// A mesh of `hosts` whose paths carry what `size` says.
fn mesh(hosts: usize, size: impl Fn(usize, usize) -> u64) -> MeshOutcome {
    let host = |host| MeshHost {
        name: format!("h{host}"),
        address: Ipv4Addr::LOCALHOST.into(),
        probes: true,
        interface: Some(("eth1".to_owned(), ASKED)),
        lost: None,
    };
    let mut mesh = MeshOutcome {
        asked: ASKED,
        hosts: (0..hosts).map(host).collect(),
        paths: Vec::new(),
        is_stopped: false,
    };
    let path = |(from, to)| MeshPath {
        from,
        to,
        result: Ok(report(size(from, to))),
    };
    mesh.paths = mesh.pairs().map(path).collect();
    mesh
}

fn small_at(host: usize) -> impl Fn(usize, usize) -> u64 {
    move |from, to| {
        if from == host || to == host {
            1500
        } else {
            9000
        }
    }
}

#[test]
fn the_answer_names_the_host_and_the_matrix_shows_why() {
    let outcome = mesh(4, small_at(1));
    assert_eq!(outcome.verdict(), Verdict::Problem);
    let text = document::text(&of_mesh(&outcome), 100);
    let expected = "\
6 of 12 paths between 4 hosts deliver packets of 9000 bytes.
h1: its interface or its port of the switch; every path from and to h1 delivers at most 1500 bytes,
  and the paths between the other hosts deliver more.

Largest packets in bytes
from \\ to     h0     h1     h2     h3
h0             -  1500*   9000   9000
h1         1500*      -  1500*  1500*
h2          9000  1500*      -   9000
h3          9000  1500*   9000      -

* larger packets are dropped silently (MTU black hole)
";
    assert_eq!(text, expected);
}

#[test]
fn a_small_interface_is_the_remedy_and_a_lost_host_is_named() {
    let mut outcome = mesh(4, small_at(1));
    outcome.hosts[1].interface = Some(("eth7".to_owned(), Bytes::new(1500)));
    let lines = words::answer(&outcome, &outcome.mesh());
    assert!(
        lines[1].starts_with("h1: its interface eth7 has MTU 1500 (ip link set eth7 mtu 9000);"),
        "{lines:?}"
    );
    let mut outcome = mesh(3, |_, _| 9000);
    outcome.hosts[2].lost = Some("it cannot be reached".to_owned());
    outcome.paths.retain(|path| path.from != 2 && path.to != 2);
    assert_eq!(outcome.verdict(), Verdict::Unclear);
    let text = document::text(&of_mesh(&outcome), 100);
    assert!(text.contains("h2: it cannot be reached"), "{text}");
    assert!(
        text.contains(
            "2 of 6 paths between 3 hosts deliver packets of 9000 bytes; 4 were not seen."
        ),
        "{text}"
    );
}

#[test]
fn a_clean_mesh_is_clean_in_json_and_the_page_lists_its_paths() {
    let outcome = mesh(3, |_, _| 9000);
    assert_eq!(outcome.verdict(), Verdict::Clean);
    let document = of_mesh(&outcome);
    assert_eq!(
        document.title,
        "All 6 paths between 3 hosts deliver packets of 9000 bytes."
    );
    let Some([Block::Page(blocks)]) = document.sections.last().map(|last| &*last.blocks) else {
        panic!("paths are for the page alone");
    };
    let [_, Block::Table(paths)] = &**blocks else {
        panic!("a heading and a table");
    };
    assert_eq!(paths.rows.len(), 6);
    let lines = mesh_json(&outcome);
    let kinds = |kind: &str| {
        let objects = lines
            .iter()
            .map(|line| serde_json::from_str::<Value>(line).unwrap());
        objects.filter(|object| object["kind"] == kind).count()
    };
    let counts = [
        "mesh",
        "mesh_host",
        "mesh_entry",
        "mesh_path",
        "mesh_problem",
    ]
    .map(kinds);
    assert_eq!(counts, [1, 3, 6, 6, 0]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]
    #[test]
    fn a_matrix_fits_the_width(hosts in 2_usize..24, width in 40_u16..200) {
        let text = document::text(&of_mesh(&mesh(hosts, small_at(0))), width);
        for line in text.lines() {
            prop_assert!(line.chars().count() <= usize::from(width), "{line}");
        }
    }
}
