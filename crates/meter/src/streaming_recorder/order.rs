//! Sequence numbers: loss, duplicates and reordering of a flow.

use std::collections::VecDeque;

use super::summary::OrderSummary;

/// Numbers below the highest for which duplicates are recognised. A packet that arrives
/// later than that counts as a late first arrival, in [`OrderSummary::stale`], and
/// stays in the loss bursts.
pub const WINDOW: u64 = 1 << 16;

/// Unbroken runs of arrivals that are kept to compute the extent of reordering. With
/// more runs the reported extent is a lower bound.
pub const RUNS: usize = 4096;

/// The largest degree of n-reordering that is counted; the smallest is 1.
pub const DEGREES: usize = 8;

const WORD: u64 = u64::BITS as u64;
const WORDS: usize = (WINDOW / WORD) as usize;

/// Recorder of the sequence numbers of one flow.
#[derive(Clone, Debug)]
pub struct OrderRecorder {
    /// Numbers from here on were never sent.
    limit: u64,
    /// The highest number that arrived, plus one.
    next: u64,
    /// Number of distinct packets that arrived.
    distinct: u64,
    /// Bitmap of the numbers from `base` to `base + WINDOW`; number `n` has the bit `n
    /// % WINDOW`. Empty before the first packet.
    seen: Vec<u64>,
    /// The lowest number in `seen`, a multiple of [`WORD`].
    base: u64,
    /// Loss bursts among the numbers below `base`.
    bursts: Bursts,
    duplicates: u64,
    unexpected: u64,
    stale: u64,
    reordered: u64,
    /// The runs before `run`.
    runs: VecDeque<Run>,
    run: Run,
    extents: u128,
    largest_extent: u64,
    /// The latest numbers; arrival `i` is at `i % DEGREES`.
    latest: [u64; DEGREES],
    n_reordered: [u64; DEGREES],
}

/// The classification of an arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArrivalClass {
    /// The highest number so far, with the count of numbers skipped before it.
    Ahead(u64),
    /// A number below one that arrived earlier.
    Late,
    /// A number that had arrived before.
    Duplicate,
    /// A number that was never sent.
    Unexpected,
}

impl ArrivalClass {
    /// Whether this is the first arrival of a number that was sent.
    pub fn counts(self) -> bool {
        matches!(self, Self::Ahead(_) | Self::Late)
    }
}

/// Consecutive arrivals with consecutive numbers, each the highest on arrival.
#[derive(Clone, Copy, Debug, Default)]
struct Run {
    /// Index of its first arrival.
    place: u64,
    /// Number of its first arrival.
    first: u64,
    length: u64,
}

/// Runs of numbers that did not arrive.
#[derive(Clone, Copy, Debug, Default)]
struct Bursts {
    count: u64,
    longest: u64,
    /// Length of the current, unfinished run.
    current: u64,
}

impl OrderRecorder {
    /// A recorder without arrivals.
    pub fn new(expected: Option<u64>) -> Self {
        Self {
            limit: expected.unwrap_or(u64::MAX),
            next: 0,
            distinct: 0,
            seen: Vec::new(),
            base: 0,
            bursts: Bursts::default(),
            duplicates: 0,
            unexpected: 0,
            stale: 0,
            reordered: 0,
            runs: VecDeque::new(),
            run: Run::default(),
            extents: 0,
            largest_extent: 0,
            latest: [0; DEGREES],
            n_reordered: [0; DEGREES],
        }
    }

    /// Records the arrival of a number.
    #[inline]
    pub fn record(&mut self, sequence: u64) -> ArrivalClass {
        // No number follows the last one, so it is never sent.
        if sequence >= self.limit {
            self.unexpected += 1;
            return ArrivalClass::Unexpected;
        }
        let place = if sequence >= self.next {
            let skipped = sequence - self.next;
            self.advance(sequence);
            ArrivalClass::Ahead(skipped)
        } else if self.is_copy(sequence) {
            self.duplicates += 1;
            return ArrivalClass::Duplicate;
        } else {
            self.late(sequence);
            ArrivalClass::Late
        };
        self.latest[slot(self.distinct, DEGREES)] = sequence;
        self.distinct += 1;
        place
    }

    #[inline]
    pub(super) fn next_expected(&self) -> u64 {
        self.next
    }

    pub(super) fn distinct(&self) -> u64 {
        self.distinct
    }

