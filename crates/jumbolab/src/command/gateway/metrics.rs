//! The counters of a gateway in the text format of OpenMetrics [OpenMetrics].

use std::fmt::Write as _;

use live::gateway::{PeerCounts, Report};
use proto::gateway::{Cause, Drops, Refusal, Traffic};

use Value::{Gateway, Peer};

/// A metric, and how its value is read.
struct Metric {
    name: &'static str,
    kind: &'static str,
    help: &'static str,
    value: Value,
}

enum Value {
    /// Of traffic with a peer.
    Peer(fn(&Traffic, &PeerCounts) -> u64),
    /// Of the whole gateway.
    Gateway(fn(&Report) -> u64),
}

const fn counter(name: &'static str, help: &'static str, value: Value) -> Metric {
    Metric {
        name,
        kind: "counter",
        help,
        value,
    }
}

const fn gauge(name: &'static str, help: &'static str, value: Value) -> Metric {
    Metric {
        name,
        kind: "gauge",
        help,
        value,
    }
}

const METRICS: &[Metric] = &[
    counter(
        "out_packets",
        "Packets from inside.",
        Peer(|traffic, _| traffic.outward.came),
    ),
    counter(
        "out_octets",
        "Their octets.",
        Peer(|traffic, _| traffic.outward.came_octets),
    ),
    counter(
        "out_fragments",
        "Packets that fragmentation added.",
        Peer(|traffic, _| traffic.outward.fragments),
    ),
    counter(
        "out_bundles",
        "Bundles sent.",
        Peer(|traffic, _| traffic.outward.bundles),
    ),
    counter(
        "out_bundled_packets",
        "Packets sent in bundles.",
        Peer(|traffic, _| traffic.outward.bundled),
    ),
    counter(
        "out_alone_packets",
        "Packets sent without a bundle.",
        Peer(|traffic, _| traffic.outward.alone),
    ),
    counter(
        "out_core_octets",
        "Octets of IP sent to the core.",
        Peer(|traffic, _| traffic.outward.sent_octets),
    ),
    counter(
        "out_marked_packets",
        "Packets sent with a congestion mark of this gateway's queue.",
        Peer(|traffic, _| traffic.outward.marked),
    ),
    counter(
        "out_taken_out_packets",
        "Packets that this gateway's queue took out of bundles.",
        Peer(|traffic, _| traffic.outward.taken_out),
    ),
    counter(
        "out_unsent_packets",
        "Packets that the kernel did not send, in their bundles.",
        Peer(|_, driver| driver.unsent),
    ),
    counter(
        "out_path_errors",
        "Errors that routers or the peer's host reported.",
        Peer(|_, driver| driver.path_errors),
    ),
    counter(
        "out_probes",
        "Probes of the path, answers to them and notes that bundles are missed, sent.",
        Peer(|traffic, _| traffic.outward.probes),
    ),
    counter(
        "in_probes",
        "Those that came and were heeded.",
        Peer(|traffic, _| traffic.inward.probes),
    ),
    gauge(
        "path_mtu_octets",
        "Largest IP packet toward the peer.",
        Peer(|_, driver| driver.path_mtu),
    ),
    gauge(
        "sealed",
        "1 if bundles to the peer are sealed under a key that it knows, otherwise 0.",
        Peer(|_, driver| u64::from(driver.has_key == Some(true))),
    ),
    counter(
        "in_arrivals",
        "Datagrams and packets from the core.",
        Peer(|traffic, _| traffic.inward.arrived),
    ),
    counter(
        "in_core_octets",
        "Their octets.",
        Peer(|traffic, _| traffic.inward.arrived_octets),
    ),
    counter(
        "in_bundles",
        "Bundles unpacked.",
        Peer(|traffic, _| traffic.inward.bundles),
    ),
    counter(
        "in_bundled_packets",
        "Packets found in them.",
        Peer(|traffic, _| traffic.inward.unpacked),
    ),
    counter(
        "in_missing_packets",
        "Packets that routers had taken out of them.",
        Peer(|traffic, _| traffic.inward.missing),
    ),
    counter(
        "in_plain_packets",
        "Packets that came without a bundle.",
        Peer(|traffic, _| traffic.inward.plain),
    ),
    counter(
        "in_released_packets",
        "Packets let out to the inside.",
        Peer(|traffic, _| traffic.inward.released),
    ),
    counter(
        "in_released_octets",
        "Their octets.",
        Peer(|traffic, _| traffic.inward.released_octets),
    ),
    counter(
        "in_marked_packets",
        "Packets with a congestion mark that their bundle had met.",
        Peer(|traffic, _| traffic.inward.marked),
    ),
    counter(
        "inside_received_packets",
        "Packets received from the inside.",
        Gateway(|report| report.inside.received),
    ),
    counter(
        "inside_sent_packets",
        "Packets sent to the inside.",
        Gateway(|report| report.inside.sent),
    ),
    counter(
        "inside_fragment_packets",
        "Fragments in place of packets larger than the MTU of the link to their host.",
        Gateway(|report| report.inside.fragments),
    ),
    counter(
        "inside_malformed_packets",
        "Packets from the inside whose offloads contradict them.",
        Gateway(|report| report.inside.malformed),
    ),
    counter(
        "inside_overrun_packets",
        "Packets from the inside that the kernel dropped for lack of room.",
        Gateway(|report| report.inside.overrun),
    ),
    counter(
        "inside_refused_packets",
        "Packets to the inside that the kernel did not take, or that are larger than the MTU of the link to their host.",
        Gateway(|report| report.inside.refused),
    ),
    counter(
        "core_overrun_packets",
        "Arrivals from the core that the kernel dropped for lack of room.",
        Gateway(|report| report.core_overrun),
    ),
    counter(
        "errors_sent",
        "ICMP errors sent to hosts inside.",
        Gateway(|report| report.counts.errors),
    ),
    counter(
        "errors_withheld",
        "ICMP errors that were not sent.",
        Gateway(|report| report.counts.errors_withheld),
    ),
    gauge(
        "waiting_out_packets",
        "Packets that wait for company or for the uplink.",
        Gateway(|report| report.waiting.outward),
    ),
    gauge(
        "waiting_in_packets",
        "Packets that wait to be let out.",
        Gateway(|report| report.waiting.inward),
    ),
    gauge(
        "uplink_backlog_bundles",
        "Bundles in the queue of the uplink.",
        Gateway(|report| {
            report
                .uplink
                .map_or(0, |(backlog, _)| backlog.packets.into())
        }),
    ),
    gauge(
        "inside_waiting_packets",
        "Packets to the inside that wait in a ring of AF_XDP, because an interface is down or has no room.",
        Gateway(|report| report.inside.waiting),
    ),
    gauge(
        "prefixes",
        "Prefixes in the egress table.",
        Gateway(|report| report.prefixes as u64),
    ),
];

