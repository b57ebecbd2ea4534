//! Rows for other programs: JSON Lines, CSV and Parquet.

use std::io::Write;
use std::path::Path;

use anyhow::Result;
use meter::call_quality::CallQuality;
use meter::ditg::{DitgLosses, DitgStats};
use meter::streaming_recorder::FlowSummary;
use serde::{Serialize, Serializer};
use wire::control::Codec;
use wire::log::Flow;

use crate::table::{self, Column, Values};

/// The statistics of a log.
#[derive(Clone, Debug)]
pub struct Decoded {
    /// The kind and the writer of the log, in one line.
    pub title: String,
    /// The rows: of the whole log, then of intervals.
    pub rows: Vec<Row>,
    /// Whether its delays are those of one way.
    pub is_one_way: bool,
    /// A description of damage to the file, in one line.
    pub complaint: Option<String>,
    /// Whether the file changed while it was read, so that the rows are of a part.
    pub has_changed: bool,
}

/// The statistics of a log, of one of its flows, or of an interval.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// The file name of the log.
    pub log: String,
    /// The scope of the statistics.
    pub scope: Scope,
    /// The start of the interval in seconds after the first arrival; `None` for
    /// the whole log.
    pub start: Option<f64>,
    /// The statistics.
    pub stats: RowStats,
    /// The codec of the call, if the row is that of a call.
    pub codec: Option<Codec>,
}

/// The scope of a row.
#[derive(Clone, Debug, PartialEq)]
pub enum Scope {
    /// All flows together.
    All,
    /// A flow that the log does not describe, by number.
    Number(u32),
    /// A flow that the log describes.
    Flow(Flow),
}

/// The statistics of a row.
#[derive(Clone, Debug, PartialEq)]
pub enum RowStats {
    /// The whole log, and the uncertainty of the clock offset in seconds.
    Standard(Box<FlowSummary>, Option<f64>),
    /// The whole of a sender's log, which has no arrivals.
    Departures(Departures),
    /// An interval.
    Slice(Slice),
    /// D-ITG's definitions; losses only for the whole log.
    Ditg(DitgStats, Option<DitgLosses>),
}

/// The statistics of a sender's log.
#[derive(Clone, Debug, PartialEq)]
pub struct Departures {
    /// Sent packets, as stated by the sender.
    pub sent: u64,
    /// Packets in the log.
    pub logged: u64,
    /// Payload bytes of the packets in the log.
    pub bytes: u64,
    /// Time from the first packet to the last, in seconds.
    pub seconds: f64,
    /// Payload rate in bits per second, excluding the first packet.
    pub rate: Option<f64>,
}

/// The statistics of an interval; times in seconds.
#[derive(Clone, Debug, PartialEq)]
pub struct Slice {
    /// Arrivals, including duplicates.
    pub packets: u64,
    /// Payload bytes, excluding duplicates.
    pub bytes: u64,
    /// Skipped sequence numbers minus late arrivals.
    pub missing: i64,
    /// The length of the interval.
    pub seconds: f64,
    pub delay_mean: Option<f64>,
    /// Smallest delay.
    pub delay_min: Option<f64>,
    /// Median delay.
    pub delay_p50: Option<f64>,
    /// 99th percentile of the delay.
    pub delay_p99: Option<f64>,
    /// Largest delay.
    pub delay_max: Option<f64>,
}

/// One value of a row.
#[derive(Serialize)]
#[serde(untagged)]
enum Cell {
    Text(Option<String>),
    Integer(Option<i64>),
    Real(Option<f64>),
}

/// One JSON object per row.
pub fn json(rows: &[Row]) -> impl Iterator<Item = String> {
    let lines = rows.iter().map(serde_json::to_string);
    lines.map(|line| line.expect("keys are strings, and no number is of 128 bits"))
}

impl Serialize for Row {
    fn serialize<S: Serializer>(&self, to: S) -> std::result::Result<S::Ok, S::Error> {
        let kind = Cell::Text(Some(self.stats.kind().to_owned()));
        to.collect_map(std::iter::once(("kind", kind)).chain(self.cells()))
    }
}

/// Writes the rows as CSV with a header line.
pub fn csv(rows: &[Row], output: &mut impl Write) -> Result<()> {
    table::csv_table(&columns(rows), rows.len(), output)
}

/// Writes the rows as a Parquet file, atomically.
pub fn write(path: &Path, rows: &[Row]) -> Result<()> {
    table::write_table(path, &columns(rows))
}

