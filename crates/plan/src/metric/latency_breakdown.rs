//! Metrics of latency breakdowns: the stages of a round trip.

use meter::latency_breakdown::{PARTS, Part};

use super::{Metric, Resolution, STAMP, higher, lower};

/// Two stamps of one event agree within a microsecond.
const MICROSECOND: Resolution = match STAMP {
    Resolution::Absolute(millis) => Resolution::Absolute(millis * 1e3),
    other => other,
};

/// The stages in order of time, then the other metrics of the whole round trip.
pub static OF_LATENCY_BREAKDOWN: [Metric; PARTS + 2] = [
    part(
        "there_send_call",
        "There: send call",
        "mean time from just before the write until the first packet reaches the queueing discipline, by the kernel's stamp",
    ),
    part(
        "there_queueing",
        "There: queueing discipline",
        "mean time until that packet is handed to the interface, by the kernel's stamps",
    ),
    part(
        "there_transmission",
        "There: transmission",
        "computed time of emulated links for the message, with framing and fragments; at most the time between the interfaces",
    ),
    part(
        "there_wire",
        "There: wire",
        "mean remaining time from the first packet's stamp at the sender's interface to the last packet's at the receiver's: propagation, nodes, and later packets",
    ),
    part(
        "there_softirq",
        "There: receive softirq",
        "kernel time until the message can be read: the lower decile of busy-waiting readers before the trial; at most the time until the reader runs",
    ),
    part(
        "there_wakeup",
        "There: wake-up",
        "mean remaining time until the waiting call returns: the interrupt, and the wait for a CPU",
    ),
    part(
        "there_receive_call",
        "There: receive call",
        "mean time from the return of the waiting call, or the last packet's arrival if later, until the message is read",
    ),
    part(
        "echo",
        "Echo",
        "mean time from the receiver's last read to just before it writes the echo",
    ),
    part(
        "back_send_call",
        "Back: send call",
        "as above, for the echo",
    ),
    part(
        "back_queueing",
        "Back: queueing discipline",
        "as above, for the echo",
    ),
    part(
        "back_transmission",
        "Back: transmission",
        "as above, for the echo",
    ),
    part("back_wire", "Back: wire", "as above, for the echo"),
    part(
        "back_softirq",
        "Back: receive softirq",
        "as above, for the echo",
    ),
    part("back_wakeup", "Back: wake-up", "as above, for the echo"),
    part(
        "back_receive_call",
        "Back: receive call",
        "as above, for the echo",
    ),
    part(
        "unexplained",
        "Unexplained",
        "mean round-trip time by a separate clock minus all parts: intervals without a stamp, reading the clocks, and their difference",
    ),
    UNEXPLAINED_SHARE,
    GOODPUT_ECHOED,
];

/// How much of the round trip the stages leave unexplained.
pub const UNEXPLAINED_SHARE: Metric = lower(
    "unexplained_share",
    "%",
    "Unexplained share",
    "|unexplained| relative to the mean round-trip time",
)
.in_json();

/// The rate of messages that wait for each other.
pub const GOODPUT_ECHOED: Metric = higher(
    "goodput_echoed",
    "Mbit/s",
    "Goodput of round trips",
    "bytes of the echoed messages divided by the total time of all round trips",
)
.in_json()
.with_resolution(Resolution::Percent(0.2));

/// The metric for the mean of a stage.
pub fn part_metric(part: Part) -> &'static Metric {
    &OF_LATENCY_BREAKDOWN[part as usize]
}

const fn part(name: &'static str, title: &'static str, definition: &'static str) -> Metric {
    lower(name, "us", title, definition)
        .in_json()
        .with_resolution(MICROSECOND)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_has_its_metric() {
        assert_eq!(part_metric(Part::ThereWakeUp).name, "there_wakeup");
        assert_eq!(part_metric(Part::Echo).name, "echo");
        assert_eq!(part_metric(Part::BackSendCall).name, "back_send_call");
        assert_eq!(part_metric(Part::Unexplained).name, "unexplained");
        for metric in &OF_LATENCY_BREAKDOWN {
            assert_eq!(Metric::named(metric.name), Some(metric));
        }
    }
}
