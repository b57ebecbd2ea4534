//! Checks the observations of a trial against its setting and physical limits.

use emulator::Report;
use meter::TOLERANCE;
use plan::setting::{LatencyBreakdown, Link, Transfer};
use plan::{Flag, Setting, evidence, metric};
use units::{Bytes, IpMtu, Rate, Span, Transport};

use super::Path;
use super::command::CommandObservation;
use super::disturbance::Disturbance;
use super::flows::FlowsObservation;
use super::latency_breakdown::RoundTripsObservation;
use super::pass::Pass;
use super::passes::{Ends, Passes, ratio};
use crate::agent::{Arrived, Departed};
use crate::measurements::Measurements;
use crate::pace::Paced;

/// A step of the wall clock that affects delays.
const STEP: Span = Span::from_millis(1);

/// The largest packet that TCP passes down with offloads. A token bucket or
/// interface that cannot hold it segments it.
const SUPER_PACKET: Bytes = Bytes::new(1 << 16);

/// Linux passes down no more than half of the largest window that the receiver offered
/// (`tcp_bound_to_half_wnd`). The window begins with 65 535 bytes, and the sample is too
/// short for it to grow much.
const HALF_WINDOW: Bytes = Bytes::new(32_767);

/// Timing error of the emulator that affects delays.
const LATE: Span = Span::from_micros(100);

/// The 99th percentile of timing error above which messages no longer follow their
/// schedule.
const TOO_LATE: Span = Span::from_millis(1);

/// The share of one CPU above which the trial measures an end host and not the
/// link.
const BOUND: f64 = 0.95;

/// All flags of a trial of transfers.
pub(super) fn flags(
    setting: &Setting,
    transfer: &Transfer,
    passes: &Passes,
    paths: &[&Path],
) -> Vec<Flag> {
    let mut flags = Vec::new();
    let mut raise = |flag: Flag, holds: bool| flags.extend(holds.then_some(flag));
    raise(Flag::AboveLimit, above_limit(setting, paths[0], passes));
    raise(
        Flag::BucketNotDrained,
        bucket_not_drained(setting, transfer),
    );
    let by_program = [&passes.rated.1, &passes.one_way.1].map(|came| came.stamps.is_some());
    let by_program = by_program.contains(&true);
    raise(
        Flag::Unstamped,
        !by_program && passes.rated.1.unstamped + passes.one_way.1.unstamped > 0,
    );
    raise(Flag::ProgramStamps, by_program);
    raise(
        Flag::ClockStepped,
        clock_stepped(passes.disturbance.clock_step),
    );
    raise(
        Flag::OffloadsDiffer,
        paths.iter().any(|path| offloads_differ(setting, path)),
    );
    raise(
        Flag::MtuDiffers,
        paths.iter().any(|path| mtu_differs(setting, path)),
    );
    raise(
        Flag::EmulatorLate,
        passes
            .disturbance
            .emulator
            .as_ref()
            .is_some_and(emulator_late),
    );
    raise(Flag::CongestionDiffers, congestion_differs(setting, passes));
    raise(
        Flag::BufferDiffers,
        buffers_differ(transfer, &passes.one_way),
    );
    raise(Flag::HostDrops, host_drops(transfer, passes));
    if let Some((ends, used)) = &passes.metered {
        raise(
            Flag::CpuBound,
            [ends.0.process.cpu, ends.1.process.cpu]
                .iter()
                .any(|&cpu| ratio(cpu, used.elapsed) > BOUND),
        );
    }
    flags
}

/// The flags of a trial of the user's programs.
pub(super) fn flags_of_command(
    setting: &Setting,
    seen: &CommandObservation,
    path: &Path,
) -> Vec<Flag> {
    let above = seen
        .throughput
        .is_some_and(|throughput| exceeds(path.pace, throughput * 1e6));
    [
        (Flag::AboveLimit, above),
        (Flag::ClockStepped, clock_stepped(seen.clock_step)),
        (Flag::OffloadsDiffer, offloads_differ(setting, path)),
        (Flag::MtuDiffers, mtu_differs(setting, path)),
    ]
    .into_iter()
    .filter_map(|(flag, holds)| holds.then_some(flag))
    .collect()
}

