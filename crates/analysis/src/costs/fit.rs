//! One fit: costs with their covariance, prediction intervals, and the test of lack of
//! fit.

use std::fmt;

use model::Cost;
use statrs::distribution::{ChiSquared, ContinuousCDF, FisherSnedecor, Normal, StudentsT};

use super::least_squares::{Solution, least_squares};
use crate::digits;
use crate::statistics::Interval;

/// The level below which a lack of fit is significant, and the confidence of intervals.
const LEVEL: f64 = 0.05;

/// The ratio of the largest to the smallest size from which a cost of transfers is
/// estimated.
const SIZES_DIFFER: f64 = 1.01;

/// One value of a trial.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Observation {
    /// Bytes of payload in a packet.
    pub segment: f64,
    /// Whether its packets have several segments.
    pub several: bool,
    /// Bytes of the transfer.
    pub size: f64,
    /// The cost in seconds for each byte of payload; of a round trip all of it.
    pub seconds: f64,
}

/// The source from which the spread of a value is known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Spread {
    /// The trials.
    Measured,
    /// A statement: this relative standard deviation of each value.
    Stated(f64),
}

/// Why trials have no fit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum CannotFit {
    /// There are no more of them than costs, so that nothing tells their spread.
    TooFew {
        trials: usize,
        /// The costs to estimate.
        costs: usize,
    },
    /// All have segments of this many bytes, so that costs of packets and of bytes
    /// cannot be told apart.
    OneSegment(f64),
    /// Sizes and segments change together.
    Collinear,
}

impl fmt::Display for CannotFit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooFew { trials, costs } => write!(
                f,
                "too few trials: {trials} of them leave nothing to tell the spread from beside {costs} {}; run more, or state it with --spread, for instance 2%",
                if *costs == 1 { "cost" } else { "costs" }
            ),
            Self::OneSegment(segment) => write!(
                f,
                "all trials have segments of {segment} bytes, so that costs of packets and of bytes cannot be told apart; sweep network.mtu with network.mtu_method = \"mss\" (jumbolab run host-costs), or state the link's --rate"
            ),
            Self::Collinear => f.write_str(
                "sizes and segments change together, so that their costs cannot be told apart; sweep each by itself",
            ),
        }
    }
}

impl std::error::Error for CannotFit {}

/// The test whether the means of cells are of the model's form: the F test of their
/// residuals against the spread of repeats [Draper1998], or, with a stated spread, the
/// chi-squared test.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LackOfFit {
    /// The probability of residuals that are at least as large if the form is right.
    pub p: f64,
    /// The statistic: F, or chi-squared.
    pub statistic: f64,
    /// The degrees of freedom of the residuals, and of the spread of repeats.
    pub freedom: (usize, Option<usize>),
}

impl LackOfFit {
    /// Whether the form is rejected at 5 %.
    pub fn is_significant(&self) -> bool {
        self.p < LEVEL
    }
}

/// Fitted costs.
#[derive(Clone, Debug)]
pub struct CostFit {
    /// The costs; one that was neither fitted nor known is zero.
    pub cost: Cost,
    /// The covariance of the costs per byte, per packet and per transfer in s^2, in this
    /// order; zeros for those that were not fitted.
    pub covariance: [[f64; 3]; 3],
    /// The relative standard deviation of one trial.
    pub spread: f64,
    /// The seconds that a packet of several segments costs besides; zero if no packet has,
    /// or all have.
    pub per_joined_packet: f64,
    /// The test of the form; `None` if there are no more cells than costs, or no repeats.
    pub lack_of_fit: Option<LackOfFit>,
    /// The largest relative distance of a cell's mean from its fitted value.
    pub misfit: f64,
    /// The smallest and the largest segment.
    pub segments: (f64, f64),
    /// The number of trials.
    pub trials: usize,
    terms: Vec<Term>,
    solution: Solution,
    /// The relative variance of a mean whatever the number of its trials, beyond the
    /// fitted costs: that of a form that does not hold.
    between: f64,
    /// The variance by which the inverse is multiplied.
    variance: f64,
    /// Of that variance; `None`: it is known.
    freedom: Option<f64>,
}

/// A fitted cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Term {
    Byte,
    Packet,
    Transfer,
    /// Of packets of several segments, besides: the kernel joins and counts segments.
    Joined,
}

impl Term {
    /// Its column, for a byte.
    fn of(self, segment: f64, several: bool, size: f64) -> f64 {
        match self {
            Self::Byte => 1.0,
            Self::Packet => 1.0 / segment,
            Self::Transfer => 1.0 / size,
            Self::Joined if several => 1.0 / segment,
            Self::Joined => 0.0,
        }
    }

    /// Its place among the costs of packets of one segment.
    const fn place(self) -> Option<usize> {
        match self {
            Self::Byte => Some(0),
            Self::Packet => Some(1),
            Self::Transfer => Some(2),
            Self::Joined => None,
        }
    }
}

