//! Judges whether the emulator forwarded frames like a real link; a trial in
//! which it did not is invalid.

use emulator::Report;
use plan::Setting;
use plan::setting::{Link, Network};
use units::Span;

/// The bounds of the allowed timing error. A late frame does not change the
/// link's treatment of other frames: every time follows from arrivals, sizes
/// and the rate. But it reaches its receiver late, and so does the receiver's
/// response. The queue of the link bridges this time as long as its buffer
/// lasts; then the link is idle although a real link would not be. So the
/// timing error may reach the drain time of the smallest buffer of the path, within
/// these bounds. The lower bound is the error of the kernel's own token buckets
/// ([`auto_burst`](experiment::auto_burst)); the upper one is a convention, a
/// hundred times the timing error that is flagged.
const BOUNDS: [Span; 2] = [Span::from_millis(1), Span::from_millis(10)];

/// With fewer departures no percentile is reported. Then the median decides,
/// and a single late departure is only flagged.
const FEW: u64 = 100;

/// The reason why a trial over emulated links is invalid, if it is.
pub(super) fn invalid(setting: &Setting, report: &Report) -> Option<String> {
    rejected(report).or_else(|| too_late(&setting.network, report))
}

/// Frames that were not carried at all.
fn rejected(report: &Report) -> Option<String> {
    let directions = report.links.iter().flatten();
    let (mut overrun, mut super_packets, mut unsent) = (0, 0, 0);
    for direction in directions {
        overrun += direction.rejected.overrun;
        super_packets += direction.rejected.super_packets;
        unsent += direction.rejected.unsent;
    }
    (overrun + super_packets + unsent > 0).then(|| {
        format!(
            "the emulator could not keep up: {overrun} frames arrived too fast, {unsent} found no room \
             behind it, {super_packets} were super-packets that cannot be cut; choose a lower rate or a larger MTU"
        )
    })
}

/// The 99th percentile of timing error exceeds the path's tolerance.
fn too_late(network: &Network, report: &Report) -> Option<String> {
    let [median, late, _] = report.late;
    let (which, seen) = match report.departures {
        0..FEW => ("half of the frames", median),
        FEW.. => ("one frame in a hundred", late),
    };
    let bound = network
        .timing_error
        .unwrap_or_else(|| forgiven(&network.links));
    (seen > bound).then(|| {
        let millis = Span::as_millis_f64;
        format!(
            "the emulator could not keep up: {which} left an emulated link {:.1} ms late or more, \
             and {:.1} ms are too much; let the machine be idle, or choose a lower rate",
            millis(seen),
            millis(bound)
        )
    })
}

/// The allowed timing error on a path of these links.
fn forgiven(links: &[Link]) -> Span {
    let drain = |link: &Link| Some(link.rate?.serialise(link.buffer));
    let [least, most] = BOUNDS;
    let soonest = links.iter().filter_map(drain).min();
    soonest.unwrap_or_default().clamp(least, most)
}

#[cfg(test)]
mod tests {
    use super::*;
    use emulator::{DirectionReport, Rejected};
    use plan::synthetic;
    use units::{Bytes, Rate};

    /// A path of two links of `megabits` Mbit/s with buffers of 500 kB and 1
    /// MB.
    fn setting(megabits: Option<u64>) -> Setting {
        let mut setting = synthetic::setting(1500, false);
        for (link, buffer) in setting.network.links.iter_mut().zip([500_000, 1_000_000]) {
            link.rate =
                megabits.and_then(|megabits| Rate::from_bits_per_second(megabits * 1_000_000));
            link.buffer = Bytes::new(buffer);
        }
        setting
    }

    fn report(departures: u64, micros: [u64; 3]) -> Report {
        Report {
            departures,
            late: micros.map(Span::from_micros),
            ..Report::default()
        }
    }

    #[test]
    fn departures_may_be_as_late_as_the_smallest_buffer_lasts() {
        // 500 kB are 4 ms at 1 Gbit/s, 1.6 ms at 2.5, and 40 ms at 100 Mbit/s.
        for (megabits, bound) in [
            (Some(1_000), 4_000),
            (Some(2_500), 1_600),
            (Some(40_000), 1_000),
            (None, 1_000),
            (Some(100), 10_000),
        ] {
            let setting = setting(megabits);
            let verdict = |late| invalid(&setting, &report(1_000, [5, late, 900_000]));
            assert_eq!(verdict(bound), None, "{megabits:?}");
            let why = verdict(bound + 1).expect("later than forgiven");
            assert!(why.contains("could not keep up"), "{why}");
        }
    }

    #[test]
    fn who_says_how_late_they_may_be_is_obeyed() {
        let mut setting = setting(Some(1_000));
        setting.network.timing_error = Some(Span::from_micros(50));
        let verdict = |setting: &Setting, late| invalid(setting, &report(1_000, [5, late, late]));
        assert!(verdict(&setting, 51).is_some() && verdict(&setting, 50).is_none());
        setting.network.timing_error = Some(Span::from_secs(60));
        assert_eq!(verdict(&setting, 900_000), None);
    }

    #[test]
    fn of_a_few_departures_the_median_decides() {
        let setting = setting(Some(1_000));
        assert_eq!(invalid(&setting, &report(99, [4_000, 9_000, 9_000])), None);
        assert!(invalid(&setting, &report(99, [4_001, 4_001, 9_000])).is_some());
        assert!(invalid(&setting, &report(100, [5, 4_001, 9_000])).is_some());
        assert_eq!(invalid(&setting, &report(0, [0; 3])), None);
    }

    #[test]
    fn one_frame_that_was_not_carried_is_enough() {
        let rejected = [
            Rejected {
                overrun: 1,
                ..Rejected::default()
            },
            Rejected {
                super_packets: 1,
                ..Rejected::default()
            },
            Rejected {
                unsent: 1,
                ..Rejected::default()
            },
        ];
        for rejected in rejected {
            let mut report = report(1_000, [5, 10, 20]);
            let direction = DirectionReport {
                rejected,
                ..DirectionReport::default()
            };
            report.links = vec![[DirectionReport::default(), direction]];
            let why = invalid(&setting(None), &report).expect("a frame is missing");
            assert!(why.contains("1 "), "{why}");
        }
        let unstamped = Rejected {
            unstamped: 1,
            ..Rejected::default()
        };
        let mut report = report(1_000, [5, 10, 20]);
        let direction = DirectionReport {
            rejected: unstamped,
            ..DirectionReport::default()
        };
        report.links = vec![[DirectionReport::default(), direction]];
        assert_eq!(invalid(&setting(None), &report), None, "late, not missing");
    }
}
