//! Predictions of a series at other MTUs, and where the fitted form does not hold.

use serde::Serialize;
use statrs::distribution::{Binomial, DiscreteCDF};
use units::{Bytes, Framing};

use super::{CannotFit, CostFit, Offloads, QUANTITIES, Quantity, Series, Spread, fit};
use crate::statistics::Interval;

/// The probability below which figures outside of their intervals are no chance.
const CHANCE: f64 = 0.05;

/// The sizes to predict, and the trials to predict them from.
#[derive(Clone, Debug)]
pub struct Asked {
    pub mtus: Vec<u64>,
    /// The largest MTU whose trials are fitted; the others are compared with the
    /// prediction.
    pub fitted_up_to: Option<u64>,
    /// The rate in bit/s of a link for which the hosts wait with each packet.
    pub waits_for: Option<f64>,
    /// The source of the spread of trials.
    pub spread: Spread,
    /// The trials of whose mean the interval is.
    pub trials: u32,
    /// The size of the transfers; those of the trials if absent.
    pub size: Option<f64>,
}

/// The prediction of a series.
#[derive(Debug)]
pub struct Predicted {
    /// The fits, in the order of [`QUANTITIES`].
    pub fits: Vec<(Quantity, CostFit)>,
    /// The figures, by MTU.
    pub figures: Vec<Figure>,
    /// Where the form does not hold or was not tested, a sentence each.
    pub warnings: Vec<Warning>,
}

/// A predicted figure.
#[derive(Clone, Debug)]
pub struct Figure {
    pub quantity: Quantity,
    pub mtu: u64,
    /// Bytes of payload in a segment.
    pub segment: f64,
    /// The prediction in the quantity's unit.
    pub value: f64,
    /// The interval that holds the mean of new trials with a probability of 95 %.
    pub interval: Interval,
    /// Whether the link sustains no more.
    pub is_limited: bool,
    /// The measured means, one of each run that was not fitted.
    pub measured: Vec<f64>,
}

impl Figure {
    /// How many measured means are in the interval.
    pub fn within(&self) -> usize {
        let measured = self.measured.iter();
        measured.filter(|mean| self.interval.holds(**mean)).count()
    }

    /// Half the width of the interval as a share of the prediction.
    pub fn half_width(&self) -> f64 {
        self.interval.half() / self.value.abs()
    }

    /// Whether more means are outside than chance explains: at most one in twenty is.
    fn is_refuted(&self) -> bool {
        let runs = self.measured.len();
        let outside = runs - self.within();
        let Some(fewer) = outside.checked_sub(1) else {
            return false;
        };
        let distribution = Binomial::new(CHANCE, runs as u64);
        // One of one is exactly as probable as the limit.
        distribution
            .is_ok_and(|distribution| distribution.sf(fewer as u64) <= CHANCE * (1.0 + 1e-9))
    }
}

/// Why a prediction may not hold.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Warning {
    /// The kind, one word.
    pub kind: &'static str,
    /// The sentence.
    pub text: String,
}

fn warning(kind: &'static str, text: String) -> Warning {
    Warning { kind, text }
}

/// Predicts a series at the MTUs asked for, and compares it with trials of it that were
/// not fitted and with those of `checks`, each a run.
///
/// # Errors
/// The throughput cannot be fitted; other quantities that cannot be are left out with a
/// warning.
pub fn predict(series: &Series, checks: &[Series], asked: &Asked) -> Result<Predicted, CannotFit> {
    let fitted = |mtu: u64| asked.fitted_up_to.is_none_or(|most| mtu <= most);
    let mut found = Predicted {
        fits: Vec::new(),
        figures: Vec::new(),
        warnings: Vec::new(),
    };
    found.warnings.extend(of_offloads(series.offloads));
    if series.disturbed > 0 {
        found.warnings.push(warning(
            "disturbed",
            format!(
                "Other work on the machine disturbed {} of {} trials: they may cost more than they would alone; repeat on an idle machine.",
                series.disturbed,
                series.points.len()
            ),
        ));
    }
    for quantity in QUANTITIES {
        let observations = series.observations(quantity, fitted);
        if observations.is_empty() && !quantity.is_rate() {
            continue;
        }
        let known = asked.waits_for.filter(|_| quantity.is_rate());
        match fit(&observations, known.map(|rate| 8.0 / rate), asked.spread) {
            Ok(fit) => found.fits.push((quantity, fit)),
            Err(why) if quantity.is_rate() => return Err(why),
            Err(why) => found
                .warnings
                .push(warning("not_fitted", format!("{}: {why}.", quantity.words))),
        }
    }
    for (quantity, fit) in &found.fits {
        found.warnings.extend(of_fit(*quantity, fit));
        let size = asked.size.or_else(|| {
            let observations = series.observations(*quantity, fitted);
            observations.first().map(|first| first.size)
        });
        let at = |mtu: &u64| {
            let segment = series.segment(*mtu)?;
            let measured = held_out(series, *quantity, *mtu, fitted).into_iter().chain(
                checks
                    .iter()
                    .filter_map(|run| mean(&run.values(*quantity, *mtu))),
            );
            let figure = Figure {
                quantity: *quantity,
                mtu: *mtu,
                segment,
                value: quantity.value(fit.seconds(segment, size?)),
                interval: quantity.interval(fit.interval(segment, size?, asked.trials)),
                is_limited: false,
                measured: measured.collect(),
            };
            Some(limited(figure, series, asked))
        };
        found.figures.extend(asked.mtus.iter().filter_map(at));
    }
    found.figures.sort_by_key(|figure| figure.mtu);
    found.warnings.extend(of_figures(&found));
    Ok(found)
}

