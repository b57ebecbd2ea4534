//! Repeats a flow of TCP through one drop-tail queue that ns-2.35 recorded, and
//! compares both event by event.

use jumbolab_sim::{
    Flow, Host, Link, Location, Loss, Node, Role, Scenario, Seen, Tcp, Tracer, Traffic,
};
use link::{QueueState, Settings};
use queue::Spec;
use tcp::Recovery;
use units::{IpVersion, Rate, Seed, Span, Time};

/// One event at the queue: microseconds, kind and number.
pub(crate) type Event = (u64, char, u64);

/// The result of comparing two runs.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Agreement {
    /// Number of events compared.
    pub(crate) events: usize,
    /// The index of the first event with another kind or number.
    pub(crate) first_apart: Option<usize>,
    /// The largest difference of times before it, in microseconds.
    pub(crate) worst: u64,
}

/// The events of a recording, one per line after a heading: seconds, kind, bytes,
/// number.
pub(crate) fn read(lines: impl Iterator<Item = String>) -> Option<Vec<Event>> {
    let event = |line: String| {
        let mut words = line.split(',');
        let (seconds, fraction) = words.next()?.split_once('.')?;
        let micros = format!("{seconds}{fraction:0<6}").parse().ok()?;
        let what = words.next()?.parse().ok()?;
        let number = words.nth(1)?.parse().ok()?;
        Some((micros, what, number))
    };
    lines.skip(1).map(event).collect()
}

/// Repeats the flow: packets of `size` bytes, a queue of `limit` packets, a sender
/// whose clock has `phase` at time zero, and a first link with a delay of 2 ms plus
/// `nudge` minus a picosecond.
pub(crate) fn run(
    recovery: Recovery,
    size: u32,
    limit: u32,
    phase: Span,
    nudge: Span,
) -> Vec<Event> {
    let mut seen = Bottleneck(Vec::new());
    let scenario = scenario(recovery, size, limit, phase, nudge);
    scenario.check().expect("it is sound").run_traced(&mut seen);
    let mut events = seen.0;
    events.sort_by_key(|event| event.0);
    let whole =
        |(at, what, number): (Time, char, u64)| ((at.as_nanos() + 500) / 1_000, what, number);
    events.into_iter().map(whole).collect()
}

/// Compares up to the end of the shorter recording.
pub(crate) fn compare(theirs: &[Event], ours: &[Event]) -> Agreement {
    let mut agreement = Agreement::default();
    let (theirs, ours) = (in_order(theirs), in_order(ours));
    for (one, other) in theirs.iter().zip(&ours) {
        if (one.1, one.2) != (other.1, other.2) {
            agreement.first_apart = Some(agreement.events);
            break;
        }
        agreement.events += 1;
        agreement.worst = agreement.worst.max(one.0.abs_diff(other.0));
    }
    agreement
}

/// Sorts events with equal microseconds.
fn in_order(events: &[Event]) -> Vec<Event> {
    let mut events = events.to_vec();
    events.sort_unstable();
    events
}

/// The events at the queue.
struct Bottleneck(Vec<(Time, char, u64)>);

impl Tracer for Bottleneck {
    fn queued(&mut self, at: Time, link: (usize, usize), packet: Seen, _: QueueState) {
        if link == (1, 0) {
            self.0.push((at, '+', packet.sequence));
        }
    }

    fn sent(&mut self, begins: Time, _: Time, link: (usize, usize), packet: Seen, _: Span) {
        if link == (1, 0) {
            self.0.push((begins, '-', packet.sequence));
        }
    }

    fn lost(&mut self, at: Time, location: Location, packet: Seen, _: Loss) {
        if location == Location::Direction(1, 0) {
            self.0.push((at, 'd', packet.sequence));
        }
    }
}

fn scenario(recovery: Recovery, size: u32, limit: u32, phase: Span, nudge: Span) -> Scenario {
    let node = |name: &str, role| Node {
        name: name.to_owned(),
        role,
    };
    let host = Role::Host(Host::default());
    let link = |name: &str, ends, bits, millis, packets| {
        let direction = Settings {
            ethernet: false,
            delay: Span::from_millis(millis),
            ..Settings::perfect(
                Rate::from_bits_per_second(bits),
                Spec::ns2_drop_tail(packets),
            )
        };
        Link {
            name: name.to_owned(),
            ends,
            directions: [direction.clone(), direction],
        }
    };
    let settings = tcp::Settings {
        phase,
        // If a timer and an arrival coincide, ns-2 runs the timer first.
        min_rto: Span::from_millis(200) - Span::from_picos(1),
        ..tcp::Settings::ns2(recovery, size - 40, 1_000)
    };
    Scenario {
        nodes: vec![
            node("s", host),
            node("r1", Role::Router),
            node("r2", Role::Router),
            node("d", host),
        ],
        links: [
            link("s-r1", [0, 1], 10_000_000, 2, 1_000),
            link("r1-r2", [1, 2], 1_500_000, 20, limit),
            link("r2-d", [2, 3], 10_000_000, 4, 50),
        ]
        .map(|mut link| {
            if link.name == "s-r1" {
                link.directions[0].delay = link.directions[0].delay + nudge - Span::from_picos(1);
            }
            link
        })
        .into(),
        flows: vec![Flow {
            name: "f".to_owned(),
            from: 0,
            to: 3,
            ip: IpVersion::V4,
            start: Time::ZERO,
            stop: None,
            traffic: Traffic::Tcp(Tcp::new(settings)),
        }],
        end: Time::ZERO + Span::from_secs(50),
        seed: Seed::new(1),
        budget: Scenario::BUDGET,
        max_recorded_messages: Scenario::MAX_RECORDED_MESSAGES,
    }
}
