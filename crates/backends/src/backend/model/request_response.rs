//! Messages one at a time, each answered before the next.

use experiment::MESSAGE_HEADER;
use meter::request_response::OfSize;
use plan::setting::{Answer, RequestResponse};
use plan::{evidence, metric};

use units::{Bytes, Span};

use super::path::{Path, PathDirection, TCP_HEADER};
use super::prediction::Prediction;

/// How many of the last segments have acknowledgements that may be in front of an answer.
/// Those before left long ago: a segment takes at least as long as an acknowledgement.
const RECENT: usize = 4;

pub(super) fn predict(path: &Path<'_>, traffic: &RequestResponse) -> Result<Prediction, String> {
    if path.is_shared() {
        return Err("how long several packets wait behind other traffic has no closed form".into());
    }
    if path.loses() && traffic.tcp.is_some() {
        return Err("a message that TCP sends again has no closed form".into());
    }
    if path.slowest(path.mtu.bytes()).is_none() && path.delay() == Span::ZERO {
        return Err("neither rates nor delays nor costs of hosts take time".into());
    }
    let sizes = traffic.sizes.all().into_iter();
    let sizes: Result<Vec<OfSize>, String> =
        sizes.map(|size| of_size(path, traffic, size)).collect();
    let mut found = Prediction::default();
    found.measurements.take_sizes(traffic, &sizes?);
    // As fine as a simulation: times have picoseconds.
    for metric in [&metric::MESSAGE_TIME, &metric::MEGABYTE_TIME] {
        let fact = evidence::resolution(metric);
        found.measurements.note(fact, 1e-6);
    }
    found.leave_out(
        &[&metric::MESSAGE_TIME_PROCESSOR],
        "host costs are not processor time",
    );
    Ok(found)
}

/// All messages of a size, and the rest of the bytes as a last one.
fn of_size(path: &Path<'_>, traffic: &RequestResponse, size: u32) -> Result<OfSize, String> {
    let bytes = traffic.bytes.get();
    let (messages, rest) = (bytes / u64::from(size), bytes % u64::from(size));
    let time = round_trip(path, traffic, Bytes::new(size.into()))?;
    let last = match rest {
        0 => 0.0,
        // The smallest message is a header.
        rest => round_trip(path, traffic, Bytes::new(rest).max(MESSAGE_HEADER))?,
    };
    let nanos = time * 1e9;
    Ok(OfSize {
        size,
        messages,
        mean: nanos,
        least: whole(nanos),
        whole: whole(nanos * messages as f64 + last * 1e9),
        ..OfSize::default()
    })
}

/// The mean time in seconds from sending a message until its answer is there.
fn round_trip(path: &Path<'_>, traffic: &RequestResponse, size: Bytes) -> Result<f64, String> {
    let answer = match traffic.answer {
        Answer::Acknowledgement => MESSAGE_HEADER,
        Answer::Whole | Answer::Pieces => size,
    };
    let (time, kept) = match &traffic.tcp {
        Some(tcp) => {
            let [forth, back] = [segments(path, tcp, size)?, segments(path, tcp, answer)?];
            // Nothing is lost.
            (over_tcp(path, tcp, &forth, &back), 1.0)
        }
        None => {
            let [forth, back] = [
                path.datagram(size, PathDirection::Forth)?,
                path.datagram(answer, PathDirection::Back)?,
            ];
            let kept = forth.iter().chain(&back);
            let kept = kept.map(|packet| 1.0 - path.loss(*packet)).product();
            let time = path.crossing(&forth, PathDirection::Forth)
                + path.crossing(&back, PathDirection::Back);
            (time, kept)
        }
    };
    if kept <= 0.0 {
        return Err("no message arrives".to_owned());
    }
    // A geometric number of attempts fails before the one that is answered.
    let again = traffic.retransmit_after.as_secs_f64() * (1.0 - kept) / kept;
    Ok(time.as_secs_f64() + again)
}

/// The time until the segments of a message, and then those of its answer, are there.
/// The receiver acknowledges every segment or every second one [RFC5681 s4.2], the first
/// ones and the end of a write at once [Linux]; the answer waits behind what it sent so
/// just before.
fn over_tcp(path: &Path<'_>, tcp: &tcp::Settings, forth: &[Bytes], back: &[Bytes]) -> Span {
    let quick = usize::try_from(tcp.quick_acks).unwrap_or(usize::MAX);
    let is_acknowledged = |number: usize| match tcp.acknowledging {
        tcp::Acknowledging::Each => true,
        tcp::Acknowledging::Delayed(_) => {
            let ends_write = tcp.quick_pushes && tcp.write.is_some() && number == forth.len();
            ends_write || number <= quick || (number - quick).is_multiple_of(2)
        }
    };
    let first = forth.len().saturating_sub(RECENT);
    let numbers = (first + 1..=forth.len()).filter(|number| is_acknowledged(*number));
    let acknowledgements = numbers.map(|number| {
        let arrived = path.crossing(&forth[..number], PathDirection::Forth);
        (arrived, headers(path, tcp))
    });
    let arrived = path.crossing(forth, PathDirection::Forth);
    let answer = back.iter().map(|packet| (arrived, *packet));
    let back: Vec<(Span, Bytes)> = acknowledgements.chain(answer).collect();
    path.crossing_from(&back, PathDirection::Back)
}

/// Bytes of the headers of a segment.
fn headers(path: &Path<'_>, tcp: &tcp::Settings) -> Bytes {
    path.network.ip.header() + TCP_HEADER + Bytes::new(tcp.options.into())
}

/// The packets of a message over a connection that has sent nothing yet.
///
/// # Errors
/// The first window does not last until its acknowledgements are back.
fn segments(path: &Path<'_>, tcp: &tcp::Settings, size: Bytes) -> Result<Vec<Bytes>, String> {
    let headers = headers(path, tcp);
    let room = path.mtu.bytes().checked_sub(headers).unwrap_or_default();
    let payload = room.min(Bytes::new(tcp.segment.into()));
    if payload == Bytes::ZERO {
        return Err("headers leave no room for data".to_owned());
    }
    let full = size.get().saturating_sub(1) / payload.get();
    let last = headers + (size - payload * full);
    let mut all = vec![headers + payload; usize::try_from(full).unwrap_or(0)];
    all.push(last);
    let window = u64::from(tcp.initial_window.min(tcp.window));
    let each = path
        .slowest(headers + payload)
        .map_or(Span::ZERO, |(_, time)| time);
    let trip = path.crossing(&[headers + payload], PathDirection::Forth)
        + each
        + path.crossing(&[headers], PathDirection::Back);
    match full < window || each * window >= trip {
        true => Ok(all),
        false => Err(format!(
            "{} bytes do not fit the first window of {window} segments; how TCP opens it between messages has no closed form",
            size.get()
        )),
    }
}

/// Whole nanoseconds.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a length of time, not below zero and far below 2^53 nanoseconds"
)]
fn whole(nanos: f64) -> u64 {
    nanos.round() as u64
}
