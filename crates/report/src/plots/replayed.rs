//! Plots of a recorded link and its replays.

use document::{Drawing, Figure, Plot};
use link::PacketOutcome;
use plan::replayed_link::{QueueOverTime, ReplayedLink, ReplayedQueue};
use serde_json::{Value, json};

use super::{axis, layout, marks, small_title, text, traces};
use crate::replayed_link::{direction, name};

/// The height of a plot in pixels.
const HEIGHT: usize = 340;

/// The points of a line.
type Points = (Vec<f64>, Vec<Option<f64>>);

/// The queues over time, and the shares of arrivals that they dropped.
pub(crate) fn over_time(link: &ReplayedLink) -> Vec<Figure> {
    let seconds = || axis("time (s)", json!({}));
    let queue = Description {
        id: "replayed-queue",
        title: "Queue over time",
        note: "packets that waited, on average over each interval",
        x: seconds(),
        y: axis("queue (packets)", json!({"rangemode": "tozero"})),
    };
    let dropped = Description {
        id: "replayed-drops",
        title: "Dropped over time",
        note: "packets that the queue dropped, of those that came in each interval",
        x: seconds(),
        y: axis("dropped (% of arrivals)", json!({"rangemode": "tozero"})),
    };
    let packets = |queue: &ReplayedQueue| {
        let packets = queue.over_time.packets.iter();
        let packets = packets.map(|packets| Some(traces::brief(*packets)));
        (instants(&queue.over_time), packets.collect())
    };
    let share = |queue: &ReplayedQueue| {
        let own = &queue.over_time;
        let counts = own.dropped.iter().zip(&own.arrivals);
        let share = |(dropped, arrivals): (&u64, &u64)| {
            let percent = 100.0 * *dropped as f64 / *arrivals as f64;
            (*arrivals > 0).then(|| traces::brief(percent))
        };
        (instants(own), counts.map(share).collect())
    };
    let drops = |queue: &ReplayedQueue| queue.outcomes.of(PacketOutcome::Dropped) > 0;
    let figures = [
        figure(link, &queue, has_packets, packets),
        figure(link, &dropped, drops, share),
    ];
    figures.into_iter().flatten().collect()
}

/// The distributions of waiting times.
pub(crate) fn waits(link: &ReplayedLink) -> Option<Figure> {
    let description = Description {
        id: "replayed-waits",
        title: "Distribution of waiting times",
        note: "the share of transmitted packets that waited no longer",
        x: axis("waiting time (ms)", json!({"rangemode": "tozero"})),
        y: axis("share of packets", json!({"range": [0.0, 1.01]})),
    };
    figure(link, &description, has_packets, |queue| {
        let waits = &queue.waits.quantiles;
        let last = traces::number(waits.len().saturating_sub(1)).max(1.0);
        let shares = (0..waits.len()).map(|rank| Some(traces::number(rank) / last));
        let waits = waits.iter().map(|wait| traces::brief(wait * 1e3));
        (waits.collect(), shares.collect())
    })
}

fn has_packets(queue: &ReplayedQueue) -> bool {
    queue.over_time.arrivals.iter().any(|count| *count > 0)
}

/// The ids, words and axes of a figure.
struct Description {
    id: &'static str,
    title: &'static str,
    note: &'static str,
    x: Value,
    y: Value,
}

/// A plot for each direction that has something to show in a queue, a line for each
/// setting.
fn figure(
    link: &ReplayedLink,
    description: &Description,
    is_shown: impl Fn(&ReplayedQueue) -> bool,
    points: impl Fn(&ReplayedQueue) -> Points,
) -> Option<Figure> {
    let of_direction = |number: usize| {
        let queues = link.queues.iter().filter(|own| own.direction == number);
        let queues: Vec<&ReplayedQueue> = queues.collect();
        let is_any = queues.iter().any(|own| is_shown(own));
        is_any.then_some((number, queues))
    };
    let directions: Vec<_> = (0..2).filter_map(of_direction).collect();
    let drawing = |(number, queues): &(usize, Vec<&ReplayedQueue>)| {
        let trace = |(series, queue): (usize, &&ReplayedQueue)| {
            let (x, y) = points(queue);
            json!({
                "mode": "lines",
                "x": x,
                "y": y,
                "name": text(name(queue)),
                "meta": marks::role(series),
                "line": {"width": 1.6, "shape": "hv", "dash": marks::overlaid(series)},
            })
        };
        let shown = queues.iter().take(marks::MOST_DASHED).enumerate();
        let (x, y) = (description.x.clone(), description.y.clone());
        let words = direction(*number);
        let mut layout = layout(x, y, HEIGHT);
        layout["title"] = small_title(words);
        Drawing {
            id: format!("{}-{words}", description.id),
            label: format!("{}, {words}", description.title),
            is_change: false,
            plot: Plot {
                data: shown.map(trace).collect(),
                layout,
            },
        }
    };
    let plots: Vec<Drawing> = directions.iter().map(drawing).collect();
    let most = directions.iter().map(|(_, queues)| queues.len()).max()?;
    let left_out = match most.saturating_sub(marks::MOST_DASHED) {
        0 => String::new(),
        left_out => format!("; the last {left_out} settings are in the table only"),
    };
    Some(Figure {
        title: description.title.to_owned(),
        note: format!("{}{left_out}", description.note),
        plots,
    })
}

/// The beginnings of the intervals in seconds.
fn instants(queue: &QueueOverTime) -> Vec<f64> {
    let begin = queue.begin.since(units::Time::ZERO).unwrap_or_default();
    let interval = queue.interval.as_secs_f64();
    let place = |number: usize| begin.as_secs_f64() + traces::number(number) * interval;
    (0..queue.packets.len())
        .map(|number| traces::brief(place(number)))
        .collect()
}
