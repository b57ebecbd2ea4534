//! The logs of D-ITG 2.8.1 [D-ITG], as its programs write and read them: records alone, in
//! binary or as lines of text.
//!
//! | offset | bytes | field |
//! |-------:|------:|-------|
//! |      0 |     4 | number of the flow |
//! |      4 |     4 | sequence number in the flow, from 1 |
//! |      8 |     4 | source port |
//! |     12 |     4 | destination port |
//! |     16 |     4 | hour of sending, local time of the sender |
//! |     20 |     4 | minute of sending |
//! |     24 |     4 | hour of arrival, local time of the receiver |
//! |     28 |     4 | minute of arrival |
//! |     32 |     4 | bytes of payload |
//! |     36 |    46 | source address as text, then zeros |
//! |     82 |    46 | destination address likewise |
//! |    128 |     8 | second of sending with its fraction, a number of IEEE 754 |
//! |    136 |     8 | second of arrival likewise |
//!
//! Numbers have the byte order of the machine that wrote them. A sender's log repeats the time
//! of sending as that of arrival; one of round trips has the time of return there. The programs
//! stamp to a microsecond, and their decoder does not round: so records can be written with
//! nanoseconds.

use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use core::net::{IpAddr, SocketAddr};
use core::str;

use crate::bytes::array;
use crate::{Error, Field};

/// Bytes of a binary record.
pub const RECORD_LEN: usize = 144;

/// Bytes of an address with its zeros.
const ADDRESS_LEN: usize = 46;

/// Nanoseconds of a minute.
const MINUTE: u64 = 60_000_000_000;

/// The most seconds of a minute: one may be a leap second.
const MOST_SECONDS: f64 = 61.0;

/// What begins a line of text.
pub const TEXT: &[u8] = b"Flow>";

/// One packet of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DitgRecord {
    /// Number of the flow.
    pub flow: u32,
    /// Sequence number in the flow, from 1.
    pub sequence: u32,
    /// Address and port of the sender.
    pub source: SocketAddr,
    /// Address and port of the receiver.
    pub destination: SocketAddr,
    /// Time of sending in nanoseconds since midnight of the sender.
    pub sent: u64,
    /// Time of arrival in nanoseconds since midnight of the receiver.
    pub received: u64,
    /// Bytes of payload.
    pub size: u32,
}

/// Flows whose ends are kept: addresses as text take longer to read than all other fields.
const KNOWN_FLOWS: u32 = 64;

/// Reads the binary records of a log.
#[derive(Clone, Debug)]
pub struct DitgReader {
    order: ByteOrder,
    /// The latest ends of flows, by the lowest bits of their numbers.
    known: Vec<Option<Ends>>,
}

/// The ends of a flow, and the bytes that they were read from.
#[derive(Clone, Copy, Debug)]
struct Ends {
    ports: [u8; 8],
    addresses: [u8; 2 * ADDRESS_LEN],
    ends: [SocketAddr; 2],
}

/// The byte order of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ByteOrder {
    /// The lowest byte of a number first.
    Little,
    /// The highest byte first.
    Big,
}

impl ByteOrder {
    /// The order in which `bytes` are a record; `None` if they are none in either.
    pub fn of(bytes: &[u8; RECORD_LEN]) -> Option<Self> {
        let both = [Self::Little, Self::Big].into_iter();
        let mut fits = both.filter(|order| DitgReader::new(*order).read(bytes).is_ok());
        fits.next()
    }

    fn number(self, bytes: [u8; 4]) -> u32 {
        match self {
            Self::Little => u32::from_le_bytes(bytes),
            Self::Big => u32::from_be_bytes(bytes),
        }
    }

    fn real(self, bytes: [u8; 8]) -> f64 {
        match self {
            Self::Little => f64::from_le_bytes(bytes),
            Self::Big => f64::from_be_bytes(bytes),
        }
    }
}

impl DitgReader {
    /// A reader of a log in this byte order.
    pub fn new(order: ByteOrder) -> Self {
        Self {
            order,
            known: vec![None; KNOWN_FLOWS as usize],
        }
    }

