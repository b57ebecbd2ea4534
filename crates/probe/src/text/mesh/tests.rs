//! Reports of meshes that were made up.

use std::net::Ipv4Addr;

use link::Direction;
use proptest::prelude::*;
use serde_json::Value;
use units::{Bytes, Span};

use super::*;
use crate::machine::{
    DirectionResult, Finding, FindingKind, Loss, MeshComparison, MeshHost, PathReport, SizeLoss,
    Verdict,
};

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
        losses: Vec::new(),
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

/// The changes from one mesh to another.
fn compare(before: &MeshOutcome, now: &MeshOutcome) -> MeshComparison {
    MeshComparison::of(&before.state(), &now.state())
}

#[test]
fn a_comparison_names_the_host_whose_paths_changed_and_shows_the_mesh() {
    let (clean, small) = (mesh(4, |_, _| 9000), mesh(4, small_at(1)));
    let text = document::text(&of_mesh_comparison(&small, &compare(&clean, &small)), 100);
    let expected = "\
Of 12 paths, 6 got worse and 6 did not change.

Changes
  between h1 and h0, h2, h3: the path MTU shrank from 9000 to 1500 bytes; the verdict is problem,
    clean before

The mesh now
6 of 12 paths between 4 hosts deliver packets of 9000 bytes.
";
    assert!(text.starts_with(expected), "{text}");
    let mended = mesh_change_lines(&clean, &compare(&small, &clean));
    let expected = [
        "between h1 and h0, h2, h3: the path MTU grew from 1500 to 9000 bytes; the verdict is clean, problem before",
        "All 12 paths between 4 hosts deliver packets of 9000 bytes.",
    ];
    assert_eq!(mended, expected);
    let same = document::text(&of_mesh_comparison(&small, &compare(&small, &small)), 100);
    assert!(
        same.starts_with("None of 12 paths changed.\n\nThe mesh now\n"),
        "{same}"
    );
}

#[test]
fn hosts_that_came_went_or_dropped_out_are_told_apart() {
    let three = mesh(3, |_, _| 9000);
    let mut other = mesh(3, |from, _| if from == 0 { 0 } else { 9000 });
    // `h1` dropped out, and another host stands in the place of `h2`.
    other.hosts[1].lost = Some("it cannot be reached".to_owned());
    other.hosts[2].name = "h3".to_owned();
    other.asked = Bytes::new(9500);
    other.paths.retain(|path| path.from != 1 && path.to != 1);
    let found = compare(&three, &other);
    assert!(found.is_worse());
    let lines = mesh_change_lines(&other, &found);
    assert_eq!(
        lines[..5],
        [
            "between h0 and h1: not seen any more; the path MTU was 9000 bytes",
            "between h2 and h0, h1: removed from the mesh; the path MTU was 9000 bytes",
            "h0 to h3: new in the mesh; nothing passes",
            "between h1 and h3: new in the mesh",
            "h3 to h0: new in the mesh; the path MTU is 9000 bytes",
        ]
    );
    assert!(
        lines.contains(&"h1: it cannot be reached".to_owned()),
        "{lines:?}"
    );
    let summary = of_mesh_comparison(&other, &found).title;
    let expected = "Of 10 paths, 2 got worse, 4 were added and 4 were removed; \
        packets of 9000 bytes were requested before, and of 9500 now.";
    assert_eq!(summary, expected);
}

#[test]
fn a_file_that_was_written_is_read_and_a_damaged_one_is_not() {
    let outcome = mesh(3, small_at(1));
    let lines = mesh_json(&outcome);
    let read = |lines: &[String]| read_mesh(&lines.join("\n"));
    assert_eq!(read(&lines), Ok(outcome.state()));
    let comparison = compare(&outcome, &mesh(3, |_, _| 9000));
    let with = |time| {
        [
            lines.clone(),
            mesh_comparison_json(&outcome, &comparison, time),
        ]
        .concat()
    };
    assert_eq!(read(&with(None)), Ok(outcome.state()), "of --compare");
    let (line, why) = read(&with(Some("2026-01-01T00:00:00Z"))).unwrap_err();
    assert_eq!(
        (line, &*why),
        (lines.len() + 1, "a watch wrote it, and not a single mesh")
    );
    // Problems follow from the entries; each other line counts.
    for missing in 0..lines.len() {
        let mut damaged = lines.clone();
        let removed = damaged.remove(missing);
        let is_problem = removed.contains("mesh_problem");
        assert_eq!(read(&damaged).is_ok(), is_problem, "{removed}");
        let half = removed.len() / 2;
        damaged.insert(missing, removed[..half].to_owned());
        let (line, why) = read(&damaged).unwrap_err();
        assert_eq!((line, &*why), (missing + 1, "this is no line of a mesh"));
    }
    for foreign in ["", "\n", "{}", "null", "{\"kind\":\"path\"}", "a ssh=a\n"] {
        assert!(read_mesh(foreign).is_err(), "{foreign}");
    }
}

