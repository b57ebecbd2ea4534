//! Which settings decide an answer: shares of its variance over the space.
//!
//! Points are drawn independently, so that the variance of the answers is the sum
//! of the parts of each setting alone, of each pair, and of the rest [Sobol1993]
//! [Saltelli2010]. The first-order share of a setting is the part that its values
//! explain; its total share adds the parts of all pairs that it is in. Parts of
//! three settings and more are left to the rest, so that a total share is a lower
//! bound. Each part is that of an analysis of variance by the values, less what
//! as many groups explain by chance: epsilon squared [Kelley1935].

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use serde::Serialize;
use units::Seed;

use super::Point;
use crate::statistics::{Interval, holm};

/// The probability of naming any setting for a question that no setting
/// decides.
const LEVEL: f64 = 0.05;

/// The smallest total share of a setting that decides.
const LEAST_SHARE: f64 = 0.05;

/// Of fewer points nothing can be said.
pub const FEWEST: usize = 20;

/// The number of half-samples for intervals.
const HALVES: usize = 64;

/// The number of permutations with as large a share after which no more are
/// made.
const ENOUGH: usize = 10;

/// A share of variance.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Part {
    /// Between 0 and 1.
    pub share: f64,
    /// Its 95 % interval.
    pub interval: Interval,
}

/// The effect of one setting on an answer.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Effect {
    /// The share explained by the setting alone.
    pub first: Part,
    /// The share explained alone and in pairs.
    pub total: Part,
    /// The p-value of the total share.
    pub p: f64,
    /// Whether it decides the question: beyond chance at 5 % over all settings,
    /// and by 5 % of the variance at least.
    pub decides: bool,
}

/// The effect of each setting on the `values` that were found at `points`;
/// `sizes` says how many values each setting has. Empty where the values are all
/// the same, or too few.
///
/// An interval is the share and 1.96 standard deviations to each side, from
/// random halves of the points [Shao1989]. Whether a share is beyond chance is
/// told by permutations of the setting's values over the points [Fisher1935],
/// as many as it takes to tell [Besag1991].
pub fn effects(sizes: &[usize], points: &[&Point], values: &[f64], seed: Seed) -> Vec<Effect> {
    let is_constant = values.windows(2).all(|pair| pair[0] == pair[1]);
    if points.len() < FEWEST || is_constant {
        return Vec::new();
    }
    let columns: Vec<Vec<usize>> = (0..sizes.len())
        .map(|setting| points.iter().map(|point| point[setting]).collect())
        .collect();
    let data = Data {
        sizes,
        columns,
        values: values.to_vec(),
    };
    let parts = data.parts();
    let deviations = deviations(&data, seed);
    let p_values: Vec<f64> = (0..sizes.len())
        .map(|setting| chance(&data, setting, parts.total(setting), seed))
        .collect();
    let rejected = holm(&p_values, LEVEL);
    (0..sizes.len())
        .map(|setting| {
            let [of_first, of_total] = deviations[setting];
            let total = part(parts.total(setting), of_total);
            Effect {
                first: part(parts.first[setting], of_first),
                total,
                p: p_values[setting],
                decides: rejected[setting] && total.share >= LEAST_SHARE,
            }
        })
        .collect()
}

fn part(share: f64, deviation: f64) -> Part {
    let within = |share: f64| share.clamp(0.0, 1.0);
    Part {
        share: within(share),
        interval: Interval {
            low: within(share - 1.96 * deviation),
            high: within(share + 1.96 * deviation),
        },
    }
}

/// Answers, and for each setting its value at each point.
struct Data<'a> {
    sizes: &'a [usize],
    columns: Vec<Vec<usize>>,
    values: Vec<f64>,
}

/// Parts of the variance, which may be below 0 by chance.
struct Parts {
    first: Vec<f64>,
    /// Of each pair, `pairs[one][other]` like `pairs[other][one]`.
    pairs: Vec<Vec<f64>>,
}

impl Parts {
    fn total(&self, setting: usize) -> f64 {
        self.first[setting] + self.pairs[setting].iter().sum::<f64>()
    }
}

