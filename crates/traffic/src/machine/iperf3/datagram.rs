//! Datagrams of iperf3: the handshake, the header, and what a receiver counts.

/// The first datagram of a stream, and the answer to it. A machine of the other byte order
/// sends the characters in the other order.
const OPENING: [u8; 4] = *b"9876";
const ANSWER: [u8; 4] = *b"6789";

/// The bytes of the smallest datagram: the largest header.
pub const LEAST_DATAGRAM: usize = 16;

/// Whether a datagram asks for a stream; its answer.
pub fn opens(datagram: &[u8]) -> Option<[u8; 4]> {
    match datagram {
        bytes if bytes == OPENING => Some(ANSWER),
        bytes if bytes == ANSWER => Some(OPENING),
        _ => None,
    }
}

/// Whether a datagram answers that of this machine, which is the first value.
pub fn answers() -> ([u8; 4], [u8; 4]) {
    (OPENING, ANSWER)
}

/// The header: a time in seconds and microseconds, and a number, each big-endian.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// The sender's clock in microseconds. Its zero is any.
    pub sent_micros: u64,
    /// The number of the datagram in its stream, from 1; of 32 bits, the lower ones.
    pub number: u64,
}

impl Header {
    /// Writes the header, with a number of 64 bits if it is `wide`, at the start of a datagram
    /// of [`LEAST_DATAGRAM`] bytes or more.
    pub fn emit(self, datagram: &mut [u8], wide: bool) {
        let seconds = u32::try_from(self.sent_micros / 1_000_000).unwrap_or(u32::MAX);
        let micros = u32::try_from(self.sent_micros % 1_000_000).unwrap_or_default();
        datagram[..4].copy_from_slice(&seconds.to_be_bytes());
        datagram[4..8].copy_from_slice(&micros.to_be_bytes());
        let number = self.number.to_be_bytes();
        match wide {
            true => datagram[8..16].copy_from_slice(&number),
            false => datagram[8..12].copy_from_slice(&number[4..]),
        }
    }

    /// Reads a header; `None` of a shorter datagram.
    pub fn parse(datagram: &[u8], wide: bool) -> Option<Self> {
        let word = |at: usize| {
            let bytes = datagram.get(at..)?.first_chunk::<4>()?;
            Some(u64::from(u32::from_be_bytes(*bytes)))
        };
        let number = match wide {
            true => word(8)? << 32 | word(12)?,
            false => word(8)?,
        };
        Some(Self {
            sent_micros: word(0)? * 1_000_000 + word(4)?,
            number,
        })
    }
}

/// The numbers behind the highest one of which a receiver knows whether they have arrived.
const WINDOW: u64 = 4096;

/// The datagrams of a stream at its receiver.
#[derive(Debug)]
pub struct Arrivals {
    wide: bool,
    highest: u64,
    received: u64,
    duplicates: u64,
    reordered: u64,
    /// A bit for each of the last [`WINDOW`] numbers that has arrived.
    seen: Box<[u64]>,
    /// The last difference between arrival and departure, in nanoseconds.
    transit: Option<f64>,
    jitter: f64,
}

impl Arrivals {
    /// None yet, of a stream whose numbers have 64 bits if it is `wide`.
    pub fn new(wide: bool) -> Self {
        Self {
            wide,
            highest: 0,
            received: 0,
            duplicates: 0,
            reordered: 0,
            seen: vec![0; usize::try_from(WINDOW / 64).unwrap_or_default()].into(),
            transit: None,
            jitter: 0.0,
        }
    }

    /// Counts a datagram that arrived at `at`, in nanoseconds of this clock. Returns whether
    /// it is a new one.
    pub fn record(&mut self, header: Header, at: u64) -> bool {
        let Some(number) = self.whole(header.number) else {
            return false;
        };
        if number > self.highest {
            let skipped = (number - self.highest).min(WINDOW);
            for old in number - skipped + 1..=number {
                self.mark(old, false);
            }
            self.highest = number;
        } else if self.highest - number < WINDOW && self.is_marked(number) {
            self.duplicates += 1;
            return false;
        } else {
            self.reordered += 1;
        }
        self.mark(number, true);
        self.received += 1;
        self.time(header, at);
        true
    }

    /// The highest number.
    pub fn highest(&self) -> u64 {
        self.highest
    }

    /// The datagrams, each counted once.
    pub fn received(&self) -> u64 {
        self.received
    }

    /// Those below the highest number that have not arrived.
    pub fn lost(&self) -> u64 {
        self.highest.saturating_sub(self.received)
    }

    /// Datagrams that had arrived before.
    pub fn duplicates(&self) -> u64 {
        self.duplicates
    }

    /// Datagrams that arrived after one with a higher number [RFC4737 s3].
    pub fn reordered(&self) -> u64 {
        self.reordered
    }

