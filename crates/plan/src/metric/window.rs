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
        "share of the arriving packets, with acknowledgements, that the link's queue dropped",
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
        "time average of the waiting frames, without the one in transmission; a bundle is one frame",
    );

    INNER_DROP_PERCENT = lower(
        "inner_drop_percent",
        "%",
        "Dropped inner packets",
        "share of the senders' arriving packets, alone or in bundles, that the link's queue dropped",
    );

    PACKETS_PER_FRAME = higher(
        "packets_per_frame",
        "1",
        "Packets per frame",
        "the senders' arriving packets, alone or in bundles, divided by the arriving frames",
    );

    FRAME_RATE = lower(
        "frame_rate",
        "1/s",
        "Frame rate",
        "arriving frames, bundles and single packets, divided by the window's length",
    );

    PACKET_RATE = higher(
        "packet_rate",
        "1/s",
        "Packet rate",
        "the senders' arriving packets, alone or in bundles, divided by the window's length",
    );

    WIRE_BYTES = lower(
        "wire_bytes",
        "B",
        "Link bytes per packet",
        "bytes on the wire, with framing, of the transmitted frames, divided by the senders' packets in them",
    );

    CARRIED_PERCENT = higher(
        "carried_percent",
        "%",
        "Utilisation over the trial",
        "time of transmission from the start of the trial to the end of the window, relative to the whole trial",
    );

    QUEUE_DELAY = lower(
        "queue_delay",
        "ms",
        "Queueing delay",
        "mean waiting time of the transmitted frames",
    );

    ONE_WAY_DELAY = lower(
        "one_way_delay",
        "ms",
        "One-way delay",
        "mean time from the departure of a data packet until its destination has processed it, over packets with new data that crossed the link and arrived in the window; of a fragmented datagram until the last fragment",
    );

    AVERAGE_QUEUE = lower(
        "average_queue",
        "frames",
        "Average queue",
        "mean over the arrivals of the discipline's average queue, in frames whatever its unit",
    );

    AVERAGE_BYTES = lower(
        "average_bytes",
        "B",
        "Average queue in bytes",
        "the same average in bytes",
    );

    MAX_TH_PERCENT = lower(
        "max_th_percent",
        "%",
        "Average relative to max_th",
        "mean over the arrivals of the discipline's average queue, relative to its upper threshold",
    );

    CROSSING = higher(
        "crossing",
        "s",
        "Average at the upper threshold",
        "time until the first arrival that finds the average queue at or above the upper threshold",
    );

    SETTLING = lower(
        "settling",
        "s",
        "Average below the upper threshold",
        "time until the last arrival that finds the average queue at or above the upper threshold",
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
