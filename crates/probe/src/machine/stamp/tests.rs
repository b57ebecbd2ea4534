mod fuzz;
mod one_way;
mod reflecting;

use std::net::SocketAddr;

use units::{Bytes, Span, Time};
use wire::stamp::{ErrorEstimate, Probe, SenderPacket, Timestamp};

use super::*;

/// 2026-11-23 in nanoseconds since 1970.
const WALL: u64 = 1_795_392_000_000_000_000;

/// The largest piece in which packets arrive.
const PIECE: Bytes = Bytes::new(1_396);

fn error() -> ErrorEstimate {
    ErrorEstimate::new(Span::from_micros(1), false)
}

fn at(micros: u64) -> Time {
    Time::ZERO + Span::from_micros(micros)
}

fn wall(now: Time) -> u64 {
    WALL + now.as_nanos()
}

fn peer(number: u16) -> SocketAddr {
    SocketAddr::from(([192, 0, 2, 1], 1_024 + number))
}

/// The reply of a reflector to `bytes`.
fn reflect(
    reflector: &mut Reflector,
    now: Time,
    from: SocketAddr,
    bytes: &[u8],
) -> Result<Vec<u8>, Rejection> {
    let arrival = Arrival {
        from,
        unix_nanos: wall(now),
        hop_limit: 60,
        piece: Some(PIECE),
        is_resolved: true,
        bytes,
    };
    answer(reflector, now, &arrival)
}

fn answer(
    reflector: &mut Reflector,
    now: Time,
    arrival: &Arrival<'_>,
) -> Result<Vec<u8>, Rejection> {
    let mut reply = vec![0; arrival.bytes.len()];
    let length = reflector.reflect(now, wall(now) + 5_000, arrival, &mut reply)?;
    reply.truncate(length);
    Ok(reply)
}

/// A test packet with this number and session identifier.
fn packet(sequence: u32, session: u16, length: usize, short_reply: bool) -> Vec<u8> {
    let mut bytes = vec![0; length];
    let probe = Probe {
        packet: SenderPacket {
            sequence,
            sent: Timestamp::ntp(WALL),
            error: error(),
            session,
        },
        id: 9,
        short_reply,
    };
    probe.emit(&mut bytes).unwrap();
    bytes
}
