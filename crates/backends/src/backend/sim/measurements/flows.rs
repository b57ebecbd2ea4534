//! Statistics of flows from the simulator's counters.

use sim::{FlowOutcome, TcpOutcome};

use crate::measurements::flows::{
    Carried, ConnectionStats, DelayStats, FlowStats, ProgramStats, RoundTrips,
};

/// The statistics of a transfer. A connection has the goodput of its messages
/// and only the smoothed round-trip time, since `rtt` is that of echoes.
pub(super) fn transfer(flow: &FlowOutcome) -> FlowStats {
    let delays = flow.delays.as_ref();
    let summary = flow.summary.as_ref();
    FlowStats {
        sent: flow.sent,
        bytes: flow.sent_bytes.get(),
        // A connection without messages counts segments, which it retransmits.
        lost: (flow.tcp.is_none() || flow.delays.is_some()).then_some(flow.lost),
        carried: { flow.goodput }.map(|goodput| Carried::Rate(goodput.megabits_per_second())),
        first_due: flow.first_due,
        first_arrival: flow.first_arrival,
        delays: DelayStats {
            messages: flow.received,
            mean: delays.map(|delays| delays.mean),
            p99: delays.map(|delays| delays.p99),
            jitter: summary.and_then(|summary| summary.jitter_mean_deviation),
            ipdv_p95: summary.and_then(|summary| summary.ipdv_p95),
        },
        by_program: ProgramStats {
            messages: flow.received,
            latency: None,
            jitter: summary.and_then(|summary| summary.jitter_ditg),
        },
        tcp: flow.tcp.as_ref().map(|tcp| ConnectionStats {
            retransmitted: tcp.sender.retransmissions,
            segments: Some(tcp.sender.segments + tcp.sender.retransmissions),
            timeouts: Some(tcp.sender.timeouts),
            smoothed_rtt: tcp.round_trip,
        }),
        ..FlowStats::default()
    }
}

/// The statistics of one flow of a trial. A connection has the payload of its
/// segments and the round-trip times that its sender measured.
pub(super) fn one(flow: &FlowOutcome) -> FlowStats {
    let stats = transfer(flow);
    let Some(tcp) = &flow.tcp else { return stats };
    FlowStats {
        carried: Some(Carried::Connection {
            bytes: tcp.bytes,
            began: tcp.began,
            ended: tcp.ended,
        }),
        round_trips: Some(round_trips(tcp)),
        ..stats
    }
}

/// The round-trip times that the sender measured.
fn round_trips(tcp: &TcpOutcome) -> RoundTrips {
    RoundTrips {
        count: tcp.sender.round_trips,
        took_ms: tcp.sender.round_trips_took.as_millis_f64(),
        p50: None,
        p95: None,
        p99: None,
    }
}
