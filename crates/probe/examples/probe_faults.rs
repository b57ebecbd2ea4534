//! Investigations of paths with faults, over seeds and loss: the share of right reports,
//! and what they cost.
//!
//! `cargo run --release -p jumbolab-probe --example probe_faults -- SEEDS FAULT|all reflector`;
//! the last ones may be left out.

use jumbolab_probe::machine::{
    Answer, FindingKind, Hop, Investigation, PathReport, Probe, Reflector, Settings, Verdict,
};
use jumbolab_probe::virtual_path::{Cross, FarEnd, PathLink, ProbePath, Prober, addresses};
use link::Settings as LinkSettings;
use link::middlebox::{Action, Rule};
use link::{Direction, Protocol};
use meter::departures::Distribution;
use queue::{Limit, Spec};
use units::{Bytes, IpVersion, Rate, Seed, Span, Time};

/// A prober that investigates.
struct Investigator(Investigation);

impl Prober for Investigator {
    fn poll_probe(&mut self, now: Time) -> Option<Probe> {
        self.0.poll_probe(now)
    }
    fn poll_timeout(&self) -> Option<Time> {
        self.0.poll_timeout()
    }
    fn answered(&mut self, now: Time, answer: &Answer) {
        self.0.answered(now, answer);
    }
    fn is_done(&self) -> bool {
        self.0.is_done()
    }
}

/// A fault: how the path has it, and whether a report names it.
struct Fault {
    name: &'static str,
    links: fn(&mut [PathLink]),
    reflects: bool,
    is_right: fn(&PathReport) -> bool,
}

