//! Records what a watched queue held when a packet came, and what became of the
//! packet.

use std::fmt::Write as _;

use link::QueueState;
use queue::{AverageQueue, Reason};
use results::table::{Column, Values};
use sim::{Loss, Seen, Segment};
use units::{Span, Time};

use super::{column, whole, word};

/// The arrivals at both directions of a link.
pub(super) struct QueueLog {
    /// The sampling interval; `None`: every arrival.
    interval: Option<Span>,
    /// The time of the next sample of each direction.
    next: [Time; 2],
    samples: Vec<Sample>,
    /// By direction, the numbers of sampled arrivals with their places in `samples`.
    places: [Vec<(u64, usize)>; 2],
}

/// An arrival and its outcome.
struct Sample {
    direction: usize,
    at: Time,
    state: QueueState,
    packet: Seen,
    /// When the packet left the queue, and how; `None`: it still waits.
    left: Option<(Time, &'static str)>,
    /// Whether the queue marked it.
    marked: bool,
    /// Times and reasons of drops out of it, if it is a bundle.
    inner_drops: String,
}

impl QueueLog {
    /// The memory of a sample.
    pub(super) const SAMPLE: usize = size_of::<Sample>() + size_of::<(u64, usize)>();

    pub(super) const fn new(interval: Option<Span>) -> Self {
        Self {
            interval,
            next: [Time::ZERO; 2],
            samples: Vec::new(),
            places: [Vec::new(), Vec::new()],
        }
    }

    /// Whether an arrival at `at` is a sample.
    pub(super) fn wants(&self, at: Time, direction: usize) -> bool {
        at >= self.next[direction]
    }

    /// Records an arrival that is a sample.
    pub(super) fn queued(&mut self, at: Time, direction: usize, packet: Seen, state: QueueState) {
        if let Some(interval) = self.interval {
            let passed = at.as_picos() / interval.as_picos();
            self.next[direction] = Time::ZERO + interval * (passed + 1);
        }
        self.places[direction].push((packet.number, self.samples.len()));
        self.samples.push(Sample {
            direction,
            at,
            state,
            packet,
            left: None,
            marked: false,
            inner_drops: String::new(),
        });
    }

    pub(super) fn sent(&mut self, at: Time, direction: usize, packet: Seen) {
        if let Some(sample) = self.sample(direction, packet) {
            sample.marked = is_marked(packet) && !is_marked(sample.packet);
            sample.left = Some((at, "sent"));
        }
    }

    pub(super) fn lost(&mut self, at: Time, direction: usize, packet: Seen, why: Loss) {
        if let Some(sample) = self.sample(direction, packet) {
            sample.left = Some((at, word(why)));
        }
    }

    pub(super) fn inner_dropped(&mut self, at: Time, direction: usize, packet: Seen, why: Reason) {
        if let Some(sample) = self.sample(direction, packet) {
            let gap = if sample.inner_drops.is_empty() {
                ""
            } else {
                " "
            };
            let why = word(Loss::Queue(why));
            // Writing to a string cannot fail.
            let _ = write!(sample.inner_drops, "{gap}{} {why}", at.as_picos());
        }
    }

    /// The sample of a packet, by its number. Numbers grow.
    fn sample(&mut self, direction: usize, packet: Seen) -> Option<&mut Sample> {
        let places = &self.places[direction];
        let found = places.binary_search_by_key(&packet.number, |(number, _)| *number);
        let (_, place) = places[found.ok()?];
        self.samples.get_mut(place)
    }

    /// A row for each sample; `flows` are the names of the flows.
    pub(super) fn columns(&self, flows: &[String]) -> Vec<Column> {
        let rows = || self.samples.iter();
        let integers = |of: &dyn Fn(&Sample) -> Option<u64>| {
            Values::Integer(rows().map(|one| whole(of(one)?)).collect())
        };
        let texts = |of: &dyn Fn(&Sample) -> Option<String>| Values::Text(rows().map(of).collect());
        let average = |of: fn(AverageQueue) -> f64| {
            Values::Real(rows().map(|one| one.state.average.map(of)).collect())
        };
        let some = |text: &String| (!text.is_empty()).then(|| text.clone());
        vec![
            column("at_ps", integers(&|one| Some(one.at.as_picos()))),
            column("direction", integers(&|one| Some(one.direction as u64))),
            column(
                "packets",
                integers(&|one| Some(one.state.backlog.packets.into())),
            ),
            column(
                "bytes",
                integers(&|one| Some(one.state.backlog.bytes.get())),
            ),
            column("average", average(|average| average.frames)),
            column("number", integers(&|one| Some(one.packet.number))),
            column("flow", texts(&|one| flows.get(one.packet.flow).cloned())),
            column("message", integers(&|one| Some(one.packet.sequence))),
            column("size", integers(&|one| Some(one.packet.size.get()))),
            column("inner", integers(&|one| Some(one.packet.live.into()))),
            column("left_ps", integers(&|one| Some(one.left?.0.as_picos()))),
            column("outcome", texts(&|one| Some(one.left?.1.to_owned()))),
            column("marked", integers(&|one| Some(one.marked.into()))),
            column("inner_drops", texts(&|one| some(&one.inner_drops))),
            column("average_bytes", average(|average| average.bytes)),
            column("average_of_max", average(|average| average.of_max)),
        ]
    }
}

/// Whether a packet of TCP says that it met congestion.
const fn is_marked(packet: Seen) -> bool {
    matches!(packet.segment, Some(Segment::Data(data)) if data.marked)
}
