//! The horizontal positions of levels: numbers where all levels are numbers,
//! places in a row where they are categories.

use analysis::digits;
use serde_json::{Value, json};

/// The ratio of the largest to the smallest level above which the axis is
/// logarithmic.
const DECADE: f64 = 10.0;

/// The share of a numeric axis over which what belongs to one level is spread,
/// at most.
const SHARE: f64 = 1.0 / 12.0;

/// The least distance of two ticks with labels, as a share of the axis.
const TICK: f64 = 0.1;

/// How levels are placed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Side by side, in the plan's order.
    Categories,
    /// By value.
    Linear,
    /// By the logarithm of their value.
    Logarithmic,
}

/// The horizontal positions of levels.
#[derive(Clone, Debug)]
pub(crate) struct Scale {
    kind: Kind,
    /// The positions of the levels along the axis.
    at: Vec<f64>,
    /// The room of one level, in the unit of `at`.
    room: f64,
}

impl Scale {
    /// The scale of levels as written.
    pub(crate) fn of(levels: &[String]) -> Self {
        let number = |level: &String| level.parse::<f64>().ok().filter(|value| value.is_finite());
        let numbers: Option<Vec<f64>> = levels.iter().map(number).collect();
        let numbers = numbers.unwrap_or_default();
        let least = numbers.iter().copied().fold(f64::INFINITY, f64::min);
        let most = numbers.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        if numbers.len() < 2 || least >= most {
            return Self {
                kind: Kind::Categories,
                at: (0..levels.len()).map(super::traces::number).collect(),
                room: 1.0,
            };
        }
        let is_wide = least > 0.0 && most / least > DECADE;
        let (kind, at): (_, Vec<f64>) = match is_wide {
            true => (
                Kind::Logarithmic,
                numbers.iter().copied().map(digits::log10).collect(),
            ),
            false => (Kind::Linear, numbers),
        };
        let mut sorted = at.clone();
        sorted.sort_by(f64::total_cmp);
        let gaps = sorted.windows(2).map(|pair| pair[1] - pair[0]);
        let gap = gaps.filter(|gap| *gap > 0.0).fold(f64::INFINITY, f64::min);
        let span = sorted[sorted.len() - 1] - sorted[0];
        Self {
            kind,
            at,
            room: gap.min(span * SHARE),
        }
    }

    /// The attributes of an axis with labels at `ticks`.
    pub(super) fn attributes(&self, ticks: &[usize], labels: Vec<String>) -> Value {
        let at = ticks.iter().map(|&level| self.position(level, 0.0));
        let mut attributes = json!({
            "ticktext": labels,
            "tickvals": at.collect::<Vec<f64>>(),
            "range": self.range(),
        });
        if self.kind == Kind::Logarithmic {
            attributes["type"] = json!("log");
        }
        attributes
    }

    /// The mode of a trace along this axis.
    pub(super) fn mode(&self) -> &'static str {
        match self.has_lines() {
            true => "lines+markers",
            false => "markers",
        }
    }

    /// Whether a line between levels says something: it does not between
    /// categories.
    pub(super) fn has_lines(&self) -> bool {
        self.kind != Kind::Categories
    }

    /// The position of a level, moved by a share of its room.
    pub(super) fn position(&self, level: usize, shift: f64) -> f64 {
        let place = self.at[level] + shift * self.room;
        match self.kind {
            Kind::Categories => super::traces::rounded(place),
            Kind::Linear => super::traces::brief(place),
            Kind::Logarithmic => super::traces::brief(10f64.powf(place)),
        }
    }

    /// The key by which levels are in the order of the axis.
    pub(super) fn order(&self, level: usize) -> f64 {
        self.at[level]
    }

    /// The ends of the axis, as Plotly takes them: exponents on a logarithmic one.
    fn range(&self) -> [f64; 2] {
        let least = self.at.iter().copied().fold(f64::INFINITY, f64::min);
        let most = self.at.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let beside = match self.kind {
            Kind::Categories => 0.5,
            Kind::Linear | Kind::Logarithmic => (most - least) * 0.07,
        };
        [least - beside, most + beside]
    }

    /// The levels whose ticks have labels: all categories, and of numbers those
    /// far enough from each other, the first level and `baseline` before others.
    pub(super) fn ticks(&self, baseline: Option<usize>) -> Vec<usize> {
        let all = 0..self.at.len();
        if self.kind == Kind::Categories {
            return all.collect();
        }
        let range = self.range();
        let least = (range[1] - range[0]) * TICK;
        let mut kept: Vec<usize> = Vec::new();
        for level in baseline.into_iter().chain(all) {
            let is_far = |other: &usize| (self.at[*other] - self.at[level]).abs() >= least;
            if kept.iter().all(is_far) {
                kept.push(level);
            }
        }
        kept.sort_by(|a, b| self.at[*a].total_cmp(&self.at[*b]));
        kept
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scale(levels: &[&str]) -> Scale {
        let levels: Vec<String> = levels.iter().map(|&level| level.to_owned()).collect();
        Scale::of(&levels)
    }

    #[test]
    fn numbers_are_drawn_by_value_and_more_than_a_decade_by_logarithm() {
        let linear = scale(&["1500", "4000", "9000"]);
        assert_eq!(linear.kind, Kind::Linear);
        assert_eq!(linear.position(1, 0.0), 4000.0);
        assert!(linear.has_lines());
        let wide = scale(&["1500", "24000", "65000"]);
        assert_eq!(wide.kind, Kind::Logarithmic);
        assert_eq!(wide.position(2, 0.0), 65000.0);
        assert!(wide.range()[1] < 6.0, "exponents");
        assert_eq!(scale(&["100", "1000"]).kind, Kind::Linear, "one decade");
        assert_eq!(
            scale(&["0", "1", "300"]).kind,
            Kind::Linear,
            "0 has no logarithm"
        );
    }

    #[test]
    fn words_repeated_levels_and_single_levels_are_categories() {
        for levels in [
            &["off", "on"][..],
            &["1500", "1500 (copy 2)"],
            &["1500", "auto"],
            &["1500"],
            &["nan", "inf"],
        ] {
            let scale = scale(levels);
            assert_eq!(scale.kind, Kind::Categories, "{levels:?}");
            assert!(!scale.has_lines());
            assert_eq!(
                scale.position(levels.len() - 1, 0.0),
                (levels.len() - 1) as f64
            );
        }
    }

    #[test]
    fn what_is_spread_about_a_level_stays_nearer_to_it_than_to_others() {
        for levels in [
            &["1500", "4000", "9000"][..],
            &["1", "2", "500"],
            &["a", "b"],
        ] {
            let scale = scale(levels);
            for level in 1..levels.len() {
                let right = scale.position(level - 1, 0.49);
                assert!(right < scale.position(level, -0.49), "{levels:?}");
            }
        }
    }

    #[test]
    fn ticks_do_not_lie_upon_each_other_and_the_baseline_has_one() {
        let scale = scale(&["1500", "1508", "9000", "8990"]);
        assert_eq!(scale.ticks(Some(1)), [1, 2]);
        assert_eq!(scale.ticks(None), [0, 2]);
    }
}
