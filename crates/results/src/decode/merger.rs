//! Merges the blocks of a log's flows by time.
//!
//! A writer appends the records of a flow in blocks, and the blocks of several flows in
//! the order in which they were complete. Statistics over all flows need the records in
//! the order of their times. The records of one flow keep the order of the log within
//! a block, because it is the order of arrival even where a timestamp is late.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};

use anyhow::{Result, bail};
use wire::log::Record;

/// The most records that wait for others: 128 MiB. The blocks of a log are out of
/// order by a second or two, for which its writer aggregates records.
pub(super) const MOST_WAITING: usize = 1 << 22;

/// A record that waits for its turn; times in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Waiting {
    /// The time at which it was made.
    pub(super) at: u64,
    pub(super) sequence: u64,
    pub(super) sent: u64,
    pub(super) size: u32,
    /// Whether `at` is a time of arrival.
    pub(super) arrived: bool,
    /// Whether the time of sending is unknown.
    pub(super) is_untimed: bool,
    /// Whether it is a round trip that never returned.
    pub(super) is_unanswered: bool,
}

impl Waiting {
    /// The record, which was made at this time.
    pub(super) fn of(at: u64, record: &Record) -> Self {
        Self {
            at,
            sequence: record.sequence,
            sent: record.sent,
            size: record.size,
            arrived: record.received.is_some() || record.returned.is_some(),
            is_untimed: record.marks.untimed,
            is_unanswered: false,
        }
    }
}

/// Records that wait for those before them.
#[derive(Default)]
pub(super) struct Merger {
    flows: BTreeMap<u32, FlowQueue>,
    /// The time and the flow of each flow's next record.
    next: BTreeSet<(u64, u32)>,
    waiting: usize,
}

/// The waiting records of a flow.
#[derive(Default)]
struct FlowQueue {
    pieces: BinaryHeap<Reverse<Piece>>,
    /// The rest of the piece that was begun.
    begun: std::vec::IntoIter<Waiting>,
    /// The latest time of the records so far.
    latest: u64,
}

/// The records of one flow in a block.
struct Piece(Vec<Waiting>);

impl Merger {
    /// Whether no record waits.
    pub(super) const fn is_empty(&self) -> bool {
        self.waiting == 0
    }

    /// Adds the records of `flow` in a block, in the order of the log.
    ///
    /// # Errors
    /// Too many records wait.
    pub(super) fn push(&mut self, flow: u32, records: Vec<Waiting>) -> Result<()> {
        if records.is_empty() {
            return Ok(());
        }
        self.waiting += records.len();
        if self.waiting > MOST_WAITING {
            bail!(
                "its blocks are out of order by more than {MOST_WAITING} records, which no \
                 writer of packet logs leaves; it cannot be decoded"
            );
        }
        let queue = self.flows.entry(flow).or_default();
        if let Some(next) = queue.next() {
            self.next.remove(&(next, flow));
        }
        queue.pieces.push(Reverse(Piece(records)));
        self.next.extend(queue.next().map(|next| (next, flow)));
        Ok(())
    }

    /// Passes on, in order, the records before `horizon`; with `None` all of them. No
    /// piece that is added later may begin before it.
    ///
    /// # Errors
    /// Those of `take`.
    pub(super) fn release(
        &mut self,
        horizon: Option<u64>,
        mut take: impl FnMut(u32, Waiting) -> Result<()>,
    ) -> Result<()> {
        let due = |at: u64| horizon.is_none_or(|horizon| at < horizon);
        while let Some((at, flow)) = self.next.pop_first() {
            let Some(queue) = self.flows.get_mut(&flow).filter(|_| due(at)) else {
                self.next.insert((at, flow));
                break;
            };
            // The flow's records up to the next record of another one.
            let other = self.next.first().copied().unwrap_or((u64::MAX, u32::MAX));
            let mut next = Some(at);
            while let Some(at) = next.filter(|&at| due(at) && (at, flow) <= other) {
                queue.latest = at;
                self.waiting -= 1;
                take(flow, queue.pop())?;
                next = queue.next();
            }
            self.next.extend(next.map(|at| (at, flow)));
        }
        Ok(())
    }
}

impl FlowQueue {
    /// The time of the next record, but not before those that precede it.
    fn next(&self) -> Option<u64> {
        let begun = self.begun.as_slice().first();
        let next = begun.or_else(|| self.pieces.peek()?.0.0.first())?;
        Some(next.at.max(self.latest))
    }

    fn pop(&mut self) -> Waiting {
        if self.begun.as_slice().is_empty()
            && let Some(Reverse(piece)) = self.pieces.pop()
        {
            self.begun = piece.0.into_iter();
        }
        self.begun.next().expect("the caller has seen its time")
    }
}

impl Piece {
    /// The order of a flow's pieces, by their content alone.
    fn rank(&self) -> ([Option<(u64, u64)>; 2], usize) {
        let ends = [self.0.first(), self.0.last()];
        let ends = ends.map(|end| end.map(|record| (record.at, record.sequence)));
        (ends, self.0.len())
    }
}

impl PartialEq for Piece {
    fn eq(&self, other: &Self) -> bool {
        self.rank() == other.rank()
    }
}

impl Eq for Piece {}

impl PartialOrd for Piece {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Piece {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.rank().cmp(&other.rank())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(at: u64, sequence: u64) -> Waiting {
        Waiting {
            at,
            sequence,
            sent: 0,
            size: 1,
            arrived: true,
            is_untimed: false,
            is_unanswered: false,
        }
    }

    fn released(merger: &mut Merger, horizon: Option<u64>) -> Vec<(u32, u64)> {
        let mut taken = Vec::new();
        let take = |flow, record: Waiting| {
            taken.push((flow, record.sequence));
            Ok(())
        };
        merger.release(horizon, take).unwrap();
        taken
    }

    #[test]
    fn records_before_the_horizon_are_released_in_order() {
        let mut merger = Merger::default();
        merger.push(1, vec![record(0, 0), record(20, 1)]).unwrap();
        merger.push(2, vec![record(10, 0), record(30, 1)]).unwrap();
        assert_eq!(released(&mut merger, Some(20)), [(1, 0), (2, 0)]);
        merger.push(3, vec![record(20, 0)]).unwrap();
        assert_eq!(released(&mut merger, None), [(1, 1), (3, 0), (2, 1)]);
        assert_eq!(merger.waiting, 0);
    }

    #[test]
    fn a_late_timestamp_does_not_reorder_its_flow() {
        let mut merger = Merger::default();
        merger.push(1, vec![record(30, 2)]).unwrap();
        merger.push(1, vec![record(10, 0), record(40, 1)]).unwrap();
        merger.push(2, vec![record(35, 0)]).unwrap();
        let order = [(1, 0), (2, 0), (1, 1), (1, 2)];
        assert_eq!(released(&mut merger, None), order);
    }

    #[test]
    fn a_log_that_is_far_out_of_order_is_rejected() {
        let mut merger = Merger::default();
        let most = vec![record(5, 0); MOST_WAITING];
        merger.push(1, most).unwrap();
        assert_eq!(released(&mut merger, Some(5)), []);
        let error = merger.push(2, vec![record(6, 0)]).unwrap_err();
        assert!(error.to_string().contains("out of order"), "{error}");
    }
}
