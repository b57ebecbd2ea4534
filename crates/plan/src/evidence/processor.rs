//! Processor time, and what disturbed it.

use super::fact::{Fact, Row};

facts! {
    "s, s, %", "CPU time used while it was metered, how long that was, and the share of all CPUs"
    {
        CPU_SECONDS: f64 = "cpu_seconds",
        CPU_WINDOW_SECONDS: f64 = "cpu_window_seconds",
        CPU_BUSY_PERCENT: f64 = "cpu_busy_percent",
    }

    "s", "CPU time of others in a disturbed pass, which `cpu_seconds` and `cpu_total` leave out: what they used in user mode, or all that programs, emulator and soft interrupts of the trial do not explain, whichever is more. User mode is sampled at each tick"
    { CPU_OF_OTHERS_SECONDS: f64 = "cpu_of_others_seconds" }

    "s/GB", "CPU time of that end's process alone per 10^9 bytes"
    {
        CPU_SENDER_SECONDS_PER_GIGABYTE: f64 = "cpu_sender_seconds_per_gigabyte",
        CPU_RECEIVER_SECONDS_PER_GIGABYTE: f64 = "cpu_receiver_seconds_per_gigabyte",
    }

    "B", "payload over which CPU was metered; absent: `traffic.cpu_size` of the plan"
    { CPU_BYTES: u64 = "cpu_bytes" }

    "s", "tick of the machine's CPU counters; absent: 0.01"
    { CPU_TICK_SECONDS: f64 = "cpu_tick_seconds" }

    "%", "time an end was runnable without a CPU, the worse end"
    { RUN_QUEUE_WAIT_PERCENT: f64 = "run_queue_wait_percent" }

    "%", "CPU time that the hypervisor gave to others, all passes together"
    { STEAL_PERCENT: f64 = "steal_percent" }

    "ms", "for which the CPU with the longest stalls let no thread run, all passes together except those that meter CPU time; found by a thread on each CPU that asks for a wake-up every 2 ms; a wake-up that is at most 4 ms late is no stall"
    { STALLED_MS: f64 = "stalled_ms" }

    "s", "for which passes waited until other threads paused; absent: 0"
    { IDLE_WAIT_SECONDS: f64 = "idle_wait_seconds" }

    "processors", "how many worked for anybody else, all passes together; the least it can have been"
    { OTHERS_PROCESSORS: f64 = "others_processors" }
}