    /// The interarrival jitter in nanoseconds [RFC3550 s6.4.1].
    pub fn jitter(&self) -> f64 {
        self.jitter
    }

    /// The number of a datagram, of which 32 bits may be known: the one next to the highest.
    fn whole(&self, number: u64) -> Option<u64> {
        if self.wide {
            return Some(number).filter(|number| *number > 0);
        }
        let lower = |number: u64| u32::try_from(number & u64::from(u32::MAX)).unwrap_or_default();
        let [number, highest] = [number, self.highest].map(lower);
        let step = number.wrapping_sub(highest).cast_signed();
        let whole = self.highest.checked_add_signed(step.into())?;
        Some(whole).filter(|number| *number > 0)
    }

    fn time(&mut self, header: Header, at: u64) {
        let transit = at as f64 - header.sent_micros as f64 * 1e3;
        if let Some(before) = self.transit.replace(transit) {
            self.jitter += ((transit - before).abs() - self.jitter) / 16.0;
        }
    }

    fn place(number: u64) -> (usize, u64) {
        let number = number % WINDOW;
        (
            usize::try_from(number / 64).unwrap_or_default(),
            number % 64,
        )
    }

    fn mark(&mut self, number: u64, arrived: bool) {
        let (word, bit) = Self::place(number);
        match arrived {
            true => self.seen[word] |= 1 << bit,
            false => self.seen[word] &= !(1 << bit),
        }
    }

    fn is_marked(&self, number: u64) -> bool {
        let (word, bit) = Self::place(number);
        self.seen[word] >> bit & 1 == 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn header(number: u64) -> Header {
        Header {
            sent_micros: 0,
            number,
        }
    }

    #[test]
    fn the_header_is_that_of_a_datagram_of_iperf3() {
        // The first of a test with numbers of 32 bits, and one of 64.
        let seen = [
            0, 0, 0x66, 0x58, 0, 0x0d, 0x39, 0x9c, 0, 0, 0, 1, 0x47, 5, 0x7a, 0x4e,
        ];
        let read = Header::parse(&seen, false).unwrap();
        assert_eq!(
            read,
            Header {
                sent_micros: 26_200_866_716,
                number: 1
            }
        );
        let mut written = seen;
        written[..12].fill(0xff);
        read.emit(&mut written, false);
        assert_eq!(written, seen);
        read.emit(&mut written, true);
        assert_eq!(Header::parse(&written, true), Some(read));
        assert_eq!(Header::parse(&seen[..11], false), None);
        assert_eq!(Header::parse(&seen[..15], true), None);
        assert_eq!(opens(b"9876"), Some(*b"6789"));
        assert_eq!(opens(b"6789"), Some(*b"9876"));
        assert_eq!(opens(b"98765"), None);
    }

    #[test]
    fn jitter_moves_by_a_sixteenth() {
        let mut arrivals = Arrivals::new(false);
        for (number, sent_micros, at) in [(1, 0, 5_000), (2, 100, 121_000), (3, 200, 205_000)] {
            arrivals.record(
                Header {
                    sent_micros,
                    number,
                },
                at,
            );
        }
        // Transits of 5, 21 and 5 us: 0 + 16/16 = 1, then 1 + (16 - 1)/16.
        assert!((arrivals.jitter() - 1_937.5).abs() < 1e-6);
    }

    #[test]
    fn numbers_of_32_bits_go_on_behind_the_last() {
        let mut arrivals = Arrivals::new(false);
        for number in [0x7fff_fff0_u64, 0xffff_ffe0, 0xffff_ffff, 0, 1, 0xffff_fffe] {
            assert!(arrivals.record(header(number), 0), "{number}");
        }
        assert_eq!(arrivals.highest(), (1 << 32) + 1);
        assert_eq!((arrivals.received(), arrivals.reordered()), (6, 1));
        assert!(!Arrivals::new(false).record(header(0), 0));
        assert!(!Arrivals::new(true).record(header(0), 0));
    }

    proptest! {
        #[test]
        fn received_and_lost_are_all_up_to_the_highest(
            numbers in prop::collection::vec(1_u64..300, 1..200),
            wide in any::<bool>(),
        ) {
            let mut arrivals = Arrivals::new(wide);
            for number in &numbers {
                arrivals.record(header(*number), 0);
            }
            let different: BTreeSet<_> = numbers.iter().collect();
            prop_assert_eq!(arrivals.received(), different.len() as u64);
            prop_assert_eq!(arrivals.duplicates(), (numbers.len() - different.len()) as u64);
            let highest = numbers.iter().max().copied();
            prop_assert_eq!(Some(arrivals.received() + arrivals.lost()), highest);
        }
    }
}
