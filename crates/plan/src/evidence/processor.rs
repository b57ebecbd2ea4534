//! Processor time, and what disturbed it.

use super::fact::{Fact, Row};

facts! {
    "s, s, %", "metered CPU time, its interval, and the share of all CPUs"
    {
        CPU_SECONDS: f64 = "cpu_seconds",
        CPU_WINDOW_SECONDS: f64 = "cpu_window_seconds",
        CPU_BUSY_PERCENT: f64 = "cpu_busy_percent",
    }

    "s", "CPU time of others in a disturbed pass, excluded from `cpu_seconds` and `cpu_total`: their user mode (sampled at each tick), or all that the trial does not explain, whichever is more"
    { CPU_OF_OTHERS_SECONDS: f64 = "cpu_of_others_seconds" }

    "s/GB", "CPU time of the process per 10^9 bytes"
    {
        CPU_SENDER_SECONDS_PER_GIGABYTE: f64 = "cpu_sender_seconds_per_gigabyte",
        CPU_RECEIVER_SECONDS_PER_GIGABYTE: f64 = "cpu_receiver_seconds_per_gigabyte",
    }

    "B", "payload of the CPU metrics; absent: `traffic.cpu_bytes`"
    { CPU_BYTES: u64 = "cpu_bytes" }

    "s", "tick of the machine's CPU counters; absent: 0.01"
    { CPU_TICK_SECONDS: f64 = "cpu_tick_seconds" }

    "%", "time in which an end was runnable without a CPU; the larger of both"
    { RUN_QUEUE_WAIT_PERCENT: f64 = "run_queue_wait_percent" }

    "%", "CPU time that the hypervisor gave to others, in all passes"
    { STEAL_PERCENT: f64 = "steal_percent" }

    "ms", "stalls of the CPU with the most, in all passes without CPU metrics; a thread on each CPU wakes every 2 ms, and a delay above 4 ms is a stall"
    { STALLED_MS: f64 = "stalled_ms" }

    "s", "time that passes waited for other threads; absent: 0"
    { IDLE_WAIT_SECONDS: f64 = "idle_wait_seconds" }

    "processors", "CPUs used by other processes in all passes, a lower bound"
    { OTHERS_PROCESSORS: f64 = "others_processors" }
}
