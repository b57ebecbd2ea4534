//! The catalogue of metrics: what each is called, what it means, and how fine
//! the instrument can tell it.

mod flow;
mod kept;
mod mechanism;
mod window;

use crate::experiment::Setting;
use crate::trial::Trial;
pub use flow::{OF_FLOWS, of_flow};
pub use kept::{measured, place};
pub use mechanism::{OF_MECHANISMS, part_metric};
pub use window::{LONGEST as LONGEST_WINDOW, of_window};

/// One thing that a trial measures.
#[derive(Debug, PartialEq)]
pub struct Metric {
    /// Its name in journals, experiments and JSON.
    pub name: &'static str,
    /// The unit of its figures.
    pub unit: &'static str,
    /// What tables call it.
    pub title: &'static str,
    /// How it is measured, in one sentence.
    pub definition: &'static str,
    /// Which direction is an improvement.
    pub better: Better,
    /// Whether it has its place in the tables of the study.
    pub primary: bool,
    /// Its table in the 2019 study [Praptodiyono2019].
    pub table: Option<Table>,
    /// The smallest difference that the instrument can tell, where known.
    pub resolution: Option<Resolution>,
}

/// Which direction is an improvement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Better {
    /// Less is better.
    Lower,
    /// More is better.
    Higher,
}

/// The results of the 2019 study that print figures [Praptodiyono2019].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Table {
    /// Table 2.
    Rtt = 2,
    /// Table 3.
    Jitter = 3,
    /// Table 4.
    Throughput = 4,
    /// Table 5.
    Cpu = 5,
}

impl Table {
    /// The tables in the study's order.
    pub const ALL: [Self; 4] = [Self::Rtt, Self::Jitter, Self::Throughput, Self::Cpu];

    /// Its number in the study.
    pub const fn number(self) -> u8 {
        self as u8
    }
}

/// The smallest difference that the instrument can tell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Resolution {
    /// So many per cent of the figure.
    Percent(f64),
    /// So much in the metric's unit.
    Absolute(f64),
    /// One tick of the machine's CPU accounting over the octets that were metered.
    CpuTick,
}

/// The tick of CPU accounting, in seconds, where a trial does not state it:
/// USER_HZ, the unit of /proc/stat [proc_stat(5)].
const CPU_TICK: f64 = 0.01;

/// The account of one process is exact: getrusage(2) gives it in microseconds,
/// of which a metered transfer lasts at least ten thousand. In per cent. Trials
/// state the coarser one of softirq themselves.
const PROCESS: Option<Resolution> = Some(Resolution::Absolute(0.01));

/// A kernel or monotonic stamp is kept in nanoseconds but taken by software;
/// a microsecond is what two stamps of one event agree on, and what TCP_INFO
/// counts in [tcp(7)]. In milliseconds.
const STAMP: Option<Resolution> = Some(Resolution::Absolute(0.001));

