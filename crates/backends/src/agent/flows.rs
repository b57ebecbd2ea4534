//! Flows between two agents: requests and observations of both ends.
//!
//! The ends are those of manual traffic ([`traffic::driver::sessions`]), which compare their clocks if
//! they run on different machines.

mod arrived;

use std::net::{IpAddr, SocketAddr};
use std::num::NonZero;
use std::path::PathBuf;

use anyhow::{Context, Result, anyhow};
use meter::clock_offset::ClockOffset;
use meter::departures::{Bursts, Distribution, PathMtu, Schedule};
use meter::time_series::TimeSeries;
use os::cpu_time::Process;
use os::socket::{self, CHOOSES_CONGESTION_CONTROL, TcpState};
use secret::Secret;
use serde::{Deserialize, Serialize};
use traffic::driver::sessions::{
    Asked, Event, Flow, FlowOutcome, Meter, Name, Options, Plan, Protocol, Receiver, Report,
    SendingRate, Served, Serving, sizes,
};
use traffic::driver::trial_token::Token;
use traffic::machine::control::{FlowBounds, Impossible, Limits};
use units::{Bytes, Seed, Span, Time};
use wire::control::{SentReport, StampPrecision};

pub(crate) use arrived::Arrived;
use arrived::Collector;

use crate::measurements::over_time::Quantiles;

/// A flow as requested from the sender's agent.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Wanted {
    pub(crate) name: String,
    /// Whether messages are sent over a stream instead of as datagrams.
    pub(crate) stream: bool,
    /// Picoseconds between messages; zero: as fast as possible.
    pub(crate) gaps: Distribution,
    pub(crate) sizes: Distribution,
    pub(crate) bursts: Option<Bursts>,
    pub(crate) packets: Option<u64>,
    pub(crate) bytes: Option<u64>,
    pub(crate) seed: u64,
    pub(crate) start: Span,
    pub(crate) length: Span,
    pub(crate) congestion: String,
    /// The largest segment of TCP; `None`: as the path's MTU allows.
    pub(crate) largest_segment: Option<u16>,
    pub(crate) send_buffer: Option<Bytes>,
    pub(crate) receive_buffer: Option<Bytes>,
    pub(crate) nagle: bool,
    pub(crate) path_mtu: PathMtu,
    /// Whether each gap starts at the end of the previous one.
    pub(crate) drifts: bool,
    /// Whether the sender busy-waits before a scheduled departure.
    pub(crate) watches: bool,
    /// Whether the receiver echoes every message.
    pub(crate) round_trip: bool,
}

/// The request to the sender's agent.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Sending {
    pub(crate) to: IpAddr,
    pub(crate) flows: Vec<Wanted>,
    /// The sampling interval in messages for departure stamps of a stream.
    pub(crate) every: NonZero<u64>,
}

/// The request to the receiver's agent.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Receiving {
    pub(crate) at: IpAddr,
    /// The number of flows.
    pub(crate) flows: u16,
    /// The sampling interval in messages for reported arrivals.
    pub(crate) every: NonZero<u64>,
    /// The file of the packet log, if packets are logged.
    pub(crate) log: Option<PathBuf>,
}

/// The sender's observations of a flow; times in nanoseconds.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Departed {
    pub(crate) offered: u64,
    pub(crate) messages: u64,
    pub(crate) bytes: u64,
    /// Messages with invalid sizes, and messages that the kernel rejected.
    pub(crate) rejected: u64,
    pub(crate) unsent: u64,
    pub(crate) lasted: u64,
    /// The scheduled time of the first message, since the session's start.
    pub(crate) first: Option<u64>,
    /// The timing error of writes: median, 99th percentile, maximum.
    pub(crate) timing_error: Option<[u64; 3]>,
    /// The number of received echoes.
    pub(crate) echoes: u64,
    /// Round-trip times: mean, median, 95th and 99th percentile.
    pub(crate) round_trips: Option<[u64; 4]>,
    /// Quantiles of round-trip times in seconds.
    pub(crate) round_trip_quantiles: Option<Quantiles>,
    /// Round trips over time; of a stream without echoes TCP's smoothed ones.
    pub(crate) round_trips_over_time: TimeSeries,
    /// Position and time of messages with stamped first bytes.
    pub(crate) departures: Vec<(u64, u64)>,
    pub(crate) tcp: Option<TcpState>,
    pub(crate) send_buffer: u64,
    pub(crate) receive_buffer: u64,
    /// How late this program stamps echoes over loopback; `None` where the kernel stamps them.
    pub(crate) stamps_late: Option<u64>,
    /// CPU time of the sending process for all flows.
    pub(crate) cpu: u64,
    /// The receiver's clock minus the sender's, for all flows; `None`: both read one clock.
    pub(crate) clocks: Option<ClockOffset>,
}

