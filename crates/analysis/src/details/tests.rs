use plan::synthetic::{factors, set_evidence, trial};
use serde_json::json;

use super::*;

/// More intervals than a plot has.
const MANY: usize = 2001;

fn of_series(repeat: u32, queue: &str, drops: &str, arrivals: &str) -> Trial {
    let mut trial = trial(factors(1500), repeat, &[]);
    let series = json!({ "wire": {
        "interval_s": 0.5, "queue": queue, "drops": drops, "arrivals": arrivals,
    }});
    set_evidence(&mut trial, "series", series);
    trial
}

fn of_flows(repeat: u32, flows: serde_json::Value) -> Trial {
    let mut trial = trial(factors(1500), repeat, &[]);
    set_evidence(&mut trial, "flow_series", flows);
    trial
}

fn means(series: &TimeSeries) -> Vec<Option<f64>> {
    let mean = |mean: &Option<Mean>| mean.map(|mean| mean.mean);
    series.means.iter().map(mean).collect()
}

#[test]
fn each_interval_has_the_mean_of_the_trials_that_can_tell() {
    let trials = [
        of_series(1, "1 2 3", "0 1 0", "4 2 0"),
        of_series(2, "2 4 0.5", "1 0 0", "4 2 0"),
    ];
    let details = Details::of(&trials);
    assert!(details.names(Quantity::Queue).eq(["wire"]));
    let of = |quantity| details.series(quantity, "wire", Resolution::Full);
    let queue = of(Quantity::Queue).unwrap();
    assert_eq!(means(queue), [Some(1.5), Some(3.0), Some(1.75)]);
    assert_eq!(queue.instants(), [0.0, 0.5, 1.0, 1.5]);
    let drops = of(Quantity::Drops).unwrap();
    assert_eq!(means(drops), [Some(12.5), Some(25.0), None]);
    assert!(of(Quantity::Average).is_none(), "drop-tail has none");
    let other = details.series(Quantity::Queue, "other", Resolution::Full);
    assert!(other.is_none());
}

#[test]
fn neighbours_are_merged_where_there_are_too_many_to_distinguish() {
    let trials = [of_series(1, &"7 ".repeat(MANY), "", "")];
    let details = Details::of(&trials);
    let of = |resolution| details.series(Quantity::Queue, "wire", resolution).unwrap();
    for (resolution, together) in [
        (Resolution::Full, 1),
        (Resolution::Plot, 3),
        (Resolution::Panel, 9),
    ] {
        let series = of(resolution);
        assert_eq!(series.means.len(), MANY.div_ceil(together));
        assert_eq!(series.instants()[2], together as f64);
        assert!(means(series).iter().all(|mean| *mean == Some(7.0)));
    }
}

#[test]
fn flows_have_rates_and_add_up() {
    let trials = [of_flows(
        1,
        json!({
            "bulk": { "interval_s": 0.1, "last_s": 0.05, "bytes": "125000 0 12500",
                "rtt_ms": "2 - 4", "rtt_max_ms": "3 - 5" },
            "talk": { "interval_s": 0.1, "last_s": 0.05, "bytes": "12500 12500 0",
                "delay_ms": "1 1.5 -", "delay_max_ms": "1 1.5 -" },
        }),
    )];
    let details = Details::of(&trials);
    let of = |name, quantity| details.series(quantity, name, Resolution::Plot);
    let values = |name, quantity| means(of(name, quantity).unwrap());
    let bulk = values("bulk", Quantity::Goodput);
    assert_eq!(bulk, [Some(10.0), Some(0.0), Some(2.0)]);
    let total = details.total(Resolution::Plot).unwrap();
    assert_eq!(means(total), [Some(11.0), Some(1.0), Some(2.0)]);
    let rtt = values("bulk", Quantity::RoundTrip);
    assert_eq!(rtt, [Some(2.0), None, Some(4.0)]);
    let longest = values("bulk", Quantity::LongestRoundTrip);
    assert_eq!(longest, [Some(3.0), None, Some(5.0)]);
    let delay = values("talk", Quantity::Delay);
    assert_eq!(delay, [Some(1.0), Some(1.5), None]);
    assert!(of("talk", Quantity::RoundTrip).is_none());
    assert!(of("bulk", Quantity::LongestDelay).is_none());
}

#[test]
fn trials_with_other_intervals_are_averaged_over_the_longest() {
    let fine = json!({ "a": { "interval_s": 0.01, "bytes": "10000 20000 30000 - 50000" }});
    let coarse = json!({ "a": { "interval_s": 0.02, "bytes": "50000 60000 100000" }});
    let trials = [of_flows(1, fine), of_flows(2, coarse)];
    let details = Details::of(&trials);
    let goodput = details.series(Quantity::Goodput, "a", Resolution::Full);
    let goodput = goodput.unwrap();
    assert_eq!(goodput.interval, 0.02);
    assert_eq!(means(goodput), [Some(16.0), Some(24.0), Some(40.0)]);
}

#[test]
fn hostile_series_have_no_means() {
    for flow in [
        json!({ "interval_s": 0, "bytes": "1" }),
        json!({ "interval_s": "1", "bytes": "1" }),
        json!({ "interval_s": 1, "bytes": 1 }),
        json!({ "interval_s": 1, "bytes": "" }),
        json!([]),
    ] {
        let trials = [of_flows(1, json!({ "a": flow }))];
        let details = Details::of(&trials);
        let series = details.series(Quantity::Goodput, "a", Resolution::Full);
        assert!(series.is_none());
    }
}

#[test]
fn quantiles_are_means_over_the_trials_that_have_all_of_them() {
    let of = |text: &str| {
        let mut trial = trial(factors(1500), 1, &[]);
        set_evidence(&mut trial, "delay_quantiles", json!({ "a": text }));
        trial
    };
    let trials = [
        of("1 2 3 4 5 6 7 8 9 10"),
        of("3 4 5 6 7 8 9 10 11 12"),
        of("1 2 3"),
        of("1 2 3 4 5 6 7 8 9 x"),
    ];
    let details = Details::of(&trials);
    let flows: Vec<_> = details.quantiles(Times::Delay).collect();
    let [("a", means)] = flows[..] else {
        panic!("one flow: {flows:?}");
    };
    assert_eq!((means[0].n, means[0].mean, means[9].mean), (2, 2.0, 11.0));
    assert_eq!(details.quantiles(Times::RoundTrip).count(), 0);
}

#[test]
fn each_cell_has_the_details_of_its_own_finished_trials() {
    let of = |repeat, queue: &str| of_series(repeat, queue, "", "");
    let mut trials: Vec<Trial> = (1..=40).map(|one| of(one, &one.to_string())).collect();
    trials[3].failure = Some("timed out".into());
    let by_cell: Vec<Vec<&Trial>> = trials.iter().map(|trial| vec![trial]).collect();
    let cells = Details::of_cells(&by_cell);
    let queues = cells.iter().map(|details| {
        let series = details.series(Quantity::Queue, "wire", Resolution::Full)?;
        series.means[0].map(|mean| mean.mean)
    });
    let expected = (1..=40).map(|one| (one != 4).then_some(f64::from(one)));
    assert_eq!(queues.collect::<Vec<_>>(), expected.collect::<Vec<_>>());
    assert!(Details::of_cells(&[]).is_empty());
}
