//! A transfer of a number of bytes.

use analysis::predicted;
use model::{sawtooth_utilisation, slow_start, window_rate};
use plan::metric::{self, Metric};
use plan::setting::{Echo, Transfer};

use units::{Bytes, Span, Transport};

use super::path::{Path, PathDirection, Place, TCP_HEADER};
use super::prediction::Prediction;

/// Delays of a stream: its messages wait in queues whose length the window decides.
const OF_QUEUES: [&Metric; 5] = [
    &metric::DELAY,
    &metric::DELAY_P99,
    &metric::JITTER,
    &metric::JITTER_DITG,
    &metric::RTT,
];
pub(super) const WHY_QUEUES: &str = "a stream waits in queues as long as its window lets it";

/// Processor times.
const OF_PROCESSORS: [&Metric; 3] = [
    &metric::CPU_TOTAL,
    &metric::CPU_SENDER,
    &metric::CPU_RECEIVER,
];
const WHY_PROCESSORS: &str = "host costs are times for packets, not those of a processor";

pub(super) fn predict(path: &Path<'_>, transfer: &Transfer) -> Result<Prediction, String> {
    if path.is_shared() {
        return Err("how a transfer and other traffic share a link has no closed form".to_owned());
    }
    let mut found = match &transfer.tcp {
        Some(tcp) => stream(path, transfer, tcp)?,
        None => datagrams(path, transfer)?,
    };
    found.leave_out(&OF_PROCESSORS, WHY_PROCESSORS);
    Ok(found)
}

/// A window that a kernel's buffers allow whatever the path.
const KERNEL_WINDOW: Bytes = Bytes::new(2_000_000);

/// So many segments are no flow that fills a path.
const FEW: u64 = 10;

/// The goodput in Mbit/s that a path without losses allows a transfer over TCP.
pub(super) fn allowed(path: &Path<'_>, transfer: &Transfer) -> Option<f64> {
    if transfer.protocol != Transport::Tcp || path.is_shared() || path.loses() {
        return None;
    }
    let of_kernel;
    let tcp = match &transfer.tcp {
        Some(tcp) => tcp,
        None => {
            let segment = u32::try_from(path.mtu.bytes().get()).ok()?;
            let buffers = [transfer.send_buffer, transfer.receive_buffer];
            let window = buffers
                .into_iter()
                .flatten()
                .fold(KERNEL_WINDOW, Bytes::min);
            of_kernel = tcp::Settings {
                window: u32::try_from(window.get()).ok()? / segment,
                ..tcp::Settings::linux(tcp::Control::Reno, segment)
            };
            &of_kernel
        }
    };
    // Of a few segments the ends decide.
    if Segment::of(path, tcp).ok()?.payload * FEW > transfer.size {
        return None;
    }
    let found = stream(path, transfer, tcp).ok()?;
    found.measurements.value(&metric::THROUGHPUT)
}

/// A segment of a connection: bytes of payload, and of its IP packet.
struct Segment {
    payload: Bytes,
    packet: Bytes,
    acknowledgement: Bytes,
}

impl Segment {
    /// A full segment of a connection over `path`.
    fn of(path: &Path<'_>, tcp: &tcp::Settings) -> Result<Self, String> {
        let options = Bytes::new(tcp.options.into());
        let headers = path.network.ip.header() + TCP_HEADER + options;
        let room = path.mtu.bytes().checked_sub(headers).unwrap_or_default();
        let payload = room.min(Bytes::new(tcp.segment.into()));
        match payload > Bytes::ZERO {
            true => Ok(Self {
                payload,
                packet: headers + payload,
                acknowledgement: headers,
            }),
            false => Err("headers leave no room for data".to_owned()),
        }
    }
}

/// One connection that always has data.
fn stream(path: &Path<'_>, transfer: &Transfer, tcp: &tcp::Settings) -> Result<Prediction, String> {
    let segment = Segment::of(path, tcp)?;
    let Some((place, each)) = path.slowest(segment.packet) else {
        return Err("neither a rate nor costs of hosts limit the transfer".to_owned());
    };
    // A segment and its acknowledgement, which waits for a second segment.
    let trip = path.crossing(&[segment.packet], PathDirection::Forth)
        + each
        + path.crossing(&[segment.acknowledgement], PathDirection::Back);
    let bits = |seconds: f64| segment.payload.bits() as f64 / seconds;
    let at_most = bits(each.as_secs_f64());
    let window = window_rate(f64::from(tcp.window), segment.payload, trip);
    let window = window.filter(|rate| *rate < at_most);
    let mut found = Prediction::default();
    let rate = if path.loses() {
        let Some(megabits) = predicted::goodput(path.setting) else {
            return Err("no formula of TCP under loss covers this path".to_owned());
        };
        let bound = megabits * 1e6;
        match window.unwrap_or(at_most) {
            most if most < bound => most,
            most => {
                found.bound_by(if bound < most { "losses" } else { "links" });
                bound
            }
        }
    } else if let Some(rate) = window {
        found.bound_by("the receiver's window");
        rate
    } else {
        found.bound_by(&path.name(place));
        let share = share_of_link(path, place, (each, trip), &segment)?;
        share * over_its_length(transfer, tcp, &segment, (each, trip))?
    };
    found.put(&metric::THROUGHPUT, rate / 1e6);
    found.leave_out(&OF_QUEUES, WHY_QUEUES);
    Ok(found)
}