impl Data<'_> {
    fn parts(&self) -> Parts {
        let settings = self.sizes.len();
        let first: Vec<f64> = (0..settings).map(|setting| self.alone(setting)).collect();
        let mut pairs = vec![vec![0.0; settings]; settings];
        for one in 0..settings {
            for other in 0..one {
                let part = self.together(one, other) - first[one] - first[other];
                pairs[one][other] = part;
                pairs[other][one] = part;
            }
        }
        Parts { first, pairs }
    }

    /// The total share of one setting.
    fn total(&self, setting: usize, first: &[f64]) -> f64 {
        let alone = self.alone(setting);
        let others = (0..self.sizes.len()).filter(|&other| other != setting);
        let pairs = others.map(|other| self.together(setting, other) - alone - first[other]);
        alone + pairs.sum::<f64>()
    }

    fn alone(&self, setting: usize) -> f64 {
        let column = &self.columns[setting];
        self.explained(self.sizes[setting], |at| column[at])
    }

    fn together(&self, one: usize, other: usize) -> f64 {
        let (size, rows, columns) = (self.sizes[other], &self.columns[one], &self.columns[other]);
        self.explained(self.sizes[one] * size, |at| rows[at] * size + columns[at])
    }

    /// Epsilon squared of the groups.
    fn explained(&self, groups: usize, group: impl Fn(usize) -> usize) -> f64 {
        let n = self.values.len() as f64;
        let mut sums = vec![(0.0, 0.0); groups];
        let (mut sum, mut squares) = (0.0, 0.0);
        for (at, &value) in self.values.iter().enumerate() {
            let (members, total) = &mut sums[group(at)];
            *members += 1.0;
            *total += value;
            sum += value;
            squares += value * value;
        }
        let all = squares - sum * sum / n;
        let filled = sums.iter().filter(|(members, _)| *members > 0.0);
        let mut groups = 0.0;
        let between: f64 = filled
            .map(|(members, total)| {
                groups += 1.0;
                total * total / members
            })
            .sum();
        let between = between - sum * sum / n;
        if all <= 0.0 || n <= groups {
            return 0.0;
        }
        let within = (all - between) / (n - groups);
        (between - (groups - 1.0) * within) / all
    }
}

/// The p-value of the total share `found` under the hypothesis that the setting
/// does not affect the answer.
fn chance(data: &Data<'_>, setting: usize, found: f64, seed: Seed) -> f64 {
    let settings = data.sizes.len();
    if data.sizes[setting] == 1 {
        return 1.0;
    }
    let first: Vec<f64> = (0..settings).map(|setting| data.alone(setting)).collect();
    let name = format!("robustness/permutations/{setting}");
    let mut rng = ChaCha8Rng::seed_from_u64(seed.derive(&name).get());
    let mut permuted = Data {
        sizes: data.sizes,
        columns: data.columns.clone(),
        values: data.values.clone(),
    };
    // Enough for Holm's procedure to reject in the first of all settings.
    let most = (2.0 * settings as f64 / LEVEL).ceil();
    let (mut made, mut larger) = (0.0, 0);
    while made < most - 1.0 {
        permuted.columns[setting].shuffle(&mut rng);
        made += 1.0;
        if permuted.total(setting, &first) >= found {
            larger += 1;
        }
        if larger == ENOUGH {
            return ENOUGH as f64 / made;
        }
    }
    f64::from(u32::try_from(larger).unwrap_or(u32::MAX) + 1) / (made + 1.0)
}

/// The standard deviations of the first and the total share of each setting, from
/// random halves: the delete-half jackknife [Shao1989].
fn deviations(data: &Data<'_>, seed: Seed) -> Vec<[f64; 2]> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed.derive("robustness/halves").get());
    let mut places: Vec<usize> = (0..data.values.len()).collect();
    let halves: Vec<Parts> = (0..HALVES)
        .map(|_| {
            places.shuffle(&mut rng);
            let half = &places[..places.len() / 2];
            let columns = data.columns.iter();
            Data {
                sizes: data.sizes,
                columns: columns
                    .map(|column| half.iter().map(|&at| column[at]).collect())
                    .collect(),
                values: half.iter().map(|&at| data.values[at]).collect(),
            }
            .parts()
        })
        .collect();
    let deviation = |of: &dyn Fn(&Parts) -> f64| {
        let n = HALVES as f64;
        let mean = halves.iter().map(of).sum::<f64>() / n;
        let squares = halves.iter().map(|parts| (of(parts) - mean).powi(2));
        (squares.sum::<f64>() / (n - 1.0)).sqrt()
    };
    (0..data.sizes.len())
        .map(|setting| {
            [
                deviation(&|parts| parts.first[setting]),
                deviation(&|parts| parts.total(setting)),
            ]
        })
        .collect()
}

#[cfg(test)]
mod tests;