    /// Reads a record.
    ///
    /// # Errors
    /// A field has a value that no log has.
    pub fn read(&mut self, bytes: &[u8; RECORD_LEN]) -> Result<DitgRecord, Error> {
        let order = self.order;
        let number = |at: usize| Ok::<_, Error>(order.number(array(bytes, at)?));
        let instant = |at: usize, seconds: usize| {
            let seconds = order.real(array(bytes, seconds)?);
            time_of_day(number(at)?, number(at + 4)?, seconds)
        };
        let flow = number(0)?;
        let [source, destination] = self.ends(flow, bytes)?;
        let record = DitgRecord {
            flow,
            sequence: number(4)?,
            source,
            destination,
            sent: instant(16, 128)?,
            received: instant(24, 136)?,
            size: number(32)?,
        };
        record.checked()
    }

    /// The ends that stand in the bytes of ports and addresses.
    fn ends(&mut self, flow: u32, bytes: &[u8; RECORD_LEN]) -> Result<[SocketAddr; 2], Error> {
        let known = &mut self.known[(flow % KNOWN_FLOWS) as usize];
        let is_known = known
            .as_ref()
            .is_some_and(|known| bytes[8..16] == known.ports && bytes[36..128] == known.addresses);
        if let Some(known) = known.as_ref().filter(|_| is_known) {
            return Ok(known.ends);
        }
        let (ports, addresses) = (array(bytes, 8)?, array(bytes, 36)?);
        let end = |which: usize| {
            let port = self.order.number(array(&ports, 4 * which)?);
            let port = u16::try_from(port).map_err(|_| Error::Malformed(Field::Port))?;
            let at = ADDRESS_LEN * which;
            let address = address(&addresses[at..at + ADDRESS_LEN])?;
            Ok::<_, Error>(SocketAddr::new(address, port))
        };
        let ends = [end(0)?, end(1)?];
        *known = Some(Ends {
            ports,
            addresses,
            ends,
        });
        Ok(ends)
    }
}

impl DitgRecord {
    /// Reads a line of text without its end.
    ///
    /// # Errors
    /// It is no line of a log.
    pub fn parse_line(line: &str) -> Result<Self, Error> {
        let mut rest = line;
        let mut field = |label: &str| {
            rest = rest.trim_start().strip_prefix(label)?.trim_start();
            let end = rest.find(' ').unwrap_or(rest.len());
            let (value, behind) = rest.split_at(end);
            rest = behind;
            Some(value)
        };
        let mut fields = [""; 7];
        let labels = [
            "Flow>", "Seq>", "Src>", "Dest>", "txTime>", "rxTime>", "Size>",
        ];
        for (value, label) in fields.iter_mut().zip(labels) {
            *value = field(label).ok_or(Error::Malformed(Field::Message))?;
        }
        if !rest.trim_end().is_empty() {
            return Err(Error::Malformed(Field::Message));
        }
        let number = |text: &str, field| text.parse().map_err(|_| Error::Malformed(field));
        let end = |text: &str| {
            let (address, port) = text.rsplit_once('/').ok_or(Error::Malformed(Field::Port))?;
            let address = address
                .parse()
                .map_err(|_| Error::Malformed(Field::Address))?;
            let port = port.parse().map_err(|_| Error::Malformed(Field::Port))?;
            Ok::<_, Error>(SocketAddr::new(address, port))
        };
        let instant = |text: &str| {
            let mut parts = text.splitn(3, ':');
            let mut part = || parts.next().ok_or(Error::Malformed(Field::Time));
            let (hour, minute) = (part()?, part()?);
            let seconds = part()?.parse().map_err(|_| Error::Malformed(Field::Time))?;
            time_of_day(
                number(hour, Field::Time)?,
                number(minute, Field::Time)?,
                seconds,
            )
        };
        let record = Self {
            flow: number(fields[0], Field::Flow)?,
            sequence: number(fields[1], Field::Sequence)?,
            source: end(fields[2])?,
            destination: end(fields[3])?,
            sent: instant(fields[4])?,
            received: instant(fields[5])?,
            size: number(fields[6], Field::Length)?,
        };
        record.checked()
    }

    fn checked(self) -> Result<Self, Error> {
        match self.sequence {
            0 => Err(Error::Malformed(Field::Sequence)),
            _ => Ok(self),
        }
    }

