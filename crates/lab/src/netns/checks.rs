//! Holds what was seen in a trial against what was asked and what physics allows.

use model::Transport;
use units::{Bytes, Rate, Span};

use super::Inspection;
use super::figures::{Ends, Passes, ratio};
use crate::certificate::{Flag, TOLERANCE};
use crate::experiment::{Link, Protocol, Setting};

/// A step of the wall clock that would show in a delay.
const STEP: Span = Span::from_millis(1);

/// The largest packet that TCP hands down with offloads on: a bucket or an
/// interface that cannot hold it takes it apart.
const SUPER_PACKET: Bytes = Bytes::new(1 << 16);

/// A trial counts as disturbed when an end waits for a processor for this
/// share of its time, when the hypervisor takes this share of the machine's,
/// or when so many processors work for others: much less than one busy loop,
/// however many processors there are.
const WAITED: f64 = 0.25;
const STOLEN: f64 = 0.05;
const OTHERS: f64 = 0.3;

/// The share of one processor above which an end, not the link, is what a
/// trial measures.
const BOUND: f64 = 0.95;

/// Everything that is wrong with a trial.
pub(super) fn flags(
    setting: &Setting,
    pace: Option<Rate>,
    passes: &Passes,
    inspection: &Inspection,
    offloads: &[String],
) -> Vec<Flag> {
    let mut flags = Vec::new();
    let mut raise = |flag: Flag, holds: bool| flags.extend(holds.then_some(flag));
    raise(Flag::AboveLimit, above_limit(pace, passes));
    raise(Flag::BucketNotDrained, bucket_not_drained(setting));
    raise(
        Flag::Unstamped,
        passes.rated.1.unstamped + passes.one_way.1.unstamped > 0,
    );
    raise(
        Flag::ClockStepped,
        passes.clock_step.unsigned_abs() > STEP.as_nanos(),
    );
    raise(
        Flag::OffloadsDiffer,
        offloads_differ(setting, inspection, offloads),
    );
    raise(Flag::MtuDiffers, mtu_differs(setting, inspection));
    raise(Flag::CongestionDiffers, congestion_differs(setting, passes));
    raise(
        Flag::BufferDiffers,
        buffers_differ(setting, &passes.one_way),
    );
    raise(Flag::HostDrops, host_drops(setting, passes));
    raise(Flag::Disturbed, disturbed(passes));
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

fn above_limit(pace: Option<Rate>, passes: &Passes) -> bool {
    let metered = passes.metered.as_ref().map(|((_, received), _)| received);
    pace.is_some_and(|pace| {
        let limit = pace.megabits_per_second() * 1e6 * (1.0 + TOLERANCE);
        let goodputs = [Some(&passes.rated.1), metered].into_iter().flatten();
        goodputs
            .filter_map(|end| end.goodput.as_ref())
            .any(|goodput| goodput.bits_per_second > limit)
    })
}

/// Half the pre-roll at most is stored in the bucket: the other half is time
/// for the sender to get ahead of the link.
fn bucket_not_drained(setting: &Setting) -> bool {
    let links = &setting.network.links;
    links
        .iter()
        .any(|link| link.rate.is_some() && link.burst * 2 > setting.traffic.preroll)
}

fn offloads_differ(setting: &Setting, inspection: &Inspection, offloads: &[String]) -> bool {
    let links = &setting.network.links;
    let mtu = |link: Option<&Link>| link.map_or(Bytes::ZERO, |link| link.mtu.bytes());
    let super_packets = inspection.largest_sent > mtu(links.first())
        || inspection.largest_received > mtu(links.last());
    if !setting.host.offloads {
        return super_packets || !offloads.is_empty();
    }
    // A bucket that cannot hold super-packets takes them apart, and datagrams
    // are handed down one by one.
    let whole = links
        .iter()
        .all(|link| link.rate.is_none() || link.burst >= SUPER_PACKET);
    offloads.is_empty() || (setting.traffic.protocol == Protocol::Tcp && whole && !super_packets)
}

/// Messages that fill packets must have been seen in full ones.
fn mtu_differs(setting: &Setting, inspection: &Inspection) -> bool {
    let network = &setting.network;
    let Some(mtu) = network.links.iter().map(|link| link.mtu).min() else {
        return false;
    };
    let transport = match setting.traffic.protocol {
        Protocol::Tcp => Transport::Tcp,
        Protocol::Udp => Transport::Udp,
    };
    let payload = model::payload_per_packet(mtu, network.ip, transport);
    let fills = payload.is_some_and(|payload| inspection.message >= payload);
    // The last fragment of a datagram may be the only one that is not full,
    // but fragments come in steps of eight octets [RFC8200 s4.5].
    fills && inspection.largest_received + Bytes::new(7) < mtu.bytes()
}

fn congestion_differs(setting: &Setting, passes: &Passes) -> bool {
    let tcp = passes.one_way.0.tcp.as_ref();
    tcp.is_some_and(|tcp| tcp.congestion != setting.host.congestion)
}

/// The kernel doubles what is asked, for its own needs [socket(7)].
fn buffers_differ(setting: &Setting, (sent, received): &Ends) -> bool {
    let short =
        |asked: Option<Bytes>, given: u64| asked.is_some_and(|asked| given < asked.get() * 2);
    short(setting.traffic.send_buffer, sent.send_buffer)
        || short(setting.traffic.receive_buffer, received.receive_buffer)
}

/// Datagrams that no queue of the path dropped were dropped by a host.
fn host_drops(setting: &Setting, passes: &Passes) -> bool {
    let datagrams = setting.traffic.protocol == Protocol::Udp;
    datagrams && passes.one_way.1.delays.lost > passes.drops
}

fn disturbed(passes: &Passes) -> bool {
    let machine = &passes.machine;
    let all = machine.elapsed * machine.processors;
    let metered = passes
        .metered
        .as_ref()
        .is_some_and(|((sent, received), used)| {
            let waited = sent.process.waited.max(received.process.waited);
            ratio(waited, used.elapsed) > WAITED
        });
    metered || ratio(machine.steal, all) > STOLEN || passes.others() > OTHERS
}
