//! Two endpoints connected by a path of constant delay that loses the packets named by
//! a test.

use std::collections::BTreeMap;

use tcp::{Ack, Data, Receiver, Sender, Settings};
use units::{Span, Time};

enum Arrival {
    Data(Data),
    Ack(Ack),
}

/// The result of a run.
pub(crate) struct TcpRun {
    /// Mean window over time in segments, after the first part.
    pub(crate) window: f64,
    /// Segments that arrived per round trip in that time, repetitions excluded.
    pub(crate) rate: f64,
    pub(crate) sender: Sender,
    pub(crate) receiver: Receiver,
}

/// Runs for a number of seconds. `lost` is called for every data segment; the first
/// `skip` seconds do not count.
pub(crate) fn run(
    settings: &Settings,
    trip: Span,
    seconds: u64,
    skip: u64,
    mut lost: impl FnMut() -> bool,
) -> TcpRun {
    let mut sender = Sender::new(settings, None);
    let mut receiver = Receiver::new(settings);
    let half = Span::from_picos(trip.as_picos() / 2);
    let mut in_flight: BTreeMap<(Time, u64), Arrival> = BTreeMap::new();
    let mut number = 0;
    let (skip, end) = (Span::from_secs(skip), Span::from_secs(seconds));
    let (skip, end) = (Time::ZERO + skip, Time::ZERO + end);
    let (mut area, mut last, mut before) = (0.0, skip, 0);
    let mut now = Time::ZERO;
    sender.start(now);
    loop {
        while let Some(data) = sender.poll_transmit() {
            if data.payload == 0 || !lost() {
                in_flight.insert((now + half, number), Arrival::Data(data));
                number += 1;
            }
        }
        while let Some(ack) = receiver.poll_transmit() {
            in_flight.insert((now + half, number), Arrival::Ack(ack));
            number += 1;
        }
        let arrival = in_flight.keys().next().map(|key| key.0);
        let timers = [sender.next_timeout(), receiver.next_timeout(), arrival];
        now = timers.into_iter().flatten().min().unwrap_or(end).min(end);
        let window = sender.state().window;
        area += window * now.since(last).unwrap_or_default().as_secs_f64();
        if now >= skip {
            last = now;
        } else {
            before = receiver.segments();
        }
        if now >= end {
            break;
        }
        sender.timeout(now);
        receiver.timeout(now);
        while let Some(entry) = in_flight.first_entry()
            && entry.key().0 <= now
        {
            match entry.remove() {
                Arrival::Data(data) => {
                    receiver.receive(now, &data);
                    break;
                }
                Arrival::Ack(ack) => sender.receive(now, &ack),
            }
        }
    }
    let time = end.since(skip).unwrap_or_default().as_secs_f64();
    let segments = (receiver.segments() - before) as f64;
    TcpRun {
        window: area / time,
        rate: segments / time * trip.as_secs_f64(),
        sender,
        receiver,
    }
}
