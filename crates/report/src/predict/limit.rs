//! The bounds that headers and framing set on a link.

use document::json_line;
use model::{Sizes, Stack, frames_per_second};
use serde::Serialize;
use units::{Bytes, Rate};

use super::chart::{Chart, Curve};
use super::{Prediction, curve, document, percent, table, unit_of};
use crate::figure;

#[derive(Serialize)]
struct Line<'a> {
    kind: &'static str,
    stack: &'a str,
    rate_bps: u64,
    mtu: u64,
    payload_bytes: u64,
    wire_bytes: u64,
    frames_per_second: f64,
    goodput_bps: f64,
    efficiency_percent: f64,
    serialisation_s: f64,
}

/// The figures of one rate and MTU.
fn line<'a>(stack: &'a str, rate: Rate, mtu: Bytes, sizes: &Sizes) -> Line<'a> {
    Line {
        kind: "limit",
        stack,
        rate_bps: rate.bits_per_second(),
        mtu: mtu.get(),
        payload_bytes: sizes.carried().get(),
        wire_bytes: sizes.wire.get(),
        frames_per_second: frames_per_second(rate, sizes.wire),
        goodput_bps: rate.bits_per_second() as f64 * sizes.efficiency(),
        efficiency_percent: 100.0 * sizes.efficiency(),
        serialisation_s: sizes.wire.bits() as f64 / rate.bits_per_second() as f64,
    }
}

/// Frames per second and goodput at most, at each rate and MTU.
pub fn of_limit(stack: &Stack, rates: &[Rate], full: &[(Bytes, Sizes)]) -> Prediction {
    let name = stack.to_string();
    let lines = rates.iter().flat_map(|rate| {
        let line = |(mtu, sizes): &(Bytes, Sizes)| line(&name, *rate, *mtu, sizes);
        full.iter().map(line)
    });
    let lines: Vec<Line<'_>> = lines.collect();
    let rows = lines.iter().map(|line| {
        let rate = Rate::from_bits_per_second(line.rate_bps);
        let (unit, scale) = rate.map_or(("bit/s", 1.0), unit_of);
        vec![
            rate.map(figure::rate).unwrap_or_default(),
            line.mtu.to_string(),
            line.payload_bytes.to_string(),
            line.wire_bytes.to_string(),
            format!("{:.0}", line.frames_per_second),
            format!("{} {unit}", figure::four_digits(line.goodput_bps / scale)),
            percent(line.efficiency_percent / 100.0),
            figure::four_digits(line.serialisation_s * 1e6),
        ]
    });
    let columns = [
        "rate",
        "MTU",
        "payload",
        "wire",
        "frames/s",
        "goodput at most",
        "%",
        "us a frame",
    ];
    let table = table(2, &columns, rows.collect());
    let notes = vec![format!(
        "Frames of {name} that fill the MTU, one behind the other; nothing is lost, and no host is too slow."
    )];
    let curves = rates.iter().map(|rate| {
        let points = curve(stack, full.iter().map(|(mtu, _)| mtu.get()));
        let rate_in_bits = rate.bits_per_second() as f64;
        let points = points
            .iter()
            .map(|(mtu, sizes)| (*mtu as f64, rate_in_bits * sizes.efficiency() / 1e6));
        Curve {
            name: figure::rate(*rate),
            points: points.collect(),
        }
    });
    Prediction {
        chart: Chart {
            title: format!("Goodput at most: {name}"),
            horizontal: "MTU (bytes)".to_owned(),
            vertical: "goodput (Mbit/s)".to_owned(),
            curves: curves.collect(),
        },
        document: document("Upper bounds of links".to_owned(), notes, vec![table]),
        lines: lines.iter().map(json_line).collect(),
    }
}