/// Every metric, in the order of reports.
pub const METRICS: &[Metric] = &[
    Metric {
        name: "rtt",
        unit: "ms",
        title: "Round trip time",
        definition: "mean time from the write of a message to its echo by the receiver; of simulated flows of TCP: mean of the round trips that their senders measure",
        better: Better::Lower,
        primary: true,
        table: Some(Table::Rtt),
        resolution: STAMP,
    },
    Metric {
        name: "jitter",
        unit: "ms",
        title: "Jitter",
        definition: "mean |delay - mean delay| over the messages, as the 2019 study words it",
        better: Better::Lower,
        primary: true,
        table: Some(Table::Jitter),
        resolution: STAMP,
    },
    Metric {
        name: "throughput",
        unit: "Mbit/s",
        title: "Throughput",
        definition: "payload between the kernel's receive stamps, after an uncounted pre-roll",
        better: Better::Higher,
        primary: true,
        table: Some(Table::Throughput),
        // Two frames of an average size in 5 MB: which frame carries the first
        // and the last stamp is chance.
        resolution: Some(Resolution::Percent(0.2)),
    },
    Metric {
        name: "cpu_total",
        unit: "s/GB",
        title: "CPU, whole machine",
        definition: "busy CPU seconds of the whole machine per 10^9 octets of payload",
        better: Better::Lower,
        primary: true,
        table: Some(Table::Cpu),
        resolution: Some(Resolution::CpuTick),
    },
    Metric {
        name: "cpu_programs",
        unit: "s/GB",
        title: "CPU, both programs",
        definition: "CPU seconds of sender and receiver and of what the kernel does in their names, on loopback all of it, per 10^9 octets of payload; of programs that report it",
        better: Better::Lower,
        primary: false,
        table: None,
        resolution: Some(Resolution::Percent(0.5)),
    },
    Metric {
        name: "cpu_sender",
        unit: "%",
        title: "CPU utilisation, sender",
        definition: "CPU time of the sending process alone in the time of the metered transfer; 100 % is one CPU",
        better: Better::Lower,
        primary: true,
        table: Some(Table::Cpu),
        resolution: PROCESS,
    },
    Metric {
        name: "cpu_receiver",
        unit: "%",
        title: "CPU utilisation, receiver",
        definition: "CPU time of the receiving process alone in the time of the metered transfer; 100 % is one CPU",
        better: Better::Lower,
        primary: true,
        table: Some(Table::Cpu),
        resolution: PROCESS,
    },
    Metric {
        name: "cpu_sender_high",
        unit: "%",
        title: "CPU utilisation, sender and all softirq",
        definition: "cpu_sender plus the softirq time of the whole machine",
        better: Better::Lower,
        primary: false,
        table: None,
        resolution: PROCESS,
    },
    Metric {
        name: "cpu_receiver_high",
        unit: "%",
        title: "CPU utilisation, receiver and all softirq",
        definition: "cpu_receiver plus the softirq time of the whole machine",
        better: Better::Lower,
        primary: false,
        table: None,
        resolution: PROCESS,
    },
    Metric {
        name: "cpu_softirq",
        unit: "s/GB",
        title: "CPU, softirq",
        definition: "softirq seconds of the whole machine per 10^9 octets of payload",
        better: Better::Lower,
        primary: false,
        table: None,
        resolution: Some(Resolution::CpuTick),
    },
    Metric {
        name: "echo_time",
        unit: "ms",
        title: "Echoes, all in all",
        definition: "first write to last echo where each message waits until the one before it is back whole",
        better: Better::Lower,
        primary: false,
        table: None,
        resolution: STAMP,
    },
    Metric {
        name: "rtt_transfer",
        unit: "ms",
        title: "Transfer time",
        definition: "first byte sent to last acknowledgement, the 2019 study's words for RTT",
        better: Better::Lower,
        primary: false,
        table: None,
        resolution: STAMP,
    },
    Metric {
        name: "rtt_tcp",
        unit: "ms",
        title: "TCP's smoothed RTT",
        definition: "the sender's smoothed RTT in TCP_INFO at the end of the transfer",
        better: Better::Lower,
        primary: false,
        table: None,
        resolution: STAMP,
    },
    Metric {
        name: "delay",
        unit: "ms",
        title: "One-way delay",
        definition: "mean one-way delay of the messages [RFC7679]",
        better: Better::Lower,
        primary: false,
        table: None,
        resolution: STAMP,
    },
    Metric {
        name: "cpu_message",
        unit: "us",
        title: "CPU of a message",
        definition: "CPU time of the processes of both ends for each message that arrived, and of nodes in between where the kernel works in their context",
        better: Better::Lower,
        primary: false,
        table: None,
        resolution: None,
    },
    Metric {
        name: "first_delivery",
        unit: "ms",
        title: "First delivery",
        definition: "from the instant at which a flow's first message is written, lost or not, to the first that arrives; of several flows where it is longest",
        better: Better::Lower,
        primary: false,
        table: None,
        resolution: STAMP,
    },
    Metric {
        name: "rtt_p50",
        unit: "ms",
        title: "Round trip time, median",
        definition: "median of the round trips of a flow's messages, to three digits; of several flows where it is longest",
        better: Better::Lower,
        primary: false,
        table: None,
        resolution: STAMP,
    },
    Metric {
        name: "rtt_p95",
        unit: "ms",
        title: "Round trip time, 95th percentile",
        definition: "95th percentile of the round trips of a flow's messages, to three digits; of several flows where it is longest",
        better: Better::Lower,
        primary: false,
        table: None,
        resolution: STAMP,
    },
    Metric {
        name: "rtt_p99",
        unit: "ms",
        title: "Round trip time, 99th percentile",
        definition: "99th percentile of the round trips of a flow's messages, to three digits; of several flows where it is longest",
        better: Better::Lower,
        primary: false,
        table: None,
        resolution: STAMP,
    },
    Metric {
        name: "delay_p99",
        unit: "ms",
        title: "One-way delay, 99th percentile",
        definition: "99th percentile of the messages' one-way delays, to three digits [RFC7679]",
        better: Better::Lower,
        primary: false,
        table: None,
        resolution: STAMP,
    },
    Metric {
        name: "latency",
        unit: "ms",
        title: "Latency",
        definition: "mean time from the first octet of a message on its way to the interface to its last octet received, by the kernels' stamps; as the 2017 study words it [Supriyanto2017]",
        better: Better::Lower,
        primary: false,
        table: None,
        resolution: STAMP,
    },
    Metric {
        name: "latency_ditg",
        unit: "ms",
        title: "Latency by D-ITG",
        definition: "mean time from before a message is written, the socket's buffer included, until the receiving program has it, as D-ITG stamps it [D-ITG]",
        better: Better::Lower,
        primary: false,
        table: None,
        resolution: STAMP,
    },
    Metric {
        name: "paper_throughput",
        unit: "Mbit/s",
        title: "Throughput as the 2017 study has it",
        definition: "bits of one message over its latency, which is no rate of anything carried [Supriyanto2017]",
        better: Better::Higher,
        primary: false,
        table: None,
        resolution: Some(Resolution::Percent(0.2)),
    },
    Metric {
        name: "offered_rate",
        unit: "Mbit/s",
        title: "Offered rate",
        definition: "payload of the messages whose instant came while flows sent",
        better: Better::Higher,
        primary: false,
        table: None,
        resolution: None,
    },
    Metric {
        name: "sent_rate",
        unit: "Mbit/s",
        title: "Sent rate",
        definition: "payload of the messages that were written while flows sent",
        better: Better::Higher,
        primary: false,
        table: None,
        resolution: None,
    },
    Metric {
        name: "lateness_p99",
        unit: "ms",
        title: "Lateness of departures, 99th percentile",
        definition: "99th percentile of the time from a message's instant to its write, of the flow where it is longest",
        better: Better::Lower,
        primary: false,
        table: None,
        resolution: STAMP,
    },
    Metric {
        name: "jitter_ditg",
        unit: "ms",
        title: "Jitter by D-ITG",
        definition: "mean |delay - previous delay| in log order, as D-ITG computes it [D-ITG]",
        better: Better::Lower,
        primary: false,
        table: None,
        resolution: STAMP,
    },
    Metric {
        name: "ipdv_p95",
        unit: "ms",
        title: "IPDV, 95th percentile",
        definition: "95th percentile of |delay - delay of the message sent before| [RFC3393]",
        better: Better::Lower,
        primary: false,
        table: None,
        resolution: STAMP,
    },
    Metric {
        name: "loss",
        unit: "%",
        title: "Loss",
        definition: "messages sent that never arrived, of those sent [RFC7680]",
        better: Better::Lower,
        primary: false,
        table: None,
        resolution: None,
    },
    Metric {
        name: "throughput_long",
        unit: "Mbit/s",
        title: "Throughput of a long transfer",
        definition: "as throughput, of the transfer that is made for the processor's meter",
        better: Better::Higher,
        primary: false,
        table: None,
        resolution: Some(Resolution::Percent(0.2)),
    },
    Metric {
        name: "retransmitted_long",
        unit: "%",
        title: "Retransmissions of a long transfer",
        definition: "share of the long transfer's segments that were sent again, by TCP_INFO",
        better: Better::Lower,
        primary: false,
        table: None,
        resolution: None,
    },
    Metric {
        name: "retransmissions",
        unit: "segments",
        title: "Retransmissions",
        definition: "segments that the sender sent again, by TCP_INFO",
        better: Better::Lower,
        primary: false,
        table: None,
        resolution: Some(Resolution::Absolute(1.0)),
    },
    Metric {
        name: "segments",
        unit: "count",
        title: "Segments",
        definition: "segments that the sender sent, by TCP_INFO",
        better: Better::Lower,
        primary: false,
        table: None,
        resolution: Some(Resolution::Absolute(1.0)),
    },
    Metric {
        name: "timeouts",
        unit: "count",
        title: "Time-outs",
        definition: "how often retransmission timers of simulated TCP expired with something outstanding",
        better: Better::Lower,
        primary: false,
        table: None,
        resolution: Some(Resolution::Absolute(1.0)),
    },
    Metric {
        name: "fairness",
        unit: "1",
        title: "Fairness",
        definition: "Jain's index of the throughputs of flows that are alike: 1 where all get the same, 1/n where one gets all [Jain1984]",
        better: Better::Higher,
        primary: false,
        table: None,
        resolution: None,
    },
    Metric {
        name: "drop_bias",
        unit: "%",
        title: "Drops out of proportion",
        definition: "half the sum over flows of |share of the packets that a link's queue dropped - share of those that came|: 0 where drops fall in proportion to arrivals",
        better: Better::Lower,
        primary: false,
        table: None,
        resolution: None,
    },
    Metric {
        name: "synchronisation",
        unit: "%",
        title: "Connections that lose together",
        definition: "share of the connections through a link that lose data in front of it within one epoch of a first loss, on average over such epochs; of n connections 100/n is none together",
        better: Better::Lower,
        primary: false,
        table: None,
        resolution: None,
    },
    Metric {
        name: "notice",
        unit: "ms",
        title: "From a drop to its repair",
        definition: "mean time from the drop of a segment in front of a link until the same segment comes there again, where no time-out was needed; of the losses of a connection that are not repaired yet the first",
        better: Better::Lower,
        primary: false,
        table: None,
        resolution: STAMP,
    },
    Metric {
        name: "message_time",
        unit: "ms",
        title: "Time of a message",
        definition: "mean time from before a message of traffic.at octets is written until its answer is read",
        better: Better::Lower,
        primary: false,
        table: None,
        resolution: STAMP,
    },
    Metric {
        name: "megabyte_time",
        unit: "ms",
        title: "Time of a megabyte",
        definition: "mean over the sizes of the time in which a megabyte went in messages of that size, each answered before the next",
        better: Better::Lower,
        primary: false,
        table: None,
        resolution: STAMP,
    },
    Metric {
        name: "message_time_processor",
        unit: "ms",
        title: "Time of a message, processor clock",
        definition: "the same as message_time by the sending process's clock of processor time, as clock() of C reads it",
        better: Better::Lower,
        primary: false,
        table: None,
        resolution: None,
    },
    Metric {
        name: "message_time_1ms",
        unit: "ms",
        title: "Time of a message, clock of 1 ms",
        definition: "the same as message_time by a clock that moves in steps of 1 ms",
        better: Better::Lower,
        primary: false,
        table: None,
        resolution: None,
    },
    Metric {
        name: "message_time_10ms",
        unit: "ms",
        title: "Time of a message, clock of 10 ms",
        definition: "the same as message_time by a clock that moves in steps of 10 ms",
        better: Better::Lower,
        primary: false,
        table: None,
        resolution: None,
    },
    Metric {
        name: "message_time_55ms",
        unit: "ms",
        title: "Time of a message, clock of 55 ms",
        definition: "the same as message_time by a clock that moves in steps of 55 ms",
        better: Better::Lower,
        primary: false,
        table: None,
        resolution: None,
    },
    Metric {
        name: "stalls",
        unit: "count",
        title: "Stalled messages",
        definition: "messages that were not answered before traffic.deadline",
        better: Better::Lower,
        primary: false,
        table: None,
        resolution: None,
    },
    Metric {
        name: "receiver_drops",
        unit: "count",
        title: "Dropped by the receiver's socket",
        definition: "packets that found no room in the receiving socket",
        better: Better::Lower,
        primary: false,
        table: None,
        resolution: None,
    },
    Metric {
        name: "acknowledgements",
        unit: "1",
        title: "Acknowledgements of a segment",
        definition: "segments without data that came back, for each segment with data that was sent",
        better: Better::Lower,
        primary: false,
        table: None,
        resolution: None,
    },
    Metric {
        name: "repeats",
        unit: "count",
        title: "Repeated datagrams",
        definition: "datagrams that were sent again because no answer came",
        better: Better::Lower,
        primary: false,
        table: None,
        resolution: None,
    },
];

