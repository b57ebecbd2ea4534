//! Derives the metrics of a trial from the observations of both ends and the
//! meters.

use emulator::{DirectionReport, Report};
use link::PacketOutcome;
use meter::Goodput;
use os::cpu_time::{MachineUse, tick};
use os::socket::TcpState;
use plan::Setting;
use plan::evidence::{self, CrossDirection, CrossTraffic};
use plan::metric::{self, Metric};
use plan::setting::Link;
use traffic::driver::transfer::{Received, Sent};
use units::{Bytes, Rate, Span};

use super::disturbance::Disturbance;
use super::pass::Pass;
use super::{Inspection, Path};
use crate::agent::Failure;
use crate::measurements::Measurements;
use crate::measurements::flows::{Carried, ConnectionStats, DelayStats, FlowStats, ProgramStats};
use crate::measurements::over_time::FlowOverTime;

/// Both ends of one transfer.
pub(super) type Ends = (Sent, Received);

/// The transfers of one trial and the observations beside them.
pub(super) struct Passes {
    /// The transfer through a drained bucket, for goodput.
    pub(super) rated: Ends,
    /// The traffic on an idle path, for delay and jitter.
    pub(super) one_way: Ends,
    /// The transfer with echoes, for round-trip times, if requested.
    pub(super) echoed: Option<Ends>,
    /// The transfer that is long enough for the CPU meters.
    pub(super) metered: Option<(Ends, MachineUse)>,
    /// The disturbances of each pass.
    pub(super) each: Vec<(Pass, Disturbance)>,
    /// The disturbances of all passes together.
    pub(super) disturbance: Disturbance,
}

impl Passes {
    /// The disturbances of one pass.
    pub(super) fn of(&self, pass: Pass) -> Option<&Disturbance> {
        let mut each = self.each.iter();
        each.find(|(other, _)| *other == pass)
            .map(|(_, disturbance)| disturbance)
    }

    /// The unauthenticated peers that the receiver rejected in all passes.
    fn rejected_peers(&self) -> u64 {
        let more = self.echoed.iter();
        let more = more.chain(self.metered.iter().map(|(ends, _)| ends));
        let ends = [&self.rated, &self.one_way].into_iter().chain(more);
        ends.map(|(_, received)| received.rejected_peers).sum()
    }

    /// Fails a trial in which nothing could be counted. A single message has a
    /// delay but no goodput.
    pub(super) fn something_arrived(&self, message: Bytes, size: Bytes) -> Result<(), Failure> {
        let counted = self.rated.1.goodput.is_some() || size <= message;
        match self.one_way.1.delays.received {
            1.. if counted => Ok(()),
            _ => Err(self
                .disturbance
                .failure("too few messages arrived to count".to_owned())),
        }
    }
}

impl Measurements {
    pub(super) fn of(passes: &Passes) -> Self {
        let mut measurements = Self::default();
        measurements.put_transfer(stats(&passes.rated, &passes.one_way));
        measurements.take_rated(&passes.rated);
        measurements.take_one_way(&passes.one_way);
        if let Some(echoed) = &passes.echoed {
            measurements.take_echoed(echoed);
        }
        if let Some((ends, used)) = &passes.metered {
            let disturbance = passes.of(Pass::Cpu);
            let busy = disturbance.map_or(used.busy, Disturbance::busy);
            measurements.take_metered(ends, used, busy);
            let hosts = disturbance.map(|disturbance| &disturbance.hosts);
            measurements.take_host_use(hosts.map_or(&[], Vec::as_slice), Some(ends.1.bytes));
        }
        measurements.take_over_time(passes);
        measurements.take_rejected_peers(passes.rejected_peers());
        let unstamped = passes.rated.1.unstamped + passes.one_way.1.unstamped;
        measurements.note(evidence::UNSTAMPED_READS, unstamped);
        measurements
    }

    /// Evidence of the settings and of their effect on frames.
    pub(super) fn take_setting(&mut self, setting: &Setting, bulk: &Path) {
        let links = &setting.network.links;
        let bytes = |of: fn(&Link) -> Bytes| -> Vec<u64> {
            links.iter().map(|link| of(link).get()).collect()
        };
        let pace = bulk.pace.map(Rate::megabits_per_second);
        self.note(evidence::LIMIT_MBIT, pace);
        self.note(evidence::OFFLOADS_ON, bulk.offloads.clone());
        self.note(evidence::BURST_BYTES, bytes(|link| link.burst));
        self.note(evidence::BUFFER_BYTES, bytes(|link| link.buffer));
        if let Some(inspection) = &bulk.inspection {
            let Inspection {
                largest_sent,
                largest_received,
                ..
            } = inspection;
            self.note(evidence::LARGEST_PACKET_SENT, largest_sent.get());
            self.note(evidence::LARGEST_PACKET_RECEIVED, largest_received.get());
        }
    }