/// The faults of the benchmark, on a path with three routers.
const FAULTS: &[Fault] = &[
    Fault {
        name: "clean",
        links: |_| {},
        reflects: false,
        is_right: |report| is(report, Verdict::Clean, 9000, 9000),
    },
    Fault {
        name: "told",
        links: |links| links[2].mtu = Bytes::new(1500),
        reflects: false,
        is_right: |report| {
            let named = |kind: &FindingKind| matches!(kind, FindingKind::Rejected { hop: Some(2), mtu, .. } if mtu.get() == 1500);
            there(report, Verdict::Problem, 1500) && first(report, named)
        },
    },
    Fault {
        name: "filtered",
        links: |links| {
            links[2].mtu = Bytes::new(1500);
            links[0].rules = vec![Rule::always(Action::DropTooBig)];
        },
        reflects: false,
        is_right: |report| {
            there(report, Verdict::Problem, 1500) && hole(report, Direction::Forward, 2)
        },
    },
    Fault {
        name: "announces too little",
        links: |links| {
            links[2].mtu = Bytes::new(1500);
            links[0].rules = vec![Rule::always(Action::AnnounceMtu(1400))];
        },
        reflects: false,
        is_right: |report| {
            let named = |kind: &FindingKind| matches!(kind, FindingKind::AnnouncedTooSmall { .. });
            there(report, Verdict::Problem, 1500) && first(report, named)
        },
    },
    Fault {
        name: "announces too much",
        links: |links| {
            links[2].mtu = Bytes::new(1500);
            links[0].rules = vec![Rule::always(Action::AnnounceMtu(4000))];
        },
        reflects: false,
        is_right: |report| {
            let named = |kind: &FindingKind| matches!(kind, FindingKind::AnnouncedTooLarge { .. });
            there(report, Verdict::Problem, 1500) && first(report, named)
        },
    },
    Fault {
        name: "messages limited",
        links: |links| {
            links[2].mtu = Bytes::new(1500);
            links[0].rules = vec![Rule::always(Action::LimitTooBig(Span::from_secs(1)))];
        },
        reflects: false,
        is_right: |report| {
            let named = |kind: &FindingKind| matches!(kind, FindingKind::AnswersLimited { .. });
            there(report, Verdict::Problem, 1500) && first(report, named)
        },
    },
    Fault {
        name: "silent",
        links: |links| above(&mut links[1], None, None, 1.0),
        reflects: false,
        is_right: |report| {
            there(report, Verdict::Problem, 1500) && hole(report, Direction::Forward, 1)
        },
    },
    Fault {
        name: "first link",
        links: |links| above(&mut links[0], None, None, 1.0),
        reflects: false,
        is_right: |report| {
            let named = |kind: &FindingKind| matches!(kind, FindingKind::FirstLink { .. });
            there(report, Verdict::Problem, 1500) && first(report, named)
        },
    },
    Fault {
        name: "silent back",
        links: |links| above(&mut links[1], Some(Direction::Reverse), None, 1.0),
        reflects: false,
        is_right: |report| {
            is(report, Verdict::Problem, 9000, 1500) && hole(report, Direction::Reverse, 1)
        },
    },
    Fault {
        name: "silent back, reflector",
        links: |links| above(&mut links[1], Some(Direction::Reverse), None, 1.0),
        reflects: true,
        is_right: |report| {
            is(report, Verdict::Problem, 9000, 1500) && hole(report, Direction::Reverse, 1)
        },
    },
    Fault {
        name: "silent there, reflector",
        links: |links| above(&mut links[1], Some(Direction::Forward), None, 1.0),
        reflects: true,
        is_right: |report| {
            there(report, Verdict::Problem, 1500) && hole(report, Direction::Forward, 1)
        },
    },
    Fault {
        name: "branch",
        links: |links| above(&mut links[1], Some(Direction::Forward), None, 0.5),
        reflects: false,
        is_right: |report| {
            let named = |kind: &FindingKind| matches!(kind, FindingKind::Branches { .. });
            there(report, Verdict::Problem, 1500) && first(report, named)
        },
    },
    Fault {
        name: "only UDP",
        links: |links| above(&mut links[1], None, Some(Protocol::Udp), 1.0),
        reflects: false,
        is_right: |report| there(report, Verdict::Problem, 1500) && protocol(report, 1),
    },
    Fault {
        name: "only TCP",
        links: |links| above(&mut links[1], None, Some(Protocol::Tcp), 1.0),
        reflects: false,
        is_right: |report| there(report, Verdict::Problem, 1500) && protocol(report, 1),
    },
    Fault {
        name: "MSS",
        links: |links| links[1].rules = vec![Rule::always(Action::ClampMss(1400))],
        reflects: false,
        is_right: |report| {
            let named =
                |kind: &FindingKind| matches!(kind, FindingKind::MssClamped { seen: 1400, .. });
            is(report, Verdict::Problem, 9000, 9000) && first(report, named)
        },
    },
    Fault {
        name: "VXLAN",
        links: |links| links[1].mtu = Bytes::new(8950),
        reflects: false,
        is_right: |report| {
            let named = |kind: &FindingKind| matches!(kind, FindingKind::Tunnel(_));
            there(report, Verdict::Problem, 8950) && any(report, named)
        },
    },
    Fault {
        name: "fragments dropped",
        links: |links| links[1].rules = vec![Rule::always(Action::DropFragments)],
        reflects: false,
        is_right: |report| {
            let named = |kind: &FindingKind| matches!(kind, FindingKind::FragmentsDropped);
            is(report, Verdict::Problem, 9000, 9000) && first(report, named)
        },
    },
    Fault {
        name: "10 % of large packets lost",
        links: |links| lose(&mut links[1], 100),
        reflects: false,
        is_right: |report| is(report, Verdict::Problem, 9000, 9000) && first(report, is_loss),
    },
    Fault {
        name: "40 % of large packets lost",
        links: |links| lose(&mut links[1], 400),
        reflects: false,
        is_right: |report| is(report, Verdict::Problem, 9000, 9000) && first(report, is_loss),
    },
    Fault {
        name: "bit errors",
        links: |links| {
            for direction in &mut links[1].directions {
                direction.bit_error_rate = 3e-6;
            }
        },
        reflects: false,
        is_right: |report| {
            let named = |kind: &FindingKind| match kind {
                FindingKind::LossBySize { per_bit, .. } => per_bit.is_some(),
                _ => false,
            };
            is(report, Verdict::Problem, 9000, 9000) && first(report, named)
        },
    },
    Fault {
        name: "congestion",
        links: |links| {
            let queue = Spec::DropTail {
                limit: Limit::Packets(40),
            };
            let slow = LinkSettings {
                delay: Span::from_micros(2500),
                ..LinkSettings::perfect(Rate::from_bits_per_second(10_000_000), queue)
            };
            links[2].directions = [slow.clone(), slow];
            for cross in &mut links[2].cross {
                *cross = Some(Cross {
                    packet: Bytes::new(1500),
                    // 10 Mbit/s in the mean.
                    gaps: Distribution::Exponential(1.2e9),
                });
            }
        },
        reflects: false,
        is_right: |report| is(report, Verdict::Clean, 9000, 9000),
    },
    Fault {
        name: "shrinks",
        links: |links| {
            let above = Action::DropAbove(Bytes::new(1500));
            links[2].rules = vec![Rule {
                from: Span::from_millis(60),
                ..Rule::always(above)
            }];
        },
        reflects: false,
        is_right: |report| {
            let named = |kind: &FindingKind| matches!(kind, FindingKind::MtuChanged { .. });
            there(report, Verdict::Problem, 1500) && any(report, named)
        },
    },
    Fault {
        name: "grows",
        links: |links| {
            let above = Action::DropAbove(Bytes::new(1500));
            links[2].rules = vec![Rule {
                until: Some(Span::from_millis(400)),
                ..Rule::always(above)
            }];
        },
        reflects: false,
        is_right: |report| {
            let named = |kind: &FindingKind| matches!(kind, FindingKind::MtuChanged { .. });
            is(report, Verdict::Clean, 9000, 9000) && any(report, named)
        },
    },
];

fn above(
    link: &mut PathLink,
    direction: Option<Direction>,
    protocol: Option<Protocol>,
    share: f64,
) {
    let action = Action::DropAbove(Bytes::new(1500));
    link.rules = vec![Rule {
        direction,
        protocol,
        share,
        ..Rule::always(action)
    }];
}