/// The trials with equal segments and sizes.
struct Cell {
    segment: f64,
    several: bool,
    size: f64,
    values: Vec<f64>,
    mean: f64,
}

fn cells(observations: &[Observation]) -> Vec<Cell> {
    let mut cells: Vec<Cell> = Vec::new();
    for one in observations {
        let same = |cell: &&mut Cell| {
            (cell.segment, cell.several, cell.size) == (one.segment, one.several, one.size)
        };
        match cells.iter_mut().find(same) {
            Some(cell) => cell.values.push(one.seconds),
            None => cells.push(Cell {
                segment: one.segment,
                several: one.several,
                size: one.size,
                values: vec![one.seconds],
                mean: 0.0,
            }),
        }
    }
    for cell in &mut cells {
        cell.mean = cell.values.iter().sum::<f64>() / cell.values.len() as f64;
    }
    cells
}

/// Fits the costs of packets and bytes, and of transfers if their sizes differ.
/// `known` is the cost of a byte where it is known, for instance that of the link.
///
/// Values have equal relative spread: residuals are divided by the mean of their cell.
/// Where the form is rejected, the residuals of cells take the place of the spread of
/// repeats in all intervals, which widens them by what the form does not explain.
///
/// # Errors
/// [`CannotFit`].
pub fn fit(
    observations: &[Observation],
    known: Option<f64>,
    spread: Spread,
) -> Result<CostFit, CannotFit> {
    let cells = cells(observations);
    let sizes = extremes(cells.iter().map(|cell| cell.size));
    let segments = extremes(cells.iter().map(|cell| cell.segment));
    let mut terms = vec![Term::Packet];
    if known.is_none() {
        terms.insert(0, Term::Byte);
    }
    if sizes.1 > SIZES_DIFFER * sizes.0 {
        terms.push(Term::Transfer);
    }
    let joined = cells.iter().filter(|cell| cell.several).count();
    if (1..cells.len()).contains(&joined) {
        terms.push(Term::Joined);
    }
    let (trials, costs) = (observations.len(), terms.len());
    let least = match spread {
        Spread::Measured => costs + 1,
        Spread::Stated(_) => costs,
    };
    if trials < least {
        return Err(CannotFit::TooFew { trials, costs });
    }
    if known.is_none() && segments.0 >= segments.1 {
        return Err(CannotFit::OneSegment(segments.0));
    }
    let offset = known.unwrap_or(0.0);
    let each = || {
        cells
            .iter()
            .flat_map(|cell| cell.values.iter().map(move |value| (cell, *value)))
    };
    let row = |cell: &Cell| -> Vec<f64> {
        let terms = terms.iter();
        terms
            .map(|term| term.of(cell.segment, cell.several, cell.size) / cell.mean)
            .collect()
    };
    let rows: Vec<Vec<f64>> = each().map(|(cell, _)| row(cell)).collect();
    let values: Vec<f64> = each()
        .map(|(cell, value)| (value - offset) / cell.mean)
        .collect();
    let solution = least_squares(&rows, &values).ok_or(CannotFit::Collinear)?;

    let pure: f64 = each()
        .map(|(cell, value)| (value / cell.mean - 1.0).powi(2))
        .sum();
    let lacking = (solution.squares - pure).max(0.0);
    let (within, among) = (trials - cells.len(), cells.len().saturating_sub(costs));
    let repeats = trials as f64 / cells.len() as f64;
    let (lack_of_fit, judged) = match spread {
        Spread::Stated(spread) => stated(solution.squares, trials - costs, spread),
        Spread::Measured => measured(
            (lacking, among),
            (pure, within),
            solution.squares / (trials - costs) as f64,
            repeats,
        ),
    };

    let mut cost = Cost {
        per_byte: offset,
        ..Cost::default()
    };
    let mut per_joined_packet = 0.0;
    let mut covariance = [[0.0; 3]; 3];
    for (one, term) in terms.iter().enumerate() {
        let estimate = solution.estimates[one];
        match term {
            Term::Byte => cost.per_byte = estimate,
            Term::Packet => cost.per_packet = estimate,
            Term::Transfer => cost.per_transfer = estimate,
            Term::Joined => per_joined_packet = estimate,
        }
        for (other, column) in terms.iter().enumerate() {
            if let (Some(row), Some(column)) = (term.place(), column.place()) {
                covariance[row][column] = judged.variance * solution.inverse[one][other];
            }
        }
    }
    let mut fitted = CostFit {
        cost,
        covariance,
        spread: judged.spread,
        per_joined_packet,
        lack_of_fit,
        misfit: 0.0,
        segments,
        trials,
        terms,
        solution,
        between: judged.between,
        variance: judged.variance,
        freedom: judged.freedom,
    };
    let misfit = |cell: &Cell| {
        let joined = fitted.per_joined_packet * Term::Joined.of(cell.segment, cell.several, 1.0);
        let seconds = fitted.cost.seconds(cell.size, cell.segment) / cell.size + joined;
        (seconds / cell.mean - 1.0).abs()
    };
    fitted.misfit = cells.iter().map(misfit).fold(0.0, f64::max);
    Ok(fitted)
}

