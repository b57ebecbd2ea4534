//! Flows that the receiver of a session sends, in control messages.

use std::net::{IpAddr, Ipv6Addr};

use meter::departures::{Distribution, PathMtu};
use meter::time_series::TimeSeries;
use units::{Bytes, Rate, Seed, Span};
use wire::control::congestion_name;
use wire::control::{self, LONGEST_CONGESTION, Meter, Protocol, SentReport, Traffic};

use super::counters::PathMtuNotice;
use super::delays::DelayDistribution;
use super::options::{Options, sizes};
use super::send::{Omitted, Sent, Stall};
use super::session::LARGEST_RECEIVE_BUFFER;
use super::{Flow, Source};
use os::error::{Error, Result};
use os::socket::{self, TcpState, available_congestion_controls};

/// The largest message of a stream that a receiver sends; it needs memory for one.
pub const LARGEST_REVERSED: Bytes = Bytes::new(1 << 20);

/// The most messages per call [LinuxUapi udp.h].
const MOST_SEGMENTS: u16 = 64;

/// The modes of path MTU discovery in the order of their numbers.
const PATH_MTUS: [PathMtu; Traffic::PATH_MTU_MODES as usize] = [
    PathMtu::Machine,
    PathMtu::Dont,
    PathMtu::Want,
    PathMtu::Do,
    PathMtu::Probe,
];

/// The traffic of `flow`, to be sent by the other end.
pub(super) fn traffic(flow: &Flow, source: &Source) -> Result<Traffic> {
    let distribution = |distribution: &Distribution| {
        distribution.to_wire().ok_or_else(|| {
            let problem = "the other end has no observed values; use another distribution";
            Error::new("asking for a flow", problem)
        })
    };
    let options = &flow.options.socket;
    let path_mtu = PATH_MTUS.iter().position(|mode| *mode == options.path_mtu);
    let congestion = options.congestion.as_deref().unwrap_or_default();
    Ok(Traffic {
        seed: source.seed.get(),
        delay: flow.delay.as_nanos(),
        length: flow.length.map_or(0, Span::as_nanos),
        omit: flow.omit.as_nanos(),
        packets: source.packets.unwrap_or(0),
        bytes: source.bytes.unwrap_or(0),
        gaps: distribution(&source.gaps)?,
        sizes: distribution(&source.sizes)?,
        paced: flow.paced,
        nagle: !options.no_delay,
        ecn: options.ecn,
        ttl: options.ttl.unwrap_or(0),
        path_mtu: path_mtu
            .and_then(|mode| u8::try_from(mode).ok())
            .unwrap_or(0),
        segmentation: flow.options.segmentation,
        send_buffer: options
            .send_buffer
            .map_or(0, |size| u32::try_from(size.get()).unwrap_or(u32::MAX)),
        congestion: padded(congestion).ok_or_else(|| {
            let problem = format!("no congestion control has a name like `{congestion}`");
            Error::new("asking for a flow", problem)
        })?,
    })
}

/// The flow that the other end, at `to`, asks this end to send with at most the rate
/// `limit`; `None` if it exceeds what a receiver does for others.
pub(super) fn asked(reverse: &control::Reverse, to: IpAddr, limit: Option<Rate>) -> Option<Flow> {
    let control::Reverse { flow, traffic } = reverse;
    let transport = Some(flow.transport);
    let (least, most) = sizes(transport, Meter::OneWay, to);
    let most = most.min(LARGEST_REVERSED);
    let largest = Bytes::new(flow.largest.into());
    let source = Source {
        gaps: Distribution::of_wire(&traffic.gaps)?,
        sizes: Distribution::of_wire(&traffic.sizes)?,
        seed: Seed::new(traffic.seed),
        packets: above_zero(traffic.packets),
        bytes: above_zero(traffic.bytes),
    };
    let (smallest, _) = source.sizes.range();
    let congestion = congestion_name(&traffic.congestion);
    let is_known = congestion.is_empty()
        || flow.transport == Protocol::Tcp
            && available_congestion_controls().contains(&congestion.to_owned());
    let send_buffer = Bytes::new(traffic.send_buffer.into());
    let is_allowed = flow.meter == Meter::OneWay
        && !flow.busy
        && (least..=most).contains(&largest)
        && smallest <= largest.get() as f64
        && send_buffer <= LARGEST_RECEIVE_BUFFER
        && (1..=MOST_SEGMENTS).contains(&traffic.segmentation)
        && is_known;
    is_allowed.then(|| Flow {
        name: flow.name,
        transport,
        meter: flow.meter,
        schedule: source.schedule(transport, Meter::OneWay, to),
        paced: traffic.paced,
        delay: Span::from_nanos(traffic.delay),
        omit: Span::from_nanos(traffic.omit),
        length: above_zero(traffic.length).map(Span::from_nanos),
        largest: Some(largest),
        payload: None,
        codec: flow.codec,
        options: Options {
            socket: socket::Options {
                dscp: flow.dscp,
                ecn: traffic.ecn,
                ttl: (traffic.ttl > 0).then_some(traffic.ttl),
                path_mtu: PATH_MTUS[usize::from(traffic.path_mtu)],
                no_delay: !traffic.nagle,
                congestion: (!congestion.is_empty()).then(|| congestion.to_owned()),
                send_buffer: (send_buffer > Bytes::ZERO).then_some(send_buffer),
                ..socket::Options::default()
            },
            segmentation: traffic.segmentation,
            spin: true,
            ..Options::default()
        },
        limit,
        reverse: None,
    })
}