/// So many of a thousand packets above 1440 bytes are lost in each direction.
fn lose(link: &mut PathLink, per_mille: u16) {
    let above = Bytes::new(1440);
    link.rules = vec![Rule::always(Action::DropShareAbove { above, per_mille })];
}

const fn is_loss(kind: &FindingKind) -> bool {
    matches!(kind, FindingKind::LossBySize { .. })
}

fn there(report: &PathReport, verdict: Verdict, mtu: u64) -> bool {
    report.verdict == verdict && report.forward.mtu == Some(Bytes::new(mtu))
}

fn is(report: &PathReport, verdict: Verdict, mtu: u64, back: u64) -> bool {
    there(report, verdict, mtu) && report.reverse.mtu == Some(Bytes::new(back))
}

/// Whether the weightiest problem is this one.
fn first(report: &PathReport, is_named: impl Fn(&FindingKind) -> bool) -> bool {
    let mut problems = report.findings.iter().map(|one| &one.kind);
    let problem = problems.find(|kind| kind.is_problem());
    problem.is_some_and(is_named)
}

fn any(report: &PathReport, is_named: impl Fn(&FindingKind) -> bool) -> bool {
    report.findings.iter().any(|one| is_named(&one.kind))
}

fn hole(report: &PathReport, expected: Direction, behind: u8) -> bool {
    first(report, |kind| match kind {
        FindingKind::BlackHole {
            direction, place, ..
        } => *direction == Some(expected) && number(place.behind) == Some(behind),
        _ => false,
    })
}

fn protocol(report: &PathReport, behind: u8) -> bool {
    first(report, |kind| match kind {
        FindingKind::OneProtocol { place, .. } => {
            place.and_then(|place| number(place.behind)) == Some(behind)
        }
        _ => false,
    })
}

fn number(hop: Option<Hop>) -> Option<u8> {
    hop.map(|hop| hop.number)
}

fn path(fault: &Fault, version: IpVersion, loss: f64, seed: u64, reflects: bool) -> ProbePath {
    let queue = Spec::DropTail {
        limit: Limit::Bytes(Bytes::new(1 << 20)),
    };
    let settings = LinkSettings {
        delay: Span::from_micros(2500),
        ..LinkSettings::perfect(Rate::from_bits_per_second(1_000_000_000), queue)
    };
    let link = |name: &str| PathLink {
        name: name.to_owned(),
        mtu: Bytes::new(9000),
        directions: [settings.clone(), settings.clone()],
        rules: Vec::new(),
        cross: [None, None],
    };
    let mut links = ["first", "second", "third", "fourth"].map(link).to_vec();
    (fault.links)(&mut links);
    // The loss of the whole path is on one link.
    for direction in &mut links[1].directions {
        direction.loss = loss;
    }
    ProbePath {
        version,
        links,
        far_end: FarEnd {
            listens: true,
            reflects: reflects || fault.reflects,
        },
        seed: Seed::new(seed),
    }
}

fn investigate(path: &ProbePath, seed: u64) -> PathReport {
    let far_end = addresses(path.version, path.links.len())[path.links.len() - 1][1];
    let settings = Settings {
        reflector: match path.far_end.reflects {
            true => Reflector::ShortReplies,
            false => Reflector::None,
        },
        ..Settings::new(far_end, Bytes::new(9000))
    };
    let investigation = Investigation::new(settings, Seed::new(seed)).expect("the size is valid");
    let mut investigator = Investigator(investigation);
    path.run(&mut investigator).expect("the links are valid");
    investigator.0.report()
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

#[expect(clippy::print_stdout, reason = "that is the output")]
fn main() {
    let mut arguments = std::env::args().skip(1);
    let seeds: u64 = arguments
        .next()
        .and_then(|seeds| seeds.parse().ok())
        .unwrap_or(20);
    let only = arguments.next().filter(|name| name != "all");
    let reflects = arguments.next().is_some();
    println!("fault | loss | wrong of {seeds} x 2 | probes | kB | ms");
    for fault in FAULTS {
        if only.as_ref().is_some_and(|only| only != fault.name) {
            continue;
        }
        for loss in [0.0, 0.05, 0.10, 0.15] {
            let mut reports = Vec::new();
            let mut wrong = Vec::new();
            for version in [IpVersion::V4, IpVersion::V6] {
                for seed in 0..seeds {
                    let report = investigate(&path(fault, version, loss, seed, reflects), seed);
                    if !(fault.is_right)(&report) {
                        wrong.push((version, seed));
                        if only.is_some() && wrong.len() == 1 {
                            println!("{report:#?}");
                        }
                    }
                    reports.push(report);
                }
            }
            let of = |value: fn(&PathReport) -> f64| median(reports.iter().map(value).collect());
            println!(
                "{} | {loss} | {} | {} | {:.0} | {:.0} {:?}",
                fault.name,
                wrong.len(),
                of(|report| report.probes as f64),
                of(|report| report.bytes.get() as f64 / 1e3),
                of(|report| report.took.as_millis_f64()),
                &wrong[..wrong.len().min(4)],
            );
        }
    }
}