/// The flags of a trial of flows.
pub(super) fn flags_of_flows(
    setting: &Setting,
    measurements: &Measurements,
    seeing: &FlowsObservation<'_>,
    path: &Path,
) -> Vec<Flag> {
    let throughput = measurements.value(&metric::THROUGHPUT);
    let ends = || seeing.sent.iter().zip(seeing.received);
    let datagrams = || ends().filter(|(sent, _)| sent.tcp.is_none());
    let lost: u64 = datagrams().map(|(_, came)| came.summary.lost).sum();
    let late = |sent: &Departed| {
        let late = sent.timing_error.map(|[_, late, _]| Span::from_nanos(late));
        late.is_some_and(is_too_late)
    };
    let congestion = &setting.host.congestion;
    let other =
        |sent: &Departed| (sent.tcp.as_ref()).is_some_and(|tcp| tcp.congestion != *congestion);
    let unstamped = |came: &Arrived| came.stamps_late.is_none() && came.unstamped > 0;
    let by_program = |(sent, came): (&Departed, &Arrived)| {
        came.stamps_late.is_some() || sent.echoes > 0 && sent.stamps_late.is_some()
    };
    [
        (
            Flag::AboveLimit,
            throughput.is_some_and(|megabits| {
                let (bytes, span) = seeing.counted();
                let stored = stored_share(setting, path, seeing.disturbance, bytes, span);
                exceeds(path.pace, megabits * 1e6 / (1.0 + stored))
            }),
        ),
        (Flag::Unstamped, seeing.received.iter().any(unstamped)),
        (Flag::ProgramStamps, ends().any(by_program)),
        (
            Flag::ClockStepped,
            clock_stepped(seeing.disturbance.clock_step),
        ),
        (Flag::OffloadsDiffer, offloads_differ(setting, path)),
        (Flag::MtuDiffers, mtu_differs(setting, path)),
        (Flag::CongestionDiffers, ends().any(|(sent, _)| other(sent))),
        (Flag::HostDrops, lost > seeing.disturbance.dropped()),
        (Flag::SenderLate, ends().any(|(sent, _)| late(sent))),
    ]
    .into_iter()
    .filter_map(|(flag, holds)| holds.then_some(flag))
    .collect()
}

/// Whether messages whose 99th percentile of timing error is `p99` no longer follow their
/// schedule.
pub(super) fn is_too_late(p99: Span) -> bool {
    p99 > TOO_LATE
}

/// The flags of a latency breakdown.
pub(super) fn flags_of_latency_breakdown(
    setting: &Setting,
    trips: &LatencyBreakdown,
    seeing: &RoundTripsObservation<'_>,
    path: &Path,
) -> Vec<Flag> {
    let asked = seeing.asked;
    let other = (asked.tcp.as_ref()).is_some_and(|tcp| tcp.congestion != setting.host.congestion);
    let short = |asked: Option<Bytes>, given: u64| asked.is_some_and(|size| given < size.get() * 2);
    let buffers =
        short(trips.send_buffer, asked.buffers[0]) || short(trips.receive_buffer, asked.buffers[1]);
    [
        (Flag::Unstamped, seeing.unstamped > 0),
        (Flag::ClockStepped, clock_stepped(seeing.clock_step)),
        (Flag::OffloadsDiffer, offloads_differ(setting, path)),
        (Flag::MtuDiffers, mtu_differs(setting, path)),
        (Flag::CongestionDiffers, other),
        (Flag::BufferDiffers, buffers),
        (Flag::HostDrops, seeing.host_drops),
    ]
    .into_iter()
    .filter_map(|(flag, holds)| holds.then_some(flag))
    .collect()
}

/// The flags of an investigation of a path.
pub(super) fn flags_of_probe(
    setting: &Setting,
    disturbance: &Disturbance,
    path: &Path,
) -> Vec<Flag> {
    [
        (Flag::ClockStepped, clock_stepped(disturbance.clock_step)),
        (Flag::OffloadsDiffer, offloads_differ(setting, path)),
    ]
    .into_iter()
    .filter_map(|(flag, holds)| holds.then_some(flag))
    .collect()
}

/// The flags of a request-response trial.
pub(super) fn flags_of_request_response(
    setting: &Setting,
    measurements: &Measurements,
    disturbance: &Disturbance,
    path: &Path,
) -> Vec<Flag> {
    let congestion = measurements.evidence.get(evidence::CONGESTION);
    let other = congestion.is_some_and(|other| other != setting.host.congestion);
    [
        (Flag::ClockStepped, clock_stepped(disturbance.clock_step)),
        (Flag::OffloadsDiffer, offloads_differ(setting, path)),
        (Flag::MtuDiffers, mtu_differs(setting, path)),
        (Flag::CongestionDiffers, other),
    ]
    .into_iter()
    .filter_map(|(flag, holds)| holds.then_some(flag))
    .collect()
}

fn above_limit(setting: &Setting, bulk: &Path, passes: &Passes) -> bool {
    let metered = passes.metered.as_ref().map(|((_, received), _)| received);
    [
        (Pass::Throughput, Some(&passes.rated.1)),
        (Pass::Cpu, metered),
    ]
    .into_iter()
    .filter_map(|(pass, received)| Some((pass, received?.goodput.as_ref()?)))
    .any(|(pass, goodput)| {
        let stored = passes.of(pass).map_or(0.0, |disturbance| {
            stored_share(setting, bulk, disturbance, goodput.bytes, goodput.span)
        });
        exceeds(bulk.pace, goodput.bits_per_second / (1.0 + stored))
    })
}

