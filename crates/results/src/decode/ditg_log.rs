//! Reads the logs of D-ITG, binary and text.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _, Seek as _};
use std::net::SocketAddr;

use anyhow::{Context, Result, bail};
use wire::log::ditg::{ByteOrder, DitgReader, DitgRecord, RECORD_LEN, TEXT};
use wire::log::{Clock, Facts, Flow, Marks, Record, Role};

use super::blocks::TruncationPoint;
use super::known::{MOST_FLOWS, Statement};
use super::source::Batch;

/// The longest line of a log in text.
const LONGEST_LINE: u64 = 1024;

/// The records of a batch: they stay in a cache near the processor.
const BATCH: usize = 256;

/// The bytes that are read at once.
const BUFFER: usize = 1 << 18;

/// Nanoseconds of a day, which is the midnight before the log began, and of half a day.
pub(super) const DAY: u64 = 86_400_000_000_000;
const HALF_DAY: u64 = DAY / 2;

/// A log of D-ITG, which is read record by record.
pub(super) struct DitgLog {
    file: BufReader<File>,
    form: Form,
    /// The size of the file when it was opened, in bytes.
    pub(super) length: u64,
    /// The bytes before the next record.
    pub(super) position: u64,
    /// The damaged end of the log, if any.
    pub(super) tear: Option<TruncationPoint>,
    /// The flows by number, source and destination: several senders give their flows the same
    /// numbers.
    places: BTreeMap<(u32, SocketAddr, SocketAddr), usize>,
    /// The flow of the previous record.
    previous: Option<((u32, SocketAddr, SocketAddr), usize)>,
    /// The latest time of arrival of each flow, in nanoseconds since the midnight before the
    /// log began.
    latest: Vec<u64>,
    /// Whether a packet arrived at another time than it was sent.
    has_arrivals: bool,
    /// Whether the log was read once, and no packet did.
    is_senders: bool,
    /// Whether the end of the log was read.
    is_over: bool,
}

/// How records are written.
enum Form {
    Binary(DitgReader),
    Text,
}

impl DitgLog {
    /// The log in `file`; `None` if it is another file.
    pub(super) fn of(file: &mut File) -> Result<Option<Self>> {
        let mut first = Vec::new();
        let read = file
            .by_ref()
            .take(RECORD_LEN as u64)
            .read_to_end(&mut first);
        read.context("cannot be read")?;
        file.rewind().context("cannot be read")?;
        let order = first.first_chunk().and_then(ByteOrder::of);
        let form = match order {
            Some(order) => Form::Binary(DitgReader::new(order)),
            None if first.starts_with(TEXT) => Form::Text,
            None => return Ok(None),
        };
        let file = file.try_clone().context("cannot be read")?;
        Ok(Some(Self {
            length: file.metadata().context("cannot be read")?.len(),
            file: BufReader::with_capacity(BUFFER, file),
            form,
            position: 0,
            tear: None,
            places: BTreeMap::new(),
            previous: None,
            latest: Vec::new(),
            has_arrivals: false,
            is_senders: false,
            is_over: false,
        }))
    }

    /// Goes back to the first record. The role is known from then on.
    pub(super) fn rewind(&mut self) -> Result<()> {
        self.file.rewind().context("cannot be read again")?;
        self.position = 0;
        self.places.clear();
        self.previous = None;
        self.latest.clear();
        self.is_senders = !self.has_arrivals;
        self.is_over = false;
        Ok(())
    }

    /// Reads the next records, and behind them what is known of the log
    /// once it was read; `false` at its end.
    ///
    /// # Errors
    /// The file cannot be read, or has too many flows.
    pub(super) fn next(&mut self, batch: &mut Batch) -> Result<bool> {
        while batch.records.len() < BATCH && self.tear.is_none() {
            let found = match self.form {
                Form::Binary(_) => self.binary()?,
                Form::Text => self.line()?,
            };
            let Some((record, length)) = found else {
                break;
            };
            let record = self.placed(&record, &mut batch.statements)?;
            batch.records.push(record);
            self.position += length;
        }
        if !batch.records.is_empty() || self.is_over {
            return Ok(!batch.records.is_empty());
        }
        self.is_over = true;
        batch.is_end = true;
        batch.statements.push(Statement::Facts(self.facts()));
        Ok(true)
    }

    /// The facts of the log once it was read: a sender repeats the times of sending.
    const fn facts(&self) -> Facts {
        let (role, received) = match self.has_arrivals {
            true => (Role::Receiver, Clock::Program),
            false => (Role::Sender, Clock::None),
        };
        Facts {
            role,
            sent: Clock::Program,
            received,
            returned: Clock::None,
            wall: 0,
            start: 0,
        }
    }

