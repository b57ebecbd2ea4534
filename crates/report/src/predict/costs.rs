//! Throughput, CPU time and round trips that fitted costs predict.

use analysis::costs::{CostFit, Figure, Predicted, Quantity, p_value};
use document::json_line;
use plan::Factors;
use serde::Serialize;

use super::chart::{Chart, Curve};
use super::{Prediction, document, table};
use crate::figure::{four_digits, words};

/// The predictions from a source of trials.
#[derive(Debug)]
pub struct CostPredictions<'a> {
    /// Its name.
    pub source: &'a str,
    /// The trials of whose mean the intervals are.
    pub trials: u32,
    pub series: &'a [PredictedSeries],
    /// Series without a fit, a sentence each.
    pub rejected: &'a [String],
}

/// One series.
#[derive(Debug)]
pub struct PredictedSeries {
    /// The factors that tell it from the others.
    pub factors: Factors,
    /// Its fits and figures.
    pub predicted: Predicted,
    /// Figures at many MTUs.
    pub curve: Vec<Figure>,
}

#[derive(Serialize)]
struct FitLine<'a> {
    kind: &'static str,
    factors: &'a Factors,
    quantity: &'a str,
    unit: &'a str,
    trials: usize,
    #[serde(flatten)]
    costs: Option<CostFields>,
    spread_percent: f64,
    lack_of_fit_p: Option<f64>,
    misfit_percent: f64,
    segment_bytes: [f64; 2],
}

/// Costs in seconds, and their covariance in s^2.
#[derive(Serialize)]
struct CostFields {
    per_byte_s: f64,
    per_packet_s: f64,
    per_transfer_s: f64,
    /// Of a packet of several segments, besides.
    #[serde(skip_serializing_if = "Option::is_none")]
    per_joined_packet_s: Option<f64>,
    covariance: [[f64; 3]; 3],
}

#[derive(Serialize)]
struct FigureLine<'a> {
    kind: &'static str,
    factors: &'a Factors,
    quantity: &'a str,
    unit: &'a str,
    mtu: u64,
    segment_bytes: f64,
    value: f64,
    /// Without an upper end where the cost may be zero.
    pi95: [Option<f64>; 2],
    half_width_percent: Option<f64>,
    limited_by_link: bool,
    extrapolated: bool,
    measured: &'a [f64],
    within: usize,
}

#[derive(Serialize)]
struct WarningLine<'a> {
    kind: &'static str,
    factors: &'a Factors,
    warning: &'a str,
    text: &'a str,
}

