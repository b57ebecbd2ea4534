//! All metrics except those of single stages of a round trip.

use super::{Metric, Resolution, STAMP, higher, lower};

/// The CPU time of one process is exact: getrusage(2) returns microseconds, and
/// a metered transfer lasts at least ten thousand. In per cent. The resolution
/// of softirq time is coarser; trials record it as evidence.
const PROCESS: Resolution = Resolution::Absolute(0.01);

metrics! {
    /// All metrics, in the order of reports.
    METRICS:

    RTT = lower(
        "rtt",
        "ms",
        "Round-trip time",
        "mean time from writing a message to its echo; for simulated TCP: mean of the senders' round-trip samples",
    )
    .first()
    .with_resolution(STAMP)
    .of_flows();

    JITTER = lower(
        "jitter",
        "ms",
        "Jitter",
        "mean |delay - mean delay| of the messages, as the 2019 study defines it",
    )
    .first()
    .with_resolution(STAMP)
    .of_flows();

    THROUGHPUT = higher(
        "throughput",
        "Mbit/s",
        "Throughput",
        "rate of payload between the kernel's receive stamps, after the warm-up",
    )
    .first()
    // Two frames of average size in 5 MB: which frame carries the first and the
    // last stamp is random.
    .with_resolution(Resolution::Percent(0.2))
    .of_flows();

    CPU_TOTAL = lower(
        "cpu_total",
        "s/GB",
        "CPU, whole machine",
        "busy CPU seconds of the whole machine per 10^9 bytes of payload",
    )
    .first()
    .with_resolution(Resolution::CpuTick);

    CPU_PROGRAMS = lower(
        "cpu_programs",
        "s/GB",
        "CPU, both programs",
        "CPU seconds of sender and receiver with kernel work charged to them, per 10^9 bytes of payload, as the program reports it",
    )
    .with_resolution(Resolution::Percent(0.5));

    CPU_SENDER = lower(
        "cpu_sender",
        "%",
        "CPU utilisation, sender",
        "CPU time of the sending process during the metered transfer; 100 % is one CPU",
    )
    .first()
    .with_resolution(PROCESS);

    CPU_RECEIVER = lower(
        "cpu_receiver",
        "%",
        "CPU utilisation, receiver",
        "CPU time of the receiving process during the metered transfer; 100 % is one CPU",
    )
    .first()
    .with_resolution(PROCESS);

    CPU_SENDER_HIGH = lower(
        "cpu_sender_high",
        "%",
        "CPU utilisation, sender and all softirq",
        "cpu_sender plus the softirq time of the whole machine",
    )
    .in_json()
    .with_resolution(PROCESS);

    CPU_RECEIVER_HIGH = lower(
        "cpu_receiver_high",
        "%",
        "CPU utilisation, receiver and all softirq",
        "cpu_receiver plus the softirq time of the whole machine",
    )
    .in_json()
    .with_resolution(PROCESS);

    CPU_SOFTIRQ = lower(
        "cpu_softirq",
        "s/GB",
        "CPU, softirq",
        "softirq seconds of the whole machine per 10^9 bytes of payload",
    )
    .with_resolution(Resolution::CpuTick);

    CPU_ROUTER = lower(
        "cpu_router",
        "%",
        "CPU utilisation, router",
        "busy CPU time of the router between named hosts; 100 % is one CPU",
    );

    CPU_FORWARDING = lower(
        "cpu_forwarding",
        "s/GB",
        "CPU, router",
        "busy CPU seconds of the router between named hosts per 10^9 bytes of payload",
    )
    .with_resolution(Resolution::CpuTick);

    ENERGY = lower(
        "energy",
        "J/GB",
        "Energy",
        "energy of the processor packages of sender and receiver during the traffic, with idle power, per 10^9 bytes of payload [LinuxDoc powercap]",
    )
    .signed();

    ECHO_TIME = lower(
        "echo_time",
        "ms",
        "Total echo time",
        "time from the first write to the last echo, one message at a time",
    )
    .with_resolution(STAMP);

    RTT_TRANSFER = lower(
        "rtt_transfer",
        "ms",
        "Transfer time",
        "time from the first byte sent to the last acknowledgement, as the 2019 study defines RTT",
    )
    .with_resolution(STAMP);

    RTT_TCP = lower(
        "rtt_tcp",
        "ms",
        "TCP's smoothed RTT",
        "the sender's smoothed RTT in TCP_INFO at the end of the transfer",
    )
    .with_resolution(STAMP);

    DELAY = lower(
        "delay",
        "ms",
        "One-way delay",
        "mean one-way delay of the messages [RFC7679]",
    )
    .with_resolution(STAMP)
    .of_flows()
    .signed();

    CPU_MESSAGE = lower(
        "cpu_message",
        "us",
        "CPU time per message",
        "CPU time of both processes per arrived message, including kernel work in their context",
    )
    .signed();

    FIRST_DELIVERY = lower(
        "first_delivery",
        "ms",
        "First delivery",
        "time from writing the first message of a flow, even if lost, to the first arrival; the longest of several flows",
    )
    .in_json()
    .with_resolution(STAMP)
    .signed();

    RTT_P50 = lower(
        "rtt_p50",
        "ms",
        "Round-trip time, median",
        "median round-trip time, to three digits; the largest of several flows",
    )
    .in_json()
    .with_resolution(STAMP)
    .of_flows();

    RTT_P95 = lower(
        "rtt_p95",
        "ms",
        "Round-trip time, 95th percentile",
        "95th percentile of round-trip times, to three digits; the largest of several flows",
    )
    .in_json()
    .with_resolution(STAMP)
    .of_flows();

    RTT_P99 = lower(
        "rtt_p99",
        "ms",
        "Round-trip time, 99th percentile",
        "99th percentile of round-trip times, to three digits; the largest of several flows",
    )
    .in_json()
    .with_resolution(STAMP)
    .of_flows();

    DELAY_P99 = lower(
        "delay_p99",
        "ms",
        "One-way delay, 99th percentile",
        "99th percentile of one-way delays, to three digits [RFC7679]",
    )
    .with_resolution(STAMP)
    .of_flows()
    .signed();

    LATENCY = lower(
        "latency",
        "ms",
        "Latency",
        "mean time from the first byte of a message leaving to its last byte received, by kernel stamps, as the 2017 study defines it [Supriyanto2017]",
    )
    .with_resolution(STAMP)
    .of_flows()
    .signed();

    LATENCY_DITG = lower(
        "latency_ditg",
        "ms",
        "Latency as D-ITG defines it",
        "mean time from just before the write until the receiving program has the message, as D-ITG stamps it [D-ITG]",
    )
    .with_resolution(STAMP)
    .of_flows()
    .signed();

    PAPER_THROUGHPUT = higher(
        "paper_throughput",
        "Mbit/s",
        "Throughput as the 2017 study defines it",
        "bits of one message divided by its latency; not a rate of traffic [Supriyanto2017]",
    )
    .with_resolution(Resolution::Percent(0.2))
    .of_flows();

    OFFERED_RATE = higher(
        "offered_rate",
        "Mbit/s",
        "Offered rate",
        "rate of payload of the scheduled messages while flows sent",
    )
    .of_flows();

    SENT_RATE = higher(
        "sent_rate",
        "Mbit/s",
        "Sent rate",
        "rate of payload of the written messages while flows sent",
    )
    .of_flows();

    TIMING_ERROR_P99 = lower(
        "timing_error_p99",
        "ms",
        "Timing error of departures, 99th percentile",
        "99th percentile of the time from a message's scheduled departure to its write; the largest of several flows",
    )
    .with_resolution(STAMP)
    .of_flows();

    JITTER_DITG = lower(
        "jitter_ditg",
        "ms",
        "Jitter as D-ITG defines it",
        "mean |delay - previous delay| in log order, as D-ITG computes it [D-ITG]",
    )
    .with_resolution(STAMP);

    IPDV_P95 = lower(
        "ipdv_p95",
        "ms",
        "IPDV, 95th percentile",
        "95th percentile of |delay - delay of the previous message sent| [RFC3393]",
    )
    .with_resolution(STAMP);

    LOSS = lower(
        "loss",
        "%",
        "Loss",
        "share of the sent messages that never arrived [RFC7680]",
    )
    .of_flows();

    THROUGHPUT_LONG = higher(
        "throughput_long",
        "Mbit/s",
        "Throughput of a long transfer",
        "throughput of the transfer during which CPU time is metered",
    )
    .in_json()
    .with_resolution(Resolution::Percent(0.2));

    RETRANSMITTED_LONG = lower(
        "retransmitted_long",
        "%",
        "Retransmissions of a long transfer",
        "share of retransmitted segments of this transfer, by TCP_INFO",
    )
    .in_json();

    RETRANSMISSIONS = lower(
        "retransmissions",
        "segments",
        "Retransmissions",
        "retransmitted segments, by TCP_INFO",
    )
    .with_resolution(Resolution::Absolute(1.0))
    .of_flows();

    SEGMENTS = lower(
        "segments",
        "count",
        "Segments",
        "sent segments, by TCP_INFO",
    )
    .in_json()
    .with_resolution(Resolution::Absolute(1.0));

    TIMEOUTS = lower(
        "timeouts",
        "count",
        "Time-outs",
        "retransmission timeouts of simulated TCP with outstanding data",
    )
    .in_json()
    .with_resolution(Resolution::Absolute(1.0))
    .of_flows();

    FAIRNESS = higher(
        "fairness",
        "1",
        "Fairness",
        "Jain's index of the throughputs of equal flows: 1 if all get the same, 1/n if one gets everything [Jain1984]",
    )
    .of_flows();

    DROP_BIAS = lower(
        "drop_bias",
        "%",
        "Drop bias",
        "half the sum over flows of |share of drops - share of arrivals| at a link's queue: 0 if drops are proportional to arrivals",
    )
    .in_json()
    .signed();

    SYNCHRONISATION = lower(
        "synchronisation",
        "%",
        "Simultaneous losses",
        "mean share of connections that lose data at a link's queue within one epoch of a first loss; 100/n for n connections means no simultaneous losses",
    )
    .in_json();

    NOTICE = lower(
        "notice",
        "ms",
        "Recovery time",
        "mean time from the drop of a segment at a link's queue until it arrives there again without a timeout; of several losses of a connection the first",
    )
    .in_json()
    .with_resolution(STAMP);

    MESSAGE_TIME = lower(
        "message_time",
        "ms",
        "Message time",
        "mean time from just before the write of a message of traffic.reference_size bytes until its answer is read",
    )
    .with_resolution(STAMP);

    MEGABYTE_TIME = lower(
        "megabyte_time",
        "ms",
        "Time per megabyte",
        "mean over the message sizes of the time for one megabyte in messages of that size, one at a time",
    )
    .with_resolution(STAMP);

    MESSAGE_TIME_PROCESSOR = lower(
        "message_time_processor",
        "ms",
        "Message time, CPU-time clock",
        "as message_time, by the sending process's CPU-time clock, as clock() of C reads it",
    )
    .in_json();

    MESSAGE_TIME_1MS = lower(
        "message_time_1ms",
        "ms",
        "Message time, 1 ms clock",
        "as message_time, by a clock with steps of 1 ms",
    )
    .in_json();

    MESSAGE_TIME_10MS = lower(
        "message_time_10ms",
        "ms",
        "Message time, 10 ms clock",
        "as message_time, by a clock with steps of 10 ms",
    )
    .in_json();

    MESSAGE_TIME_55MS = lower(
        "message_time_55ms",
        "ms",
        "Message time, 55 ms clock",
        "as message_time, by a clock with steps of 55 ms",
    )
    .in_json();

    STALLS = lower(
        "stalls",
        "count",
        "Stalled messages",
        "messages that were not answered before traffic.deadline",
    );

    RECEIVER_DROPS = lower(
        "receiver_drops",
        "count",
        "Dropped by the receiver's socket",
        "packets dropped because the receiving socket's buffer was full",
    );

    ACKNOWLEDGEMENTS = lower(
        "acknowledgements",
        "1",
        "Acknowledgements per segment",
        "returned segments without data per sent segment with data",
    );

    REPEATS = lower(
        "repeats",
        "count",
        "Repeated datagrams",
        "datagrams that were sent again because no answer arrived",
    );

    VERDICT_RIGHT = higher(
        "verdict_right",
        "%",
        "Right verdict",
        "share of investigations with the right verdict, whose findings name the fault and no other",
    );

    MTU_RIGHT = higher(
        "mtu_right",
        "%",
        "Right path MTU",
        "share of investigations with the right path MTU in both directions, as far as they could see it",
    );

    HOP_RIGHT = higher(
        "hop_right",
        "%",
        "Right hop",
        "share of investigations that find the fault at its link, or none where there is none",
    );

    PROBES = lower(
        "probes",
        "count",
        "Probes",
        "packets of an investigation",
    );

    PROBE_BYTES = lower(
        "probe_bytes",
        "count",
        "Bytes of probes",
        "bytes of these IP packets",
    );

    PROBE_TIME = lower(
        "probe_time",
        "ms",
        "Time of the investigation",
        "time from the first probe to the end of the investigation",
    );
}