    /// The bytes of the record on a machine with little-endian numbers.
    pub fn emit(&self) -> [u8; RECORD_LEN] {
        let mut bytes = [0; RECORD_LEN];
        let mut put = |at: usize, part: &[u8]| bytes[at..at + part.len()].copy_from_slice(part);
        let numbers = [
            self.flow,
            self.sequence,
            self.source.port().into(),
            self.destination.port().into(),
        ];
        for (at, number) in numbers.into_iter().enumerate() {
            put(4 * at, &number.to_le_bytes());
        }
        for (at, seconds, time) in [(16, 128, self.sent), (24, 136, self.received)] {
            let (minutes, rest) = (time / MINUTE, time % MINUTE);
            let hour = u32::try_from(minutes / 60 % 24).unwrap_or_default();
            let minute = u32::try_from(minutes % 60).unwrap_or_default();
            put(at, &hour.to_le_bytes());
            put(at + 4, &minute.to_le_bytes());
            put(seconds, &(rest as f64 / 1e9).to_le_bytes());
        }
        put(32, &self.size.to_le_bytes());
        for (at, end) in [(36, self.source), (82, self.destination)] {
            let text: String = format!("{}", end.ip());
            put(at, text.as_bytes());
        }
        bytes
    }
}

/// An address as text before the first zero.
fn address(bytes: &[u8]) -> Result<IpAddr, Error> {
    let text = bytes.split(|byte| *byte == 0).next().unwrap_or_default();
    let text = str::from_utf8(text).map_err(|_| Error::Malformed(Field::Address))?;
    text.parse().map_err(|_| Error::Malformed(Field::Address))
}

