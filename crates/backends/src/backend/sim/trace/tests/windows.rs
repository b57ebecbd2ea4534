//! Metrics of windows against a second count of the same trial, in whatever unit its queue
//! decides.

use plan::metric::Metric;
use queue::{Spec, Unit};

use super::*;

/// An arrival at the link as it was recorded.
struct Arrival {
    at: f64,
    /// Frames and their bytes that waited.
    waiting: [f64; 2],
    /// Bytes, and packets of senders.
    size: f64,
    inner: f64,
    /// When it left the queue, and whether to the link.
    left: (f64, bool),
    /// Times at which packets of senders were dropped out of it.
    inner_drops: Vec<f64>,
    of_max: f64,
}

impl Arrival {
    fn of(row: &Row) -> Self {
        let whole = |column| row.get_long(column).unwrap() as f64;
        let seconds = |picos: f64| picos / 1e12;
        let drops = row.get_string(13).map_or("", String::as_str);
        let words: Vec<&str> = drops.split_whitespace().collect();
        Self {
            at: seconds(whole(0)),
            waiting: [whole(2), whole(3)],
            size: whole(8),
            inner: whole(9),
            left: match row.get_string(11) {
                Ok(outcome) => (seconds(whole(10)), outcome == "sent"),
                Err(_) => (f64::INFINITY, false),
            },
            inner_drops: words
                .iter()
                .step_by(2)
                .map(|at| seconds(at.parse().unwrap()))
                .collect(),
            of_max: row.get_double(15).unwrap(),
        }
    }

    /// The packets of senders in it at a time.
    fn live(&self, at: f64) -> f64 {
        let gone = self.inner_drops.iter().filter(|drop| **drop <= at);
        self.inner - gone.count() as f64
    }

    /// The bytes that left; those of packets in a bundle are equal.
    fn sent_bytes(&self) -> f64 {
        self.size * self.live(self.left.0) / self.inner
    }
}

/// How much of the time from `begin` to `end` lies in a window.
fn overlap(begin: f64, end: f64, [from, to]: [f64; 2]) -> f64 {
    (end.min(to) - begin.max(from)).max(0.0)
}

/// The name of a metric of a window.
fn of_window(metric: &str, window: &str) -> String {
    format!("{metric}_{window}")
}

/// The metrics of the window from `from` to `to` by the recording alone, each with the error
/// that it may have relative to the value.
fn counted(
    link: &plan::setting::Link,
    all: &[Arrival],
    window: [f64; 2],
) -> Vec<(&'static str, f64, f64)> {
    let [from, to] = window;
    let inside = |at: f64| from <= at && at < to;
    let came: Vec<&Arrival> = all.iter().filter(|one| inside(one.at)).collect();
    let gone = || all.iter().filter(|one| inside(one.left.0));
    let (sent, dropped): (Vec<&Arrival>, Vec<&Arrival>) = gone().partition(|one| one.left.1);
    let number = |some: &[&Arrival]| some.len() as f64;
    let sum = |some: &[&Arrival], of: &dyn Fn(&Arrival) -> f64| {
        some.iter().map(|one| of(one)).sum::<f64>()
    };
    let inner = sum(&came, &|one| one.inner);
    let taken_out = all
        .iter()
        .flat_map(|one| &one.inner_drops)
        .filter(|at| inside(**at))
        .count();
    let inner_dropped = taken_out as f64 + sum(&dropped, &|one| one.live(one.left.0));
    let rate = link.rate.unwrap().bits_per_second() as f64;
    let busy = |window: [f64; 2]| {
        let sent = all.iter().filter(|one| one.left.1);
        let ends = |one: &Arrival| one.left.0 + one.sent_bytes() * 8.0 / rate;
        sent.map(|one| overlap(one.left.0, ends(one), window))
            .sum::<f64>()
    };
    let waited: f64 = all
        .iter()
        .map(|one| overlap(one.at, one.left.0, window))
        .sum();
    let (unit, max) = match link.queue() {
        Spec::Red(red) => (red.unit, red.curve.max),
        Spec::Mred(mred) => (mred.unit, mred.curve.max),
        other => panic!("{other:?}"),
    };
    // What the discipline compares with its threshold, as each arrival found it.
    let in_unit = |one: &Arrival| match unit {
        Unit::Frames => one.waiting[0],
        Unit::Bytes => one.waiting[1],
        Unit::Inner => {
            let waits = |other: &&Arrival| other.at < one.at && one.at < other.left.0;
            all.iter()
                .filter(waits)
                .map(|other| other.live(one.at))
                .sum()
        }
    };
    let mean = |of: &dyn Fn(&Arrival) -> f64| sum(&came, of) / number(&came);
    // The average lags behind what waits, and ages while the link rests.
    let (exact, of_sizes, lagging) = (1e-9, 0.02, 0.25);
    let length = to - from;
    let mut found = vec![
        (
            "drop_percent",
            100.0 * number(&dropped) / number(&came),
            exact,
        ),
        (
            "utilisation_percent",
            100.0 * busy(window) / length,
            of_sizes,
        ),
        ("mean_queue", waited / length, exact),
        ("inner_drop_percent", 100.0 * inner_dropped / inner, exact),
        ("packets_per_frame", inner / number(&came), exact),
        ("frame_rate", number(&came) / length, exact),
        ("packet_rate", inner / length, exact),
        (
            "wire_bytes",
            sum(&sent, &Arrival::sent_bytes) / sum(&sent, &|one| one.live(one.left.0)),
            of_sizes,
        ),
        (
            "carried_percent",
            100.0 * busy([0.0, to]) / DURATION,
            of_sizes,
        ),
        (
            "queue_delay",
            1e3 * sum(&sent, &|one| one.left.0 - one.at) / number(&sent),
            exact,
        ),
        ("average_queue", mean(&|one| one.waiting[0]), lagging),
        ("average_bytes", mean(&|one| one.waiting[1]), lagging),
        ("max_th_percent", 100.0 * mean(&in_unit) / max, lagging),
    ];
    let above = came.iter().filter(|one| one.of_max >= 1.0);
    let above: Vec<f64> = above.map(|one| one.at - from).collect();
    if let (Some(first), Some(last)) = (above.first(), above.last()) {
        found.extend([("crossing", *first, exact), ("settling", *last, exact)]);
    }
    found
}

