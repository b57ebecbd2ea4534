//! Metrics of round trips that are taken apart.

use proto::latency_breakdown::{PARTS, Part};

use super::{Better, Metric, Resolution, STAMP, Shown};

/// Two stamps of one event agree on a microsecond.
const MICROSECOND: Resolution = match STAMP {
    Resolution::Absolute(millis) => Resolution::Absolute(millis * 1e3),
    other => other,
};

/// The parts in the order of time, and then the other metrics of the whole.
pub static OF_LATENCY_BREAKDOWN: [Metric; PARTS + 2] = [
    part(
        "there_send_call",
        "There: send call",
        "mean time from just before a message is written until its first packet is at the queueing discipline, by the kernel's stamp",
    ),
    part(
        "there_queueing",
        "There: queueing discipline",
        "mean time until that packet is handed to the interface, by the kernel's stamps",
    ),
    part(
        "there_transmission",
        "There: transmission",
        "how long emulated links with a rate are busy with the message, framing and fragments included, by arithmetic; no longer than it was between the interfaces",
    ),
    part(
        "there_wire",
        "There: wire",
        "mean of the rest of the time from the first packet's stamp at the sender's interface to the last one's at the receiver's: propagation, nodes on the way, and packets that the sender hands over later",
    ),
    part(
        "there_softirq",
        "There: receive softirq",
        "from then as long as the kernel takes until the message can be read: the lower decile of what readers that do not sleep find before the trial; no longer than until the reader runs",
    ),
    part(
        "there_wakeup",
        "There: wake-up",
        "mean of the rest of the time until the call that waits has returned: the interrupt that wakes the processor, and the wait for it",
    ),
    part(
        "there_receive_call",
        "There: receive call",
        "mean time from the return of the call that waits, or from the last packet's arrival if that was later, until the message is read",
    ),
    part(
        "echo",
        "Echo",
        "mean time that the receiver's program takes from its last read to just before it writes the echo",
    ),
    part("back_send_call", "Back: send call", "as there, of the echo"),
    part(
        "back_queueing",
        "Back: queueing discipline",
        "as there, of the echo",
    ),
    part(
        "back_transmission",
        "Back: transmission",
        "as there, of the echo",
    ),
    part("back_wire", "Back: wire", "as there, of the echo"),
    part(
        "back_softirq",
        "Back: receive softirq",
        "as there, of the echo",
    ),
    part("back_wakeup", "Back: wake-up", "as there, of the echo"),
    part(
        "back_receive_call",
        "Back: receive call",
        "as there, of the echo",
    ),
    part(
        "unexplained",
        "Unexplained",
        "mean of what a round trip took by a clock of its own less all parts: stretches that lack a stamp, reading the clocks, and what the clocks disagree about",
    ),
    Metric {
        name: "unexplained_share",
        unit: "%",
        title: "Unexplained share",
        definition: "size of the unexplained part of the mean round trip, of that round trip",
        better: Better::Lower,
        shown: Shown::Json,
        resolution: None,
        of_flows: false,
    },
    Metric {
        name: "goodput_echoed",
        unit: "Mbit/s",
        title: "Goodput of round trips",
        definition: "octets of the messages that came back, each counted once, over the time of all round trips",
        better: Better::Higher,
        shown: Shown::Json,
        resolution: Some(Resolution::Percent(0.2)),
        of_flows: false,
    },
];

/// The name of the metric that is the mean of a part.
pub fn part_metric(part: Part) -> &'static str {
    OF_LATENCY_BREAKDOWN[part as usize].name
}

const fn part(name: &'static str, title: &'static str, definition: &'static str) -> Metric {
    Metric {
        name,
        unit: "us",
        title,
        definition,
        better: Better::Lower,
        shown: Shown::Json,
        resolution: Some(MICROSECOND),
        of_flows: false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_has_its_metric() {
        assert_eq!(part_metric(Part::ThereWakeUp), "there_wakeup");
        assert_eq!(part_metric(Part::Echo), "echo");
        assert_eq!(part_metric(Part::BackSendCall), "back_send_call");
        assert_eq!(part_metric(Part::Unexplained), "unexplained");
        for metric in &OF_LATENCY_BREAKDOWN {
            assert_eq!(Metric::named(metric.name), Some(metric));
        }
    }
}
