//! The frames and the time of a transfer.

use document::json_line;
use model::{Stack, Transfer};
use serde::Serialize;
use units::{Bytes, Rate};

use super::chart::{Chart, Curve};
use super::{Prediction, document, table};
use crate::figure;

/// A transfer over links of one rate in a row.
#[derive(Debug)]
pub struct Sent<'a> {
    /// The name of the file, or its size.
    pub name: &'a str,
    /// Its bytes.
    pub size: Bytes,
    /// The rate of each link.
    pub rate: Rate,
    /// The links; all but the first wait for whole frames.
    pub hops: u64,
}

#[derive(Serialize)]
struct Line<'a> {
    kind: &'static str,
    stack: &'a str,
    size_bytes: u64,
    mtu: u64,
    frames: u64,
    payload_per_frame_bytes: u64,
    wire_bytes: u64,
    rate_bps: u64,
    hops: u64,
    time_s: f64,
    time_percent: f64,
}

/// Frames and time of a transfer at each of these MTUs.
pub fn of_transfer(stack: &Stack, sent: &Sent<'_>, transfers: &[(Bytes, Transfer)]) -> Prediction {
    let name = stack.to_string();
    let time = |transfer: &Transfer| transfer.time(sent.rate, sent.hops).as_secs_f64();
    let first = transfers.first().map_or(1.0, |(_, first)| time(first));
    let lines = transfers.iter().map(|(mtu, transfer)| Line {
        kind: "transfer",
        stack: &name,
        size_bytes: sent.size.get(),
        mtu: mtu.get(),
        frames: transfer.frames,
        payload_per_frame_bytes: transfer.full.carried().get(),
        wire_bytes: transfer.wire().get(),
        rate_bps: sent.rate.bits_per_second(),
        hops: sent.hops,
        time_s: time(transfer),
        time_percent: 100.0 * time(transfer) / first,
    });
    let lines: Vec<Line<'_>> = lines.collect();
    let rows = lines.iter().map(|line| {
        vec![
            line.mtu.to_string(),
            line.frames.to_string(),
            line.payload_per_frame_bytes.to_string(),
            line.wire_bytes.to_string(),
            figure::four_digits(line.time_s * 1e3),
            format!("{:.1}", line.time_percent),
        ]
    });
    let columns = [
        "MTU",
        "frames",
        "payload a frame",
        "bytes of wire",
        "time ms",
        "time %",
    ];
    let table = table(1, &columns, rows.collect());
    let links = match sent.hops {
        1 => "over one link".to_owned(),
        links => format!("over {links} links in a row, between which each frame is stored"),
    };
    let note = format!(
        "{name} at {} {links}: serialisation only, without propagation, start-up and hosts.",
        figure::rate(sent.rate)
    );
    let points = lines
        .iter()
        .map(|line| (line.mtu as f64, line.time_s * 1e3));
    Prediction {
        chart: Chart {
            title: format!("Time of {} bytes: {name}", sent.size.get()),
            horizontal: "MTU (bytes)".to_owned(),
            vertical: "time (ms)".to_owned(),
            curves: vec![Curve {
                name: sent.name.to_owned(),
                points: points.collect(),
            }],
        },
        document: document(
            format!("Transfer of {}, {} bytes", sent.name, sent.size.get()),
            vec![note],
            vec![table],
        ),
        lines: lines.iter().map(json_line).collect(),
    }
}
