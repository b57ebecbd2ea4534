//! Memory of gateways that work for long.

use super::sealed::exchange;
use super::support::*;

/// Packets of mixed sizes both ways for so many milliseconds, of which each ten are alike.
/// The bytes that the pools then keep.
fn kept_after(millis: u64) -> [usize; 2] {
    let mut gateways = pair(|settings| settings);
    gateways[1].set_table(super::super::Table::new(&routes()));
    for milli in 1..=millis {
        for number in 0..12 {
            let sample = Sample {
                length: 20 + u16::try_from((milli % 10 * 37 + number * 101) % 1_400).unwrap(),
                ..Sample::SMALL
            };
            for gateway in &mut gateways {
                gateway.receive_inside(at(1_000 * milli), &sample.bytes());
            }
        }
        exchange(&mut gateways, at(1_000 * milli));
    }
    exchange(&mut gateways, at(1_000 * millis + 9_000));
    let sent = gateways[0].counts().total().outward;
    assert!(
        sent.bundles >= millis && sent.drops.total() == 0,
        "{sent:?}"
    );
    gateways.map(|gateway| gateway.pool.bytes())
}

#[test]
fn the_pool_does_not_grow_with_time() {
    let (short, long) = (kept_after(50), kept_after(500));
    assert_eq!(short, long);
    assert!(long.iter().all(|bytes| *bytes < 200_000), "{long:?}");
}
