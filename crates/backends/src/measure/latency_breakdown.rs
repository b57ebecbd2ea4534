//! A trial of a latency breakdown.

mod transmission;

use meter::latency_breakdown::{Direction, Exchange, Part, Parts};
use os::clock::Epoch;
use plan::metric::{self, part_metric};
use plan::setting::{self as spec, Echo, LatencyBreakdown};
use plan::{Setting, evidence};
use traffic::driver::transfer::Transfer;
use traffic::driver::transfer::latency_breakdown::{
    Answered, Asked, Inject, InjectionPoint, Probe,
};
use units::{Bytes, Span};

use super::Pair;
use super::checks::flags_of_latency_breakdown;
use super::convert::transfer_of;
use super::disturbance::{StallMetering, watched};
use crate::agent::Failure;
use crate::measurements::Measurements;
use transmission::transmission;

/// The minimum number of round trips without departure stamps. They are a
/// quarter of the counted ones, and half of them warm up.
const FEWEST_PLAIN: u64 = 40;

/// The number of round trips with busy-waiting ends.
const SLEEPLESS: u64 = 40;

/// The observations beside the round trips.
pub(super) struct RoundTripsObservation<'a> {
    pub(super) asked: &'a Asked,
    /// Whether messages were lost that the path did not drop.
    pub(super) host_drops: bool,
    /// The steps of the wall clock meanwhile, in nanoseconds.
    pub(super) clock_step: i64,
    /// The number of round trips without complete stamps.
    pub(super) unstamped: usize,
}

/// Exchanges the messages of `setting` and splits each round trip into stages.
pub(super) fn latency_breakdown(
    pair: &mut Pair<'_>,
    setting: &Setting,
    trips: &LatencyBreakdown,
    epoch: Epoch,
) -> Result<Measurements, Failure> {
    let (paced, to) = (pair.path.paced, pair.path.addresses.receiver);
    let base = transfer_of(setting, paced, &as_transfer(trips), to, epoch);
    let probe = probe(trips, base);
    let ((asked, answered), disturbance) = watched(pair, StallMetering::On, |pair| {
        pair.agents.latency_breakdown(&probe)
    })?;
    disturbance.valid()?;

    let wire = transmission(&setting.network, paced, trips.protocol, trips.message);
    let exchanges = exchanges(&asked, &answered, wire);
    let dropped = disturbance.dropped();
    let lost = asked.trips.iter().filter(|trip| trip.is_none()).count();
    let mut measurements = Measurements::default();
    measurements.take_parts(&exchanges, trips.message, asked.lasted)?;
    measurements.take_plain(&asked.plain);
    let seeing = RoundTripsObservation {
        asked: &asked,
        host_drops: lost as u64 > dropped,
        clock_step: disturbance.clock_step,
        unstamped: exchanges.iter().filter(|one| !is_whole(one)).count(),
    };
    measurements.flags = flags_of_latency_breakdown(setting, trips, &seeing, &pair.path);
    measurements.take_clock_line(answered.clocks.as_ref(), disturbance.slewed());
    measurements.take_host_use(&disturbance.hosts, None);
    measurements.take_disturbance(setting, &disturbance);
    measurements.judge(&disturbance);
    let found = [answered.softirq, asked.softirq].map(|nanos| nanos.map(micros));
    measurements.note(evidence::SOFTIRQ_US, found);
    measurements.take_rejected_peers(answered.rejected_peers);
    measurements.note(evidence::MESSAGES_LOST, lost);
    measurements.note(evidence::TRIPS_UNSTAMPED, seeing.unstamped);
    measurements.note(evidence::TRANSMISSION_US, micros(wire.as_nanos()));
    measurements.note(evidence::SEND_BUFFER, asked.buffers[0]);
    measurements.note(evidence::RECEIVE_BUFFER, asked.buffers[1]);
    if let Some(tcp) = &asked.tcp {
        measurements.note(evidence::CONGESTION, tcp.congestion.clone());
        measurements.note(evidence::SEGMENT_SIZE, tcp.segment_size);
        measurements.put(&metric::RETRANSMISSIONS, Some(count(tcp.retransmitted)));
    }
    Ok(measurements)
}

