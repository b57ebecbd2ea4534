//! The outcome of one run.

use serde_json::Value;
use units::Span;

use crate::Result;
use crate::counters::Counters;
use crate::observer::Departures;
use crate::processor::f64_of;
use crate::program::Program;
use crate::work::{Kind, PACE, Work};

/// The external observations of a run.
pub(crate) struct Seen {
    pub(crate) sender: Counters,
    pub(crate) receiver: Counters,
    /// CPU seconds of both ends.
    pub(crate) processor: f64,
    pub(crate) departures: Option<Departures>,
}

/// The metrics of a run; the first one is compared.
#[derive(Clone, Debug)]
pub(crate) struct Outcome(pub(crate) Vec<Figure>);

/// A value with its name in the table.
#[derive(Clone, Debug)]
pub(crate) struct Figure {
    pub(crate) name: &'static str,
    pub(crate) value: f64,
    /// Digits after the decimal point.
    pub(crate) digits: usize,
}

const fn figure(name: &'static str, value: f64, digits: usize) -> Figure {
    Figure {
        name,
        value,
        digits,
    }
}

impl Outcome {
    /// Reads the sender's output and the external observations.
    pub(crate) fn read(program: Program, work: &Work, output: &str, seen: &Seen) -> Result<Self> {
        Ok(Self(match work.kind {
            Kind::Rate => rate(program, work, output, seen)?,
            Kind::Departures => departures(program, work, output, seen)?,
            Kind::RoundTrip { .. } => round_trip(program, output, seen)?,
            Kind::Goodput => goodput(program, output, seen)?,
            Kind::Decode => return Err("a decoding run has no traffic".into()),
        }))
    }

    /// Reads a decoder's output about a log of `size` bytes.
    pub(crate) fn decoded(
        program: Program,
        text: &str,
        size: u64,
        took: Span,
        processor: f64,
    ) -> Result<Self> {
        let records = match program {
            Program::Jumbolab => number(&first(text)?, "/received")?,
            _ => {
                let mut lines = text.lines();
                let line = lines.find_map(|line| line.trim().strip_prefix("Total packets"));
                let line = line.ok_or("it counts no packets")?;
                line.trim_start_matches([' ', '=']).trim().parse()?
            }
        };
        let size = f64_of(i64::try_from(size)?);
        Ok(Self(vec![
            figure("records/CPU second", records / processor, 0),
            figure("records/s", records / took.as_secs_f64(), 0),
            figure("records", records, 0),
            figure("bytes a record", size / records, 1),
        ]))
    }
}

/// The rate at which the receiver read datagrams, by the kernel's counters and
/// the requested duration.
fn rate(program: Program, work: &Work, output: &str, seen: &Seen) -> Result<Vec<Figure>> {
    let (sent, read) = (seen.sender.datagrams_out, seen.receiver.datagrams_in);
    let seconds = match program {
        Program::Jumbolab => number(&first(output)?, "/sent_duration_s")?,
        Program::Iperf3 => number(&whole(output)?, "/end/sum/seconds")?,
        Program::Ditg | Program::Nuttcp | Program::Sockperf => f64::from(work.seconds),
    };
    let frames = seen.sender.frames_out.min(seen.receiver.frames_in);
    let (sent, read) = (f64_of(sent), f64_of(read));
    let mut metrics = vec![
        figure("received/s", read / seconds, 0),
        figure("lost", sent - read, 0),
        figure("lost %", 100.0 * (sent - read) / sent, 3),
        figure("no room", f64_of(seen.receiver.no_room), 0),
        figure("frames/datagram", f64_of(frames) / sent, 3),
        figure("CPU us/datagram", 1e6 * seen.processor / read, 2),
    ];
    // The others are unknown or have no stamps.
    metrics.push(figure(
        "stamped %",
        match program {
            Program::Jumbolab => {
                let flow = first(output)?;
                let received = number(&flow, "/received")?;
                100.0 * (1.0 - number(&flow, "/unstamped")? / received)
            }
            _ => f64::NAN,
        },
        1,
    ));
    Ok(metrics)
}

fn departures(program: Program, work: &Work, output: &str, seen: &Seen) -> Result<Vec<Figure>> {
    let observed = seen.departures.ok_or("nobody looked")?;
    let asked = f64::from(work.seconds * PACE);
    let count = i64::try_from(observed.count)?;
    Ok(vec![
        figure("p99 us", observed.p99, 1),
        figure("drift us", observed.drift, 1),
        figure("of those asked %", 100.0 * f64_of(count) / asked, 2),
        figure(
            "p99 it says us",
            match program {
                Program::Jumbolab => 1e6 * number(&first(output)?, "/timing_error_s/p99")?,
                _ => f64::NAN,
            },
            1,
        ),
        figure("CPU %", 100.0 * seen.processor / f64::from(work.seconds), 0),
    ])
}

fn round_trip(program: Program, output: &str, seen: &Seen) -> Result<Vec<Figure>> {
    let percentiles = match program {
        Program::Jumbolab => {
            let flow = first(output)?;
            [
                1e6 * number(&flow, "/round_trip_s/p50")?,
                1e6 * number(&flow, "/round_trip_s/p99")?,
                number(&flow, "/round_trip_s/count")?,
            ]
        }
        _ => {
            let after = |words: &str| -> Result<f64> {
                let line = output.lines().find_map(|line| line.split_once(words));
                let (_, rest) = line.ok_or_else(|| format!("it does not print `{words}`"))?;
                let rest = rest.trim_start_matches([' ', '=']);
                let end = rest.find([' ', ';']).unwrap_or(rest.len());
                Ok(rest[..end].parse()?)
            };
            [
                after("percentile 50.000")?,
                after("percentile 99.000")?,
                after("ReceivedMessages=")?,
            ]
        }
    };
    let [p50, p99, count] = percentiles;
    Ok(vec![
        figure("p50 us", p50, 2),
        figure("p99 us", p99, 2),
        figure("exchanges", count, 0),
        figure("CPU us/exchange", 1e6 * seen.processor / count, 2),
    ])
}

fn goodput(program: Program, output: &str, seen: &Seen) -> Result<Vec<Figure>> {
    let [megabits, bytes] = match program {
        Program::Jumbolab => {
            let flow = first(output)?;
            [
                number(&flow, "/received_bps")? / 1e6,
                number(&flow, "/received_bytes")?,
            ]
        }
        _ => {
            let report = whole(output)?;
            [
                number(&report, "/end/sum_received/bits_per_second")? / 1e6,
                number(&report, "/end/sum_received/bytes")?,
            ]
        }
    };
    Ok(vec![
        figure("Mbit/s", megabits, 0),
        figure("CPU s/GB", seen.processor / bytes * 1e9, 3),
        // The packets that a program reports, relative to those that the
        // interface received.
        figure(
            "% of bytes",
            100.0 * bytes / f64_of(seen.receiver.bytes_in),
            2,
        ),
    ])
}

/// The only flow in Jumbolab's JSON Lines.
fn first(output: &str) -> Result<Value> {
    let line = output.lines().next().ok_or("it prints nothing")?;
    Ok(serde_json::from_str(line)?)
}

fn whole(output: &str) -> Result<Value> {
    Ok(serde_json::from_str(output)?)
}

fn number(report: &Value, pointer: &str) -> Result<f64> {
    let value = report.pointer(pointer).and_then(Value::as_f64);
    value.ok_or_else(|| format!("its report has no number at {pointer}").into())
}