const DURATION: f64 = 6.0;

#[test]
fn a_metric_of_a_window_has_one_unit_whatever_its_queue_counts() {
    let experiment = Experiment::load("aqm-congestion").unwrap();
    let sets = [
        "scenario=increase",
        "queue=red,mredhead",
        "count=frames,bytes500,bytes1000,inner",
        "curve=gentle,wide",
        "duration=6s",
        "small_start=1s",
        "h1=0s..3s",
        "h2=3s..6s",
        "weight=0.1",
        "mred_weight=0.1",
        "header=live",
        WATCHED[0],
    ];
    let (mut trials, mut longest) = (0, 0.0_f64);
    for setting in settings_of(experiment, &sets) {
        let folder = tempfile::tempdir().unwrap();
        let watched = run(&setting, folder.path());
        let rows = rows(&folder.path().join("watch/c00-r01-bottleneck.queue.parquet"));
        let forth = rows.iter().filter(|row| row.get_long(1).unwrap() == 0);
        let all: Vec<Arrival> = forth.map(Arrival::of).collect();
        let link = { setting.network.links.iter() }.find(|link| link.name == "bottleneck");
        let link = link.unwrap();
        for (name, window) in [("h1", [0.0, 3.0]), ("h2", [3.0, 6.0])] {
            let counted = counted(link, &all, window);
            for (metric, value, error) in &counted {
                let name = of_window(metric, name);
                let measured = watched.metrics[name.as_str()];
                // A queue that is almost empty is as good as empty.
                let off = (measured - value).abs() / value.abs().max(0.2);
                assert!(
                    off <= *error,
                    "{name}: {measured}, counted {value}: {:?}",
                    link.queue()
                );
            }
            // A window that is closed by the clock is no busier than always.
            assert!(watched.metrics[of_window("utilisation_percent", name).as_str()] <= 100.0);
            // From end to end nothing is faster than the links, and it waits in no other queue.
            let [queue, way] = ["queue_delay", "one_way_delay"]
                .map(|one| watched.metrics[of_window(one, name).as_str()]);
            assert!(
                (22.0..200.0).contains(&(way - queue / 2.0)),
                "{way} {queue}"
            );
            let known = counted
                .iter()
                .map(|(metric, ..)| *metric)
                .chain(["one_way_delay"]);
            let known: Vec<String> = known.map(|metric| of_window(metric, name)).collect();
            let mut others = watched.metrics.keys().filter(|metric| {
                metric.ends_with(name) && Metric::named(metric).is_some_and(Metric::is_of_window)
            });
            assert_eq!(
                others.find(|other| known.iter().all(|one| one != *other)),
                None
            );
        }
        longest = longest.max(watched.metrics["average_queue_h2"]);
        trials += 1;
    }
    assert_eq!(trials, 32);
    assert!(longest > 10.0, "{longest}");
}