/// The results of the receiver's agent.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Arrivals {
    /// The flows, in the order of their numbers.
    pub(crate) flows: Vec<Arrived>,
    /// Control connections without the trial's token.
    pub(crate) rejected_peers: u64,
}

/// Checks what the agents of both ends report: each flow in itself, and against the other end.
///
/// # Errors
/// The first impossible figure.
pub(super) fn check(
    sent: &[Departed],
    received: &Arrivals,
    elapsed: Span,
) -> std::result::Result<(), String> {
    if sent.len() != received.flows.len() {
        return Err("the agents report different numbers of flows".to_owned());
    }
    let bounds = FlowBounds {
        elapsed: elapsed.as_nanos(),
        clock_bound: 0,
        sizes: (0, u32::MAX.into()),
        packets: None,
        bytes: None,
        length: None,
        gap: 0.0,
    };
    for (departed, arrived) in sent.iter().zip(&received.flows) {
        let report = Report {
            messages: arrived.messages,
            bytes: arrived.bytes,
            overflowed: Some(arrived.overflowed),
            unstamped: arrived.unstamped,
            stamps: arrived.stamps_late.map(|late| StampPrecision {
                resolution: 0,
                late,
            }),
            merged: arrived.merged,
            ..Report::default()
        };
        let sent = SentReport {
            offered: departed.offered,
            messages: departed.messages,
            bytes: departed.bytes,
            rejected: departed.rejected,
            unsent: departed.unsent,
            lasted: departed.lasted,
            ..SentReport::default()
        };
        let checked = match departed.echoes <= departed.messages {
            true => bounds.check(&sent, &report),
            false => Err(Impossible::MoreThanSent),
        };
        checked.map_err(|why| format!("the agents' reports of a flow are impossible: {why}"))?;
    }
    Ok(())
}

/// The token as the secret of a session of flows.
fn secret(token: &Token) -> Secret {
    Secret::new(token.bytes().to_vec())
}

/// Sends flows, and waits until the receiver has received all of them.
pub(super) fn send(asked: Sending, token: &Token, port: u16) -> Result<Vec<Departed>> {
    let before = Process::sample()?;
    let flows = asked.flows.into_iter();
    let flows = flows.map(|wanted| wanted.flow(asked.every, asked.to));
    let outcome = traffic::driver::sessions::run(Plan {
        to: SocketAddr::new(asked.to, port),
        flows: flows.collect::<Result<_>>()?,
        secret: Some(secret(token)),
        keep: Box::new(|_| Ok(None)),
        intervals: None,
        common_start: None,
    })?;
    match outcome.fault {
        Some(fault) => Err(anyhow!(fault)),
        None => {
            let clocks = outcome.offset.filter(|_| !outcome.same_clock);
            let used = (Process::sample()? - before).cpu.as_nanos();
            let flows = outcome.flows.into_iter();
            flows.map(|flow| Departed::of(flow, used, clocks)).collect()
        }
    }
}

