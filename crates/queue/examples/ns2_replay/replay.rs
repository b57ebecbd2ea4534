//! Arrivals and drop decisions of ns-2.35, fed through our store and our
//! estimator: how often the queue and its average come out the same.
//!
//! A line is an arrival: seconds (rounded to 1 us), packets waiting, the
//! average afterwards (empty for drop-tail), bytes, flow, whether it is an
//! acknowledgement, the drop (0 none, 1 early, 2 for want of room), and whose
//! packet was dropped.

use jumbolab_queue::law::Average;
use jumbolab_queue::{Fifo, Packet, View};
use units::{Bytes, Rate, Span, Time};

/// The bottleneck of those runs.
const RATE: u64 = 1_500_000;
/// The weight of one arrival in their averages.
const WEIGHT: f64 = 0.0027;
/// Times are rounded to 1 us, so that two closer than this have no order.
const TIE: Span = Span::from_nanos(1_000);

/// Who was dropped for want of room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Loser {
    /// The arriving packet.
    Arriving,
    /// The second of those that wait.
    Second,
}

/// The decisions that agreed.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Agreement {
    /// Arrivals.
    pub(crate) arrivals: u64,
    /// Arrivals that did not find the same queue.
    pub(crate) queue: u64,
    /// Those of them without a departure closer than 1 us, which have no excuse.
    pub(crate) queue_unexcused: u64,
    /// Arrivals that did not leave the same average, to its six digits.
    pub(crate) average: u64,
    /// Those of them without such a tie, nor one between the end of an idle time
    /// and a whole number of packets in it.
    pub(crate) average_unexcused: u64,
}

/// A packet that is only its size.
struct Sized(u64);

impl Packet for Sized {
    fn view(&self) -> View {
        View {
            size: Bytes::new(self.0),
            ..View::default()
        }
    }
}

/// The link behind the queue.
struct Serializer {
    rate: Rate,
    /// When the packet in transmission has left.
    free: Time,
    busy: bool,
}

/// Replays the lines of a file; the first one names the columns. `mean_size`
/// is that of the run's packets.
///
/// # Errors
/// Where a line cannot be read, its number.
pub(crate) fn replay(
    lines: impl Iterator<Item = String>,
    loser: Loser,
    mean_size: Bytes,
) -> Result<Agreement, usize> {
    let rate = Rate::from_bits_per_second(RATE).expect("it is not zero");
    let mut average = Average::new(WEIGHT, rate, mean_size);
    let mut fifo = Fifo::new();
    let mut serializer = Serializer {
        rate,
        free: Time::ZERO,
        busy: false,
    };
    let mut agreement = Agreement::default();
    for (number, line) in lines.enumerate().skip(1) {
        let row = Row::parse(&line).ok_or(number + 1)?;
        let near = serializer.advance(row.at, &mut fifo, &mut average);
        let found = fifo.len() as u64;
        agreement.arrivals += 1;
        agreement.queue += u64::from(found != row.queue);
        agreement.queue_unexcused += u64::from(found != row.queue && !near);
        if let Some(theirs) = row.average {
            average.arrive(row.at, found as f64);
            let apart = (average.value() - theirs).abs() > 2e-5 * theirs.abs().max(1e-9);
            agreement.average += u64::from(apart);
            let excused = near || serializer.tied(row.at, mean_size);
            agreement.average_unexcused += u64::from(apart && !excused);
            if apart {
                // So that one difference is counted once.
                average.restart(theirs);
            }
        }
        if !serializer.busy {
            serializer.transmit(row.at, row.size);
        } else if row.drop == 0 {
            fifo.push(Sized(row.size));
        } else if loser == Loser::Second && row.drop == 2 {
            fifo.push(Sized(row.size));
            fifo.remove(1.min(fifo.len() - 1));
        }
    }
    Ok(agreement)
}

impl Serializer {
    /// Lets go what leaves by `now`; whether an arrival at `now` has no order
    /// with a departure.
    fn advance(&mut self, now: Time, fifo: &mut Fifo<Sized>, average: &mut Average) -> bool {
        let mut last = None;
        // A time that was rounded down may lie half a microsecond early.
        while self.busy && self.free <= now + Span::from_nanos(500) {
            last = Some(self.free);
            match fifo.pop() {
                Some(next) => self.free += self.rate.serialise(Bytes::new(next.0)),
                None => {
                    self.busy = false;
                    average.rest(self.free);
                }
            }
        }
        let next = self.busy.then_some(self.free);
        last.into_iter()
            .chain(next)
            .any(|leaves| within(leaves, now))
    }

    fn transmit(&mut self, now: Time, size: u64) {
        self.busy = true;
        self.free = now + self.rate.serialise(Bytes::new(size));
    }

    /// Whether the link has rested for a whole number of packets, to 1 us: how
    /// many could have left is a matter of rounding then.
    fn tied(&self, now: Time, mean_size: Bytes) -> bool {
        let Some(idle) = now.since(self.free).filter(|_| !self.busy) else {
            return false;
        };
        let packet = self.rate.serialise(mean_size).as_picos();
        let over = idle.as_picos() % packet;
        over.min(packet - over) <= TIE.as_picos()
    }
}

fn within(one: Time, other: Time) -> bool {
    let apart = one.since(other).or_else(|| other.since(one));
    apart.is_some_and(|apart| apart <= TIE)
}

/// One line.
struct Row {
    at: Time,
    queue: u64,
    average: Option<f64>,
    size: u64,
    drop: u8,
}

impl Row {
    fn parse(line: &str) -> Option<Self> {
        let mut fields = line.split(',');
        let (seconds, micros) = fields.next()?.split_once('.')?;
        let micros = seconds.parse::<u64>().ok()? * 1_000_000 + micros.parse::<u64>().ok()?;
        let queue = fields.next()?.parse().ok()?;
        let average = fields.next()?;
        let average = match average {
            "" => None,
            text => Some(text.parse().ok()?),
        };
        let size = fields.next()?.parse().ok()?;
        let drop = fields.nth(2)?.parse().ok()?;
        Some(Self {
            at: Time::ZERO + Span::from_micros(micros),
            queue,
            average,
            size,
            drop,
        })
    }
}