/// The predictions of trials: their costs, figures with intervals, and where the model
/// does not hold.
pub fn of_costs(found: &CostPredictions<'_>) -> Prediction {
    let named = found.series.iter().any(|one| !one.factors.0.is_empty());
    let mut fits = Vec::new();
    let mut figures = Vec::new();
    let mut lines = Vec::new();
    let mut notes = Vec::new();
    for one in found.series {
        let label = words(&one.factors.0);
        let first = || named.then(|| label.clone()).into_iter();
        for (quantity, fit) in &one.predicted.fits {
            fits.push(first().chain(fit_row(*quantity, fit)).collect());
            lines.push(json_line(&fit_line(one, *quantity, fit)));
        }
        notes.extend(joined_note(one));
        for figure in &one.predicted.figures {
            figures.push(first().chain(figure_row(figure)).collect());
            lines.push(json_line(&figure_line(one, figure)));
        }
        for warning in &one.predicted.warnings {
            notes.push(match named {
                true => format!("{label}: {}", warning.text),
                false => warning.text.clone(),
            });
            lines.push(json_line(&WarningLine {
                kind: "warning",
                factors: &one.factors,
                warning: warning.kind,
                text: &warning.text,
            }));
        }
    }
    notes.extend(found.rejected.iter().map(|why| format!("{why}.")));
    notes.push(format!(
        "Intervals hold {} with a probability of 95 % if the model holds there.",
        match found.trials {
            1 => "a new trial".to_owned(),
            many => format!("the mean of {many} new trials"),
        }
    ));
    let keys = usize::from(named);
    let head = |columns: &[&'static str]| -> Vec<&'static str> {
        let first = named.then_some("trials of").into_iter();
        first.chain(columns.iter().copied()).collect()
    };
    let costs = head(&[
        "quantity",
        "trials",
        "us a packet",
        "+-",
        "ns a byte",
        "+-",
        "us a transfer",
        "spread %",
        "lack of fit p",
    ]);
    let predicted = head(&[
        "MTU",
        "quantity",
        "predicted",
        "unit",
        "from",
        "to",
        "+- %",
        "measured",
        "within",
    ]);
    Prediction {
        document: document(
            format!("Predicted from {}", found.source),
            notes,
            vec![
                table(keys + 1, &costs, fits),
                table(keys + 2, &predicted, figures),
            ],
        ),
        chart: Chart {
            title: format!("Throughput predicted from {}", found.source),
            horizontal: "MTU (bytes)".to_owned(),
            vertical: "throughput (Mbit/s)".to_owned(),
            curves: found.series.iter().flat_map(curves).collect(),
        },
        lines,
    }
}

/// The cost of packets of several segments, which no predicted packet has.
fn joined_note(one: &PredictedSeries) -> Option<String> {
    let (quantity, fit) = one.predicted.fits.first()?;
    (fit.per_joined_packet != 0.0).then(|| {
        format!(
            "{}: a packet of several segments costs {} us more than one of the same size with one segment.",
            quantity.words,
            four_digits(fit.per_joined_packet * 1e6)
        )
    })
}

/// A cost with a sensible number of digits, or nothing if it was not fitted.
fn cost(value: f64, scale: f64) -> String {
    match value {
        0.0 => String::new(),
        value => four_digits(value * scale),
    }
}

fn fit_row(quantity: Quantity, fit: &CostFit) -> Vec<String> {
    let [byte, packet, _] = fit.errors();
    let scaled = |value, scale| match quantity.is_cost() {
        true => cost(value, scale),
        false => String::new(),
    };
    vec![
        quantity.words.to_owned(),
        fit.trials.to_string(),
        scaled(fit.cost.per_packet, 1e6),
        scaled(packet, 1e6),
        scaled(fit.cost.per_byte, 1e9),
        scaled(byte, 1e9),
        scaled(fit.cost.per_transfer, 1e6),
        format!("{:.1}", 100.0 * fit.spread),
        fit.lack_of_fit.map_or_else(
            || "-".to_owned(),
            |test| p_value(test.p).trim_start_matches("= ").to_owned(),
        ),
    ]
}

fn figure_row(figure: &Figure) -> Vec<String> {
    let limited = if figure.is_limited { " (link)" } else { "" };
    let measured = match figure.measured.as_slice() {
        [] => String::new(),
        all => four_digits(all.iter().sum::<f64>() / all.len() as f64),
    };
    let within = match figure.measured.len() {
        0 => String::new(),
        runs => format!("{} of {runs}", figure.within()),
    };
    vec![
        figure.mtu.to_string(),
        figure.quantity.words.to_owned(),
        format!("{}{limited}", four_digits(figure.value)),
        figure.quantity.unit.to_owned(),
        four_digits(figure.interval.low.max(0.0)),
        match figure.interval.high.is_finite() {
            true => four_digits(figure.interval.high),
            false => "no limit".to_owned(),
        },
        match figure.half_width().is_finite() {
            true => format!("{:.1}", 100.0 * figure.half_width()),
            false => "-".to_owned(),
        },
        measured,
        within,
    ]
}

fn fit_line<'a>(one: &'a PredictedSeries, quantity: Quantity, fit: &CostFit) -> FitLine<'a> {
    let costs = || CostFields {
        per_byte_s: fit.cost.per_byte,
        per_packet_s: fit.cost.per_packet,
        per_transfer_s: fit.cost.per_transfer,
        per_joined_packet_s: (fit.per_joined_packet != 0.0).then_some(fit.per_joined_packet),
        covariance: fit.covariance,
    };
    FitLine {
        kind: "fit",
        factors: &one.factors,
        quantity: quantity.name,
        unit: quantity.unit,
        trials: fit.trials,
        costs: quantity.is_cost().then(costs),
        spread_percent: 100.0 * fit.spread,
        lack_of_fit_p: fit.lack_of_fit.map(|test| test.p),
        misfit_percent: 100.0 * fit.misfit,
        segment_bytes: [fit.segments.0, fit.segments.1],
    }
}

fn figure_line<'a>(one: &'a PredictedSeries, figure: &'a Figure) -> FigureLine<'a> {
    let fit = one
        .predicted
        .fits
        .iter()
        .find(|(own, _)| *own == figure.quantity);
    let finite = |end: f64| end.is_finite().then_some(end);
    FigureLine {
        kind: "prediction",
        factors: &one.factors,
        quantity: figure.quantity.name,
        unit: figure.quantity.unit,
        mtu: figure.mtu,
        segment_bytes: figure.segment,
        value: figure.value,
        pi95: [
            finite(figure.interval.low.max(0.0)),
            finite(figure.interval.high),
        ],
        half_width_percent: finite(100.0 * figure.half_width()),
        limited_by_link: figure.is_limited,
        extrapolated: fit.is_some_and(|(_, fit)| fit.extrapolates(figure.segment)),
        measured: &figure.measured,
        within: figure.within(),
    }
}

/// The predicted throughput with the ends of its interval, and the means of what was
/// measured.
fn curves(one: &PredictedSeries) -> Vec<Curve> {
    let label = words(&one.factors.0);
    let name = |what: &str| match label.is_empty() {
        true => what.to_owned(),
        false => format!("{label}: {what}"),
    };
    let own = || one.curve.iter().filter(|figure| figure.quantity.is_rate());
    let line = |what: &str, value: fn(&Figure) -> f64| {
        let points = own().map(|figure| (figure.mtu as f64, value(figure)));
        Curve {
            name: name(what),
            points: points.filter(|(_, value)| value.is_finite()).collect(),
        }
    };
    let measured = one
        .predicted
        .figures
        .iter()
        .filter(|figure| figure.quantity.is_rate() && !figure.measured.is_empty());
    let mean = |figure: &Figure| figure.measured.iter().sum::<f64>() / figure.measured.len() as f64;
    let measured: Vec<(f64, f64)> = measured
        .map(|figure| (figure.mtu as f64, mean(figure)))
        .collect();
    let mut curves = vec![
        line("predicted", |figure| figure.value),
        line("95 %: from", |figure| figure.interval.low.max(0.0)),
        line("95 %: to", |figure| figure.interval.high),
    ];
    if !measured.is_empty() {
        curves.push(Curve {
            name: name("measured"),
            points: measured,
        });
    }
    curves
}