impl Measurements {
    /// The means of the stages and of the whole round trip.
    fn take_parts(
        &mut self,
        exchanges: &[Exchange],
        message: Bytes,
        lasted: u64,
    ) -> Result<(), Failure> {
        if exchanges.is_empty() {
            return Err(Failure::Transfer("no echo arrived".to_owned()));
        }
        let parts: Vec<Parts> = exchanges.iter().map(Exchange::parts).collect();
        let sum = parts.iter().fold(Parts::default(), |sum, one| sum + *one);
        let each = |total: i64| signed(total) / count(parts.len() as u64) / 1e3;
        for part in Part::ALL {
            self.put(part_metric(part), Some(each(sum[part])));
        }
        let whole = each(sum.sum());
        self.put(&metric::RTT, Some(whole / 1e3));
        let unexplained = 100.0 * each(sum[Part::Unexplained]).abs() / whole;
        self.put(&metric::UNEXPLAINED_SHARE, Some(unexplained));
        let echoed = count(message.bits() * exchanges.len() as u64) / count(lasted) * 1e3;
        self.put(&metric::GOODPUT_ECHOED, Some(echoed));
        let medians = Part::ALL.map(|part| {
            let mut values: Vec<i64> = parts.iter().map(|one| one[part]).collect();
            values.sort_unstable();
            signed(values[values.len() / 2]) / 1e3
        });
        self.note(evidence::PARTS_MEDIAN_US, medians);
        Ok(())
    }

    /// The cost of the instrument: round trips without departure stamps.
    fn take_plain(&mut self, plain: &[u64]) {
        let mean = count(plain.iter().sum()) / count(plain.len() as u64) / 1e3;
        if mean.is_finite() {
            self.note(evidence::RTT_PLAIN_US, mean);
        }
    }
}

/// Both ends of each completed round trip.
fn exchanges(near: &Asked, far: &Answered, wire: Span) -> Vec<Exchange> {
    let [there, back] = [far.softirq, near.softirq].map(Option::unwrap_or_default);
    let both = near.trips.iter().zip(&far.trips);
    let both = both.filter_map(|(near, far)| near.zip(*far));
    let transmission = wire.as_nanos();
    both.map(|(near, far)| Exchange {
        there: Direction {
            left: near.left,
            came: far.came,
            transmission,
            softirq: there,
        },
        back: Direction {
            left: far.left,
            came: near.came,
            transmission,
            softirq: back,
        },
        took: near.took,
    })
    .collect()
}

/// Whether the kernel stamped all requested points.
fn is_whole(exchange: &Exchange) -> bool {
    [exchange.there, exchange.back].iter().all(|direction| {
        direction.left.queued.is_some()
            && direction.left.sent.is_some()
            && direction.came.arrived.is_some()
    })
}

fn probe(trips: &LatencyBreakdown, transfer: Transfer) -> Probe {
    let messages = u64::from(trips.messages);
    let point = |point| match point {
        spec::InjectionPoint::Send => Some(InjectionPoint::Send),
        spec::InjectionPoint::Receive => Some(InjectionPoint::Receive),
        spec::InjectionPoint::Echo => Some(InjectionPoint::Echo),
        // The link of the test network injects it.
        spec::InjectionPoint::Wire => None,
    };
    Probe {
        transfer: Transfer {
            timeout: trips.timeout,
            ..transfer
        },
        plain: (messages / 4).max(FEWEST_PLAIN),
        sleepless: SLEEPLESS,
        messages,
        copy: trips.copy,
        checksum: trips.checksum,
        inject: trips.inject.and_then(|inject| {
            let span = inject.span;
            point(inject.point).map(|point| Inject { point, span })
        }),
    }
}

/// The same messages as a transfer.
pub(super) fn as_transfer(trips: &LatencyBreakdown) -> spec::Transfer {
    spec::Transfer {
        protocol: trips.protocol,
        size: trips.message,
        message: trips.message,
        warmup: Bytes::ZERO,
        cpu_bytes: Bytes::ZERO,
        send_buffer: trips.send_buffer,
        receive_buffer: trips.receive_buffer,
        nagle: trips.nagle,
        echo: Echo::Off,
        timeout: trips.timeout,
        tcp: None,
    }
}

fn micros(nanos: u64) -> f64 {
    count(nanos) / 1e3
}

fn count(number: u64) -> f64 {
    number as f64
}

fn signed(number: i64) -> f64 {
    number as f64
}
