//! Metrics over a part of a trial: `mean_queue_NAME` is what waited on average
//! on the link that has a window NAME, while that window was open.

use super::{Better, Metric, Shown, order};

/// The longest name of a window.
pub const LONGEST: usize = 16;

/// The metrics of each window, before the window's name.
pub(super) static OF_WINDOWS: [Metric; 14] = [
    Metric {
        name: "drop_percent",
        unit: "%",
        title: "Dropped",
        definition: "packets that the link's queue dropped, acknowledgements included, of those that came to it",
        better: Better::Lower,
        shown: Shown::Compact,
        resolution: None,
        of_flows: false,
    },
    Metric {
        name: "utilisation_percent",
        unit: "%",
        title: "Utilisation",
        definition: "time that the link takes for the packets whose transmission began, of the window's length",
        better: Better::Higher,
        shown: Shown::Compact,
        resolution: None,
        of_flows: false,
    },
    Metric {
        name: "mean_queue",
        unit: "packets",
        title: "Mean queue",
        definition: "packets that waited for the link on average over time, the one in transmission not counted",
        better: Better::Lower,
        shown: Shown::Compact,
        resolution: None,
        of_flows: false,
    },
    Metric {
        name: "inner_drop_percent",
        unit: "%",
        title: "Dropped, packets of senders",
        definition: "packets of senders that the link's queue dropped, alone or in bundles, of those that came to it; where the network has a domain",
        better: Better::Lower,
        shown: Shown::Compact,
        resolution: None,
        of_flows: false,
    },
    Metric {
        name: "packets_per_frame",
        unit: "1",
        title: "Packets of senders in a frame",
        definition: "packets of senders that came to the link, alone or in bundles, over the frames that came; where the network has a domain",
        better: Better::Higher,
        shown: Shown::Compact,
        resolution: None,
        of_flows: false,
    },
    Metric {
        name: "frame_rate",
        unit: "1/s",
        title: "Frames a second",
        definition: "frames that came to the link, bundles and packets that travel alone, of the window's length; where the network has a domain",
        better: Better::Lower,
        shown: Shown::Compact,
        resolution: None,
        of_flows: false,
    },
    Metric {
        name: "packet_rate",
        unit: "1/s",
        title: "Packets of senders a second",
        definition: "packets of senders that came to the link, alone or in bundles, of the window's length; where the network has a domain",
        better: Better::Higher,
        shown: Shown::Compact,
        resolution: None,
        of_flows: false,
    },
    Metric {
        name: "wire_octets",
        unit: "B",
        title: "Octets of the link a packet",
        definition: "what the link could carry in the time that it takes for the frames whose transmission began, framing included, over the packets of senders in them; where the network has a domain",
        better: Better::Lower,
        shown: Shown::Compact,
        resolution: None,
        of_flows: false,
    },
    Metric {
        name: "carried_percent",
        unit: "%",
        title: "Carried of the trial",
        definition: "time that the link takes for the packets whose transmission began from the beginning of the trial on, of the length of the whole trial; where the network has a domain",
        better: Better::Higher,
        shown: Shown::Compact,
        resolution: None,
        of_flows: false,
    },
    Metric {
        name: "queue_delay",
        unit: "ms",
        title: "Queue delay",
        definition: "mean time that the frames waited whose transmission began; where the network has a domain",
        better: Better::Lower,
        shown: Shown::Compact,
        resolution: None,
        of_flows: false,
    },
    Metric {
        name: "one_way_delay",
        unit: "ms",
        title: "One-way delay",
        definition: "mean time from the instant at which a sender sent a packet of data to that at which its destination had worked on it, of those that came over the link, arrived while the window was open, and brought something new; of a datagram in fragments from its message to its last one; where the network has a domain",
        better: Better::Lower,
        shown: Shown::Compact,
        resolution: None,
        of_flows: false,
    },
    Metric {
        name: "average_queue",
        unit: "packets",
        title: "Average queue",
        definition: "mean of the averages that arrivals found, as the queue's law has them, in the unit of its thresholds; where the network has a domain",
        better: Better::Lower,
        shown: Shown::Compact,
        resolution: None,
        of_flows: false,
    },
    Metric {
        name: "crossing",
        unit: "s",
        title: "Average at the upper threshold",
        definition: "time until an arrival finds the law's average at its upper threshold or above, if one does; where the network has a domain",
        better: Better::Higher,
        shown: Shown::Compact,
        resolution: None,
        of_flows: false,
    },
    Metric {
        name: "settling",
        unit: "s",
        title: "Average below the upper threshold",
        definition: "time until the last arrival that finds the law's average at its upper threshold or above, if one does; where the network has a domain",
        better: Better::Lower,
        shown: Shown::Compact,
        resolution: None,
        of_flows: false,
    },
];

/// The name of a metric over the window called `window`.
pub fn of_window(metric: &str, window: &str) -> String {
    format!("{metric}_{window}")
}

/// The metric over a window that is called `name`, if it can be one.
pub(super) fn named(name: &str) -> Option<&'static Metric> {
    let base = base(name)?;
    let window = name.strip_prefix(base.name)?.strip_prefix('_')?;
    Some(order::intern(name, || Metric {
        name: name.to_owned().leak(),
        unit: base.unit,
        title: format!("{}, {window}", base.title).leak(),
        definition: format!("in the window {window}: {}", base.definition).leak(),
        better: base.better,
        shown: Shown::Compact,
        resolution: base.resolution,
        of_flows: false,
    }))
}

/// What the metric called `name` is over a window, if it can be such a metric.
pub(super) fn base(name: &str) -> Option<&'static Metric> {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || letter == '-' || letter == '_';
    OF_WINDOWS.iter().find(|base| {
        let rest = name.strip_prefix(base.name);
        let window = rest.and_then(|rest| rest.strip_prefix('_'));
        window.is_some_and(|window| {
            (1..=LONGEST).contains(&window.len()) && window.chars().all(plain)
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_metric_over_a_window_is_called_by_both() {
        let queue = Metric::named(&of_window("mean_queue", "h1")).unwrap();
        assert_eq!((queue.name, queue.unit), ("mean_queue_h1", "packets"));
        assert_eq!(queue.title, "Mean queue, h1");
        for wrong in ["mean_queue", "mean_queue_", "mean_queue_a b", "queue_h1"] {
            assert_eq!(Metric::named(wrong), None, "{wrong}");
        }
    }
}