/// The share by which the rate of `bytes` in `span` may be too high because
/// the link sent more at the end than at the beginning: the emulator was late
/// with the first bytes and in time with the last ones, or a token bucket
/// filled while other work kept the senders from the CPUs. Zero on kernel links
/// in an undisturbed pass.
pub(super) fn stored_share(
    setting: &Setting,
    path: &Path,
    disturbance: &Disturbance,
    bytes: Bytes,
    span: Span,
) -> f64 {
    match path.paced {
        Paced::Emulator => {
            let emulator = disturbance.emulator.as_ref();
            let [_, _, latest] = emulator.map_or_else(Default::default, |report| report.late);
            ratio(latest, span.max(Span::from_nanos(1)))
        }
        _ if disturbance.reason().is_none() => 0.0,
        _ => {
            let bursts = setting.network.links.iter().map(|link| link.burst.get());
            bursts.max().unwrap_or(0) as f64 / bytes.get().max(1) as f64
        }
    }
}

fn exceeds(pace: Option<Rate>, bits_per_second: f64) -> bool {
    pace.is_some_and(|pace| bits_per_second > pace.megabits_per_second() * 1e6 * (1.0 + TOLERANCE))
}

pub(super) fn clock_stepped(nanos: i64) -> bool {
    nanos.unsigned_abs() > STEP.as_nanos()
}

/// At most half of the warm-up may fit into the bucket; in the other half the
/// sender must get ahead of the link.
fn bucket_not_drained(setting: &Setting, transfer: &Transfer) -> bool {
    // An emulated link has a burst of 0.
    let links = &setting.network.links;
    links
        .iter()
        .any(|link| link.rate.is_some() && link.burst * 2 > transfer.warmup)
}

/// Whether the 99th percentile of timing error exceeds the allowed error of
/// delays.
fn emulator_late(emulator: &Report) -> bool {
    let [_, late, _] = emulator.late;
    late > LATE
}

fn offloads_differ(setting: &Setting, path: &Path) -> bool {
    let Some(offloads) = &path.offloads else {
        return false;
    };
    let Some(inspection) = &path.inspection else {
        return setting.host.offloads == offloads.is_empty();
    };
    let links = &setting.network.links;
    let mtu = |link: Option<&Link>| link.map_or(Bytes::ZERO, |link| link.mtu.bytes());
    let super_packets = inspection.largest_sent > mtu(links.first())
        || inspection.largest_received > mtu(links.last());
    if let Some(segments) = setting.host.segments_per_packet {
        // Flags of interfaces describe what the setting asked for; a packet has as many
        // segments at most, none of them larger than the MTU.
        let packet = |link: Option<&Link>| mtu(link) * u64::from(segments);
        return inspection.largest_sent > packet(links.first())
            || inspection.largest_received > packet(links.last());
    }
    if !setting.host.offloads {
        return super_packets || !offloads.is_empty();
    }
    if path.paced == Paced::Emulator {
        // Segmented above the link, perhaps merged again behind it.
        return offloads.is_empty() || inspection.largest_sent > mtu(links.first());
    }
    // A bucket that cannot hold super-packets segments them, datagrams are passed down
    // one by one, and so are segments of which no two fit in half a window.
    let whole = links
        .iter()
        .all(|link| link.rate.is_none() || link.burst >= SUPER_PACKET);
    let several = setting.network.path_mtu().is_some_and(fits_twice);
    let expected = inspection.protocol == Transport::Tcp && whole && several;
    offloads.is_empty() || expected && !super_packets
}

/// Whether TCP passes two full segments down at once, if it may.
fn fits_twice(mtu: IpMtu) -> bool {
    mtu.bytes() * 2 <= HALF_WINDOW
}

/// Messages that fill packets must have produced full packets.
fn mtu_differs(setting: &Setting, path: &Path) -> bool {
    let network = &setting.network;
    let Some((inspection, mtu)) = path.inspection.as_ref().zip(network.path_mtu()) else {
        return false;
    };
    let payload = model::payload_per_packet(mtu, network.ip, inspection.protocol);
    let fills = payload.is_some_and(|payload| inspection.message >= payload);
    // The last fragment may be the only one that is not full, but fragment
    // sizes are multiples of eight bytes [RFC8200 s4.5].
    let full = match inspection.protocol {
        Transport::Tcp => mtu.bytes().min(HALF_WINDOW),
        Transport::Udp => mtu.bytes(),
    };
    fills && inspection.largest_received + Bytes::new(7) < full
}

fn congestion_differs(setting: &Setting, passes: &Passes) -> bool {
    let tcp = passes.one_way.0.tcp.as_ref();
    tcp.is_some_and(|tcp| tcp.congestion != setting.host.congestion)
}

/// The kernel doubles the requested size for its overhead [socket(7)].
fn buffers_differ(transfer: &Transfer, (sent, received): &Ends) -> bool {
    let short =
        |asked: Option<Bytes>, given: u64| asked.is_some_and(|asked| given < asked.get() * 2);
    short(transfer.send_buffer, sent.send_buffer)
        || short(transfer.receive_buffer, received.receive_buffer)
}

/// Datagrams that arrived nowhere and that no queue of the path dropped were
/// dropped by a host.
fn host_drops(transfer: &Transfer, passes: &Passes) -> bool {
    let datagrams = transfer.protocol == Transport::Udp;
    datagrams && passes.one_way.1.delays.lost > passes.disturbance.dropped()
}

#[cfg(test)]
mod tests;