/// The names of all values, in order of first occurrence.
fn columns(rows: &[Row]) -> Vec<Column> {
    let mut columns: Vec<Column> = Vec::new();
    for (at, row) in rows.iter().enumerate() {
        for (place, (name, cell)) in row.cells().into_iter().enumerate() {
            // Rows of one kind have the same names in the same positions.
            let known = match columns.get(place) {
                Some(column) if column.name == name => Some(place),
                _ => columns.iter().position(|column| column.name == name),
            };
            let place = known.unwrap_or_else(|| {
                columns.push(Column {
                    name: name.into(),
                    values: match &cell {
                        Cell::Text(_) => Values::Text(Vec::new()),
                        Cell::Integer(_) => Values::Integer(Vec::new()),
                        Cell::Real(_) => Values::Real(Vec::new()),
                    },
                });
                columns.len() - 1
            });
            // Rows without this column get an empty value.
            match (&mut columns[place].values, cell) {
                (Values::Text(values), Cell::Text(text)) => {
                    values.resize(at, None);
                    values.push(text);
                }
                (Values::Integer(values), Cell::Integer(number)) => {
                    values.resize(at, None);
                    values.push(number);
                }
                (Values::Real(values), Cell::Real(number)) => {
                    values.resize(at, None);
                    values.push(number);
                }
                _ => unreachable!("a name has one type, see `cells`"),
            }
        }
    }
    for column in &mut columns {
        match &mut column.values {
            Values::Text(values) => values.resize(rows.len(), None),
            Values::Integer(values) => values.resize(rows.len(), None),
            Values::Real(values) => values.resize(rows.len(), None),
            Values::Boolean(values) => values.resize(rows.len(), None),
        }
    }
    columns
}

impl RowStats {
    /// What a row is, in JSON.
    const fn kind(&self) -> &'static str {
        match self {
            Self::Standard(..) => "arrivals",
            Self::Departures(_) => "departures",
            Self::Slice(_) => "interval",
            Self::Ditg(..) => "ditg",
        }
    }
}

impl Row {
    /// The quality of the call, if the row is that of one whole flow.
    pub fn call(&self) -> Option<CallQuality> {
        let codec = self.codec.filter(|_| self.scope != Scope::All)?;
        let RowStats::Standard(summary, _) = &self.stats else {
            return None;
        };
        let (loss, delay) = (summary.order.loss()?, summary.delay.p99?);
        let burst_ratio = CallQuality::burst_ratio(loss, summary.order.mean_loss_burst());
        Some(CallQuality::new(codec, delay, loss, burst_ratio))
    }

    /// Names and values, in the order of docs/reference/json.md.
    fn cells(&self) -> Vec<(&'static str, Cell)> {
        let flow = match &self.scope {
            Scope::Flow(flow) => Some(flow),
            Scope::All | Scope::Number(_) => None,
        };
        let number = match &self.scope {
            Scope::All => None,
            Scope::Number(number) => Some(*number),
            Scope::Flow(flow) => Some(flow.number),
        };
        let stated = flow.filter(|flow| flow.protocol != 0);
        let address = |address: Option<std::net::SocketAddr>| {
            Cell::Text(address.map(|address| address.to_string()))
        };
        let mut cells = vec![
            ("log", Cell::Text(Some(self.log.clone()))),
            ("flow", Cell::Integer(number.map(i64::from))),
            ("name", Cell::Text(flow.map(|flow| flow.name.clone()))),
            (
                "protocol",
                Cell::Integer(stated.map(|flow| flow.protocol.into())),
            ),
            ("dscp", Cell::Integer(stated.map(|flow| flow.dscp.into()))),
            ("source", address(flow.map(|flow| flow.source))),
            ("destination", address(flow.map(|flow| flow.destination))),
            ("start_s", Cell::Real(self.start)),
        ];
        match &self.stats {
            RowStats::Standard(summary, bound) => {
                standard(summary, *bound, &mut cells);
                if let Some(call) = self.call() {
                    cells.extend([
                        ("codec", Cell::Text(Some(call.codec.name().to_owned()))),
                        ("mouth_to_ear_s", Cell::Real(Some(call.delay))),
                        ("burst_ratio", Cell::Real(Some(call.burst_ratio))),
                        ("rating", Cell::Real(Some(call.rating))),
                        ("mos", Cell::Real(Some(call.mos))),
                    ]);
                }
            }
            RowStats::Departures(departures) => cells.extend([
                ("duration_s", Cell::Real(Some(departures.seconds))),
                ("bytes", integer(departures.bytes)),
                ("goodput_bps", Cell::Real(departures.rate)),
                ("sent", integer(departures.sent)),
                ("logged", integer(departures.logged)),
            ]),
            RowStats::Slice(slice) => cells.extend([
                ("duration_s", Cell::Real(Some(slice.seconds))),
                ("received", integer(slice.packets)),
                ("bytes", integer(slice.bytes)),
                ("missing", Cell::Integer(Some(slice.missing))),
                (
                    "goodput_bps",
                    Cell::Real(Some(slice.bytes as f64 * 8.0 / slice.seconds)),
                ),
                ("delay_mean_s", Cell::Real(slice.delay_mean)),
                ("delay_min_s", Cell::Real(slice.delay_min)),
                ("delay_p50_s", Cell::Real(slice.delay_p50)),
                ("delay_p99_s", Cell::Real(slice.delay_p99)),
                ("delay_max_s", Cell::Real(slice.delay_max)),
            ]),
            RowStats::Ditg(stats, losses) => {
                cells.extend([
                    ("duration_s", Cell::Real(Some(stats.seconds))),
                    ("packets", integer(stats.packets)),
                    ("bytes", integer(stats.bytes)),
                    ("min_delay_s", Cell::Real(stats.min_delay)),
                    ("max_delay_s", Cell::Real(stats.max_delay)),
                    ("mean_delay_s", Cell::Real(stats.mean_delay)),
                    ("jitter_s", Cell::Real(stats.jitter)),
                    (
                        "delay_standard_deviation_s",
                        Cell::Real(stats.standard_deviation),
                    ),
                    (
                        "bitrate_bps",
                        Cell::Real(stats.bitrate.map(|rate| rate * 1e3)),
                    ),
                    ("packet_rate", Cell::Real(stats.packet_rate)),
                ]);
                if let Some(losses) = losses {
                    cells.extend([
                        ("dropped", integer(losses.lost())),
                        ("mean_loss_burst", Cell::Real(Some(losses.mean_burst()))),
                    ]);
                }
            }
        }
        cells
    }
}

