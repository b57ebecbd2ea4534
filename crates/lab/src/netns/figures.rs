//! From what the two ends and the meters saw to the figures of a trial.

use std::collections::BTreeMap;

use live::meter::MachineUse;
use live::transfer::{Received, Sent};
use serde_json::{Value, json};
use units::{Bytes, Rate, Span};

use crate::certificate::{Flag, TOLERANCE};
use crate::experiment::{Link, Protocol, Setting};

/// A step of the wall clock that would show in a delay, in nanoseconds.
const STEP: u64 = 1_000_000;

/// The share of an end's time spent waiting for a processor, and of the
/// machine's time that its hypervisor took, above which a trial counts as disturbed.
const DISTURBED_WAIT: f64 = 0.25;
const DISTURBED_STEAL: f64 = 0.05;

/// Both ends of one transfer.
type Ends = (Sent, Received);

/// The transfers of one trial.
pub(super) struct Passes {
    /// Through a drained bucket: goodput.
    pub(super) rated: Ends,
    /// The traffic itself: delay and jitter.
    pub(super) one_way: Ends,
    pub(super) echoed: Ends,
    pub(super) metered: Option<(Ends, MachineUse)>,
}

/// What a trial puts into the journal.
#[derive(Default)]
pub struct Figures {
    /// Figures by metric.
    pub metrics: BTreeMap<String, f64>,
    /// What supports them.
    pub evidence: BTreeMap<String, Value>,
    /// What is wrong with them.
    pub flags: Vec<Flag>,
    /// The bound of physics in Mbit/s of goodput.
    limit: Option<f64>,
}

impl Figures {
    /// No figures yet, of a path that carries no more goodput than `pace`.
    pub(super) fn new(pace: Option<Rate>) -> Self {
        let mut figures = Self {
            limit: pace.map(Rate::megabits_per_second),
            ..Self::default()
        };
        if let Some(limit) = figures.limit {
            figures.note("limit_mbit", json!(limit));
        }
        figures
    }

    pub(super) fn note(&mut self, name: &str, value: Value) {
        self.evidence.insert(name.to_owned(), value);
    }

    fn put(&mut self, metric: &str, value: Option<f64>) {
        if let Some(value) = value.filter(|value| value.is_finite()) {
            self.metrics.insert(metric.to_owned(), value);
        }
    }

    pub(super) fn take(&mut self, passes: &Passes) {
        self.take_rated(&passes.rated);
        self.take_one_way(&passes.one_way);
        self.take_echoed(&passes.echoed);
        if let Some((ends, used)) = &passes.metered {
            self.take_metered(ends, used);
        }
    }

    fn take_rated(&mut self, (_, received): &Ends) {
        self.note("unstamped_reads", json!(received.unstamped));
        if received.unstamped > 0 {
            self.flags.push(Flag::Unstamped);
        }
        let goodput = received.goodput.as_ref();
        self.put(
            "throughput",
            goodput.map(|goodput| goodput.bits_per_second / 1e6),
        );
        self.note(
            "counted_octets",
            json!(goodput.map(|goodput| goodput.bytes.get())),
        );
    }

    fn take_one_way(&mut self, (sent, received): &Ends) {
        let whole = sent
            .last_acknowledged
            .and_then(|last| last.since(sent.first_write));
        self.put("rtt_transfer", whole.map(Span::as_millis_f64));
        let delays = &received.delays;
        let millis = |seconds: Option<f64>| seconds.map(|seconds| seconds * 1e3);
        self.put("delay", millis(delays.delay_mean));
        self.put("jitter", millis(delays.jitter_mean_deviation));
        self.put("jitter_ditg", millis(delays.jitter_ditg));
        self.put("ipdv_p95", millis(delays.ipdv_p95));
        self.put("loss", Some(delays.loss_fraction.unwrap_or(0.0) * 100.0));
        self.note("negative_delays", json!(delays.negative_delays));
        self.note("reordered", json!(delays.reordered));
        self.note("send_buffer", json!(sent.send_buffer));
        self.note("receive_buffer", json!(received.receive_buffer));
        if let Some(tcp) = &sent.tcp {
            self.put("rtt_tcp", Some(tcp.round_trip.as_millis_f64()));
            self.put("retransmissions", Some(count(tcp.retransmitted)));
            self.put("segments", Some(count(tcp.segments)));
            self.note("congestion", json!(tcp.congestion));
            self.note("segment_size", json!(tcp.segment_size));
        }
    }

    fn take_echoed(&mut self, (sent, _): &Ends) {
        let round_trips = sent.round_trips.as_ref();
        self.put(
            "rtt",
            round_trips
                .and_then(|trips| trips.delay_mean)
                .map(|seconds| seconds * 1e3),
        );
        self.note("echoes", json!(round_trips.map(|trips| trips.received)));
    }