    pub(super) fn summary(&self, expected: Option<u64>) -> OrderSummary {
        let expected = expected.unwrap_or(0).max(self.next);
        let mut bursts = self.bursts;
        // The numbers still in the window, then those that never arrived.
        for word in (self.base / WORD)..self.next.div_ceil(WORD) {
            let bits = WORD.min(self.next - word * WORD);
            bursts.take_word(self.seen[slot(word, WORDS)], bits);
        }
        bursts.take_missing(expected - self.next);
        bursts.close();
        OrderSummary {
            expected,
            distinct: self.distinct,
            lost: expected.saturating_sub(self.distinct),
            loss_bursts: bursts.count,
            longest_loss_burst: bursts.longest,
            duplicates: self.duplicates,
            unexpected: self.unexpected,
            stale: self.stale,
            reordered: self.reordered,
            extents: self.extents,
            largest_extent: self.largest_extent,
            n_reordered: self.n_reordered,
        }
    }

    /// Handles the highest number so far.
    #[inline]
    fn advance(&mut self, sequence: u64) {
        if self.seen.is_empty() {
            self.seen = vec![0; WORDS];
        }
        if sequence - self.base >= WINDOW {
            self.retire(sequence);
        }
        self.mark(sequence);
        let Run {
            place,
            first,
            length,
        } = self.run;
        if (place + length, first + length) == (self.distinct, sequence) {
            self.run.length += 1;
        } else {
            self.begin_run(sequence);
        }
        self.next = sequence + 1;
    }

    #[cold]
    fn begin_run(&mut self, sequence: u64) {
        if self.runs.len() == RUNS {
            self.runs.pop_front();
        }
        if self.run.length > 0 {
            self.runs.push_back(self.run);
        }
        self.run = Run {
            place: self.distinct,
            first: sequence,
            length: 1,
        };
    }

    /// Makes room for a number above the window: finalises the numbers that leave the
    /// window below.
    #[cold]
    fn retire(&mut self, sequence: u64) {
        let base = sequence / WORD * WORD - (WINDOW - WORD);
        let known = base.min(self.base.saturating_add(WINDOW));
        for word in (self.base / WORD)..(known / WORD) {
            let seen = &mut self.seen[slot(word, WORDS)];
            self.bursts.take_word(*seen, WORD);
            *seen = 0;
        }
        self.bursts.take_missing(base - known);
        self.base = base;
    }

    /// Whether the number has arrived, if it is not below the window.
    pub fn has(&self, sequence: u64) -> bool {
        sequence < self.next && self.is_copy(sequence)
    }

    fn is_copy(&self, sequence: u64) -> bool {
        sequence >= self.base
            && self.seen[slot(sequence / WORD, WORDS)] >> (sequence % WORD) & 1 == 1
    }

    fn mark(&mut self, sequence: u64) {
        self.seen[slot(sequence / WORD, WORDS)] |= 1 << (sequence % WORD);
    }

    /// Handles a number below the highest, which is smaller than the next expected one
    /// [RFC4737 s3.3].
    #[cold]
    fn late(&mut self, sequence: u64) {
        self.reordered += 1;
        match sequence >= self.base {
            true => self.mark(sequence),
            false => self.stale += 1,
        }
        let extent = self.extent(sequence);
        self.extents += u128::from(extent);
        self.largest_extent = self.largest_extent.max(extent);
        // The n packets right before it all have larger numbers [RFC4737 s5.3].
        let before = self.distinct.saturating_sub(DEGREES as u64)..self.distinct;
        let degree = before
            .rev()
            .take_while(|&at| self.latest[slot(at, DEGREES)] > sequence)
            .count();
        self.n_reordered[..degree].iter_mut().for_each(|n| *n += 1);
    }

    /// The number of packets between this one and the first earlier arrival with a
    /// larger number [RFC4737 s4.2]. That one was the highest on arrival.
    fn extent(&self, sequence: u64) -> u64 {
        let newer = self.runs.partition_point(|run| run.first <= sequence);
        let runs = || self.runs.iter().chain([&self.run]);
        // The run that contains the number: its next number is larger.
        let last = newer.saturating_sub(1);
        let larger = runs().skip(last).find_map(|run| {
            let skipped = (sequence + 1).saturating_sub(run.first);
            (skipped < run.length).then_some(run.place + skipped)
        });
        self.distinct - larger.unwrap_or(self.distinct)
    }
}

impl Bursts {
    /// Finalises `bits` numbers, of which those with a set bit arrived.
    fn take_word(&mut self, word: u64, bits: u64) {
        if word == u64::MAX {
            self.close();
            return;
        }
        for bit in 0..bits {
            match word >> bit & 1 {
                1 => self.close(),
                _ => self.current += 1,
            }
        }
    }

    fn take_missing(&mut self, count: u64) {
        self.current += count;
    }

    fn close(&mut self) {
        if self.current > 0 {
            self.count += 1;
            self.longest = self.longest.max(self.current);
            self.current = 0;
        }
    }
}

/// An index in a ring.
fn slot(at: u64, ring: usize) -> usize {
    let ring = ring as u64;
    usize::try_from(at % ring).expect("a ring is in memory")
}
