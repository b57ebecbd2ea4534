//! The arrival curve of a transfer, and the goodput derived from it.

use units::{Bytes, Rate, Span, Time};

/// The start of the window is searched in the first twentieth of the counted bytes,
/// and if that start is implausible, in the first half.
const SEARCH: u64 = 20;
const LONGER_SEARCH: u64 = 2;

/// The relative excess over the pace that a goodput may show because of the timestamps
/// and the frame at its ends: a convention.
pub const TOLERANCE: f64 = 0.002;

/// The arrival curve of one transfer, reduced to the points that the goodput needs.
///
/// A token bucket passes stored tokens at once. A window that begins while the bucket
/// holds tokens counts bytes as if they had taken no time, and shows more than the
/// link carries. The bucket is emptiest when the arrivals are furthest ahead of the
/// pace that the link can sustain. The window therefore starts at the point with the
/// largest lead over the pace in the first twentieth of the counted bytes. The search
/// is short because a sender slower than the link would be measured too low otherwise:
/// its largest lead is random. Without a pace, the window starts at the first point at
/// or after the warm-up. It ends at the last point, so a stall at the end counts.
///
/// If the bucket was empty once in the searched part, the window cannot exceed the pace
/// by more than one frame. If the window exceeds it by more than [`TOLERANCE`], the
/// bucket held tokens all the time because the sender was delayed there, and the sender
/// is not slower than the link. The window then starts at the largest lead in the first
/// half.
#[derive(Clone, Debug)]
pub struct GoodputWindow {
    warmup: Bytes,
    /// The largest totals at which the first and the second search end.
    latest: [Bytes; 2],
    pace: Option<Rate>,
    /// The first point at or after the warm-up, settled or not.
    earliest: Option<Point>,
    /// The first settled point at or after the warm-up.
    first: Option<Point>,
    /// The best start of each search so far, and its lead over the pace in bytes.
    starts: [Option<(Point, i128)>; 2],
    last: Option<Point>,
}

/// The total number of bytes that had arrived by a time.
#[derive(Clone, Copy, Debug)]
struct Point {
    total: Bytes,
    stamp: Time,
}

/// The bytes that arrived within a window, and their rate.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Goodput {
    /// Bytes that arrived after `first`, up to `last`.
    pub bytes: Bytes,
    /// Time from `first` to `last`; never zero.
    pub span: Span,
    /// `bytes` divided by `span`.
    pub bits_per_second: f64,
    /// The rate from the first point after the warm-up: the goodput if the bucket had
    /// been empty there.
    pub plain_bits_per_second: f64,
    /// Start of the window.
    pub first: Time,
    /// End of the window.
    pub last: Time,
}

impl GoodputWindow {
    /// A transfer of `warmup` bytes that do not count and `counted` bytes that do,
    /// over a path with a goodput of at most `pace`.
    pub fn new(warmup: Bytes, counted: Bytes, pace: Option<Rate>) -> Self {
        Self {
            warmup,
            latest: [SEARCH, LONGER_SEARCH].map(|part| warmup + Bytes::new(counted.get() / part)),
            pace,
            earliest: None,
            first: None,
            starts: [None; 2],
            last: None,
        }
    }

    /// Whether the window may start where `total` bytes had arrived by `stamp`, so that
    /// [`Self::record`] needs their exact number there. Of a stream, bytes behind a
    /// missing segment have arrived, too, although they cannot be read yet. A window that
    /// starts without them would count them although they arrived before it.
    pub fn may_start(&self, total: Bytes, stamp: Time) -> bool {
        let point = Point { total, stamp };
        let Some(first) = self.first.filter(|_| total >= self.warmup) else {
            return total >= self.warmup;
        };
        let lead = self.lead(point, first);
        let leads = |start: &Option<(Point, i128)>| start.is_none_or(|(_, most)| lead > most);
        let mut searches = self.starts.iter().zip(self.latest);
        searches.any(|(start, latest)| total <= latest && leads(start))
    }

    /// Records that `total` bytes, warm-up included, had arrived by `stamp`.
    /// `settled` means that no more bytes were waiting, so the timestamp is that of
    /// the last byte. The window starts at a point that is not settled only if there
    /// is no other.
    pub fn record(&mut self, total: Bytes, stamp: Time, settled: bool) {
        let point = Point { total, stamp };
        self.last = Some(point);
        if total < self.warmup {
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

    /// The lead of `point` over the pace in bytes, counted from `first`.
    fn lead(&self, point: Point, first: Point) -> i128 {
        let Some(pace) = self.pace else { return 0 };
        // A clock that stepped back counts as no time.
        let due = pace.carries(point.stamp.since(first.stamp).unwrap_or_default());
        i128::from(point.total.get()) - i128::from(due.get())
    }

    /// The goodput so far; `None` while there is no window, if the clock did not
    /// advance within it, or if the totals decreased.
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

/// The bytes and the time between two points, if both increased.
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
