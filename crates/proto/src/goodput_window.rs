//! The arrival curve of a transfer, and the goodput that may be read off it.

use units::{Bytes, Rate, Span, Time};

/// The start of counting is sought in the first of so many parts, and where
/// that cannot have been the start, in the first of so many.
const SEARCH: u64 = 20;
const LONGER_SEARCH: u64 = 2;

/// By which share of the pace a goodput may read too high, for the stamps at
/// its ends and the frame there: a convention.
pub const TOLERANCE: f64 = 0.002;

/// The arrival curve of one transfer, as much of it as the goodput needs.
///
/// A token bucket lets stored tokens through at once, so a window that begins
/// while the bucket holds some counts octets as though they had taken no
/// time, and shows more than the link carries. The bucket is at its emptiest
/// when the arrivals are furthest ahead of the pace that the link can keep.
/// So counting starts there: at the point, of those in the first twentieth of
/// the counted octets, with the largest lead over the pace. The stretch is short
/// because a sender slower than the link would be measured too low by a longer
/// one: its largest lead is chance.
/// Without a pace it starts at the first point at or after the pre-roll. It
/// ends at the very last point, so that a stall at the end counts.
///
/// Behind a bucket that was once empty in that stretch, the window cannot show
/// more than the pace by more than one frame. Where it does show more, by over
/// [`TOLERANCE`], the bucket held tokens all along, because the sender was kept
/// waiting there, and the sender is not slower than the link: then counting
/// starts at the largest lead of the first half.
#[derive(Clone, Debug)]
pub struct GoodputWindow {
    preroll: Bytes,
    /// The largest total at which counting may start by choice, and where
    /// such a start shows too much.
    latest: [Bytes; 2],
    pace: Option<Rate>,
    /// The first point at or after the pre-roll, settled or not.
    earliest: Option<Point>,
    /// The first settled point at or after the pre-roll.
    first: Option<Point>,
    /// The best start up to each of them so far, and its lead over the pace in octets.
    starts: [Option<(Point, i128)>; 2],
    /// The last point of all.
    last: Option<Point>,
}

/// So many octets had arrived by then.
#[derive(Clone, Copy, Debug)]
struct Point {
    total: Bytes,
    stamp: Time,
}

/// What arrived within a window, and how fast.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Goodput {
    /// Octets that arrived after `first`, up to `last`.
    pub bytes: Bytes,
    /// From `first` to `last`; never zero.
    pub span: Span,
    /// `bytes` in `span`.
    pub bits_per_second: f64,
    /// The same from the very first point after the pre-roll: what it would be
    /// if the bucket had been empty there.
    pub plain_bits_per_second: f64,
    /// Where counting starts.
    pub first: Time,
    /// Where counting ends.
    pub last: Time,
}

impl GoodputWindow {
    /// A transfer of `preroll` octets that are not counted, and `counted` that
    /// are, over a path that carries no more goodput than `pace`.
    pub fn new(preroll: Bytes, counted: Bytes, pace: Option<Rate>) -> Self {
        Self {
            preroll,
            latest: [SEARCH, LONGER_SEARCH].map(|part| preroll + Bytes::new(counted.get() / part)),
            pace,
            earliest: None,
            first: None,
            starts: [None; 2],
            last: None,
        }
    }

    /// Takes down that `total` octets had arrived by `stamp`, pre-roll
    /// included. `settled` says that nothing more was waiting then, so that
    /// the stamp is that of the last octet; counting begins at a point that is
    /// not only where there is no other.
    pub fn record(&mut self, total: Bytes, stamp: Time, settled: bool) {
        let point = Point { total, stamp };
        self.last = Some(point);
        if total < self.preroll {
            return;
        }
        self.earliest.get_or_insert(point);
        if !settled {
            return;
        }
        let first = *self.first.get_or_insert(point);
        let lead = self.lead(point, first);
        for (start, latest) in self.starts.iter_mut().zip(self.latest) {
            if total <= latest && start.is_none_or(|(_, largest)| lead > largest) {
                *start = Some((point, lead));
            }
        }
    }

    /// How many octets `point` is ahead of the pace, counted from `first`.
    fn lead(&self, point: Point, first: Point) -> i128 {
        let Some(pace) = self.pace else { return 0 };
        // A clock that stepped back shows no time.
        let due = pace.carries(point.stamp.since(first.stamp).unwrap_or_default());
        i128::from(point.total.get()) - i128::from(due.get())
    }

    /// The goodput so far, or `None` while there is no window, or if the clock
    /// did not advance within it, or if the totals went down.
    pub fn goodput(&self) -> Option<Goodput> {
        let last = self.last?;
        let settled = self.first.filter(|first| first.stamp < last.stamp);
        let plain = settled.or(self.earliest)?;
        let from = |start: Option<(Point, i128)>| {
            let start = start.map(|(point, _)| point);
            let first = start.filter(|start| start.stamp < last.stamp);
            let first = first.unwrap_or(plain);
            Some((first, between(first, last)?))
        };
        let [near, far] = self.starts.map(from);
        let (first, (bytes, span)) = near
            .filter(|(_, window)| !self.exceeded(*window))
            .or(far)
            .or(near)?;
        let (plain_bytes, plain_span) = between(plain, last)?;
        Some(Goodput {
            bytes,
            span,
            bits_per_second: bits_per_second(bytes, span),
            plain_bits_per_second: bits_per_second(plain_bytes, plain_span),
            first: first.stamp,
            last: last.stamp,
        })
    }

    /// Whether a window shows more than the path carries.
    fn exceeded(&self, (bytes, span): (Bytes, Span)) -> bool {
        let limit = |pace: Rate| pace.megabits_per_second() * 1e6 * (1.0 + TOLERANCE);
        (self.pace).is_some_and(|pace| bits_per_second(bytes, span) > limit(pace))
    }
}

/// What arrived between two points, if time passed and the totals grew.
fn between(first: Point, last: Point) -> Option<(Bytes, Span)> {
    let span = last.stamp.since(first.stamp)?;
    let bytes = last.total.checked_sub(first.total)?;
    (span > Span::ZERO).then_some((bytes, span))
}

fn bits_per_second(bytes: Bytes, span: Span) -> f64 {
    bytes.get() as f64 * 8.0 / span.as_secs_f64()
}

#[cfg(test)]
mod tests;