fn standard(summary: &FlowSummary, bound: Option<f64>, cells: &mut Vec<(&'static str, Cell)>) {
    let (order, delay) = (&summary.order, &summary.delay);
    cells.extend([
        ("duration_s", Cell::Real(Some(summary.seconds))),
        ("received", integer(summary.received)),
        ("bytes", integer(summary.bytes)),
        ("goodput_bps", Cell::Real(summary.goodput)),
        ("sent", integer(order.expected)),
        ("lost", integer(order.lost)),
        ("loss", Cell::Real(order.loss())),
        ("loss_bursts", integer(order.loss_bursts)),
        ("mean_loss_burst", Cell::Real(order.mean_loss_burst())),
        ("longest_loss_burst", integer(order.longest_loss_burst)),
        ("duplicates", integer(order.duplicates)),
        ("unexpected", integer(order.unexpected)),
        ("stale", integer(order.stale)),
        ("unstamped", integer(summary.unstamped)),
        ("reordered", integer(order.reordered)),
        ("reordering", Cell::Real(order.reordering())),
        ("mean_extent", Cell::Real(order.mean_extent())),
        ("largest_extent", integer(order.largest_extent)),
        ("reordered_1", integer(order.n_reordered[0])),
        ("reordered_2", integer(order.n_reordered[1])),
        ("reordered_3", integer(order.n_reordered[2])),
        ("reordered_8", integer(order.n_reordered[7])),
        ("delays", integer(delay.count)),
        ("negative_delays", integer(delay.negative)),
        ("clock_bound_s", Cell::Real(bound)),
    ]);
    let reals = [
        ("delay_mean_s", delay.mean),
        ("delay_min_s", delay.min),
        ("delay_p50_s", delay.p50),
        ("delay_p95_s", delay.p95),
        ("delay_p99_s", delay.p99),
        ("delay_p999_s", delay.p999),
        ("delay_max_s", delay.max),
        ("delay_standard_deviation_s", delay.standard_deviation),
        ("pdv_p99_s", delay.pdv_p99),
        ("pdv_p999_s", delay.pdv_p999),
        ("ipdv_mean_s", delay.ipdv_mean),
        ("ipdv_p50_s", delay.ipdv_p50),
        ("ipdv_p95_s", delay.ipdv_p95),
        ("ipdv_p99_s", delay.ipdv_p99),
        ("ipdv_max_s", delay.ipdv_max),
        ("jitter_rfc3550_s", delay.jitter_rfc3550),
    ];
    cells.extend(reals.map(|(name, value)| (name, Cell::Real(value))));
    cells.push(("ipdv_pairs", integer(delay.ipdv_count)));
}

/// A count; empty if it exceeds the range of the column.
fn integer(count: u64) -> Cell {
    Cell::Integer(i64::try_from(count).ok())
}

/// Converts nanoseconds to seconds.
pub(super) fn seconds(nanos: u64) -> f64 {
    nanos as f64 / 1e9
}