    /// The bulk transfer over time, and the distributions of the other two.
    fn take_over_time(&mut self, passes: &Passes) {
        let (sent, received) = &passes.rated;
        let round_trips = |(sent, _): &Ends| sent.round_trips.as_ref()?.delay_quantiles;
        let transfer = FlowOverTime {
            name: "transfer".to_owned(),
            arrivals: Some(received.arrivals.clone()),
            round_trips: Some(sent.smoothed_rtt.clone()),
            delay_quantiles: passes.one_way.1.delays.delay_quantiles,
            rtt_quantiles: passes.echoed.as_ref().and_then(round_trips),
        };
        self.note_over_time(&[transfer], None);
    }

    fn take_rated(&mut self, (_, received): &Ends) {
        let goodput = received.goodput.as_ref();
        let plain = goodput.map(|goodput| goodput.plain_bits_per_second / 1e6);
        self.note(evidence::GOODPUT_AFTER_WARMUP_MBIT, plain);
        self.note(
            evidence::COUNTED_BYTES,
            goodput.map(|goodput| goodput.bytes.get()),
        );
    }

    fn take_one_way(&mut self, (sent, received): &Ends) {
        let whole = sent
            .last_acknowledged
            .and_then(|last| last.since(sent.first_write));
        self.put(&metric::RTT_TRANSFER, whole.map(Span::as_millis_f64));
        let delays = &received.delays;
        // Messages that end in one read share its stamp, which is on average
        // late by half the time between reads.
        let late = received.spread.as_millis_f64() / 2.0;
        for metric in [
            &metric::DELAY,
            &metric::JITTER,
            &metric::JITTER_DITG,
            &metric::IPDV_P95,
        ] {
            self.note(evidence::resolution(metric), late);
        }
        self.note(evidence::NEGATIVE_DELAYS, delays.negative_delays);
        self.note(evidence::REORDERED, delays.reordered);
        self.note(evidence::SEND_BUFFER, sent.send_buffer);
        self.note(evidence::RECEIVE_BUFFER, received.receive_buffer);
        if let Some(tcp) = &sent.tcp {
            self.note(evidence::CONGESTION, tcp.congestion.clone());
            self.note(evidence::SEGMENT_SIZE, tcp.segment_size);
        }
    }

    fn take_echoed(&mut self, (sent, _): &Ends) {
        let round_trips = sent.round_trips.as_ref();
        self.put(
            &metric::RTT,
            round_trips
                .and_then(|trips| trips.delay_mean)
                .map(|seconds| seconds * 1e3),
        );
        self.put(
            &metric::ECHO_TIME,
            sent.echoes_took.map(Span::as_millis_f64),
        );
        self.note(evidence::ECHOES, round_trips.map(|trips| trips.received));
    }

    pub(super) fn take_emulator(&mut self, report: &Report) {
        let micros = |span: Span| span.as_secs_f64() * 1e6;
        let [median, late, latest] = report.late.map(micros);
        self.note(evidence::EMULATOR_CPU_SECONDS, report.cpu.as_secs_f64());
        self.note(
            evidence::EMULATOR_SCHEDULING,
            report.scheduling.name().to_owned(),
        );
        self.note(evidence::EMULATOR_DEPARTURES, report.departures);
        self.note(evidence::EMULATOR_LATE_US, median);
        self.note(evidence::EMULATOR_LATE_US_P99, late);
        self.note(evidence::EMULATOR_LATE_US_MAX, latest);
        self.note(
            evidence::EMULATOR_QUEUE_DROPS,
            report.of(PacketOutcome::Dropped),
        );
        let lost = report.of(PacketOutcome::Lost) + report.of(PacketOutcome::Damaged);
        self.note(evidence::EMULATOR_LOST, lost);
        self.note(evidence::EMULATOR_TOO_BIG, report.of(PacketOutcome::TooBig));
        // Delays are no more accurate than departures in each direction.
        let echoes = self.evidence.number(evidence::ECHOES);
        let known: [(&Metric, f64); 4] = [
            (&metric::RTT, 2.0),
            (&metric::ECHO_TIME, 2.0 * echoes.unwrap_or(0.0)),
            (&metric::DELAY, 1.0),
            (&metric::JITTER, 1.0),
        ];
        for (metric, crossings) in known {
            let links = report.links.len() as f64;
            let resolution = evidence::resolution(metric);
            let already = self.evidence.get(resolution);
            let late = crossings * links * median / 1e3;
            self.note(resolution, already.unwrap_or(0.0).max(late));
        }
    }

