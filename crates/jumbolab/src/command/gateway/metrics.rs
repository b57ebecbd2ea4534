//! The counters of a gateway in the text format of OpenMetrics [OpenMetrics].

use gateway::driver::{PeerCounts, Report};
use gateway::machine::{Cause, Rejection, Traffic};

use super::super::openmetrics::{Exposition, Kind};
use Kind::{Counter, Gauge};
use Value::{Gateway, Peer};

enum Value {
    /// Of traffic with a peer.
    Peer(fn(&Traffic, &PeerCounts) -> u64),
    /// Of the whole gateway.
    Gateway(fn(&Report) -> u64),
}

/// Metrics with their kind, their meaning, and how the value is read.
macro_rules! metrics {
    ($($name:ident: $kind:ident, $help:literal, $scope:ident($value:expr);)*) => {
        &[$((stringify!($name), $kind, $help, $scope($value))),*]
    };
}

const METRICS: &[(&str, Kind, &str, Value)] = metrics! {
    out_packets: Counter, "Packets from inside.", Peer(|traffic, _| traffic.outward.came);
    out_bytes: Counter, "Their bytes.", Peer(|traffic, _| traffic.outward.came_bytes);
    out_pieces: Counter, "Pieces that cutting added to packets larger than a bundle.",
        Peer(|traffic, _| traffic.outward.pieces);
    out_bundles: Counter, "Bundles sent.", Peer(|traffic, _| traffic.outward.bundles);
    out_bundled_packets: Counter, "Packets and pieces sent in bundles.",
        Peer(|traffic, _| traffic.outward.bundled);
    out_alone_packets: Counter, "Packets sent without company: in bundles of their own, or plain.",
        Peer(|traffic, _| traffic.outward.alone);
    out_core_bytes: Counter, "Bytes of IP sent to the core.",
        Peer(|traffic, _| traffic.outward.sent_bytes);
    out_marked_packets: Counter, "Packets sent with a congestion mark of this gateway's queue.",
        Peer(|traffic, _| traffic.outward.marked);
    out_taken_out_packets: Counter, "Packets that this gateway's queue took out of bundles.",
        Peer(|traffic, _| traffic.outward.taken_out);
    out_unsent_packets: Counter, "Packets that the kernel did not send, in their bundles.",
        Peer(|_, driver| driver.unsent);
    out_path_errors: Counter, "Errors that routers or the peer's host reported.",
        Peer(|_, driver| driver.path_errors);
    out_probes: Counter, "Probes of the path, answers to them and notes that bundles are missed, sent.",
        Peer(|traffic, _| traffic.outward.probes);
    in_probes: Counter, "Those that came and were heeded.",
        Peer(|traffic, _| traffic.inward.probes);
    path_mtu_bytes: Gauge, "Largest IP packet toward the peer.", Peer(|_, driver| driver.path_mtu);
    sealed: Gauge, "1 if bundles to the peer are sealed under a key that it knows, otherwise 0.",
        Peer(|_, driver| u64::from(driver.has_key == Some(true)));
    in_arrivals: Counter, "Datagrams and packets from the core.",
        Peer(|traffic, _| traffic.inward.arrived);
    in_core_bytes: Counter, "Their bytes.", Peer(|traffic, _| traffic.inward.arrived_bytes);
    in_bundles: Counter, "Bundles unpacked.", Peer(|traffic, _| traffic.inward.bundles);
    in_lost_bundles: Counter, "Bundles of the peer that did not come in time, by the numbers of others; also those that its queue dropped.",
        Peer(|traffic, _| traffic.inward.lost_bundles);
    in_bundled_packets: Counter, "Packets and pieces found in them.",
        Peer(|traffic, _| traffic.inward.unpacked);
    in_joined_pieces: Counter, "Pieces joined to the piece before them.",
        Peer(|traffic, _| traffic.inward.joined);
    in_missing_packets: Counter, "Packets that a queue had taken out of them.",
        Peer(|traffic, _| traffic.inward.missing);
    in_plain_packets: Counter, "Packets that came without a bundle.",
        Peer(|traffic, _| traffic.inward.plain);
    in_released_packets: Counter, "Packets let out to the inside.",
        Peer(|traffic, _| traffic.inward.released);
    in_released_bytes: Counter, "Their bytes.", Peer(|traffic, _| traffic.inward.released_bytes);
    in_marked_packets: Counter, "Packets with a congestion mark that their bundle had met.",
        Peer(|traffic, _| traffic.inward.marked);
    inside_received_packets: Counter, "Packets received from the inside.",
        Gateway(|report| report.inside.received);
    inside_sent_packets: Counter, "Packets sent to the inside.",
        Gateway(|report| report.inside.sent);
    inside_fragment_packets: Counter, "Fragments in place of packets larger than the MTU of the link to their host.",
        Gateway(|report| report.inside.fragments);
    inside_malformed_packets: Counter, "Packets from the inside whose offloads contradict them.",
        Gateway(|report| report.inside.malformed);
    inside_overrun_packets: Counter, "Packets from the inside that the kernel dropped for lack of room.",
        Gateway(|report| report.inside.overrun);
    inside_rejected_packets: Counter, "Packets to the inside that the kernel did not take, or that are larger than the MTU of the link to their host.",
        Gateway(|report| report.inside.rejected);
    core_overrun_packets: Counter, "Arrivals from the core that the kernel dropped for lack of room; datagrams that it had joined count once.",
        Gateway(|report| report.core_overrun);
    errors_sent: Counter, "ICMP errors sent to hosts inside.",
        Gateway(|report| report.counts.errors);
    errors_withheld: Counter, "ICMP errors that were not sent.",
        Gateway(|report| report.counts.errors_withheld);
    waiting_out_packets: Gauge, "Packets that wait for company or for the uplink.",
        Gateway(|report| report.waiting.outward);
    waiting_in_packets: Gauge, "Packets that wait to be let out, and pieces that wait for the next one.",
        Gateway(|report| report.waiting.inward);
    uplink_backlog_bundles: Gauge, "Bundles in the queue of the uplink.",
        Gateway(|report| report.uplink.map_or(0, |(backlog, _)| backlog.packets.into()));
    inside_waiting_packets: Gauge, "Packets to the inside that wait in a ring of AF_XDP, because an interface is down or has no room.",
        Gateway(|report| report.inside.waiting);
    prefixes: Gauge, "Prefixes in the egress table.", Gateway(|report| report.prefixes as u64);
};

