//! Limits of the rate of answers are recognised, and probes go on in spite of them.

use crate::machine::{
    AnswerRate, FindingKind, PathReport, Settings as Investigated, TcpProbes, Verdict,
};

use super::*;

/// A path whose far end answers so many echo requests a second, and so many in a row. TCP
/// is answered or dropped, UDP is dropped.
fn limited(version: IpVersion, per_second: u64, burst: u32, has_tcp: bool, seed: u64) -> ProbePath {
    let mut path = path(version, 9_000);
    path.seed = Seed::new(seed);
    let of = |protocol, action| Rule {
        direction: Some(Direction::Forward),
        protocol: Some(protocol),
        ..Rule::always(action)
    };
    let every = Span::from_picos(1_000_000_000_000 / per_second);
    let nothing = Action::DropAbove(Bytes::ZERO);
    let mut rules = vec![
        of(Protocol::Icmp, Action::LimitRate { burst, every }),
        of(Protocol::Udp, nothing),
    ];
    if !has_tcp {
        rules.push(of(Protocol::Tcp, nothing));
    }
    path.links[3].rules = rules;
    path
}

/// The report, and when the limit was recognised.
fn investigate(path: &ProbePath) -> (PathReport, Option<Time>) {
    let far_end = addresses(path.version, path.links.len())[path.links.len() - 1][1];
    let settings = Investigated::new(far_end, Bytes::new(9_000));
    let mut watched = Watched {
        investigation: Investigation::new(settings, path.seed).unwrap(),
        recognised: None,
    };
    path.run(&mut watched).unwrap();
    (watched.investigation.report(), watched.recognised)
}

/// An investigation, and the time of the first probe by a protocol other than ICMP that is
/// large.
struct Watched {
    investigation: Investigation,
    recognised: Option<Time>,
}

impl Prober for Watched {
    fn poll_probe(&mut self, now: Time) -> Option<Probe> {
        let probe = self.investigation.poll_probe(now)?;
        if probe.protocol == Protocol::Tcp && probe.size > Bytes::new(1_000) {
            self.recognised.get_or_insert(now);
        }
        Some(probe)
    }

    fn poll_timeout(&self) -> Option<Time> {
        self.investigation.poll_timeout()
    }

    fn answered(&mut self, now: Time, answer: &Answer) {
        self.investigation.answered(now, answer);
    }

    fn is_done(&self) -> bool {
        self.investigation.is_done()
    }
}

/// The rate that was found, and the protocol used instead.
fn found(report: &PathReport) -> Option<(f64, Option<Protocol>)> {
    report.findings.iter().find_map(|one| match one.kind {
        FindingKind::AnswerRate {
            protocol: Protocol::Icmp,
            per_second,
            instead,
        } => Some((per_second, instead)),
        _ => None,
    })
}

#[test]
fn a_limit_of_echo_replies_is_recognised_in_two_seconds_and_tcp_goes_on() {
    // The report's 10 a second, and others.
    for (per_second, burst) in [(1, 1), (3, 5), (10, 4), (20, 5), (40, 2)] {
        for version in VERSIONS {
            for seed in 0..5 {
                let (report, recognised) =
                    investigate(&limited(version, per_second, burst, true, seed));
                let (rate, instead) = found(&report).unwrap_or_else(|| panic!("{report:#?}"));
                assert_eq!(instead, Some(Protocol::Tcp), "{report:#?}");
                let ratio = rate / per_second as f64;
                assert!((0.5..2.0).contains(&ratio), "{per_second}: {rate}");
                assert!(
                    recognised <= Some(Time::ZERO + Span::from_secs(2)),
                    "{recognised:?}"
                );
                assert_eq!(report.forward.mtu, Some(Bytes::new(9_000)), "{report:#?}");
                assert_eq!(report.verdict, Verdict::Clean, "{report:#?}");
                assert!(report.probes <= 600 && report.bytes <= Bytes::new(1_000_000));
            }
        }
    }
}

#[test]
fn a_burst_that_outlasts_the_first_probes_is_noticed_later() {
    for (per_second, burst) in [(5, 30), (10, 60), (20, 100)] {
        for seed in 0..5 {
            let (report, _) = investigate(&limited(IpVersion::V4, per_second, burst, true, seed));
            assert_eq!(report.verdict, Verdict::Clean, "{report:#?}");
            let is_named = found(&report).is_some();
            assert!(
                is_named || report.losses.iter().all(|one| one.loss.lost == 0),
                "{report:#?}"
            );
        }
    }
}

#[test]
fn without_another_protocol_the_probes_are_sent_at_the_rate_of_the_answers() {
    for (per_second, burst) in [(2, 1), (4, 3), (10, 4), (20, 5), (40, 2)] {
        for seed in 0..5 {
            let (report, _) = investigate(&limited(IpVersion::V4, per_second, burst, false, seed));
            let (rate, instead) = found(&report).unwrap_or_else(|| panic!("{report:#?}"));
            assert_eq!(instead, None);
            // Echoes that show the route take a part of the answers.
            assert!((0.4..2.0).contains(&(rate / per_second as f64)), "{rate}");
            assert_eq!(report.verdict, Verdict::Clean, "{report:#?}");
            assert!(report.probes <= 600 && report.bytes <= Bytes::new(1_000_000));
        }
    }
}

#[test]
fn a_hole_behind_a_limit_is_found_by_the_other_protocol() {
    let mut path = limited(IpVersion::V4, 10, 4, true, 1);
    path.links[1].rules = vec![Rule::always(Action::DropAbove(Bytes::new(1_500)))];
    let (report, _) = investigate(&path);
    assert_eq!(
        (report.verdict, report.forward.mtu),
        (Verdict::Problem, Some(Bytes::new(1_500)))
    );
    let first = &report.findings[0].kind;
    assert!(
        matches!(first, FindingKind::BlackHole { .. }),
        "{report:#?}"
    );
    assert!(found(&report).is_some());
}

#[test]
fn ordinary_loss_is_taken_for_a_limit_on_one_of_100_paths_at_most() {
    let mut wrong = 0;
    for (loss, seed) in [0.05, 0.1, 0.15, 0.25].into_iter().cycle().zip(0..100) {
        let mut path = path(IpVersion::V4, 9_000);
        path.seed = Seed::new(seed);
        for direction in &mut path.links[1].directions {
            direction.loss = loss;
        }
        wrong += u32::from(found(&investigate(&path).0).is_some());
    }
    assert!(wrong <= 1, "{wrong}");
}

#[test]
fn a_far_end_that_sent_errors_before_is_not_taken_for_a_hole() {
    // It answers 6 in a row; an earlier investigation may have used some of them up.
    for burst in [8, 10, 12] {
        for version in VERSIONS {
            for seed in 0..5 {
                let mut path = path(version, 9_000);
                path.seed = Seed::new(seed);
                let far_end = addresses(version, path.links.len())[path.links.len() - 1][1];
                let every = Span::from_secs(1);
                let settings = Investigated {
                    can_echo: false,
                    can_fragment: false,
                    tcp: TcpProbes::Connect,
                    answer_rate: AnswerRate { burst, every },
                    ..Investigated::new(far_end, Bytes::new(9_000))
                };
                let mut investigation = Investigation::new(settings, path.seed).unwrap();
                path.run(&mut investigation).unwrap();
                let report = investigation.report();
                assert_eq!(report.forward.mtu, Some(Bytes::new(9_000)), "{report:#?}");
                assert_ne!(report.verdict, Verdict::Problem, "{report:#?}");
            }
        }
    }
}