    /// The counts of cross traffic by link and direction; nothing without cross
    /// traffic.
    pub(super) fn take_crossed(&mut self, setting: &Setting, report: &Report) {
        let mut all = Vec::new();
        for (link, directions) in setting.network.links.iter().zip(&report.links) {
            for (direction, DirectionReport { crossed, .. }) in
                [CrossDirection::Forward, CrossDirection::Reverse]
                    .into_iter()
                    .zip(directions)
            {
                let megabits =
                    |bytes: Bytes| count(bytes.bits()) / crossed.lasted.as_secs_f64() / 1e6;
                let of = |outcome| crossed.counters.of(outcome);
                if crossed.counters.arrived > 0 {
                    all.push(CrossTraffic {
                        link: link.name.clone(),
                        direction,
                        offered_mbit: megabits(crossed.offered),
                        carried_mbit: megabits(crossed.carried),
                        packets: crossed.counters.arrived,
                        dropped: Some(of(PacketOutcome::Dropped)),
                        lost: of(PacketOutcome::Lost) + of(PacketOutcome::Damaged),
                    });
                }
            }
        }
        if !all.is_empty() {
            self.note(evidence::CROSS, all);
        }
    }

    /// `busy` is the CPU time of the machine without that of others.
    fn take_metered(&mut self, (sent, received): &Ends, used: &MachineUse, busy: Span) {
        let bytes = received.bytes;
        self.put(
            &metric::THROUGHPUT_LONG,
            received.goodput.as_ref().map(megabits),
        );
        let again = sent
            .tcp
            .as_ref()
            .map(|tcp| 100.0 * count(tcp.retransmitted) / count(tcp.segments));
        self.put(&metric::RETRANSMITTED_LONG, again);
        self.put(&metric::CPU_TOTAL, Some(per_gigabyte(busy, bytes)));
        self.put(
            &metric::CPU_SOFTIRQ,
            used.softirq.map(|span| per_gigabyte(span, bytes)),
        );
        for (process, [alone, high], seconds) in [
            (
                sent.process,
                [&metric::CPU_SENDER, &metric::CPU_SENDER_HIGH],
                evidence::CPU_SENDER_SECONDS_PER_GIGABYTE,
            ),
            (
                received.process,
                [&metric::CPU_RECEIVER, &metric::CPU_RECEIVER_HIGH],
                evidence::CPU_RECEIVER_SECONDS_PER_GIGABYTE,
            ),
        ] {
            let share = |cpu: Span| 100.0 * ratio(cpu, used.elapsed);
            self.put(alone, Some(share(process.cpu)));
            let with_softirq = used.softirq.map(|span| share(process.cpu + span));
            self.put(high, with_softirq);
            let share_of_tick = 100.0 * ratio(tick(), used.elapsed);
            self.note(evidence::resolution(high), share_of_tick);
            self.note(seconds, per_gigabyte(process.cpu, bytes));
        }
        let all = used.elapsed * used.processors;
        let waited = sent.process.waited.max(received.process.waited);
        self.note(evidence::CPU_BYTES, bytes.get());
        self.note(evidence::CPU_SECONDS, busy.as_secs_f64());
        if busy < used.busy {
            let others = used.busy - busy;
            self.note(evidence::CPU_OF_OTHERS_SECONDS, others.as_secs_f64());
        }
        self.note(evidence::CPU_TICK_SECONDS, tick().as_secs_f64());
        self.note(evidence::CPU_WINDOW_SECONDS, used.elapsed.as_secs_f64());
        self.note(evidence::CPU_BUSY_PERCENT, 100.0 * ratio(used.busy, all));
        self.note(
            evidence::RUN_QUEUE_WAIT_PERCENT,
            100.0 * ratio(waited, used.elapsed),
        );
    }
}

/// The statistics of a transfer: goodput from `rated`, all else from `one_way`.
fn stats((_, rated): &Ends, (sent, received): &Ends) -> FlowStats {
    let delays = &received.delays;
    FlowStats {
        sent: delays.expected,
        lost: Some(delays.lost),
        carried: rated
            .goodput
            .as_ref()
            .map(|goodput| Carried::Rate(megabits(goodput))),
        delays: DelayStats {
            // Transfers between kernels do not have this metric
            // (docs/reference/formats.md).
            p99: None,
            ..DelayStats::from(delays)
        },
        by_program: ProgramStats {
            messages: delays.received,
            latency: None,
            jitter: delays.jitter_ditg,
        },
        tcp: sent.tcp.as_ref().map(connection),
        ..FlowStats::default()
    }
}

/// The statistics of a connection from TCP_INFO [tcp(7)].
pub(super) fn connection(tcp: &TcpState) -> ConnectionStats {
    ConnectionStats {
        retransmitted: tcp.retransmitted,
        segments: Some(tcp.segments),
        timeouts: None,
        smoothed_rtt: Some(tcp.round_trip),
    }
}

fn megabits(goodput: &Goodput) -> f64 {
    goodput.bits_per_second / 1e6
}

/// CPU seconds per 10^9 bytes.
pub(super) fn per_gigabyte(cpu: Span, bytes: Bytes) -> f64 {
    cpu.as_secs_f64() / (count(bytes.get()) / 1e9)
}

/// One span as a share of another.
pub(super) fn ratio(part: Span, whole: Span) -> f64 {
    part.as_secs_f64() / whole.as_secs_f64()
}

const fn count(number: u64) -> f64 {
    number as f64
}

#[cfg(test)]
mod tests;