/// A rate that is no higher than what the link sustains.
fn limited(figure: Figure, series: &Series, asked: &Asked) -> Figure {
    let own = series.rate.map(|rate| rate.bits_per_second() as f64);
    let Some(rate) = own
        .or(asked.waits_for)
        .filter(|_| figure.quantity.is_rate())
    else {
        return figure;
    };
    let wire = Framing::Ethernet.wire_size(Bytes::new(figure.mtu));
    let most = rate * figure.segment / wire.get() as f64 / 1e6;
    if figure.value <= most {
        return Figure {
            interval: Interval {
                low: figure.interval.low,
                high: figure.interval.high.min(most),
            },
            ..figure
        };
    }
    Figure {
        value: most,
        interval: Interval {
            low: figure.interval.low.min(most),
            high: most,
        },
        is_limited: true,
        ..figure
    }
}

/// The mean of the series' own trials at an MTU that was not fitted.
fn held_out(
    series: &Series,
    quantity: Quantity,
    mtu: u64,
    fitted: impl Fn(u64) -> bool,
) -> Option<f64> {
    match fitted(mtu) {
        true => None,
        false => mean(&series.values(quantity, mtu)),
    }
}

fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

fn of_offloads(offloads: Offloads) -> Option<Warning> {
    let text = match offloads {
        Offloads::Off => return None,
        Offloads::On => {
            "offloads were on: segments travel in bundles of up to 64 kB, so that the costs are those of bundles, and an MTU changes little"
        }
        Offloads::Mixed => {
            "offloads were on in some trials and off in others: these have different costs, and one model of both holds for neither"
        }
    };
    Some(warning("offloads", format!("The {text}.")))
}

fn of_fit(quantity: Quantity, fit: &CostFit) -> Vec<Warning> {
    let words = quantity.words;
    let mut warnings = Vec::new();
    match fit.lack_of_fit {
        Some(test) if test.is_significant() => warnings.push(warning(
            "form",
            format!(
                "{words}: not of the model's form (lack of fit, p {}; means are off by up to {:.1} %): the intervals are wider by this.",
                p_value(test.p),
                100.0 * fit.misfit
            ),
        )),
        Some(_) => {}
        None => warnings.push(warning(
            "untested",
            format!("{words}: the form is not tested: there are too few segment sizes, or no repeats."),
        )),
    }
    if quantity.is_cost() && fit.is_negative() {
        warnings.push(warning(
            "negative",
            format!("{words}: a cost is below zero, which no host has: the model does not hold."),
        ));
    }
    warnings
}

/// A p-value with a sign: `= 0.0123` or `< 0.0001`.
pub fn p_value(p: f64) -> String {
    match p {
        p if p < 0.0001 => "< 0.0001".to_owned(),
        p => format!("= {p:.4}"),
    }
}

/// A figure with about four digits.
fn digits(figure: f64) -> String {
    match figure {
        figure if figure >= 100.0 => format!("{figure:.1}"),
        figure => format!("{figure:.4}"),
    }
}

fn of_figures(found: &Predicted) -> Vec<Warning> {
    let mut warnings = Vec::new();
    for figure in found.figures.iter().filter(|figure| figure.is_refuted()) {
        let outside = figure.measured.len() - figure.within();
        let runs = match figure.measured.as_slice() {
            [mean] => format!("the measured {}", digits(*mean)),
            all => format!("{outside} of {} measured means", all.len()),
        };
        let verb = match figure.measured.len() {
            1 => "is",
            _ => "are",
        };
        warnings.push(warning(
            "refuted",
            format!(
                "{} at MTU {}: {runs} {verb} outside of the interval: the model does not hold there.",
                figure.quantity.words, figure.mtu
            ),
        ));
    }
    for (quantity, _) in &found.fits {
        let none = |figure: &&Figure| {
            figure.quantity == *quantity && !(figure.value > 0.0 && figure.value.is_finite())
        };
        let mtus: Vec<String> = found
            .figures
            .iter()
            .filter(none)
            .map(|one| one.mtu.to_string())
            .collect();
        if !mtus.is_empty() {
            warnings.push(warning(
                "negative",
                format!(
                    "{} at MTU {}: the costs are not above zero: these trials do not tell them.",
                    quantity.words,
                    mtus.join(", ")
                ),
            ));
        }
    }
    let Some((_, fit)) = found.fits.first() else {
        return warnings;
    };
    let own = |figure: &&Figure| figure.quantity.is_rate();
    let listed = |which: &dyn Fn(&Figure) -> bool| {
        let figures = found.figures.iter().filter(own).filter(|one| which(one));
        let mtus: Vec<String> = figures.map(|figure| figure.mtu.to_string()).collect();
        (!mtus.is_empty()).then(|| mtus.join(", "))
    };
    if let Some(mtus) = listed(&|figure| fit.extrapolates(figure.segment)) {
        let (low, high) = fit.segments;
        let fitted = match low < high {
            true => format!("{low} to {high}"),
            false => low.to_string(),
        };
        warnings.push(warning(
            "extrapolated",
            format!(
                "MTU {mtus}: extrapolated from segments of {fitted} bytes; that the costs are the same there is an assumption."
            ),
        ));
    }
    if let Some(mtus) = listed(&|figure| figure.is_limited) {
        warnings.push(warning(
            "link",
            format!("MTU {mtus}: the link sustains no more; the hosts could send faster."),
        ));
    }
    warnings
}

#[cfg(test)]
mod tests;
