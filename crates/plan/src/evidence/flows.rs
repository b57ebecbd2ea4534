//! Flows between kernels.

use std::path::PathBuf;

use super::fact::{Fact, Row};

facts! {
    "messages", "flows between kernels: due, written, and arrived messages, each once"
    {
        MESSAGES_OFFERED: u64 = "messages_offered",
        MESSAGES_SENT: u64 = "messages_sent",
        MESSAGES_RECEIVED: u64 = "messages_received",
    }

    "messages", "of a size that cannot be sent; rejected by the kernel; dropped by the receiving socket"
    {
        MESSAGES_REJECTED: u64 = "messages_rejected",
        MESSAGES_UNSENT: u64 = "messages_unsent",
        SOCKET_OVERFLOWED: u64 = "socket_overflowed",
    }

    "messages", "messages for `latency`, if they arrived"
    { DEPARTURES_STAMPED: u64 = "departures_stamped" }

    "reads", "reads with several datagrams"
    { MERGED_READS: u64 = "merged_reads" }

    "us", "the two parts of `cpu_message`"
    {
        CPU_MESSAGE_SENDER_US: f64 = "cpu_message_sender_us",
        CPU_MESSAGE_RECEIVER_US: f64 = "cpu_message_receiver_us",
    }

    "us", "timing error of writes: median, p99, maximum, of the flow with the largest"
    {
        SENDER_LATE_US: f64 = "sender_late_us",
        SENDER_LATE_US_P99: f64 = "sender_late_us_p99",
        SENDER_LATE_US_MAX: f64 = "sender_late_us_max",
    }

    "", "the trial's packet log, as a path below the results folder"
    { PACKET_LOG: PathBuf = "packet_log" }

    "", "in networks that are no path: why connections failed; absent if none did"
    { FAILED_CONNECTIONS: Vec<String> = "failed_connections" }

    "ms", "in networks that are no path: timing error of the latest connection; null without connections"
    { START_LATE_MS: f64 = "start_late_ms" }
}