    /// The next binary record and its length.
    fn binary(&mut self) -> Result<Option<(DitgRecord, u64)>> {
        let Form::Binary(reader) = &mut self.form else {
            return Ok(None);
        };
        let ahead = self.file.fill_buf().context("cannot be read to its end")?;
        let record = if let Some(bytes) = ahead.first_chunk() {
            let record = reader.read(bytes);
            self.file.consume(RECORD_LEN);
            record.map_err(|error| error.to_string())
        } else {
            // It ends in what is read next, if it ends.
            let mut bytes = Vec::with_capacity(RECORD_LEN);
            let next = self.file.by_ref().take(RECORD_LEN as u64);
            let read = { next }.read_to_end(&mut bytes);
            if read.context("cannot be read to its end")? == 0 {
                return Ok(None);
            }
            match bytes.first_chunk() {
                Some(bytes) => reader.read(bytes).map_err(|error| error.to_string()),
                None => Err("the last record is incomplete".to_owned()),
            }
        };
        match record {
            Ok(record) => Ok(Some((record, RECORD_LEN as u64))),
            Err(why) => {
                self.torn(why);
                Ok(None)
            }
        }
    }

    /// The record of the next line and the length of the line.
    fn line(&mut self) -> Result<Option<(DitgRecord, u64)>> {
        let mut line = Vec::new();
        let read = self
            .file
            .by_ref()
            .take(LONGEST_LINE)
            .read_until(b'\n', &mut line);
        let read = read.context("cannot be read to its end")?;
        if read == 0 {
            return Ok(None);
        }
        let text = std::str::from_utf8(&line).unwrap_or_default();
        let whole = text
            .strip_suffix('\n')
            .map(|text| text.trim_end_matches('\r'));
        let record = match whole.map(DitgRecord::parse_line) {
            Some(Ok(record)) => record,
            Some(Err(error)) => {
                self.torn(error.to_string());
                return Ok(None);
            }
            None => {
                self.torn("the last line is incomplete, or it is no text".to_owned());
                return Ok(None);
            }
        };
        Ok(Some((record, read as u64)))
    }

    /// The record with times since the midnight before the log began. A time of arrival that is
    /// half a day before the previous one is of the next day, and one of sending of the day that
    /// is nearer to the arrival.
    fn placed(&mut self, record: &DitgRecord, new: &mut Vec<Statement>) -> Result<Record> {
        let place = self.place(record, new)?;
        let latest = &mut self.latest[place];
        let received = nearest(record.received, *latest);
        *latest = received.max(*latest);
        let sent = nearest(record.sent, received);
        self.has_arrivals |= sent != received;
        Ok(Record {
            flow: number_of(place),
            sequence: u64::from(record.sequence) - 1,
            sent,
            received: (!self.is_senders).then_some(received),
            returned: None,
            size: record.size,
            marks: Marks::default(),
        })
    }

    /// The place of the flow of a record among those of the log; a new one is stated.
    fn place(&mut self, record: &DitgRecord, new: &mut Vec<Statement>) -> Result<usize> {
        let key = (record.flow, record.source, record.destination);
        match &self.previous {
            Some((previous, place)) if *previous == key => return Ok(*place),
            _ => {}
        }
        let flows = self.latest.len();
        let place = match self.places.entry(key) {
            Entry::Occupied(place) => *place.get(),
            Entry::Vacant(entry) => {
                if flows == MOST_FLOWS {
                    bail!("this log has more than {MOST_FLOWS} flows");
                }
                let flow = Flow {
                    number: record.flow,
                    name: String::new(),
                    protocol: 0,
                    dscp: 0,
                    source: record.source,
                    destination: record.destination,
                };
                new.push(Statement::Flow(number_of(flows), flow));
                // A packet that was sent before midnight may be the first one.
                self.latest.push(DAY + record.received);
                *entry.insert(flows)
            }
        };
        self.previous = Some((key, place));
        Ok(place)
    }

    fn torn(&mut self, why: String) {
        let position = self.position;
        self.tear = Some(TruncationPoint { position, why });
    }
}

/// The number of a flow in its records: its place among the flows of the log.
fn number_of(place: usize) -> u32 {
    u32::try_from(place).expect("there are at most MOST_FLOWS")
}

/// The time of day on the day for which it is nearest to `other`.
fn nearest(time_of_day: u64, other: u64) -> u64 {
    let day = other / DAY * DAY;
    let time = day + time_of_day;
    if time + HALF_DAY < other {
        time + DAY
    } else if time > other + HALF_DAY && day > 0 {
        time - DAY
    } else {
        time
    }
}
