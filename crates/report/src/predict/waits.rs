//! Waits in front of a link, and bundles of packets.

use document::json_line;
use model::{Pieces, Stack, bundle_cost, bundle_cost_as_printed, bundle_packets, bundle_wait};
use serde::Serialize;
use units::{Bytes, IpVersion, Rate, Span};

use super::chart::{Chart, Curve};
use super::{Prediction, document, table};
use crate::figure::{self, four_digits};

/// The mean waits behind packets that fill an MTU, or that messages of a mix are cut
/// into.
#[derive(Debug)]
pub struct Waits<'a> {
    /// The stack of the packets.
    pub stack: &'a Stack,
    /// The rate of the link.
    pub rate: Rate,
    /// The mix in words; `None`: all packets are full.
    pub mix: Option<&'a str>,
    /// The loads, from 0 to below 1.
    pub loads: &'a [f64],
    /// For each MTU the mean time of a packet in seconds, and the mean wait at each load.
    pub waits: &'a [(Bytes, f64, Vec<f64>)],
}

#[derive(Serialize)]
struct WaitLine<'a> {
    kind: &'static str,
    stack: &'a str,
    rate_bps: u64,
    mix: Option<&'a str>,
    mtu: u64,
    load_percent: f64,
    packet_s: f64,
    wait_s: f64,
}

/// The mean waits at each MTU and load.
pub fn of_waits(found: &Waits<'_>) -> Prediction {
    let stack = found.stack.to_string();
    let name = stack.as_str();
    let lines = found.waits.iter().flat_map(|(mtu, packet, waits)| {
        found
            .loads
            .iter()
            .zip(waits)
            .map(move |(load, wait)| WaitLine {
                kind: "wait",
                stack: name,
                rate_bps: found.rate.bits_per_second(),
                mix: found.mix,
                mtu: mtu.get(),
                load_percent: 100.0 * load,
                packet_s: *packet,
                wait_s: *wait,
            })
    });
    let lines: Vec<WaitLine<'_>> = lines.collect();
    let loads = found
        .loads
        .iter()
        .map(|load| format!("us at {} %", percent(*load)));
    let mut columns = vec!["MTU".to_owned(), "us a packet".to_owned()];
    columns.extend(loads);
    let columns: Vec<&str> = columns.iter().map(String::as_str).collect();
    let rows = found.waits.iter().map(|(mtu, packet, waits)| {
        let waits = waits.iter().map(|wait| four_digits(wait * 1e6));
        [mtu.get().to_string(), four_digits(packet * 1e6)]
            .into_iter()
            .chain(waits)
            .collect()
    });
    let table = table(1, &columns, rows.collect());
    let distribution = match found.mix {
        None => "All packets are full: M/D/1 [Kleinrock1975].".to_owned(),
        Some(mix) => format!("Messages of {mix} are cut into packets: M/G/1 [Kleinrock1975]."),
    };
    let note = format!(
        "{distribution} Packets arrive at random times (Poisson) and the queue has room for all; bursts wait longer."
    );
    let curves = found.loads.iter().enumerate().map(|(place, load)| Curve {
        name: format!("load {} %", percent(*load)),
        points: found
            .waits
            .iter()
            .map(|(mtu, _, waits)| (mtu.get() as f64, waits[place] * 1e6))
            .collect(),
    });
    Prediction {
        chart: Chart {
            title: format!("Mean wait in front of {}", figure::rate(found.rate)),
            horizontal: "MTU (bytes)".to_owned(),
            vertical: "wait (us)".to_owned(),
            curves: curves.collect(),
        },
        document: document(
            format!("Mean wait in front of {}", figure::rate(found.rate)),
            vec![note],
            vec![table],
        ),
        lines: lines.iter().map(json_line).collect(),
    }
}

/// A share in per cent without needless digits.
fn percent(share: f64) -> String {
    let rounded = (share * 1e6).round() / 1e4;
    rounded.to_string()
}

/// Bundles of packets.
#[derive(Debug)]
pub struct Bundles<'a> {
    /// The version of the bundle's IP header.
    pub ip: IpVersion,
    /// The packets in a bundle.
    pub packets: &'a [u32],
    /// The time that a bundle waits after its first packet, and the packets that arrive
    /// in a second.
    pub timer: Option<(Span, &'a [f64])>,
    /// Packets that are larger than a bundle: their size, the MTU of bundles, and the result.
    pub pieces: &'a [(Bytes, Bytes, Pieces)],
}

/// The framing of Ethernet that each packet in a bundle but the first saves
/// [IEEE802.3 s3.1.1].
pub const BUNDLE_FRAMING: Bytes = Bytes::new(38);

#[derive(Serialize)]
struct BundleLine {
    kind: &'static str,
    packets: u32,
    added_bytes: i64,
    printed_added_bytes: i64,
}