/// All metrics.
pub(super) fn text(report: &Report) -> String {
    let mut text = String::new();
    let none = PeerCounts::default();
    let peers = || {
        let counts = report.counts.peers.iter().zip(&report.peers);
        let named = report.names.iter().map(String::as_str).zip(counts);
        named.chain(std::iter::once(("", (&report.counts.other, &none))))
    };
    for metric in METRICS {
        let name = head(&mut text, metric.name, metric.kind, metric.help);
        let value = match metric.value {
            Peer(value) => value,
            Gateway(value) => {
                let _ = writeln!(text, "{name} {}", value(report));
                continue;
            }
        };
        for (peer, (traffic, driver)) in peers() {
            // Traffic of no peer has no path.
            if metric.kind == "gauge" && peer.is_empty() {
                continue;
            }
            let value = value(traffic, driver);
            let _ = writeln!(text, "{name}{{peer=\"{}\"}} {value}", escaped(peer));
        }
    }
    let labels = |drops: &Drops, direction: &str| {
        let row = |cause: Cause| {
            let labels = format!("direction=\"{direction}\",cause=\"{}\"", cause.name());
            (labels, drops.of(cause))
        };
        Cause::ALL.map(row)
    };
    by_peer(
        &mut text,
        [
            "dropped_packets",
            "Packets dropped, by direction and cause.",
        ],
        peers().map(|(peer, (traffic, _))| {
            let (out, inward) = (&traffic.outward.drops, &traffic.inward.drops);
            let rows = [labels(out, "out"), labels(inward, "in")];
            (peer, rows.into_iter().flatten())
        }),
    );
    by_peer(
        &mut text,
        [
            "refused_arrivals",
            "Arrivals from the core that were not unpacked, by reason.",
        ],
        peers().map(|(peer, (traffic, _))| {
            let refusals = traffic.inward.refusals;
            let rows = Refusal::ALL.into_iter().map(move |refusal| {
                let labels = format!("reason=\"{}\"", refusal.name());
                (labels, refusals.of(refusal))
            });
            (peer, rows)
        }),
    );
    let name = head(
        &mut text,
        "inside_path",
        "gauge",
        "1 for the path of packets to an interface inside.",
    );
    for (interface, path) in &report.paths {
        let interface = escaped(interface);
        let _ = writeln!(
            text,
            "{name}{{interface=\"{interface}\",path=\"{path}\"}} 1"
        );
    }
    if let Some((_, Some(average))) = report.uplink {
        let name = head(
            &mut text,
            "uplink_average_bundles",
            "gauge",
            "Average queue of the uplink in bundles, as its discipline weighs it.",
        );
        let _ = writeln!(text, "{name} {}", average.frames);
    }
    let name = head(
        &mut text,
        "cpu_seconds",
        "counter",
        "Processor time of the process.",
    );
    let _ = writeln!(text, "{name} {}", report.cpu.as_secs_f64());
    let name = head(
        &mut text,
        "hold_seconds",
        "gauge",
        "Waits of packets in bundles during the last second, by quantile.",
    );
    for share in [0.5, 0.9, 0.99] {
        if let Some(span) = report.holds.quantile(share) {
            let _ = writeln!(
                text,
                "{name}{{quantile=\"{share}\"}} {}",
                span.as_secs_f64()
            );
        }
    }
    text + "# EOF\n"
}

/// Writes a counter that has rows with further labels for each peer; `about` is its name
/// and what it counts.
fn by_peer<'a, R: Iterator<Item = (String, u64)>>(
    text: &mut String,
    about: [&str; 2],
    peers: impl Iterator<Item = (&'a str, R)>,
) {
    let name = head(text, about[0], "counter", about[1]);
    for (peer, rows) in peers {
        for (labels, value) in rows {
            let peer = escaped(peer);
            let _ = writeln!(text, "{name}{{peer=\"{peer}\",{labels}}} {value}");
        }
    }
}

/// Writes the head of a metric; returns the name of its samples.
fn head(text: &mut String, name: &str, kind: &str, help: &str) -> String {
    let name = format!("jumbolab_gateway_{name}");
    let _ = writeln!(text, "# HELP {name} {help}");
    let _ = writeln!(text, "# TYPE {name} {kind}");
    match kind {
        "counter" => format!("{name}_total"),
        _ => name,
    }
}

/// A name as the value of a label.
fn escaped(name: &str) -> String {
    name.replace('\\', "\\\\")
        .replace('"', "\\\"")
        .replace('\n', "\\n")
}
