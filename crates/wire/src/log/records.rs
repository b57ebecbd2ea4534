//! A block of records, column by column.
//!
//! The content begins with the number of records and the number of flows among them
//! (two bytes each). For each flow, in the order of first occurrence, follow its
//! number (4 bytes), and the sequence number and the time of sending of its first
//! record (8 each). Then come seven columns:
//!
//! 1. the flow, as its index in that list;
//! 2. the sequence number minus the flow's previous one, minus one;
//! 3. the time of sending minus the flow's previous one;
//! 4. the time of arrival minus that of sending;
//! 5. the time of the echo's arrival minus that of sending;
//! 6. the size;
//! 7. the marks: bits 0 and 1 state that the times of columns 4 and 5 are present,
//!    bit 2 is `late_stamp`, bit 3 `congested` and bit 4 `untimed`.
//!
//! The column of an absent time holds an arbitrary value; the writer repeats the
//! previous one. Differences wrap at 2^64.

use alloc::vec::Vec;

use super::column::{self, take};
use super::facts::{u32_of, u64_of};
use super::{BLOCK, Marks, Record};
use crate::{Error, Field};

/// Columns of a block.
const COLUMNS: usize = 7;

mod mark {
    pub(super) const RECEIVED: i64 = 1;
    pub(super) const RETURNED: i64 = 1 << 1;
    pub(super) const LATE_STAMP: i64 = 1 << 2;
    pub(super) const CONGESTED: i64 = 1 << 3;
    pub(super) const UNTIMED: i64 = 1 << 4;
    pub(super) const ALL: i64 = (1 << 5) - 1;
}

/// The records of a block, as bytes with a valid checksum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Records<'a> {
    count: usize,
    flows: usize,
    content: &'a [u8],
}

/// Decoded records, column by column; reusable for the next block.
#[derive(Clone, Debug, Default)]
pub struct Batch {
    flows: Vec<Last>,
    columns: [Vec<i64>; COLUMNS],
}

/// The writer's reusable buffers.
#[derive(Clone, Debug, Default)]
pub(super) struct Scratch {
    flows: Vec<Last>,
    columns: [Vec<i64>; COLUMNS],
}

/// The state of a flow after its last record.
#[derive(Clone, Copy, Debug)]
struct Last {
    flow: u32,
    /// The sequence number of the next record if no packet is missing.
    sequence: u64,
    sent: u64,
}

impl<'a> Records<'a> {
    pub(super) fn parse(mut content: &'a [u8]) -> Result<Self, Error> {
        let mut number = || -> Result<usize, Error> {
            let bytes = take(&mut content, 2)?;
            Ok(usize::from(bytes[0]) | usize::from(bytes[1]) << 8)
        };
        let (count, flows) = (number()?, number()?);
        if count == 0 || count > BLOCK || flows == 0 || flows > count {
            return Err(Error::Malformed(Field::Count));
        }
        Ok(Self {
            count,
            flows,
            content,
        })
    }

    /// Reads all records into `batch`, whose former content is removed.
    ///
    /// # Errors
    /// The bytes are not records; `batch` is then empty.
    pub fn read(&self, batch: &mut Batch) -> Result<(), Error> {
        let read = batch.fill(self);
        if read.is_err() {
            batch.clear();
        }
        read
    }
}

impl Batch {
    /// The number of records.
    pub fn len(&self) -> usize {
        self.columns[0].len()
    }

    /// Whether there are no records.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Removes the records.
    pub fn clear(&mut self) {
        self.columns.iter_mut().for_each(Vec::clear);
    }

    /// The records in the order of the log.
    pub fn records(&self) -> impl Iterator<Item = Record> {
        let [places, sequences, instants, arrivals, returns, sizes, marks] = &self.columns;
        let rows = places.iter().zip(sequences).zip(instants).zip(arrivals);
        let rows = rows.zip(returns).zip(sizes).zip(marks);
        rows.map(
            |((((((flow, sequence), sent), received), returned), size), marks)| {
                let sent = sent.cast_unsigned();
                let after = |delay: i64| sent.wrapping_add(delay.cast_unsigned());
                let has = |mark| marks & mark != 0;
                Record {
                    flow: low(*flow),
                    sequence: sequence.cast_unsigned(),
                    sent,
                    received: has(mark::RECEIVED).then(|| after(*received)),
                    returned: has(mark::RETURNED).then(|| after(*returned)),
                    size: low(*size),
                    marks: Marks {
                        late_stamp: has(mark::LATE_STAMP),
                        congested: has(mark::CONGESTED),
                        untimed: has(mark::UNTIMED),
                    },
                }
            },
        )
    }

