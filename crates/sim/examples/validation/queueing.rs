//! Known answers of queueing theory for one queue and one link [Kleinrock1975].

use link::{Link, PacketOutcome, Settings};
use queue::{Limit, Packet, Spec, View};
use units::{Bytes, Rate, Seed, Time};

use crate::chance::Chance;
use crate::row::Row;

/// Mean packet size in bytes: it takes a millisecond to send.
const MEAN: f64 = 1_000_000.0;
/// That time, in picoseconds.
const SERVICE: f64 = 1e9;
/// The link's rate in bits per second.
const RATE: u64 = 8_000_000_000;

/// A packet with nothing but a size.
pub(crate) struct Plain(pub(crate) u64);

impl Packet for Plain {
    fn view(&self) -> View {
        View {
            size: Bytes::new(self.0),
            ..View::default()
        }
    }
}

/// The results of twenty independent runs.
struct Seen {
    /// Mean wait before service, in service times.
    wait: [f64; 20],
    /// Mean number of waiting packets over time.
    waiting: [f64; 20],
    /// Share of packets lost.
    loss: [f64; 20],
}

/// The offered load and the size of the queue.
#[derive(Clone, Copy)]
struct Load {
    load: f64,
    /// Whether service times are exponential; otherwise they are constant.
    exponential: bool,
    room: u32,
    /// Counted arrivals; a tenth as many precede them as warm-up.
    count: u64,
}

pub(crate) fn rows() -> Vec<Row> {
    let mut rows = Vec::new();
    let endless = |load, exponential, count| Load {
        load,
        exponential,
        room: u32::MAX,
        count,
    };
    for (load, wait, count) in [
        (0.5, 0.5, 3_000),
        (0.8, 2.0, 6_000),
        (0.9, 4.5, 15_000),
        (0.95, 9.5, 40_000),
    ] {
        let seen = simulate(endless(load, false, count));
        let what = format!("M/D/1, load {load}: mean wait, service times");
        rows.push(Row::covered(what, wait, &seen.wait));
    }
    for (load, waiting, count) in [(0.8, 3.2, 6_000), (0.9, 8.1, 20_000), (0.95, 18.05, 50_000)] {
        let seen = simulate(endless(load, true, count));
        let what = format!("M/M/1, load {load}: mean number that waits");
        rows.push(Row::covered(what, waiting, &seen.waiting));
    }
    // K includes the packet in service.
    for (exponential, load, places, loss) in [
        (true, 0.8, 10, 0.023_493),
        (true, 0.95, 20, 0.027_181),
        (true, 1.2, 20, 0.170_37),
        (false, 0.8, 5, 0.035_29),
        (false, 0.8, 10, 0.003_639),
        (false, 0.95, 20, 0.008_069),
        (false, 1.0, 20, 0.025_21),
        (false, 1.2, 20, 0.166_763),
    ] {
        let seen = simulate(Load {
            load,
            exponential,
            room: places - 1,
            // Rare losses that occur in clusters need more arrivals.
            count: if loss < 0.01 { 24_000 } else { 8_000 },
        });
        let name = if exponential { "M/M/1/K" } else { "M/D/1/K" };
        let what = format!("{name}, load {load}, K = {places}: share lost");
        rows.push(Row::covered(what, loss, &seen.loss));
    }
    for (load, exponential, room) in [(0.7, true, u32::MAX), (0.9, false, 8), (1.3, true, 12)] {
        let seen = simulate(Load {
            load,
            exponential,
            room,
            count: 8_000,
        });
        let carried = (0..20).map(|run| load * (1.0 - seen.loss[run]) * seen.wait[run]);
        let expected = carried.sum::<f64>() / 20.0;
        let room = match room {
            u32::MAX => "no bound".to_owned(),
            room => format!("room for {room}"),
        };
        let what = format!("Little's law, load {load}, {room}: number that waits = rate x wait");
        rows.push(Row::covered(what, expected, &seen.waiting));
    }
    rows
}

fn simulate(load: Load) -> Seen {
    let mut seen = Seen {
        wait: [0.0; 20],
        waiting: [0.0; 20],
        loss: [0.0; 20],
    };
    for run in 0..20_u8 {
        let [wait, waiting, loss] = one(load, u64::from(run));
        let run = usize::from(run);
        (seen.wait[run], seen.waiting[run], seen.loss[run]) = (wait, waiting, loss);
    }
    seen
}

/// One run: mean wait, mean number waiting, share lost.
fn one(load: Load, seed: u64) -> [f64; 3] {
    let limit = Limit::Packets(load.room);
    let settings = Settings {
        ethernet: false,
        ..Settings::perfect(Rate::from_bits_per_second(RATE), Spec::DropTail { limit })
    };
    let mut link = Link::new(settings, Seed::new(1)).expect("a plain link");
    let mut chance = Chance::new(seed);
    let (begin, mut now) = (load.count / 10, 0.0);
    let mut begun = 0.0;
    for number in 0..begin + load.count {
        now += chance.exponential(SERVICE / load.load);
        let size = match load.exponential {
            true => chance.exponential(MEAN),
            false => MEAN,
        };
        if number == begin {
            begun = now;
            link.record();
        }
        let at = Time::from_picos(whole(now));
        link.receive(at, Plain(whole(size).max(1)));
        while link.poll_transmit(at).is_some() {}
    }
    let last = now;
    while link.poll_transmit(Time::from_picos(u64::MAX)).is_some() {}
    let (mut waits, mut sent, mut lost, mut area) = (0.0, 0.0, 0.0, 0.0);
    let begin = Time::from_picos(whole(begun));
    for event in link.take_events() {
        if event.arrival < begin {
            continue;
        }
        if event.outcome == PacketOutcome::Dropped {
            lost += 1.0;
            continue;
        }
        let (came, left) = (picos(event.arrival), picos(event.at));
        sent += 1.0;
        waits += left - came;
        // A packet waits from its arrival until its service, or the end of the run.
        area += left.min(last) - came;
    }
    [
        waits / sent / SERVICE,
        area / (last - begun),
        lost / (sent + lost),
    ]
}

fn picos(at: Time) -> f64 {
    at.as_picos() as f64
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "times and sizes that are not negative"
)]
pub(crate) fn whole(value: f64) -> u64 {
    value as u64
}