/// The smallest and the largest value.
fn extremes(values: impl Iterator<Item = f64>) -> (f64, f64) {
    values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
        (low.min(value), high.max(value))
    })
}

/// The variances of a fit.
struct Variances {
    spread: f64,
    between: f64,
    variance: f64,
    freedom: Option<f64>,
}

/// With a known spread: residuals beyond it widen everything in proportion.
fn stated(squares: f64, freedom: usize, spread: f64) -> (Option<LackOfFit>, Variances) {
    let statistic = squares / spread.powi(2);
    let test = (freedom > 0).then(|| LackOfFit {
        p: ChiSquared::new(freedom as f64).map_or(1.0, |distribution| {
            digits::rounded(distribution.sf(statistic))
        }),
        statistic,
        freedom: (freedom, None),
    });
    let rejected = test.is_some_and(|test| test.is_significant());
    let judged = match rejected {
        true => Variances {
            spread,
            between: (squares / freedom as f64 - spread.powi(2)).max(0.0),
            variance: squares / freedom as f64,
            freedom: Some(freedom as f64),
        },
        false => Variances {
            spread,
            between: 0.0,
            variance: spread.powi(2),
            freedom: None,
        },
    };
    (test, judged)
}

/// With the spread of repeats: all residuals together unless the form is rejected.
fn measured(
    (lacking, among): (f64, usize),
    (pure, within): (f64, usize),
    pooled: f64,
    repeats: f64,
) -> (Option<LackOfFit>, Variances) {
    let mean = |squares: f64, freedom: usize| squares / freedom as f64;
    let test = (among > 0 && within > 0).then(|| {
        let statistic = mean(lacking, among) / mean(pure, within);
        let distribution = FisherSnedecor::new(among as f64, within as f64);
        let p = match statistic.is_finite() {
            true => distribution.map_or(1.0, |distribution| {
                digits::rounded(distribution.sf(statistic))
            }),
            // No spread at all: any residual beyond rounding rejects the form.
            false => f64::from(u8::from(lacking <= f64::EPSILON)),
        };
        LackOfFit {
            p,
            statistic,
            freedom: (among, Some(within)),
        }
    });
    let judged = match test.filter(LackOfFit::is_significant) {
        Some(_) => {
            let (lack, spread) = (mean(lacking, among), mean(pure, within));
            Variances {
                spread: spread.sqrt(),
                between: (lack - spread).max(0.0) / repeats,
                variance: lack,
                freedom: Some(among as f64),
            }
        }
        None => Variances {
            spread: pooled.sqrt(),
            between: 0.0,
            variance: pooled,
            freedom: Some((among + within) as f64),
        },
    };
    (test, judged)
}

impl CostFit {
    /// The cost in seconds of a byte at other segments and sizes.
    pub fn seconds(&self, segment: f64, size: f64) -> f64 {
        self.cost.seconds(size, segment) / size
    }

    /// The interval that holds the mean of `trials` new trials with a probability of
    /// 95 %, if the form holds there.
    pub fn interval(&self, segment: f64, size: f64, trials: u32) -> Interval {
        let row: Vec<f64> = self
            .terms
            .iter()
            .map(|term| term.of(segment, false, size))
            .collect();
        let value = self.seconds(segment, size);
        let own = self.between + self.spread.powi(2) / f64::from(trials.max(1));
        let variance = self.variance * self.solution.variance(&row) + own * value.powi(2);
        let half = self.quantile() * variance.sqrt();
        Interval {
            low: value - half,
            high: value + half,
        }
    }

    /// The standard errors of the costs per byte, per packet and per transfer.
    pub fn errors(&self) -> [f64; 3] {
        [0, 1, 2].map(|place| self.covariance[place][place].sqrt())
    }

    /// Whether a segment is outside of those that were fitted.
    pub fn extrapolates(&self, segment: f64) -> bool {
        segment < self.segments.0 || segment > self.segments.1
    }

    /// Whether a cost is below zero by more than its error, which no host has.
    pub fn is_negative(&self) -> bool {
        let Cost {
            per_transfer,
            per_packet,
            per_byte,
        } = self.cost;
        let errors = self.errors().map(|error| self.quantile() * error);
        let costs = [per_byte, per_packet, per_transfer];
        costs
            .iter()
            .zip(errors)
            .any(|(cost, error)| cost + error < 0.0)
    }

    /// The two-sided quantile of the estimates [Student1908].
    fn quantile(&self) -> f64 {
        let level = 1.0 - LEVEL / 2.0;
        let student = self.freedom.and_then(|freedom| {
            let distribution = StudentsT::new(0.0, 1.0, freedom).ok()?;
            Some(digits::rounded(distribution.inverse_cdf(level)))
        });
        student.unwrap_or_else(|| digits::rounded(Normal::standard().inverse_cdf(level)))
    }
}

#[cfg(test)]
mod tests;
