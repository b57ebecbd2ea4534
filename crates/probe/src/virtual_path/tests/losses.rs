//! Losses that are planted in one direction are found in that direction.

use crate::machine::{Reflector, Settings as Investigated};

use super::*;

/// The report of an investigation with a reflector, of a path that loses this share of
/// packets in one direction of its second link.
fn investigate(version: IpVersion, direction: Direction, loss: f64, seed: u64) -> [[u32; 2]; 2] {
    let mut path = path(version, 9_000);
    path.seed = Seed::new(seed);
    path.far_end.reflects = true;
    path.links[1].directions[direction as usize].loss = loss;
    let far_end = addresses(version, path.links.len())[path.links.len() - 1][1];
    let settings = Investigated {
        reflector: Reflector::ShortReplies,
        ..Investigated::new(far_end, Bytes::new(9_000))
    };
    let mut investigation = Investigation::new(settings, Seed::new(seed)).unwrap();
    path.run(&mut investigation).unwrap();
    let report = investigation.report();
    [report.forward, report.reverse].map(|found| {
        let loss = found.loss.expect("the reflector counts");
        assert!(loss.low <= loss.share && loss.share <= loss.high);
        [loss.sent, loss.lost]
    })
}

#[test]
fn losses_of_one_direction_are_found_in_that_direction() {
    const LOSS: f64 = 0.1;
    for version in VERSIONS {
        for direction in Direction::BOTH {
            let (mut sent, mut lost) = (0, 0);
            for seed in 0..20 {
                let found = investigate(version, direction, LOSS, seed);
                let here = direction as usize;
                sent += found[here][0];
                lost += found[here][1];
                let [others, lost_there] = found[1 - here];
                assert!(others >= 15, "{found:?}");
                assert_eq!(lost_there, 0, "{version} {direction:?} {seed}");
            }
            // Four standard errors of a share.
            let share = f64::from(lost) / f64::from(sent);
            let margin = 4.0 * (LOSS * (1.0 - LOSS) / f64::from(sent)).sqrt();
            assert!((share - LOSS).abs() < margin, "{lost} of {sent}");
        }
    }
}