/// Nanoseconds since midnight.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the seconds are checked"
)]
fn time_of_day(hour: u32, minute: u32, seconds: f64) -> Result<u64, Error> {
    if hour > 23 || minute > 59 || !(0.0..MOST_SECONDS).contains(&seconds) {
        return Err(Error::Malformed(Field::Time));
    }
    let nanos = (seconds * 1e9 + 0.5) as u64;
    Ok(u64::from(hour * 60 + minute) * MINUTE + nanos)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::fuzz::{cases, chance};

    /// A record as ITGRecv wrote it on a machine with x86-64, in hexadecimal digits.
    const WRITTEN: &str = "01000000010000005ee80000272300000300000002000000030000000200\
        0000c8000000";

    /// A line as ITGDec wrote it.
    const LINE: &str = "Flow>0002 Seq>      1 Src>                                     127.0.0.1/55318 Dest>                                     127.0.0.1/10002 txTime>3:3:20.691957 rxTime>3:3:20.692022 Size>  300";

    fn written() -> [u8; RECORD_LEN] {
        let mut bytes = [0; RECORD_LEN];
        let digits = WRITTEN.as_bytes().chunks(2);
        for (to, digits) in bytes.iter_mut().zip(digits) {
            *to = u8::from_str_radix(str::from_utf8(digits).unwrap(), 16).unwrap();
        }
        for at in [36, 82] {
            bytes[at..at + 9].copy_from_slice(b"127.0.0.1");
        }
        for at in [128, 136] {
            let seconds = [0x08, 0xcb, 0xd8, 0xd0, 0xcd, 0xce, 0x31, 0x40];
            bytes[at..at + 8].copy_from_slice(&seconds);
        }
        bytes
    }

    #[test]
    fn a_record_of_the_real_program_is_read_and_written() {
        let bytes = written();
        assert_eq!(ByteOrder::of(&bytes), Some(ByteOrder::Little));
        let record = DitgReader::new(ByteOrder::Little).read(&bytes).unwrap();
        let at = ((3 * 60 + 2) * 60 * 1_000_000 + 17_807_828) * 1_000;
        assert_eq!((record.sent, record.received), (at, at));
        assert_eq!((record.flow, record.sequence, record.size), (1, 1, 200));
        assert_eq!(record.source, "127.0.0.1:59486".parse().unwrap());
        assert_eq!(record.destination, "127.0.0.1:8999".parse().unwrap());
        assert_eq!(record.emit(), bytes);
    }

    #[test]
    fn a_line_of_the_real_program_is_read() {
        let line = LINE;
        let record = DitgRecord::parse_line(line).unwrap();
        assert_eq!((record.flow, record.sequence, record.size), (2, 1, 300));
        assert_eq!(record.received - record.sent, 65_000);
        assert_eq!(record.destination.port(), 10_002);
        for bad in [
            "",
            "Flow>1",
            &line.replace("Seq>      1", "Seq>      0"),
            &line.replace("3:3:20.692022", "24:3:20.692022"),
            &line.replace("/55318", "/65536"),
            &format!("{line} x"),
        ] {
            assert!(DitgRecord::parse_line(bad).is_err(), "{bad}");
        }
    }

    /// The record on a machine with the other byte order.
    fn other_order(mut bytes: [u8; RECORD_LEN]) -> [u8; RECORD_LEN] {
        for at in (0..36).step_by(4) {
            bytes[at..at + 4].reverse();
        }
        for at in [128, 136] {
            bytes[at..at + 8].reverse();
        }
        bytes
    }

    proptest! {
        #[test]
        fn a_written_record_is_read_as_it_was_in_both_orders(
            flow in any::<u32>(),
            sequence in 1_u32..,
            ports in any::<[u16; 2]>(),
            source in any::<IpAddr>(),
            destination in any::<IpAddr>(),
            times in [0..86_400_000_000_000_u64, 0..86_400_000_000_000_u64],
            size in any::<u32>(),
        ) {
            let record = DitgRecord {
                flow,
                sequence,
                source: SocketAddr::new(source, ports[0]),
                destination: SocketAddr::new(destination, ports[1]),
                sent: times[0],
                received: times[1],
                size,
            };
            let bytes = record.emit();
            let mut reader = DitgReader::new(ByteOrder::Little);
            for _ in 0..2 {
                prop_assert_eq!(reader.read(&bytes), Ok(record));
            }
            let other = other_order(bytes);
            prop_assert_eq!(DitgReader::new(ByteOrder::Big).read(&other), Ok(record));
        }
    }

    /// Reads a record and a line, and counts each that is accepted.
    fn read_both(reader: &mut DitgReader, record: &[u8; RECORD_LEN], line: &[u8]) -> [u32; 2] {
        let line = str::from_utf8(line).map(DitgRecord::parse_line);
        [
            reader.read(record),
            line.unwrap_or(Err(Error::Malformed(Field::Address))),
        ]
        .map(|read| {
            let Ok(record) = read else { return 0 };
            let most = record.sent.max(record.received);
            assert!(record.sequence > 0 && most < (24 * 60 * 60 + 1) * 1_000_000_000);
            // The last minute of a day may have a leap second, which no record has.
            if most < 24 * 60 * MINUTE {
                let mut again = DitgReader::new(ByteOrder::Little);
                assert_eq!(again.read(&record.emit()), Ok(record));
            }
            1
        })
    }

    /// `JUMBOLAB_FUZZ_CASES=10000000 cargo test --release -p jumbolab-wire --lib changed_records
    /// -- --nocapture` tries more.
    #[expect(clippy::print_stdout, reason = "figures of long runs")]
    #[test]
    fn changed_records_and_lines_stop_no_reader_and_are_written_as_they_were_read() {
        let cases = cases(20_000);
        let mut chance = chance(1);
        let mut accepted = [0, 0];
        for number in 0..cases {
            let (mut record, mut line) = (written(), LINE.as_bytes().to_vec());
            for _ in 0..=chance() >> 62 {
                let [.., value, bit, low, high] = chance().to_le_bytes();
                let at = usize::from(u16::from_le_bytes([low, high]));
                record[at % RECORD_LEN] = value;
                // A digit often stays one.
                let at = at % line.len();
                line[at] ^= bit % 8;
            }
            if number % 16 == 0 {
                line.truncate(usize::from(record[8]));
            }
            let order = [ByteOrder::Little, ByteOrder::Big][usize::from(number % 8 == 0)];
            let _ = ByteOrder::of(&record);
            let found = read_both(&mut DitgReader::new(order), &record, &line);
            for (all, found) in accepted.iter_mut().zip(found) {
                *all += u64::from(found);
            }
        }
        std::println!("{accepted:?} of {cases} records and lines accepted");
        assert!(
            accepted.iter().all(|accepted| accepted * 10 >= cases),
            "{accepted:?} of {cases}"
        );
    }
}