#[derive(Serialize)]
struct TimerLine {
    kind: &'static str,
    max_wait_s: f64,
    arrivals_per_second: f64,
    packets: f64,
    wait_s: f64,
}

#[derive(Serialize)]
struct PiecesLine {
    kind: &'static str,
    inner_mtu: u64,
    mtu: u64,
    bundles: f64,
    touched_bundles: f64,
    added_bytes: f64,
    lost_percent: f64,
}

/// The share of lost bundles at which the loss of packets is printed.
const LOST_BUNDLES: f64 = 0.01;

/// The bytes that bundles add to the wire, and how long their packets wait.
pub fn of_bundles(found: &Bundles<'_>) -> Prediction {
    let header = found.ip.header();
    let bundles = found.packets.iter().map(|packets| BundleLine {
        kind: "bundle",
        packets: *packets,
        added_bytes: bundle_cost(header, *packets, BUNDLE_FRAMING),
        printed_added_bytes: bundle_cost_as_printed(header, *packets, BUNDLE_FRAMING),
    });
    let bundles: Vec<BundleLine> = bundles.collect();
    let rows = bundles.iter().map(|line| {
        vec![
            line.packets.to_string(),
            line.added_bytes.to_string(),
            line.printed_added_bytes.to_string(),
        ]
    });
    let mut tables = vec![table(
        1,
        &["packets", "bytes added", "by equation 1 as printed"],
        rows.collect(),
    )];
    let timers = found.timer.iter().flat_map(|(timer, arrivals)| {
        arrivals.iter().map(|arrivals| TimerLine {
            kind: "bundle_wait",
            max_wait_s: timer.as_secs_f64(),
            arrivals_per_second: *arrivals,
            packets: bundle_packets(*timer, *arrivals),
            wait_s: bundle_wait(*timer, *arrivals),
        })
    });
    let timers: Vec<TimerLine> = timers.collect();
    if !timers.is_empty() {
        let rows = timers.iter().map(|line| {
            [
                line.arrivals_per_second,
                line.max_wait_s * 1e6,
                line.packets,
                line.wait_s * 1e6,
            ]
            .map(four_digits)
            .to_vec()
        });
        let columns = [
            "packets/s",
            "MAX_WAIT us",
            "packets a bundle",
            "mean wait us",
        ];
        tables.push(table(1, &columns, rows.collect()));
    }
    let pieces = found.pieces.iter().map(|(inner, mtu, pieces)| PiecesLine {
        kind: "bundle_pieces",
        inner_mtu: inner.get(),
        mtu: mtu.get(),
        bundles: pieces.bundles,
        touched_bundles: pieces.touched,
        added_bytes: pieces.added_bytes,
        lost_percent: 100.0 * pieces.lost(LOST_BUNDLES),
    });
    let pieces: Vec<PiecesLine> = pieces.collect();
    if !pieces.is_empty() {
        let rows = pieces.iter().map(|line| {
            vec![
                line.inner_mtu.to_string(),
                line.mtu.to_string(),
                four_digits(line.bundles),
                four_digits(line.added_bytes),
                four_digits(line.lost_percent),
            ]
        });
        let columns = [
            "inner MTU",
            "MTU",
            "bundles a packet",
            "bytes added",
            "lost % at 1 %",
        ];
        tables.push(table(1, &columns, rows.collect()));
    }
    let mut notes = vec![
        "Bytes added to the wire: header of IP + 6 + 4 N - 38 (N - 1) for N packets; below zero they are saved. The paper prints N - 4 for 4 N, which gives -14 where its text has -4 [Mulahuwaish eq 1].".to_owned(),
    ];
    if !timers.is_empty() {
        notes.push("A bundle leaves MAX_WAIT after its first packet; packets arrive at random times (Poisson), and no bundle is full before [Mulahuwaish s2.A].".to_owned());
    }
    if !pieces.is_empty() {
        notes.push("A packet larger than a bundle is cut [RFC9347 s2.2]; a piece counts as a packet of equation 1. The last column is the share of packets lost where 1 % of the bundles are, each by itself.".to_owned());
    }
    let points = bundles
        .iter()
        .map(|line| (f64::from(line.packets), line.added_bytes as f64));
    let lines = bundles.iter().map(json_line);
    Prediction {
        chart: Chart {
            title: "Bytes that a bundle adds to the wire".to_owned(),
            horizontal: "packets in a bundle".to_owned(),
            vertical: "bytes".to_owned(),
            curves: vec![Curve {
                name: "bytes added".to_owned(),
                points: points.collect(),
            }],
        },
        lines: lines
            .chain(timers.iter().map(json_line))
            .chain(pieces.iter().map(json_line))
            .collect(),
        document: document("Bundles of packets".to_owned(), notes, tables),
    }
}