    /// Fills the columns. Afterwards columns 1 to 3 hold flow numbers, sequence numbers
    /// and times instead of indices and differences.
    fn fill(&mut self, records: &Records<'_>) -> Result<(), Error> {
        let mut content = records.content;
        self.flows.clear();
        for _ in 0..records.flows {
            self.flows.push(Last {
                flow: u32_of(&mut content)?,
                sequence: u64_of(&mut content)?,
                sent: u64_of(&mut content)?,
            });
        }
        for column in &mut self.columns {
            column::parse(&mut content, records.count, column)?;
        }
        let [places, sequences, instants, _, _, sizes, marks] = &mut self.columns;
        let within = |values: &[i64], most: i64| values.iter().all(|v| (0..=most).contains(v));
        if !content.is_empty() {
            return Err(Error::Malformed(Field::Length));
        }
        if !within(sizes, i64::from(u32::MAX)) || !within(marks, mark::ALL) {
            return Err(Error::Malformed(Field::Flags));
        }
        for ((place, sequence), sent) in places.iter_mut().zip(sequences).zip(instants) {
            let last = usize::try_from(*place)
                .ok()
                .and_then(|place| self.flows.get_mut(place))
                .ok_or(Error::Malformed(Field::Flow))?;
            last.sequence = last.sequence.wrapping_add(sequence.cast_unsigned());
            last.sent = last.sent.wrapping_add(sent.cast_unsigned());
            *place = last.flow.into();
            *sequence = last.sequence.cast_signed();
            *sent = last.sent.cast_signed();
            last.sequence = last.sequence.wrapping_add(1);
        }
        Ok(())
    }
}

/// Appends the content of a block of `records`, 1 to [`BLOCK`] of them.
pub(super) fn emit(records: &[Record], scratch: &mut Scratch, out: &mut Vec<u8>) {
    let Scratch { flows, columns } = scratch;
    flows.clear();
    columns.iter_mut().for_each(Vec::clear);
    let count = u16::try_from(records.len()).expect("BLOCK fits");
    out.extend(count.to_le_bytes());
    let head = out.len();
    out.extend([0; 2]);
    let (mut received, mut returned) = (0, 0);
    for record in records {
        let place = place(flows, record, out);
        let last = &mut flows[place];
        let after = |instant: u64| instant.wrapping_sub(record.sent).cast_signed();
        received = record.received.map_or(received, after);
        returned = record.returned.map_or(returned, after);
        let mark = |set: bool, mark: i64| if set { mark } else { 0 };
        let row = [
            i64::try_from(place).expect("BLOCK fits"),
            record.sequence.wrapping_sub(last.sequence).cast_signed(),
            record.sent.wrapping_sub(last.sent).cast_signed(),
            received,
            returned,
            record.size.into(),
            mark(record.received.is_some(), mark::RECEIVED)
                | mark(record.returned.is_some(), mark::RETURNED)
                | mark(record.marks.late_stamp, mark::LATE_STAMP)
                | mark(record.marks.congested, mark::CONGESTED)
                | mark(record.marks.untimed, mark::UNTIMED),
        ];
        last.sequence = record.sequence.wrapping_add(1);
        last.sent = record.sent;
        for (column, value) in columns.iter_mut().zip(row) {
            column.push(value);
        }
    }
    let count = u16::try_from(flows.len()).expect("BLOCK fits");
    out[head..head + 2].copy_from_slice(&count.to_le_bytes());
    for column in columns {
        column::emit(column, out);
    }
}

/// The index of the record's flow among those of the block; a new flow is written to
/// `out`.
fn place(flows: &mut Vec<Last>, record: &Record, out: &mut Vec<u8>) -> usize {
    // A linear search suffices: blocks either have few flows or are rare.
    let known = flows.iter().position(|last| last.flow == record.flow);
    known.unwrap_or_else(|| {
        out.extend(record.flow.to_le_bytes());
        out.extend(record.sequence.to_le_bytes());
        out.extend(record.sent.to_le_bytes());
        flows.push(Last {
            flow: record.flow,
            sequence: record.sequence,
            sent: record.sent,
        });
        flows.len() - 1
    })
}

/// The low 32 bits; the others are zero.
fn low(value: i64) -> u32 {
    let [b0, b1, b2, b3, ..] = value.to_le_bytes();
    u32::from_le_bytes([b0, b1, b2, b3])
}