impl Metric {
    /// The metric called `name`, or of one flow, e.g. `delay/NAME`, or over one
    /// part of a trial, e.g. `mean_queue_NAME`.
    pub fn named(name: &str) -> Option<&'static Self> {
        let mut of_catalogue = METRICS.iter().chain(&OF_MECHANISMS);
        of_catalogue
            .find(|metric| metric.name == name)
            .or_else(|| flow::named(name))
            .or_else(|| window::named(name))
    }

    /// For a per-end CPU metric, the one at the other end of its attribution
    /// interval: the process plus all softirq.
    pub fn attribution(&self) -> Option<&'static Self> {
        match self.name {
            "cpu_sender" => Self::named("cpu_sender_high"),
            "cpu_receiver" => Self::named("cpu_receiver_high"),
            _ => None,
        }
    }

    /// The smallest difference from `figure` that these trials can tell, in
    /// the metric's unit.
    ///
    /// Trials that state their own (`resolution_NAME` in their evidence) are
    /// believed, on average as the figure is one; otherwise the coarsest counts.
    pub fn resolution(
        &self,
        figure: f64,
        setting: Option<&Setting>,
        trials: &[&Trial],
    ) -> Option<f64> {
        // Per 10^9 octets, as far as a trial or its setting tells how many.
        let per_gigabyte = |trial: &Trial, seconds: f64| {
            let octets = number(trial, "cpu_octets").or_else(|| octets_metered(setting?))?;
            Some(seconds / (octets / 1e9))
        };
        let coarsest = |values: &mut dyn Iterator<Item = f64>| {
            values
                .filter(|value| value.is_finite())
                .reduce(|a, b| a.max(b))
        };
        let key = format!("resolution_{}", self.name);
        let stated: Vec<f64> = trials
            .iter()
            .filter_map(|trial| number(trial, &key))
            .collect();
        #[expect(clippy::cast_precision_loss, reason = "a count of trials")]
        let stated = (!stated.is_empty()).then(|| stated.iter().sum::<f64>() / stated.len() as f64);
        stated.or_else(|| match self.resolution? {
            Resolution::Percent(percent) => Some(figure.abs() * percent / 100.0),
            Resolution::Absolute(value) => Some(value),
            Resolution::CpuTick => coarsest(&mut trials.iter().filter_map(|trial| {
                per_gigabyte(trial, number(trial, "cpu_tick_seconds").unwrap_or(CPU_TICK))
            })),
        })
    }
}

/// The number called `key` in a trial's evidence.
pub fn number(trial: &Trial, key: &str) -> Option<f64> {
    trial.evidence.get(key)?.as_f64()
}

/// The octets over which CPU was to be metered, if any.
fn octets_metered(setting: &Setting) -> Option<f64> {
    Some(setting.traffic.transfer()?.cpu_size.get())
        .filter(|&octets| octets > 0)
        .map(|octets| octets as f64)
}

#[cfg(test)]
mod tests;
