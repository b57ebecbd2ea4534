//! Metrics of windows of a trial: `mean_queue_NAME` is the mean queue length of
//! a link while its window NAME is open.

use super::{Better, Metric, Shown, order};

/// The longest window name, in characters.
pub const LONGEST: usize = 16;

/// The metrics of each window, by the name before the window's name.
pub(super) static OF_WINDOWS: [Metric; 16] = [
    Metric {
        name: "drop_percent",
        unit: "%",
        title: "Dropped",
        definition: "share of the arriving packets, including acknowledgements, that the link's queue dropped",
        better: Better::Lower,
        shown: Shown::Compact,
        resolution: None,
        of_flows: false,
    },
    Metric {
        name: "utilisation_percent",
        unit: "%",
        title: "Utilisation",
        definition: "part of the window in which the link transmitted",
        better: Better::Higher,
        shown: Shown::Compact,
        resolution: None,
        of_flows: false,
    },
    Metric {
        name: "mean_queue",
        unit: "frames",
        title: "Mean queue",
        definition: "time average of the frames that wait for the link, excluding the one in transmission; a bundle is one frame",
        better: Better::Lower,
        shown: Shown::Compact,
        resolution: None,
        of_flows: false,
    },
    Metric {
        name: "inner_drop_percent",
        unit: "%",
        title: "Dropped inner packets",
        definition: "share of the arriving packets of senders, alone or in bundles, that the link's queue dropped; only in networks with a domain",
        better: Better::Lower,
        shown: Shown::Compact,
        resolution: None,
        of_flows: false,
    },
    Metric {
        name: "packets_per_frame",
        unit: "1",
        title: "Packets per frame",
        definition: "packets of senders that arrived at the link, alone or in bundles, divided by the frames that arrived; only in networks with a domain",
        better: Better::Higher,
        shown: Shown::Compact,
        resolution: None,
        of_flows: false,
    },
    Metric {
        name: "frame_rate",
        unit: "1/s",
        title: "Frame rate",
        definition: "frames that arrived at the link, both bundles and single packets, divided by the window's length; only in networks with a domain",
        better: Better::Lower,
        shown: Shown::Compact,
        resolution: None,
        of_flows: false,
    },
    Metric {
        name: "packet_rate",
        unit: "1/s",
        title: "Packet rate",
        definition: "packets of senders that arrived at the link, alone or in bundles, divided by the window's length; only in networks with a domain",
        better: Better::Higher,
        shown: Shown::Compact,
        resolution: None,
        of_flows: false,
    },
    Metric {
        name: "wire_octets",
        unit: "B",
        title: "Link octets per packet",
        definition: "octets that the link could carry during the transmission of the frames whose transmission began, including framing, divided by the packets of senders in them; only in networks with a domain",
        better: Better::Lower,
        shown: Shown::Compact,
        resolution: None,
        of_flows: false,
    },
    Metric {
        name: "carried_percent",
        unit: "%",
        title: "Utilisation over the trial",
        definition: "time in which the link transmitted from the start of the trial to the end of the window, relative to the length of the whole trial; only in networks with a domain",
        better: Better::Higher,
        shown: Shown::Compact,
        resolution: None,
        of_flows: false,
    },
    Metric {
        name: "queue_delay",
        unit: "ms",
        title: "Queueing delay",
        definition: "mean waiting time of the frames whose transmission began; only in networks with a domain",
        better: Better::Lower,
        shown: Shown::Compact,
        resolution: None,
        of_flows: false,
    },
    Metric {
        name: "one_way_delay",
        unit: "ms",
        title: "One-way delay",
        definition: "mean time from the departure of a data packet at its sender until its destination has processed it, over packets that crossed the link, arrived while the window was open, and carried new data; for a fragmented datagram, from its message to the last fragment; only in networks with a domain",
        better: Better::Lower,
        shown: Shown::Compact,
        resolution: None,
        of_flows: false,
    },
    Metric {
        name: "average_queue",
        unit: "frames",
        title: "Average queue",
        definition: "mean over the arrivals of the average number of frames that wait, weighted as the discipline weighs arrivals, whatever the unit in which it decides; only of disciplines with an average",
        better: Better::Lower,
        shown: Shown::Compact,
        resolution: None,
        of_flows: false,
    },
    Metric {
        name: "average_bytes",
        unit: "B",
        title: "Average queue in bytes",
        definition: "the same average of the bytes of these frames; only of disciplines with an average",
        better: Better::Lower,
        shown: Shown::Compact,
        resolution: None,
        of_flows: false,
    },
    Metric {
        name: "max_th_percent",
        unit: "%",
        title: "Average relative to max_th",
        definition: "mean over the arrivals of the average on which the discipline decides, relative to its upper threshold, both in the unit in which it decides; only of disciplines with an average",
        better: Better::Lower,
        shown: Shown::Compact,
        resolution: None,
        of_flows: false,
    },
    Metric {
        name: "crossing",
        unit: "s",
        title: "Average at the upper threshold",
        definition: "time until the first arrival that finds the discipline's average at or above its upper threshold, if any; only in networks with a domain",
        better: Better::Higher,
        shown: Shown::Compact,
        resolution: None,
        of_flows: false,
    },
    Metric {
        name: "settling",
        unit: "s",
        title: "Average below the upper threshold",
        definition: "time until the last arrival that finds the discipline's average at or above its upper threshold, if any; only in networks with a domain",
        better: Better::Lower,
        shown: Shown::Compact,
        resolution: None,
        of_flows: false,
    },
];

/// The name of `metric` for the window `window`.
pub fn of_window(metric: &str, window: &str) -> String {
    format!("{metric}_{window}")
}

/// The window metric called `name`, if `name` is valid.
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

/// The metric that the window metric `name` is derived from, if `name` is
/// valid.
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
        assert_eq!((queue.name, queue.unit), ("mean_queue_h1", "frames"));
        assert_eq!(queue.title, "Mean queue, h1");
        for wrong in ["mean_queue", "mean_queue_", "mean_queue_a b", "queue_h1"] {
            assert_eq!(Metric::named(wrong), None, "{wrong}");
        }
    }
}
