//! The best MTU of a path, and what other ones lose against it.

use document::json_line;
use model::{Expected, GoodputByMtu, Stack, hamming_distance, undetected};
use serde::Serialize;
use units::{Bytes, Rate};

use super::chart::{Chart, Curve};
use super::{Prediction, document, table, unit_of};
use crate::figure;

#[derive(Serialize)]
struct Line<'a> {
    kind: &'static str,
    stack: &'a str,
    mtu: u64,
    is_best: bool,
    frame_loss_percent: f64,
    link_bps: f64,
    response_bps: Option<f64>,
    goodput_bps: f64,
    regret_percent: f64,
    undetected_per_frame: Option<f64>,
}

/// A path in words, and what is predicted of it.
#[derive(Debug)]
pub struct Chosen<'a> {
    pub stack: &'a Stack,
    /// The rate of the path.
    pub rate: Rate,
    /// The probability that a bit is wrong.
    pub bit_error_rate: f64,
    /// The path in words.
    pub words: String,
    /// The bytes that it leaves of each MTU.
    pub prospect: &'a GoodputByMtu<'a>,
    /// The best MTU.
    pub best: (Bytes, Expected),
    /// The MTUs that are asked about.
    pub asked: Vec<(Bytes, Expected)>,
}

/// The best MTU of a path, and the regret of others: the share of the best goodput
/// that they lose.
pub fn of_optimal(chosen: &Chosen<'_>) -> Prediction {
    let name = chosen.stack.to_string();
    let (best_mtu, best) = chosen.best;
    let mut all = chosen.asked.clone();
    if !all.iter().any(|(mtu, _)| *mtu == best_mtu) {
        all.push(chosen.best);
    }
    all.sort_by_key(|(mtu, _)| *mtu);
    let lines = all.iter().map(|(mtu, expected)| {
        let frame = chosen
            .stack
            .largest(*mtu)
            .map_or(Bytes::ZERO, |full| full.frame);
        Line {
            kind: "optimal",
            stack: &name,
            mtu: mtu.get(),
            is_best: *mtu == best_mtu,
            frame_loss_percent: 100.0 * expected.loss,
            link_bps: expected.link,
            response_bps: expected.response,
            goodput_bps: expected.goodput(),
            regret_percent: 100.0 * (1.0 - expected.goodput() / best.goodput()).max(0.0),
            undetected_per_frame: undetected(frame, chosen.bit_error_rate),
        }
    });
    let lines: Vec<Line<'_>> = lines.collect();
    let (unit, scale) = unit_of(chosen.rate);
    let rate = |bits: f64| figure::four_digits(bits / scale);
    let rows = lines.iter().map(|line| {
        let frame = chosen
            .stack
            .largest(Bytes::new(line.mtu))
            .map_or(Bytes::ZERO, |full| full.frame);
        let best = if line.is_best { "best" } else { "" };
        vec![
            line.mtu.to_string(),
            best.to_owned(),
            format!("{:.4}", line.frame_loss_percent),
            rate(line.link_bps),
            line.response_bps.map_or_else(|| "-".to_owned(), rate),
            rate(line.goodput_bps),
            format!("{:.2}", line.regret_percent),
            hamming_distance(frame).map_or_else(|| "-".to_owned(), |bits| (bits - 1).to_string()),
            line.undetected_per_frame
                .map_or_else(|| "-".to_owned(), |missed| format!("{missed:.1e}")),
        ]
    });
    let goodput = format!("goodput {unit}");
    let columns = [
        "MTU",
        "",
        "frames lost %",
        "link",
        "response",
        goodput.as_str(),
        "regret %",
        "bits detected",
        "missed by CRC",
    ];
    let table = table(2, &columns, rows.collect());
    let notes = vec![
        format!("{name}: {}.", chosen.words),
        format!("Goodput is the smaller of two bounds in {unit}: of the link, which sends again what is lost, and of the response of TCP to losses. Regret is the share of the best goodput that an MTU loses."),
        "Bits detected: as many wrong bits in a frame are always detected by its check sequence. Missed by CRC: the probability that a frame has wrong bits and is taken for right.".to_owned(),
    ];
    let mtus = chosen
        .asked
        .iter()
        .map(|(mtu, _)| mtu.get())
        .chain([best_mtu.get()]);
    let points = super::curve(chosen.stack, mtus);
    let points = points.iter().filter_map(|(mtu, _)| {
        let expected = chosen.prospect.at(Bytes::new(*mtu)).ok()?;
        let goodput = expected.goodput();
        goodput.is_finite().then_some((*mtu as f64, goodput / 1e6))
    });
    Prediction {
        chart: Chart {
            title: format!("Goodput against MTU: {name}"),
            horizontal: "MTU (bytes)".to_owned(),
            vertical: "goodput (Mbit/s)".to_owned(),
            curves: vec![Curve {
                name: chosen.words.clone(),
                points: points.filter(|(_, goodput)| *goodput > 0.0).collect(),
            }],
        },
        document: document(
            format!("The best MTU is {}", best_mtu.get()),
            notes,
            vec![table],
        ),
        lines: lines.iter().map(json_line).collect(),
    }
}