    fn take_metered(&mut self, (sent, received): &Ends, used: &MachineUse) {
        let gigabytes = count(received.octets.get()) / 1e9;
        let per_gigabyte = |span: Span| Some(span.as_secs_f64() / gigabytes);
        self.put("cpu_total", per_gigabyte(used.busy));
        self.put("cpu_softirq", per_gigabyte(used.softirq));
        self.put("cpu_sender", per_gigabyte(sent.process.cpu));
        self.put("cpu_receiver", per_gigabyte(received.process.cpu));
        self.put(
            "cpu_sender_high",
            per_gigabyte(sent.process.cpu + used.softirq),
        );
        self.put(
            "cpu_receiver_high",
            per_gigabyte(received.process.cpu + used.softirq),
        );
        let elapsed = used.elapsed.as_secs_f64();
        let all = elapsed * count(used.processors);
        let waited = sent
            .process
            .waited
            .max(received.process.waited)
            .as_secs_f64()
            / elapsed;
        let stolen = used.steal.as_secs_f64() / all;
        self.note("cpu_octets", json!(received.octets.get()));
        self.note("cpu_seconds", json!(used.busy.as_secs_f64()));
        self.note("cpu_window_seconds", json!(elapsed));
        self.note(
            "cpu_busy_percent",
            json!(100.0 * used.busy.as_secs_f64() / all),
        );
        self.note(
            "cpu_goodput_mbit",
            json!(
                received
                    .goodput
                    .as_ref()
                    .map(|goodput| goodput.bits_per_second / 1e6)
            ),
        );
        self.note("run_queue_wait_percent", json!(100.0 * waited));
        self.note("steal_percent", json!(100.0 * stolen));
        if waited > DISTURBED_WAIT || stolen > DISTURBED_STEAL {
            self.flags.push(Flag::Disturbed);
        }
    }

    /// Holds what was seen against what was asked and what physics allows.
    pub(super) fn check(&mut self, setting: &Setting, clock_step: i64) {
        let above = |figure: Option<f64>, limit| {
            figure.is_some_and(|figure| figure > limit * (1.0 + TOLERANCE))
        };
        let metered = self
            .evidence
            .get("cpu_goodput_mbit")
            .and_then(Value::as_f64);
        if let Some(limit) = self.limit
            && (above(self.metrics.get("throughput").copied(), limit) || above(metered, limit))
        {
            self.flags.push(Flag::AboveLimit);
        }
        if clock_step.unsigned_abs() > STEP {
            self.flags.push(Flag::ClockStepped);
        }
        let links = &setting.network.links;
        if links
            .iter()
            .any(|link| link.rate.is_some() && link.burst * 2 > setting.traffic.preroll)
        {
            self.flags.push(Flag::BucketNotDrained);
        }
        self.check_packets(setting);
        let congestion = self.evidence.get("congestion").and_then(Value::as_str);
        if congestion.is_some_and(|used| used != setting.host.congestion) {
            self.flags.push(Flag::CongestionDiffers);
        }
        let asked = |name: &str, size: Option<Bytes>| {
            let given = self.evidence.get(name).and_then(Value::as_u64);
            // The kernel doubles what is asked, for its own needs [socket(7)].
            size.is_some_and(|size| given < Some(size.get() * 2))
        };
        if asked("send_buffer", setting.traffic.send_buffer)
            || asked("receive_buffer", setting.traffic.receive_buffer)
        {
            self.flags.push(Flag::BufferDiffers);
        }
        if setting.traffic.protocol == Protocol::Udp {
            let lost = self.metrics.get("loss").copied().unwrap_or(0.0) > 0.0;
            let dropped = self.evidence.get("queue_drops").and_then(Value::as_u64) > Some(0);
            if lost && !dropped {
                self.flags.push(Flag::HostDrops);
            }
        }
    }

    /// Holds the packets seen at both ends against MTU and offloads.
    fn check_packets(&mut self, setting: &Setting) {
        let links = &setting.network.links;
        let seen = |name: &str| self.evidence.get(name).and_then(Value::as_u64).unwrap_or(0);
        let (sent, received) = (seen("largest_packet_sent"), seen("largest_packet_received"));
        let mtu = |link: Option<&Link>| link.map_or(0, |link| u64::from(link.mtu.get()));
        if setting.host.offloads {
            return;
        }
        if sent > mtu(links.first()) || received > mtu(links.last()) {
            self.flags.push(Flag::OffloadsDiffer);
        }
        // TCP fills packets when messages do.
        let smallest = mtu(links.iter().min_by_key(|link| link.mtu));
        let fills =
            setting.traffic.protocol == Protocol::Tcp && setting.traffic.message.get() >= smallest;
        if fills && received < smallest {
            self.flags.push(Flag::MtuDiffers);
        }
    }
}

#[expect(
    clippy::cast_precision_loss,
    reason = "counts far below 2^53 become figures"
)]
const fn count(number: u64) -> f64 {
    number as f64
}