/// A peer's name, empty for traffic of no peer, with its counters.
type Named<'a> = (&'a str, (&'a Traffic, &'a PeerCounts));

/// All metrics.
pub(super) fn text(report: &Report) -> String {
    let mut text = Exposition::new("jumbolab_gateway_");
    let none = PeerCounts::default();
    let counts = report.counts.peers.iter().zip(&report.peers);
    let peers = report.names.iter().map(String::as_str).zip(counts);
    let peers: Vec<Named<'_>> = peers.chain([("", (&report.counts.other, &none))]).collect();
    for (name, kind, help, value) in METRICS {
        text.begin(*kind, name, help);
        match value {
            Gateway(value) => text.sample(&[], value(report)),
            Peer(value) => {
                // Traffic of no peer has no path.
                let shown = peers
                    .iter()
                    .filter(|(name, _)| *kind == Counter || !name.is_empty());
                for (peer, (traffic, driver)) in shown {
                    text.sample(&[("peer", *peer)], value(traffic, driver));
                }
            }
        }
    }
    put_reasons(&mut text, &peers);
    put_gateway(&mut text, report);
    text.end()
}

/// Adds what was dropped and rejected, by reason.
fn put_reasons(text: &mut Exposition, peers: &[Named<'_>]) {
    let help = "Packets dropped, by direction and cause; of cut packets, pieces. No peer: traffic of none.";
    text.begin(Counter, "dropped_packets", help);
    for (peer, (traffic, _)) in peers {
        let directions = [
            ("out", &traffic.outward.drops),
            ("in", &traffic.inward.drops),
        ];
        for (direction, drops) in directions {
            for cause in Cause::ALL {
                let labels = [
                    ("peer", *peer),
                    ("direction", direction),
                    ("cause", cause.name()),
                ];
                text.sample(&labels, drops.of(cause));
            }
        }
    }
    let help = "Arrivals from the core that were not unpacked, by reason.";
    text.begin(Counter, "rejected_arrivals", help);
    for (peer, (traffic, _)) in peers {
        for rejection in Rejection::ALL {
            let labels = [("peer", *peer), ("reason", rejection.name())];
            text.sample(&labels, traffic.inward.rejections.of(rejection));
        }
    }
}

/// Adds what is of the whole gateway and no integer, or has labels.
fn put_gateway(text: &mut Exposition, report: &Report) {
    let help = "1 for the path of packets to an interface inside.";
    text.begin(Gauge, "inside_path", help);
    for (interface, path) in &report.paths {
        text.sample(&[("interface", interface.as_str()), ("path", *path)], 1);
    }
    if let Some((_, Some(average))) = report.uplink {
        let help = "Average queue of the uplink in bundles, as its discipline weighs it.";
        text.begin(Gauge, "uplink_average_bundles", help);
        text.sample(&[], average.frames);
    }
    text.begin(Counter, "cpu_seconds", "Processor time of the process.");
    text.sample(&[], report.cpu.as_secs_f64());
    let help = "Waits of packets in bundles during the last second, by quantile.";
    text.begin(Gauge, "hold_seconds", help);
    for share in [0.5, 0.9, 0.99] {
        if let Some(span) = report.holds.quantile(share) {
            let quantile = share.to_string();
            text.sample(&[("quantile", quantile.as_str())], span.as_secs_f64());
        }
    }
}
