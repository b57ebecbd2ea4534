//! The range of an axis of values with intervals: an interval much longer than
//! the others would rule it, and ends in an arrow instead.

use analysis::statistics::Interval;

/// How many times as far as the middle one of the intervals is long an interval
/// may reach beyond all values.
const LONG: f64 = 3.0;

/// The share of the axis that stays free at either end.
const MARGIN: f64 = 0.05;

/// The range of an axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Range {
    pub(super) low: f64,
    pub(super) high: f64,
}

/// An interval as far as the axis shows it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Clipped {
    pub(super) low: f64,
    pub(super) high: f64,
    /// Whether it goes on below and above.
    pub(super) is_cut: [bool; 2],
}

impl Range {
    /// The range that shows all `values`, and all `intervals` but those that
    /// would rule it; `None` without values.
    pub(super) fn of(values: &[f64], intervals: &[Interval]) -> Option<Self> {
        let least = values.iter().copied().fold(f64::INFINITY, f64::min);
        let most = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        if least > most {
            return None;
        }
        let mut halves: Vec<f64> = (intervals.iter())
            .filter(|interval| !interval.is_no_result())
            .map(|interval| interval.half())
            .collect();
        halves.sort_by(f64::total_cmp);
        let middle = halves.get(halves.len().saturating_sub(1) / 2);
        let beyond = (most - least).max(LONG * middle.copied().unwrap_or(0.0));
        let (mut low, mut high) = (least, most);
        for interval in intervals {
            if least - interval.low <= beyond {
                low = low.min(interval.low);
            }
            if interval.high - most <= beyond {
                high = high.max(interval.high);
            }
        }
        // What is cut goes on visibly beyond the values.
        let is_cut = |interval: &Interval| interval.low < low || interval.high > high;
        let span = match high - low {
            span if span > 0.0 => span,
            _ => high.abs().max(1.0),
        };
        if intervals.iter().any(is_cut) {
            let more = span * 2.0 * MARGIN;
            (low, high) = (low - more, high + more);
        }
        let margin = span * MARGIN;
        Some(Self {
            low: low - margin,
            high: high + margin,
        })
    }

    /// The range from 0 on if all of it is above.
    pub(super) fn reaching_zero(self) -> Self {
        let low = if self.low > 0.0 || self.low.abs() < self.high * 2.0 * MARGIN {
            0.0
        } else {
            self.low
        };
        Self { low, ..self }
    }

    /// The part of an interval that the axis shows.
    pub(super) fn clip(self, interval: Interval) -> Clipped {
        Clipped {
            low: interval.low.max(self.low),
            high: interval.high.min(self.high),
            is_cut: [interval.low < self.low, interval.high > self.high],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn interval(low: f64, high: f64) -> Interval {
        Interval { low, high }
    }

    #[test]
    fn an_interval_that_would_rule_the_axis_is_cut_and_others_are_not() {
        let usual = [interval(4.0, 6.0), interval(9.0, 12.0), interval(-1.0, 3.0)];
        let long = interval(-4000.0, 5000.0);
        let all = [usual[0], usual[1], usual[2], long];
        let range = Range::of(&[0.0, 5.0, 10.0, 1.0, 8.0], &all).unwrap();
        assert!(range.low > -10.0 && range.high < 20.0, "{range:?}");
        for one in usual {
            assert_eq!(range.clip(one).is_cut, [false, false]);
            assert_eq!(range.clip(one).low, one.low);
        }
        let cut = range.clip(long);
        assert_eq!(cut.is_cut, [true, true]);
        assert_eq!((cut.low, cut.high), (range.low, range.high));
    }

    #[test]
    fn alike_intervals_are_shown_whole_however_long() {
        let alike = [interval(-20.0, 21.0), interval(-19.0, 22.0)];
        let range = Range::of(&[0.0, 0.5, 1.5], &alike).unwrap();
        assert!(
            alike
                .iter()
                .all(|&one| range.clip(one).is_cut == [false; 2])
        );
    }

    #[test]
    fn an_axis_without_spread_has_a_length() {
        let range = Range::of(&[0.0, 0.0], &[]).unwrap();
        assert!(range.low < 0.0 && range.high > 0.0);
        assert_eq!(Range::of(&[], &[interval(1.0, 2.0)]), None);
        assert_eq!(
            Range::of(&[3.0, 4.0], &[]).unwrap().reaching_zero().low,
            0.0
        );
    }
}
