//! Metrics of windows of a trial: `mean_queue_NAME` is the mean queue length of
//! a link while its window NAME is open.

use super::{Metric, Shown, higher, lower, order};

/// The longest window name, in characters.
pub const LONGEST_WINDOW: usize = 16;

metrics! {
    /// The metrics of each window, by the name before the window's name.
    OF_WINDOWS:

    DROP_PERCENT = lower(
        "drop_percent",
        "%",
        "Dropped",
        "share of the arriving packets, including acknowledgements, that the link's queue dropped",
    );

    UTILISATION_PERCENT = higher(
        "utilisation_percent",
        "%",
        "Utilisation",
        "part of the window in which the link transmitted",
    );

    MEAN_QUEUE = lower(
        "mean_queue",
        "frames",
        "Mean queue",
        "time average of the frames that wait for the link, excluding the one in transmission; a bundle is one frame",
    );

    INNER_DROP_PERCENT = lower(
        "inner_drop_percent",
        "%",
        "Dropped inner packets",
        "share of the arriving packets of senders, alone or in bundles, that the link's queue dropped; only in networks with a domain",
    );

    PACKETS_PER_FRAME = higher(
        "packets_per_frame",
        "1",
        "Packets per frame",
        "packets of senders that arrived at the link, alone or in bundles, divided by the frames that arrived; only in networks with a domain",
    );

    FRAME_RATE = lower(
        "frame_rate",
        "1/s",
        "Frame rate",
        "frames that arrived at the link, both bundles and single packets, divided by the window's length; only in networks with a domain",
    );

    PACKET_RATE = higher(
        "packet_rate",
        "1/s",
        "Packet rate",
        "packets of senders that arrived at the link, alone or in bundles, divided by the window's length; only in networks with a domain",
    );

    WIRE_BYTES = lower(
        "wire_bytes",
        "B",
        "Link bytes per packet",
        "bytes that the link could carry during the transmission of the frames whose transmission began, including framing, divided by the packets of senders in them; only in networks with a domain",
    );

    CARRIED_PERCENT = higher(
        "carried_percent",
        "%",
        "Utilisation over the trial",
        "time in which the link transmitted from the start of the trial to the end of the window, relative to the length of the whole trial; only in networks with a domain",
    );

    QUEUE_DELAY = lower(
        "queue_delay",
        "ms",
        "Queueing delay",
        "mean waiting time of the frames whose transmission began; only in networks with a domain",
    );

    ONE_WAY_DELAY = lower(
        "one_way_delay",
        "ms",
        "One-way delay",
        "mean time from the departure of a data packet at its sender until its destination has processed it, over packets that crossed the link, arrived while the window was open, and carried new data; for a fragmented datagram, from its message to the last fragment; only in networks with a domain",
    );

    AVERAGE_QUEUE = lower(
        "average_queue",
        "frames",
        "Average queue",
        "mean over the arrivals of the average number of frames that wait, weighted as the discipline weighs arrivals, whatever the unit in which it decides; only of disciplines with an average",
    );

    AVERAGE_BYTES = lower(
        "average_bytes",
        "B",
        "Average queue in bytes",
        "the same average of the bytes of these frames; only of disciplines with an average",
    );

    MAX_TH_PERCENT = lower(
        "max_th_percent",
        "%",
        "Average relative to max_th",
        "mean over the arrivals of the average on which the discipline decides, relative to its upper threshold, both in the unit in which it decides; only of disciplines with an average",
    );

    CROSSING = higher(
        "crossing",
        "s",
        "Average at the upper threshold",
        "time until the first arrival that finds the discipline's average at or above its upper threshold, if any; only in networks with a domain",
    );

    SETTLING = lower(
        "settling",
        "s",
        "Average below the upper threshold",
        "time until the last arrival that finds the discipline's average at or above its upper threshold, if any; only in networks with a domain",
    );
}

/// The metric of [`OF_WINDOWS`] for the window called `window`.
pub fn of_window(metric: &Metric, window: &str) -> &'static Metric {
    made(metric, window, &named_for(metric, window))
}

/// The name of `metric` for the window called `window`.
pub(super) fn named_for(metric: &Metric, window: &str) -> String {
    format!("{}_{window}", metric.name)
}

/// The window metric called `name`, if `name` is valid.
pub(super) fn named(name: &str) -> Option<&'static Metric> {
    let base = base(name)?;
    let window = name.strip_prefix(base.name)?.strip_prefix('_')?;
    Some(made(base, window, name))
}

fn made(base: &Metric, window: &str, name: &str) -> &'static Metric {
    order::intern(name, || Metric {
        name: name.to_owned().leak(),
        unit: base.unit,
        title: format!("{}, {window}", base.title).leak(),
        definition: format!("in the window {window}: {}", base.definition).leak(),
        better: base.better,
        shown: Shown::Compact,
        resolution: base.resolution,
        of_flows: false,
        signed: base.signed,
    })
}

/// The metric that the window metric `name` is derived from, if `name` is
/// valid.
pub(super) fn base(name: &str) -> Option<&'static Metric> {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || letter == '-' || letter == '_';
    OF_WINDOWS.iter().find(|base| {
        let rest = name.strip_prefix(base.name);
        let window = rest.and_then(|rest| rest.strip_prefix('_'));
        window.is_some_and(|window| {
            (1..=LONGEST_WINDOW).contains(&window.len()) && window.chars().all(plain)
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_metric_over_a_window_is_called_by_both() {
        let queue = of_window(&MEAN_QUEUE, "h1");
        assert_eq!(Metric::named("mean_queue_h1"), Some(queue));
        assert_eq!((queue.name, queue.unit), ("mean_queue_h1", "frames"));
        assert_eq!(queue.title, "Mean queue, h1");
        for wrong in ["mean_queue", "mean_queue_", "mean_queue_a b", "queue_h1"] {
            assert_eq!(Metric::named(wrong), None, "{wrong}");
        }
    }
}
