//! Every metric, but those of single parts of a round trip.

use super::{Metric, Resolution, STAMP, Table};
use crate::metric::Better::{Higher, Lower};

/// The CPU time of one process is exact: getrusage(2) gives it in microseconds,
/// of which a metered transfer lasts at least ten thousand. In per cent. Trials
/// state the coarser one of softirq themselves.
const PROCESS: Resolution = Resolution::Absolute(0.01);

/// Every metric, in the order of reports.
pub const METRICS: &[Metric] = &[
    lower(
        "rtt",
        "ms",
        "Round trip time",
        "mean time from the write of a message to its echo by the receiver; of simulated flows of TCP: mean of the round trips that their senders measure",
    )
    .of_table(Table::Rtt)
    .with_resolution(STAMP)
    .of_flows(),
    lower(
        "jitter",
        "ms",
        "Jitter",
        "mean |delay - mean delay| over the messages, as the 2019 study words it",
    )
    .of_table(Table::Jitter)
    .with_resolution(STAMP)
    .of_flows(),
    higher(
        "throughput",
        "Mbit/s",
        "Throughput",
        "payload between the kernel's receive stamps, after an uncounted pre-roll",
    )
    .of_table(Table::Throughput)
    // Two frames of an average size in 5 MB: which frame carries the first
    // and the last stamp is chance.
    .with_resolution(Resolution::Percent(0.2))
    .of_flows(),
    lower(
        "cpu_total",
        "s/GB",
        "CPU, whole machine",
        "busy CPU seconds of the whole machine per 10^9 octets of payload",
    )
    .of_table(Table::Cpu)
    .with_resolution(Resolution::CpuTick),
    lower(
        "cpu_programs",
        "s/GB",
        "CPU, both programs",
        "CPU seconds of sender and receiver and of what the kernel does in their names, on loopback all of it, per 10^9 octets of payload; of programs that report it",
    )
    .with_resolution(Resolution::Percent(0.5)),
    lower(
        "cpu_sender",
        "%",
        "CPU utilisation, sender",
        "CPU time of the sending process alone in the time of the metered transfer; 100 % is one CPU",
    )
    .of_table(Table::Cpu)
    .with_resolution(PROCESS),
    lower(
        "cpu_receiver",
        "%",
        "CPU utilisation, receiver",
        "CPU time of the receiving process alone in the time of the metered transfer; 100 % is one CPU",
    )
    .of_table(Table::Cpu)
    .with_resolution(PROCESS),
    lower(
        "cpu_sender_high",
        "%",
        "CPU utilisation, sender and all softirq",
        "cpu_sender plus the softirq time of the whole machine",
    )
    .in_json()
    .with_resolution(PROCESS),
    lower(
        "cpu_receiver_high",
        "%",
        "CPU utilisation, receiver and all softirq",
        "cpu_receiver plus the softirq time of the whole machine",
    )
    .in_json()
    .with_resolution(PROCESS),
    lower(
        "cpu_softirq",
        "s/GB",
        "CPU, softirq",
        "softirq seconds of the whole machine per 10^9 octets of payload",
    )
    .with_resolution(Resolution::CpuTick),
    lower(
        "echo_time",
        "ms",
        "Echoes, all in all",
        "first write to last echo where each message waits until the one before it is back whole",
    )
    .with_resolution(STAMP),
    lower(
        "rtt_transfer",
        "ms",
        "Transfer time",
        "first byte sent to last acknowledgement, the 2019 study's words for RTT",
    )
    .with_resolution(STAMP),
    lower(
        "rtt_tcp",
        "ms",
        "TCP's smoothed RTT",
        "the sender's smoothed RTT in TCP_INFO at the end of the transfer",
    )
    .with_resolution(STAMP),
    lower(
        "delay",
        "ms",
        "One-way delay",
        "mean one-way delay of the messages [RFC7679]",
    )
    .with_resolution(STAMP)
    .of_flows(),
    lower(
        "cpu_message",
        "us",
        "CPU of a message",
        "CPU time of the processes of both ends for each message that arrived, and of nodes in between where the kernel works in their context",
    ),
    lower(
        "first_delivery",
        "ms",
        "First delivery",
        "from the instant at which a flow's first message is written, lost or not, to the first that arrives; of several flows where it is longest",
    )
    .in_json()
    .with_resolution(STAMP),
    lower(
        "rtt_p50",
        "ms",
        "Round trip time, median",
        "median of the round trips of a flow's messages, to three digits; of several flows where it is longest",
    )
    .in_json()
    .with_resolution(STAMP)
    .of_flows(),
    lower(
        "rtt_p95",
        "ms",
        "Round trip time, 95th percentile",
        "95th percentile of the round trips of a flow's messages, to three digits; of several flows where it is longest",
    )
    .in_json()
    .with_resolution(STAMP)
    .of_flows(),
    lower(
        "rtt_p99",
        "ms",
        "Round trip time, 99th percentile",
        "99th percentile of the round trips of a flow's messages, to three digits; of several flows where it is longest",
    )
    .in_json()
    .with_resolution(STAMP)
    .of_flows(),
    lower(
        "delay_p99",
        "ms",
        "One-way delay, 99th percentile",
        "99th percentile of the messages' one-way delays, to three digits [RFC7679]",
    )
    .with_resolution(STAMP)
    .of_flows(),
    lower(
        "latency",
        "ms",
        "Latency",
        "mean time from the first octet of a message on its way to the interface to its last octet received, by the kernels' stamps; as the 2017 study words it [Supriyanto2017]",
    )
    .with_resolution(STAMP)
    .of_flows(),
    lower(
        "latency_ditg",
        "ms",
        "Latency by D-ITG",
        "mean time from before a message is written, the socket's buffer included, until the receiving program has it, as D-ITG stamps it [D-ITG]",
    )
    .with_resolution(STAMP)
    .of_flows(),
    higher(
        "paper_throughput",
        "Mbit/s",
        "Throughput as the 2017 study has it",
        "bits of one message over its latency, which is no rate of anything carried [Supriyanto2017]",
    )
    .with_resolution(Resolution::Percent(0.2))
    .of_flows(),
    higher(
        "offered_rate",
        "Mbit/s",
        "Offered rate",
        "payload of the messages whose instant came while flows sent",
    )
    .of_flows(),
    higher(
        "sent_rate",
        "Mbit/s",
        "Sent rate",
        "payload of the messages that were written while flows sent",
    )
    .of_flows(),
    lower(
        "lateness_p99",
        "ms",
        "Lateness of departures, 99th percentile",
        "99th percentile of the time from a message's instant to its write, of the flow where it is longest",
    )
    .with_resolution(STAMP)
    .of_flows(),
    lower(
        "jitter_ditg",
        "ms",
        "Jitter by D-ITG",
        "mean |delay - previous delay| in log order, as D-ITG computes it [D-ITG]",
    )
    .with_resolution(STAMP),
    lower(
        "ipdv_p95",
        "ms",
        "IPDV, 95th percentile",
        "95th percentile of |delay - delay of the message sent before| [RFC3393]",
    )
    .with_resolution(STAMP),
    lower(
        "loss",
        "%",
        "Loss",
        "messages sent that never arrived, of those sent [RFC7680]",
    )
    .of_flows(),
    higher(
        "throughput_long",
        "Mbit/s",
        "Throughput of a long transfer",
        "as throughput, of the transfer that is made for the processor's meter",
    )
    .in_json()
    .with_resolution(Resolution::Percent(0.2)),
    lower(
        "retransmitted_long",
        "%",
        "Retransmissions of a long transfer",
        "share of the long transfer's segments that were sent again, by TCP_INFO",
    )
    .in_json(),
    lower(
        "retransmissions",
        "segments",
        "Retransmissions",
        "segments that the sender sent again, by TCP_INFO",
    )
    .with_resolution(Resolution::Absolute(1.0))
    .of_flows(),
    lower(
        "segments",
        "count",
        "Segments",
        "segments that the sender sent, by TCP_INFO",
    )
    .in_json()
    .with_resolution(Resolution::Absolute(1.0)),
    lower(
        "timeouts",
        "count",
        "Time-outs",
        "how often retransmission timers of simulated TCP expired with something outstanding",
    )
    .in_json()
    .with_resolution(Resolution::Absolute(1.0))
    .of_flows(),
    higher(
        "fairness",
        "1",
        "Fairness",
        "Jain's index of the throughputs of flows that are alike: 1 where all get the same, 1/n where one gets all [Jain1984]",
    )
    .of_flows(),
    lower(
        "drop_bias",
        "%",
        "Drops out of proportion",
        "half the sum over flows of |share of the packets that a link's queue dropped - share of those that came|: 0 where drops fall in proportion to arrivals",
    )
    .in_json(),
    lower(
        "synchronisation",
        "%",
        "Connections that lose together",
        "share of the connections through a link that lose data in front of it within one epoch of a first loss, on average over such epochs; of n connections 100/n is none together",
    )
    .in_json(),
    lower(
        "notice",
        "ms",
        "From a drop to its repair",
        "mean time from the drop of a segment in front of a link until the same segment comes there again, where no time-out was needed; of the losses of a connection that are not repaired yet the first",
    )
    .in_json()
    .with_resolution(STAMP),
    lower(
        "message_time",
        "ms",
        "Time of a message",
        "mean time from before a message of traffic.at octets is written until its answer is read",
    )
    .with_resolution(STAMP),
    lower(
        "megabyte_time",
        "ms",
        "Time of a megabyte",
        "mean over the sizes of the time in which a megabyte went in messages of that size, each answered before the next",
    )
    .with_resolution(STAMP),
    lower(
        "message_time_processor",
        "ms",
        "Time of a message, processor clock",
        "the same as message_time by the sending process's clock of processor time, as clock() of C reads it",
    )
    .in_json(),
    lower(
        "message_time_1ms",
        "ms",
        "Time of a message, clock of 1 ms",
        "the same as message_time by a clock that moves in steps of 1 ms",
    )
    .in_json(),
    lower(
        "message_time_10ms",
        "ms",
        "Time of a message, clock of 10 ms",
        "the same as message_time by a clock that moves in steps of 10 ms",
    )
    .in_json(),
    lower(
        "message_time_55ms",
        "ms",
        "Time of a message, clock of 55 ms",
        "the same as message_time by a clock that moves in steps of 55 ms",
    )
    .in_json(),
    lower(
        "stalls",
        "count",
        "Stalled messages",
        "messages that were not answered before traffic.deadline",
    ),
    lower(
        "receiver_drops",
        "count",
        "Dropped by the receiver's socket",
        "packets that found no room in the receiving socket",
    ),
    lower(
        "acknowledgements",
        "1",
        "Acknowledgements of a segment",
        "segments without data that came back, for each segment with data that was sent",
    ),
    lower(
        "repeats",
        "count",
        "Repeated datagrams",
        "datagrams that were sent again because no answer came",
    ),
];

const fn lower(
    name: &'static str,
    unit: &'static str,
    title: &'static str,
    definition: &'static str,
) -> Metric {
    Metric::new(name, unit, title, definition, Lower)
}

const fn higher(
    name: &'static str,
    unit: &'static str,
    title: &'static str,
    definition: &'static str,
) -> Metric {
    Metric::new(name, unit, title, definition, Higher)
}
