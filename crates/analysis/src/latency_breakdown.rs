//! Groups latency breakdowns by message size.

use plan::metric::GOODPUT_ECHOED;
use plan::setting::Traffic;
use plan::{COPY, Factors, Level, Plan, Setting};
use units::Bytes;

use crate::compare::{Comparison, find};

/// The sufficient share of the peak.
pub const ENOUGH: f64 = 0.95;

/// Cells that differ only in the message size.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    /// The factors that distinguish it from other groups; empty if it is the
    /// only one.
    pub factors: Factors,
    /// Message size in bytes and the cell's position in the plan, smallest
    /// first.
    pub cells: Vec<(u64, usize)>,
    /// The size at which goodput stops growing, if it was measured.
    pub knee: Option<SaturationPoint>,
}

/// The size at which goodput stops growing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SaturationPoint {
    /// The smallest message that reaches [`ENOUGH`] of the peak, in bytes.
    pub enough: u64,
    /// Whether it is the largest tested size of several.
    pub is_largest: bool,
    /// The message size with the highest goodput, in bytes, and this goodput
    /// in Mbit/s.
    pub peak: (u64, f64),
}

/// The groups of a plan with latency breakdowns, in its order.
pub fn groups(plan: &Plan, comparisons: &[Comparison]) -> Vec<Group> {
    let mut found: Vec<(Setting, Vec<(u64, usize)>)> = Vec::new();
    for (position, cell) in plan.cells.iter().enumerate() {
        let Ok(setting) = &cell.setting else { continue };
        let mut setting = setting.clone();
        let Traffic::LatencyBreakdown(trips) = &mut setting.traffic else {
            continue;
        };
        let size = trips.message.get();
        trips.message = Bytes::ZERO;
        let copy = cell.factors.level(COPY).is_some();
        match found.iter_mut().find(|(other, _)| *other == setting) {
            _ if copy => {}
            Some((_, cells)) => cells.push((size, position)),
            None => found.push((setting, vec![(size, position)])),
        }
    }
    let groups = found.into_iter().map(|(_, mut cells)| {
        cells.sort_unstable();
        Group {
            factors: own_factors(plan, &cells),
            knee: knee(&goodput(&cells, comparisons)),
            cells,
        }
    });
    groups.collect()
}

/// The goodput of echoed messages, both directions together, by message size.
fn goodput(cells: &[(u64, usize)], comparisons: &[Comparison]) -> Vec<(u64, f64)> {
    let points = cells.iter().filter_map(|&(size, cell)| {
        let mean = find(comparisons, &GOODPUT_ECHOED, cell)?.mean?;
        Some((size, mean.mean))
    });
    points.collect()
}

/// The smallest size that reaches a sufficient share of the peak; goodput need
/// not be monotonic.
fn knee(points: &[(u64, f64)]) -> Option<SaturationPoint> {
    let peak = { points.iter().copied() }.reduce(|a, b| if b.1 > a.1 { b } else { a })?;
    let enough = points
        .iter()
        .find(|(_, goodput)| *goodput >= ENOUGH * peak.1)?;
    let last = points.last().map(|(size, _)| *size);
    Some(SaturationPoint {
        enough: enough.0,
        is_largest: last == Some(enough.0) && points.len() > 1,
        peak,
    })
}

/// The factors that all cells of a group share, but not all cells of the plan.
fn own_factors(plan: &Plan, cells: &[(u64, usize)]) -> Factors {
    let Some((_, first)) = cells.first() else {
        return Factors::default();
    };
    let shared = |(factor, level): &&(String, Level)| {
        let has = |cell: usize| plan.cells[cell].factors.level(factor) == Some(level);
        let varies = !(0..plan.cells.len()).all(has);
        varies && cells.iter().all(|(_, cell)| has(*cell))
    };
    let own = plan.cells[*first].factors.0.iter().filter(shared);
    Factors(own.cloned().collect())
}

#[cfg(test)]
mod tests {
    use plan::synthetic;

    use super::*;

    #[test]
    fn a_group_is_named_by_what_its_cells_share_and_others_do_not() {
        let cells = [
            ("LU-LU", "off", 1500),
            ("LU-LU", "off", 9000),
            ("LW-LW", "off", 1500),
        ];
        let cells = cells.map(|(scenario, offloads, mtu)| {
            synthetic::cell(synthetic::full_factors(scenario, offloads, mtu))
        });
        let plan = synthetic::plan(cells.to_vec(), 1, Vec::new());
        let own = own_factors(&plan, &[(64, 0), (64, 1)]);
        let scenario = ("scenario".to_owned(), Level::Text("LU-LU".into()));
        assert_eq!(own, Factors(vec![scenario]));
        assert_eq!(own_factors(&plan, &[]), Factors::default());
        let all = [(64, 0), (64, 1), (64, 2)];
        assert_eq!(own_factors(&plan, &all), Factors::default());
    }

    #[test]
    fn the_knee_is_the_smallest_size_with_enough_of_the_peak() {
        let points = [
            (64, 10.0),
            (1_000, 96.0),
            (1_500, 90.0),
            (9_000, 100.0),
            (60_000, 97.0),
        ];
        let knee_of = |points| knee(points).map(|knee| (knee.enough, knee.is_largest, knee.peak));
        assert_eq!(knee_of(&points), Some((1_000, false, (9_000, 100.0))));
        assert_eq!(knee_of(&points[..1]), Some((64, false, (64, 10.0))));
        assert_eq!(knee_of(&points[..2]), Some((1_000, true, (1_000, 96.0))));
        assert_eq!(knee_of(&[]), None);
    }
}
