//! Loss that depends on the size of packets is found, and ordinary loss is not taken for it.

use crate::machine::{
    FindingKind, PathReport, Reflector, Settings as Investigated, SizeLoss, Verdict,
};

use super::*;

/// The seeds of each loss; 300 of all together.
const SEEDS: u64 = 60;

/// A path whose links carry packets of this size.
fn of_mtu(version: IpVersion, mtu: u64, seed: u64) -> ProbePath {
    let mut path = path(version, mtu);
    for link in &mut path.links {
        link.mtu = Bytes::new(mtu);
    }
    path.seed = Seed::new(seed);
    path
}

/// The same with a rule for large packets on its third link.
fn lossy(
    mtu: u64,
    above: u64,
    per_mille: u16,
    direction: Option<Direction>,
    seed: u64,
) -> ProbePath {
    let mut path = of_mtu(VERSIONS[usize::from(seed % 2 == 1)], mtu, seed);
    let above = Bytes::new(above);
    path.links[2].rules = vec![Rule {
        direction,
        ..Rule::always(Action::DropShareAbove { above, per_mille })
    }];
    path
}

fn investigate(path: &ProbePath, change: impl Fn(&mut Investigated)) -> PathReport {
    let links = path.links.len();
    let far_end = addresses(path.version, links)[links - 1][1];
    let mut settings = Investigated {
        reflector: match path.far_end.reflects {
            true => Reflector::ShortReplies,
            false => Reflector::None,
        },
        ..Investigated::new(far_end, path.links[0].mtu)
    };
    change(&mut settings);
    let mut investigation = Investigation::new(settings, path.seed).unwrap();
    path.run(&mut investigation).unwrap();
    investigation.report()
}

/// The finding: direction, the sizes with little and with much loss, bit error rate.
fn found(report: &PathReport) -> Option<(Option<Direction>, SizeLoss, SizeLoss, Option<f64>)> {
    report.findings.iter().find_map(|one| match one.kind {
        FindingKind::LossBySize {
            direction,
            small,
            large,
            per_bit,
        } => Some((direction, small, large, per_bit)),
        _ => None,
    })
}

/// The loss of exchanges where both packets may get lost at this rate.
fn both_ways(share: f64) -> f64 {
    1.0 - (1.0 - share).powi(2)
}

#[test]
fn a_clean_path_takes_150_probes_and_three_seconds_at_most() {
    for mtu in [1_280, 1_500, 4_000, 9_000] {
        for version in VERSIONS {
            let report = investigate(&of_mtu(version, mtu, mtu), |_| {});
            assert_eq!(report.verdict, Verdict::Clean, "{report:#?}");
            assert!(report.probes <= 150, "{mtu}: {}", report.probes);
            assert!(
                report.bytes <= Bytes::new(1_000_000),
                "{mtu}: {}",
                report.bytes.get()
            );
            assert!(report.took <= Span::from_secs(3), "{mtu}: {}", report.took);
            let large = report.losses.last().unwrap();
            assert_eq!((large.size.get(), large.loss.lost), (mtu, 0));
            assert!(large.loss.high <= 0.08, "{large:?}");
        }
    }
}

#[test]
fn ordinary_loss_is_taken_for_loss_by_size_on_one_of_300_paths_at_most() {
    let mut wrong = 0;
    for (loss, number) in [0.0, 0.01, 0.02, 0.035, 0.05].into_iter().zip(0..) {
        for seed in number * SEEDS..(number + 1) * SEEDS {
            let mut path = of_mtu(VERSIONS[usize::from(seed % 2 == 1)], 1_500, seed);
            for direction in &mut path.links[1].directions {
                direction.loss = loss;
            }
            let report = investigate(&path, |_| {});
            assert!(report.probes <= 600 && report.bytes <= Bytes::new(1_000_000));
            wrong += u32::from(report.verdict != Verdict::Clean);
        }
    }
    assert!(wrong <= 1, "{wrong} of {}", 5 * SEEDS);
}

#[test]
fn loss_of_large_packets_is_found_with_its_rate_and_the_size_where_it_begins() {
    // The report's 20 to 60 % above 1440 bytes, and others.
    for (mtu, above, per_mille) in [
        (9_000, 1_440, 200),
        (9_000, 1_440, 400),
        (9_000, 1_440, 600),
        (9_000, 5_000, 150),
        (1_500, 1_400, 100),
        (1_500, 600, 300),
        (4_000, 2_100, 500),
    ] {
        const PATHS: u64 = 10;
        let truth = both_ways(f64::from(per_mille) / 1000.0);
        let (mut missed, mut outside, mut covers) = (0, 0, 0);
        for seed in 0..PATHS {
            let report = investigate(&lossy(mtu, above, per_mille, None, seed), |_| {});
            assert!(report.probes <= 600 && report.bytes <= Bytes::new(1_000_000));
            let Some((direction, small, large, _)) = found(&report) else {
                missed += 1;
                continue;
            };
            assert_eq!((report.verdict, direction), (Verdict::Problem, None));
            assert_eq!(
                (report.findings.len(), large.size.get()),
                (1, mtu),
                "{report:#?}"
            );
            outside += u32::from(small.size > Bytes::new(above));
            covers += u32::from((large.loss.low..=large.loss.high).contains(&truth));
        }
        assert!(missed <= 1, "{mtu} {above} {per_mille}: {missed} missed");
        assert!(
            outside <= 2,
            "{mtu} {above} {per_mille}: {outside} above the break"
        );
        assert!(
            covers >= 8,
            "{mtu} {above} {per_mille}: {covers} cover {truth}"
        );
    }
}

#[test]
fn a_reflector_tells_the_direction_that_loses_large_packets() {
    for direction in Direction::BOTH {
        let of_seed = |seed| {
            let mut path = lossy(9_000, 1_440, 300, Some(direction), seed);
            path.far_end.reflects = true;
            found(&investigate(&path, |_| {})).map(|one| one.0)
        };
        let directions: Vec<_> = (0..10).map(of_seed).collect();
        let named = directions
            .iter()
            .filter(|one| **one == Some(Some(direction)));
        assert!(named.count() >= 9, "{direction:?}: {directions:?}");
    }
}

#[test]
fn bit_errors_are_told_from_a_break_and_their_rate_is_given() {
    for (mtu, rate) in [(9_000, 3e-6), (9_000, 8e-6), (1_500, 2e-5)] {
        let (mut named, mut near) = (0, 0);
        for seed in 0..10 {
            let mut path = of_mtu(IpVersion::V4, mtu, seed);
            for direction in &mut path.links[2].directions {
                direction.bit_error_rate = rate;
            }
            let found = found(&investigate(&path, |_| {}));
            let per_bit = found.and_then(|(_, _, _, per_bit)| per_bit);
            named += u32::from(per_bit.is_some());
            near += u32::from(per_bit.is_some_and(|found| (0.5..2.0).contains(&(found / rate))));
        }
        assert!(
            // In one of ten the losses fit a break as well.
            named >= 8 && near >= 7,
            "{mtu} {rate}: {named} named, {near} near"
        );
    }
}

#[test]
fn a_narrower_interval_takes_more_packets() {
    let path = lossy(1_500, 1_400, 50, None, 3);
    let narrow = investigate(&path, |settings| {
        *settings = settings.clone().thorough();
        settings.loss_interval = 0.03;
    });
    let (_, _, large, _) = found(&narrow).expect("5 % are lost");
    assert!(large.loss.high - large.loss.low <= 0.03, "{large:?}");
    let wide = investigate(&path, |_| {});
    assert!(wide.probes < narrow.probes);
}