impl Wanted {
    fn flow(self, every: NonZero<u64>, to: IpAddr) -> Result<Flow> {
        let name = Name::new(&self.name).context("a flow without a name")?;
        let paced = self.gaps != Distribution::Constant(0.0);
        let seed = Seed::new(self.seed);
        let mut schedule = Schedule::new(Time::ZERO, self.gaps, self.sizes, seed);
        if let Some(bursts) = self.bursts {
            schedule = schedule.bursts(bursts).map_err(|bad| anyhow!("{bad}"))?;
        }
        if let Some(packets) = self.packets {
            schedule = schedule.packets(packets);
        }
        let transport = match self.stream {
            true => Protocol::Tcp,
            false => Protocol::Udp,
        };
        let meter = match self.round_trip {
            true => Meter::RoundTrip,
            false => Meter::OneWay,
        };
        if let Some(bytes) = self.bytes {
            let (least, most) = sizes(Some(transport), meter, to);
            schedule = schedule.carried(least..=most).bytes(bytes);
        }
        Ok(Flow {
            name,
            transport: Some(transport),
            meter,
            schedule,
            paced,
            delay: self.start,
            omit: Span::ZERO,
            length: Some(self.length),
            largest: None,
            payload: None,
            codec: None,
            options: Options {
                socket: socket::Options {
                    path_mtu: self.path_mtu,
                    no_delay: !self.nagle,
                    congestion: CHOOSES_CONGESTION_CONTROL.then_some(self.congestion),
                    segment: self.largest_segment,
                    send_buffer: self.send_buffer,
                    receive_buffer: self.receive_buffer,
                    ..socket::Options::default()
                },
                segmentation: 1,
                spin: self.watches,
                drifts: self.drifts,
                stamp_departures: self.stream.then_some(every),
                ..Options::default()
            },
            limit: None,
            reverse: None,
        })
    }
}

impl Departed {
    fn of(outcome: FlowOutcome, cpu: u64, clocks: Option<ClockOffset>) -> Result<Self> {
        let name = outcome.name;
        let failed = |what: &str| anyhow!("the flow {}: {what}", name.as_str());
        if let Some(fault) = outcome.fault {
            return Err(failed(&fault));
        }
        let sent = outcome.sent.ok_or_else(|| failed("it was not sent"))?;
        let timing_error = sent.timing_error;
        let departures = sent.departures.iter();
        Ok(Self {
            offered: sent.offered,
            messages: sent.messages,
            bytes: sent.bytes.get(),
            rejected: sent.rejected,
            unsent: sent.unsent,
            lasted: sent.lasted.as_nanos(),
            first: sent.first,
            echoes: sent.echoes,
            round_trips: sent
                .round_trips
                .map(|trips| [trips.mean, trips.median, trips.p95, trips.p99].map(Span::as_nanos)),
            round_trip_quantiles: sent.round_trip_quantiles,
            round_trips_over_time: sent.round_trips_over_time,
            timing_error: timing_error
                .map(|late| [late.median, late.p99, late.most].map(Span::as_nanos)),
            departures: departures.map(|one| (one.sequence, one.nanos)).collect(),
            tcp: sent.tcp,
            send_buffer: sent.send_buffer,
            receive_buffer: outcome.receive_buffer,
            stamps_late: sent.stamps.map(|stamps| stamps.late.as_nanos()),
            cpu,
            clocks,
        })
    }
}

/// Listens, reports the port, and serves one session of flows.
pub(super) fn receive(
    asked: Receiving,
    token: &Token,
    listening: impl FnOnce(u16) -> os::Result<()>,
) -> Result<Arrivals> {
    let before = Process::sample()?;
    let collector = Collector::new(asked.every, asked.log);
    let limits = Limits {
        flows: asked.flows,
        ..Limits::default()
    };
    let receiver = Receiver::open(Serving {
        listen: vec![SocketAddr::new(asked.at, 0)],
        secret: Some(secret(token)),
        open: false,
        limits,
        sessions: 1,
        polling: asked.flows.into(),
        data_ports: None,
        once: true,
        interval: None,
        rate: SendingRate::None,
        keep: collector.keep(),
    })?;
    let address = receiver
        .addresses()
        .first()
        .context("nothing to listen on")?;
    listening(address.port())?;
    let (mut served, mut rejected_peers) = (None, 0);
    receiver.run(|event| match event {
        Event::Ended(ended) => served = Some(ended),
        Event::Rejected { .. } => rejected_peers += 1,
        Event::Opened { .. } | Event::Interval { .. } => {}
    })?;
    let served: Served = served.context("no flow arrived")?;
    if let Some(fault) = served.fault {
        return Err(anyhow!(fault));
    }
    let flows = served.flows.into_iter();
    let reports: Vec<(Asked, Report)> = flows.map(|one| (one.flow, one.report)).collect();
    let used = (Process::sample()? - before).cpu.as_nanos();
    let mut flows = collector.end(&reports)?;
    flows.iter_mut().for_each(|flow| flow.cpu = used);
    Ok(Arrivals {
        flows,
        rejected_peers,
    })
}

#[cfg(test)]
mod tests;