/// The results of a flow that this end sent, for the other.
pub(super) fn report(flow: u16, sent: &Sent) -> SentReport {
    let timing_error = sent.timing_error.unwrap_or_default();
    let tcp = sent.tcp.as_ref();
    let notice = sent.path_mtu;
    let router = notice
        .and_then(|notice| notice.router)
        .map(|router| match router {
            IpAddr::V4(router) => router.to_ipv6_mapped(),
            IpAddr::V6(router) => router,
        });
    SentReport {
        flow,
        warmup: [sent.omitted.messages, sent.omitted.bytes.get()],
        offered: sent.offered,
        messages: sent.messages,
        bytes: sent.bytes.get(),
        rejected: sent.rejected,
        unsent: sent.unsent,
        too_large: sent.too_large,
        lasted: sent.lasted.as_nanos(),
        timed: timing_error.count,
        median: timing_error.median.as_nanos(),
        p99: timing_error.p99.as_nanos(),
        most: timing_error.most.as_nanos(),
        send_buffer: sent.send_buffer,
        segments: tcp.map_or(0, |tcp| tcp.segments),
        retransmitted: tcp.map_or(0, |tcp| tcp.retransmitted),
        segment_size: tcp.map_or(0, |tcp| tcp.segment_size),
        round_trip: tcp.map_or(0, |tcp| tcp.round_trip.as_nanos()),
        path_mtu: notice.map_or(0, |notice| notice.mtu.into()),
        stall: sent.stall.map_or(0, Stall::to_wire),
        router: router.map_or([0; 16], |router| router.octets()),
        congestion: tcp
            .and_then(|tcp| padded(&tcp.congestion))
            .unwrap_or_default(),
    }
}

/// The results of a flow that the other end sent.
pub(super) fn sent(report: &SentReport) -> Sent {
    let nanos = Span::from_nanos;
    let router = Ipv6Addr::from(report.router);
    let router = match router.to_ipv4_mapped() {
        Some(router) => Some(IpAddr::V4(router)),
        None => (!router.is_unspecified()).then_some(IpAddr::V6(router)),
    };
    let mtu = u32::try_from(report.path_mtu).unwrap_or(u32::MAX);
    let [messages, bytes] = report.warmup;
    let omitted = Omitted {
        messages,
        bytes: Bytes::new(bytes),
    };
    Sent {
        omitted,
        offered: report.offered,
        messages: report.messages,
        bytes: Bytes::new(report.bytes),
        rejected: report.rejected,
        unsent: report.unsent,
        too_large: report.too_large,
        path_mtu: (mtu > 0).then_some(PathMtuNotice { mtu, router }),
        lasted: nanos(report.lasted),
        first: None,
        timing_error: (report.timed > 0).then(|| DelayDistribution {
            count: report.timed,
            median: nanos(report.median),
            p99: nanos(report.p99),
            most: nanos(report.most),
            ..DelayDistribution::default()
        }),
        round_trips: None,
        round_trip_quantiles: None,
        round_trips_over_time: TimeSeries::default(),
        echoes: 0,
        copies: 0,
        unstamped: 0,
        stamps: None,
        unexpected: 0,
        departures: Vec::new(),
        tcp: (report.segment_size > 0).then(|| TcpState {
            congestion: congestion_name(&report.congestion).to_owned(),
            round_trip: nanos(report.round_trip),
            segments: report.segments,
            retransmitted: report.retransmitted,
            segment_size: report.segment_size,
        }),
        send_buffer: report.send_buffer,
        stall: Stall::of_wire(report.stall),
    }
}

/// The name of a congestion control, padded with zeros; `None` if none has such a name.
fn padded(name: &str) -> Option<[u8; LONGEST_CONGESTION]> {
    let fine = |letter: char| letter.is_ascii_alphanumeric() || "_-".contains(letter);
    let mut bytes = [0; LONGEST_CONGESTION];
    bytes
        .get_mut(..name.len())?
        .copy_from_slice(name.as_bytes());
    name.chars().all(fine).then_some(bytes)
}

/// A number for which zero stands for none.
fn above_zero(number: u64) -> Option<u64> {
    (number > 0).then_some(number)
}

/// The request for a flow: what its data connection needs, and its traffic.
pub(super) fn request(
    number: u16,
    flow: &Flow,
    traffic: Traffic,
    to: IpAddr,
    cookie: [u8; 16],
) -> control::Reverse {
    let transport = flow.transport.unwrap_or(Protocol::Udp);
    let most = sizes(flow.transport, flow.meter, to)
        .1
        .min(LARGEST_REVERSED);
    let largest = flow.largest.unwrap_or(most).max(Bytes::new(1));
    control::Reverse {
        flow: control::Flow {
            flow: number,
            name: flow.name,
            transport,
            meter: flow.meter,
            busy: false,
            merge: false,
            dscp: flow.options.socket.dscp,
            buffer: 0,
            largest: u32::try_from(largest.get()).unwrap_or(u32::MAX),
            port: flow.options.destination_port,
            at: flow.options.requested_address(),
            codec: flow.codec,
            cookie,
        },
        traffic,
    }
}