/// The goodput in bits per second of the counted part, of which slow start may take a
/// part. The rest comes at the rate of the slowest station.
fn over_its_length(
    transfer: &Transfer,
    tcp: &tcp::Settings,
    segment: &Segment,
    (each, trip): (Span, Span),
) -> Result<f64, String> {
    let threshold = tcp.initial_ssthresh.map(u64::from);
    if threshold.is_some_and(|segments| each * segments < trip) {
        return Err("slow start that ends before the path is full has no closed form".to_owned());
    }
    let growth = match (tcp.counting, tcp.acknowledging) {
        (tcp::Counting::Acknowledgements, tcp::Acknowledging::Delayed(_)) => 1.5,
        _ => 2.0,
    };
    let first = (f64::from(tcp.initial_window), growth);
    let segments = |bytes: Bytes| bytes.get().div_ceil(segment.payload.get());
    let until = |bytes: Bytes| match segments(bytes) {
        0 => 0.0,
        segments => slow_start(segments, first, trip, each),
    };
    let steady = segment.payload.bits() as f64 / each.as_secs_f64();
    let took = until(transfer.warmup + transfer.size) - until(transfer.warmup);
    let whole = segments(transfer.warmup + transfer.size) - segments(transfer.warmup);
    // The bytes of whole segments, so that the last one's size is not in the rate.
    let bytes = segment.payload.bits() as f64 * whole as f64;
    Ok(match took > 0.0 {
        true => (bytes / took).min(steady),
        false => steady,
    })
}

/// The share of the slowest station that a connection without random losses uses. Only
/// a link drops what finds no room; behind a buffer that covers what the control takes
/// off the window it stays busy.
fn share_of_link(
    path: &Path<'_>,
    place: Place,
    (each, trip): (Span, Span),
    segment: &Segment,
) -> Result<f64, String> {
    let Place::Link(link) = place else {
        return Ok(1.0);
    };
    let link = &path.network.links[link];
    let in_flight = trip.as_secs_f64() / each.as_secs_f64();
    let room = link.buffer.get() as f64 / link.framing.wire_size(segment.packet).get() as f64;
    let depth = room / in_flight;
    match path.setting.host.congestion.as_str() {
        "reno" => Ok(sawtooth_utilisation(depth)),
        // The window falls to 0.7 of room and path [RFC9438 s4.6]: 0.7 (1 + depth) >= 1.
        _ if depth >= 1.0 / 0.7 - 1.0 => Ok(1.0),
        _ => Err(format!(
            "the buffer of {} is below what CUBIC needs to keep it busy, and how much of it CUBIC uses has no closed form",
            link.name
        )),
    }
}

/// Datagrams, one after the other at the pace of the slowest link.
fn datagrams(path: &Path<'_>, transfer: &Transfer) -> Result<Prediction, String> {
    let packets = path.datagram(transfer.message, PathDirection::Forth)?;
    let busy = |place: Place| {
        let each = packets.iter().map(|packet| path.busy(place, *packet));
        each.fold(Span::ZERO, |sum, time| sum + time)
    };
    let places = path.places(PathDirection::Forth);
    let links = places
        .iter()
        .filter(|place| matches!(place, Place::Link(_)));
    let gap = links.map(|place| busy(*place)).max().unwrap_or_default();
    let slowest = places.iter().max_by_key(|place| busy(**place));
    let Some((place, pace)) = slowest.map(|place| (*place, busy(*place))) else {
        return Err("the path has no station".to_owned());
    };
    if pace == Span::ZERO {
        return Err("neither a rate nor costs of hosts limit the transfer".to_owned());
    }
    let kept: f64 = packets
        .iter()
        .map(|packet| 1.0 - path.loss(*packet))
        .product();
    let mut found = Prediction::default();
    let bits = transfer.message.bits() as f64;
    found.put(&metric::THROUGHPUT, kept * bits / pace.as_secs_f64() / 1e6);
    found.put(&metric::LOSS, 100.0 * (1.0 - kept));
    if pace > gap {
        found.bound_by(&path.name(place));
        found.leave_out(
            &OF_QUEUES,
            "datagrams come faster than a host works, and wait longer and longer",
        );
        return Ok(found);
    }
    found.bound_by("links");
    let delay = path.crossing(&packets, PathDirection::Forth);
    found.put(&metric::DELAY, delay.as_millis_f64());
    found.put(&metric::DELAY_P99, delay.as_millis_f64());
    for even in [&metric::JITTER, &metric::JITTER_DITG] {
        found.put(even, 0.0);
    }
    if transfer.echo != Echo::Off {
        let answer = path.datagram(experiment::MESSAGE_HEADER, PathDirection::Back)?;
        let trip = delay + path.crossing(&answer, PathDirection::Back);
        found.put(&metric::RTT, trip.as_millis_f64());
    }
    Ok(found)
}
