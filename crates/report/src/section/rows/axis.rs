//! The axis of the changes of all rows: logarithmic, so that half and twice are as far from
//! no change.

use analysis::answer::Row;
use document::{Cell, Range};

use super::advice::tone;

/// Changes in per cent with a label.
const TICKS: [f64; 7] = [-90.0, -75.0, -50.0, 0.0, 100.0, 400.0, 1900.0];

/// The least and the largest change on an axis, in per cent.
const LIMITS: (f64, f64) = (-95.0, 2900.0);

pub(super) struct Axis {
    low: f64,
    high: f64,
}

fn logarithm(percent: f64) -> f64 {
    (percent.clamp(LIMITS.0, LIMITS.1) / 100.0).ln_1p()
}

/// The ends of a row's interval in per cent, or its value where it has none.
fn ends(line: &Row<'_>) -> Option<(f64, f64, f64)> {
    let change = line.comparison.change?;
    let value = change.percent?;
    Some(match change.ci95 {
        Some(interval) => (interval.low, value, interval.high),
        None => (value, value, value),
    })
}

impl Axis {
    /// The axis of `lines`, at least from -50 to +100 %.
    pub(super) fn of(lines: &[Row<'_>]) -> Self {
        let (mut low, mut high) = (logarithm(-50.0), logarithm(100.0));
        for (least, _, most) in lines.iter().filter_map(ends) {
            low = low.min(logarithm(least));
            high = high.max(logarithm(most));
        }
        Self { low, high }
    }

    fn place(&self, percent: f64) -> f64 {
        (logarithm(percent) - self.low) / (self.high - self.low)
    }

    /// The drawing of a row.
    pub(super) fn cell(&self, line: &Row<'_>) -> Cell {
        Cell::Range(ends(line).map(|(low, value, high)| Range {
            low: self.place(low),
            value: self.place(value),
            high: self.place(high),
            zero: self.place(0.0),
            tone: tone(line.finding),
        }))
    }

    /// The labels below all rows.
    pub(super) fn ticks(&self) -> Cell {
        let shown = TICKS
            .into_iter()
            .map(|percent| (self.place(percent), percent));
        let shown = shown.filter(|(place, _)| (0.0..=1.0).contains(place));
        let label = |percent: f64| match percent > 0.0 {
            true => format!("+{percent}"),
            false => percent.to_string(),
        };
        Cell::Axis(
            shown
                .map(|(place, percent)| (place, label(percent)))
                .collect(),
        )
    }
}