/// Large packets are lost on the way between these hosts, as each reflector tells it.
fn lossy(hosts: usize, loses: impl Fn(usize, usize) -> bool) -> MeshOutcome {
    let mut outcome = mesh(hosts, |_, _| 9000);
    let size = |size, lost| SizeLoss {
        size: Bytes::new(size),
        loss: Loss {
            sent: 50,
            lost,
            share: f64::from(lost) / 50.0,
            low: 0.0,
            high: 0.2,
        },
    };
    for path in &mut outcome.paths {
        let report = path.result.as_mut().unwrap();
        let ways = [loses(path.from, path.to), loses(path.to, path.from)];
        let direction = match ways {
            [true, false] => Some(Direction::Forward),
            [false, true] => Some(Direction::Reverse),
            [true, true] | [false, false] => None,
        };
        let lost = if ways.contains(&true) { 10 } else { 0 };
        let (small, large) = (size(100, 0), size(9000, lost));
        report.losses = vec![small, large];
        if ways.contains(&true) {
            let kind = FindingKind::LossBySize {
                direction,
                small,
                large,
                per_bit: None,
            };
            let evidence = Vec::new();
            report.findings = vec![Finding { kind, evidence }];
            report.verdict = Verdict::Problem;
        }
    }
    outcome
}

#[test]
fn a_host_or_a_pair_that_loses_large_packets_is_named_and_marked() {
    let outcome = lossy(4, |from, to| from == 1 || to == 1);
    let text = document::text(&of_mesh(&outcome), 100);
    let expected = "\
All 12 paths between 4 hosts deliver packets of 9000 bytes.
h1: its interface, its cable or its port of the switch; every path from and to h1 loses packets of
  9000 bytes more often than small ones, and the paths between the other hosts do not.

Largest packets in bytes
from \\ to     h0     h1     h2     h3
h0             -  9000%   9000   9000
h1         9000%      -  9000%  9000%
h2          9000  9000%      -   9000
h3          9000  9000%   9000      -

% large packets are lost more often than small ones
";
    assert!(text.starts_with(expected), "{text}");
    let named = |outcome: &MeshOutcome| words::answer(outcome, &outcome.mesh())[1].clone();
    let from_host = lossy(5, |from, _| from == 3);
    assert!(
        named(&from_host).contains("every path from h3 loses packets of 9000 bytes"),
        "{}",
        named(&from_host)
    );
    let pair = lossy(4, |from, to| (from, to) == (0, 2));
    assert!(
        named(&pair).starts_with("h0 to h2: a link or route that only this path uses; it loses"),
        "{}",
        named(&pair)
    );
    let lines = mesh_json(&pair);
    let problem = lines
        .iter()
        .find(|line| line.contains("mesh_problem"))
        .unwrap();
    let problem: Value = serde_json::from_str(problem).unwrap();
    assert_eq!(problem["passes_bytes"], Value::Null);
}

/// Makes a path lose so many of 50 large packets, without a finding.
fn miss(outcome: &mut MeshOutcome, missed: (usize, usize), lost: u32) {
    let mut paths = outcome.paths.iter_mut();
    let path = paths.find(|path| (path.from, path.to) == missed).unwrap();
    let report = path.result.as_mut().unwrap();
    report.findings.clear();
    report.verdict = Verdict::Clean;
    report.losses[1].loss.lost = lost;
}

#[test]
fn a_host_is_named_although_some_of_its_paths_miss_the_loss() {
    let mut outcome = lossy(6, |from, to| from == 3 || to == 3);
    for missed in [(3, 0), (0, 3)] {
        miss(&mut outcome, missed, 3);
    }
    let answer = words::answer(&outcome, &outcome.mesh());
    assert_eq!(
        answer[1..],
        [
            "h3: its interface, its cable or its port of the switch; 8 of 10 paths from and to h3 lose packets of 9000 bytes more often than small ones, and the paths between the other hosts do not."
        ]
    );
    // Ordinary loss of two percent on all other paths changes nothing.
    for (from, to) in outcome.pairs() {
        if from != 3 && to != 3 {
            miss(&mut outcome, (from, to), 1);
        }
    }
    let again = words::answer(&outcome, &outcome.mesh());
    assert_eq!(again, answer);
}

#[test]
fn paths_that_lose_no_large_packet_are_clean_and_a_pair_is_no_host() {
    let mut outcome = lossy(6, |from, to| from.min(to) == 1 && from.max(to) == 4);
    let expected = "h1 and h4: a link or route that only this pair uses";
    let answer = words::answer(&outcome, &outcome.mesh());
    assert!(answer[1].starts_with(expected), "{answer:?}");
    assert_eq!(answer.len(), 2, "{answer:?}");
    // One of both misses it.
    miss(&mut outcome, (4, 1), 3);
    let answer = words::answer(&outcome, &outcome.mesh());
    assert!(answer[1].starts_with(expected), "{answer:?}");
    assert_eq!(answer.len(), 2, "{answer:?}");
}

#[test]
fn a_direction_that_one_host_tells_counts_where_another_does_not_know_it() {
    let mut outcome = lossy(5, |from, _| from == 3);
    let mut paths = outcome.paths.iter_mut();
    let path = paths.find(|path| (path.from, path.to) == (0, 3)).unwrap();
    let report = path.result.as_mut().unwrap();
    let FindingKind::LossBySize { direction, .. } = &mut report.findings[0].kind else {
        panic!("{report:?}");
    };
    *direction = None;
    let answer = words::answer(&outcome, &outcome.mesh());
    assert!(
        answer[1].contains("every path from h3 loses packets of 9000 bytes"),
        "{answer:?}"
    );
    assert_eq!(answer.len(), 2, "{answer:?}");
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
