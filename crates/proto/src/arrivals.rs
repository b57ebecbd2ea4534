//! The arrival curve of a transfer, and the goodput that may be read off it.

use units::{Bytes, Rate, Span, Time};

/// The start of counting is sought in the first of so many parts.
const SEARCH: u64 = 20;

/// Where that start turns out wrong, in the first of so many parts.
const WIDER: u64 = 2;

/// A window that shows more than the pace by less than one part in so many is
/// left as it is: stamps are no closer.
const FORGIVEN: i128 = 2_000;

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
///
/// A sender that is hardly faster than the link, or waits for a processor, may
/// leave tokens in the bucket for all of that stretch. It shows: the window
/// holds more than the link carries in its time, which a window that began with
/// an empty bucket cannot. Then, and only then, counting starts at the largest
/// lead in the first half. A window that still holds too much is left so.
///
/// Without a pace it starts at the first point at or after the pre-roll. It
/// ends at the very last point, so that a stall at the end counts.
///
/// Behind a bucket that was once empty in one of these stretches, the window
/// cannot show more than the pace by more than one frame.
#[derive(Clone, Debug)]
pub struct Arrivals {
    preroll: Bytes,
    counted: Bytes,
    pace: Option<Rate>,
    /// The first point at or after the pre-roll, settled or not.
    earliest: Option<Point>,
    /// The first settled point at or after the pre-roll.
    first: Option<Point>,
    /// The best start so far.
    start: Option<Start>,
    /// The best one where that is wrong.
    later: Option<Start>,
    /// The last point of all.
    last: Option<Point>,
}

/// So many octets had arrived by then.
#[derive(Clone, Copy, Debug)]
struct Point {
    total: Bytes,
    stamp: Time,
}

/// A point, and how many octets it is ahead of the pace.
#[derive(Clone, Copy, Debug)]
struct Start {
    point: Point,
    lead: i128,
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

impl Arrivals {
    /// A transfer of `preroll` octets that are not counted, and `counted` that
    /// are, over a path that carries no more goodput than `pace`.
    pub fn new(preroll: Bytes, counted: Bytes, pace: Option<Rate>) -> Self {
        Self {
            preroll,
            counted,
            pace,
            earliest: None,
            first: None,
            start: None,
            later: None,
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
        for (parts, best) in [(SEARCH, &mut self.start), (WIDER, &mut self.later)] {
            let latest = self.preroll + Bytes::new(self.counted.get() / parts);
            if total <= latest && best.is_none_or(|best| lead > best.lead) {
                *best = Some(Start { point, lead });
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
        let start = self.best_start(last).map(|start| start.point);
        let first = start
            .filter(|start| start.stamp < last.stamp)
            .unwrap_or(plain);
        let (bytes, span) = between(first, last)?;
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

    /// Where a window that ends at `last` begins by choice.
    fn best_start(&self, last: Point) -> Option<Start> {
        let (start, first) = (self.start?, self.first?);
        let window = last.total.get().saturating_sub(start.point.total.get());
        let above = self.lead(last, first) - start.lead;
        let shows = self.pace.is_some() && above > i128::from(window) / FORGIVEN;
        let later = self.later.filter(|later| later.point.stamp < last.stamp);
        Some(later.filter(|_| shows).unwrap_or(start))
    }
}

/// What arrived between two points, if time passed and the totals grew.
fn between(first: Point, last: Point) -> Option<(Bytes, Span)> {
    let span = last.stamp.since(first.stamp)?;
    let bytes = last.total.checked_sub(first.total)?;
    (span > Span::ZERO).then_some((bytes, span))
}

#[expect(clippy::cast_precision_loss, reason = "a figure for people")]
fn bits_per_second(bytes: Bytes, span: Span) -> f64 {
    bytes.get() as f64 * 8.0 / span.as_secs_f64()
}

#[cfg(test)]
mod tests;
