//! Rows of packets as text and for other programs.

use std::fmt::{self, Display, Write as _};
use std::io::Write;
use std::time::{Duration, SystemTime};

use anyhow::Result;
use serde::Serialize;

use super::{Log, Place, Waiting};
use crate::table::{self, Column, Values};

/// A packet; times are in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Packet {
    pub(super) place: Place,
    pub(super) sequence: u64,
    /// The time of sending, on the clock of the receiver if that is known.
    pub(super) sent: i64,
    /// The time of arrival, or of an echo's return.
    pub(super) received: Option<i64>,
    pub(super) delay: Option<i64>,
    pub(super) size: u32,
    /// Whether it never arrived, if that is known.
    pub(super) lost: Option<bool>,
    pub(super) late: Option<bool>,
    pub(super) duplicate: Option<bool>,
}

/// Rows of a table of packets.
pub struct PacketRows<'a> {
    pub(super) logs: &'a [Log],
    pub(super) packets: Vec<Packet>,
}

/// The zero of times in text: nanoseconds since 1970 UTC, or 0 for the zero of the log's clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeOrigin(pub(super) u64);

/// A row in JSON.
#[derive(Serialize)]
struct Line<'a> {
    kind: &'static str,
    log: &'a str,
    flow: u32,
    name: Option<&'a str>,
    sequence: u64,
    sent_ns: i64,
    received_ns: Option<i64>,
    delay_s: Option<f64>,
    size: u32,
    lost: Option<bool>,
    late: Option<bool>,
    duplicate: Option<bool>,
}

impl Packet {
    /// A packet as its record has it, of which nothing else is known.
    pub(super) const fn new(place: Place, record: &Waiting) -> Self {
        Self {
            place,
            sequence: record.sequence,
            sent: 0,
            received: None,
            delay: None,
            size: record.size,
            lost: None,
            late: None,
            duplicate: None,
        }
    }
}

impl<'a> PacketRows<'a> {
    pub(super) const fn new(logs: &'a [Log], packets: Vec<Packet>) -> Self {
        Self { logs, packets }
    }

    /// One JSON object per row.
    pub fn json(&self) -> impl Iterator<Item = String> {
        self.packets.iter().map(|packet| {
            let log = &self.logs[packet.place.log];
            let flow = &log.flows[packet.place.flow];
            let line = Line {
                kind: "packet",
                log: &log.name,
                flow: flow.number,
                name: flow.name.as_deref(),
                sequence: packet.sequence,
                sent_ns: packet.sent,
                received_ns: packet.received,
                delay_s: packet.delay.map(seconds),
                size: packet.size,
                lost: packet.lost,
                late: packet.late,
                duplicate: packet.duplicate,
            };
            serde_json::to_string(&line).expect("no number is of 128 bits")
        })
    }

    /// Writes the names of the columns as CSV.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn csv_header(output: &mut impl Write) -> Result<()> {
        table::csv_header(&Self::new(&[], Vec::new()).columns(), output)
    }

    /// Writes the rows as CSV, without the names of the columns.
    ///
    /// # Errors
    /// They cannot be written.
    pub fn csv(&self, output: &mut impl Write) -> Result<()> {
        table::csv_rows(&self.columns(), self.packets.len(), output)
    }

    /// The names of the columns in text.
    pub fn text_header(origin: TimeOrigin) -> String {
        let titles = ["sent s", "arrived s", "delay ms", "sequence", "bytes"];
        let [sent, arrived, delay, sequence, bytes] = titles;
        format!(
            "times in seconds {origin}\n\n{sent:>18} {arrived:>18} {delay:>12} {sequence:>10} \
             {bytes:>6}  flow\n"
        )
    }

    /// The rows as text.
    pub fn text(&self, origin: TimeOrigin) -> String {
        let mut text = String::new();
        for packet in &self.packets {
            let log = &self.logs[packet.place.log];
            let flow = &log.flows[packet.place.flow];
            let received = packet.received.map(|at| origin.seconds(at));
            let delay = packet
                .delay
                .map(|delay| format!("{:.6}", seconds(delay) * 1e3));
            let _ = write!(
                text,
                "{:>18} {:>18} {:>12} {:>10} {:>6}  {}",
                origin.seconds(packet.sent),
                received.as_deref().unwrap_or("-"),
                delay.as_deref().unwrap_or("-"),
                packet.sequence,
                packet.size,
                flow.number
            );
            if let Some(name) = flow.name.as_deref().filter(|name| !name.is_empty()) {
                let _ = write!(text, " {}", name.escape_debug());
            }
            if self.logs.len() > 1 {
                let _ = write!(text, " of {}", log.name);
            }
            let remarks = [
                (packet.lost, ", lost"),
                (packet.late, ", late"),
                (packet.duplicate, ", duplicate"),
            ];
            for (is_so, remark) in remarks {
                text.push_str(if is_so == Some(true) { remark } else { "" });
            }
            text.push('\n');
        }
        text
    }

    /// The rows as columns, in the order of docs/reference/json.md.
    pub(super) fn columns(&self) -> Vec<Column> {
        let column = |name: &str, values| Column {
            name: name.into(),
            values,
        };
        let log = |packet: &Packet| &self.logs[packet.place.log];
        let flow = |packet: &Packet| &log(packet).flows[packet.place.flow];
        let texts = |text: &dyn Fn(&Packet) -> Option<String>| {
            Values::Text(self.packets.iter().map(text).collect())
        };
        let integers = |number: &dyn Fn(&Packet) -> Option<i64>| {
            Values::Integer(self.packets.iter().map(number).collect())
        };
        let booleans = |is_so: fn(&Packet) -> Option<bool>| {
            Values::Boolean(self.packets.iter().map(is_so).collect())
        };
        let delays = self.packets.iter().map(|packet| packet.delay.map(seconds));
        vec![
            column("log", texts(&|packet| Some(log(packet).name.clone()))),
            column("flow", integers(&|packet| Some(flow(packet).number.into()))),
            column("name", texts(&|packet| flow(packet).name.clone())),
            column(
                "sequence",
                integers(&|packet| i64::try_from(packet.sequence).ok()),
            ),
            column("sent_ns", integers(&|packet| Some(packet.sent))),
            column("received_ns", integers(&|packet| packet.received)),
            column("delay_s", Values::Real(delays.collect())),
            column("size", integers(&|packet| Some(packet.size.into()))),
            column("lost", booleans(|packet| packet.lost)),
            column("late", booleans(|packet| packet.late)),
            column("duplicate", booleans(|packet| packet.duplicate)),
        ]
    }
}

impl TimeOrigin {
    /// Seconds after this with all digits.
    fn seconds(self, at: i64) -> String {
        let since = i128::from(at) - i128::from(self.0);
        let (sign, nanos) = (if since < 0 { "-" } else { "" }, since.unsigned_abs());
        format!(
            "{sign}{}.{:09}",
            nanos / 1_000_000_000,
            nanos % 1_000_000_000
        )
    }
}

impl Display for TimeOrigin {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 == 0 {
            return to.write_str("of the logs' clock");
        }
        let wall = SystemTime::UNIX_EPOCH + Duration::from_nanos(self.0);
        write!(to, "after {}", humantime::format_rfc3339_nanos(wall))
    }
}

fn seconds(nanos: i64) -> f64 {
    nanos as f64 / 1e9
}
