//! The plots of a page.

use std::sync::Arc;

use plan::synthetic::{facts, set_evidence, study};
use plan::{Level, Plan};
use serde_json::Value;

use super::page::{flagged_study, page};
use crate::page::plots_of;

/// The traces of a plot with a series or published values.
fn traces<'a>(plots: &'a Value, plot: &str) -> &'a Vec<Value> {
    plots[plot]["data"].as_array().expect("a plot has traces")
}

fn points(trace: &Value) -> usize {
    trace["y"].as_array().map_or(0, Vec::len)
}

#[test]
fn every_trial_is_a_point_and_every_mean_has_its_bars() {
    let (plan, trials) = flagged_study();
    let plots = plots_of(&page(&plan, &trials, &facts()));
    let finished = trials
        .iter()
        .filter(|trial| trial.failure.is_none())
        .count();
    for metric in ["throughput", "cpu_sender"] {
        let traces = traces(&plots, &format!("plot-{metric}"));
        let of_trials = |trace: &&Value| trace["mode"] == "markers";
        let shown: usize = traces.iter().filter(of_trials).map(points).sum();
        assert_eq!(shown, finished, "{metric}");
        let means: Vec<&Value> = traces
            .iter()
            .filter(|trace| trace["error_y"].is_object())
            .collect();
        assert_eq!(means.len(), 2, "{metric}: offloads off and on");
        for mean in means {
            assert_eq!(points(mean), 2, "{metric}: two levels");
            let bars = mean["error_y"]["array"].as_array().unwrap();
            assert_eq!(bars.len(), 2, "{metric}");
        }
    }
}

#[test]
fn a_flagged_trial_has_a_symbol_of_its_own_and_says_why() {
    let (plan, trials) = flagged_study();
    let plots = plots_of(&page(&plan, &trials, &facts()));
    let traces = traces(&plots, "plot-throughput");
    for (symbol, flag) in [("cross-open", "disturbed"), ("x", "mtu-differs")] {
        let trace = traces
            .iter()
            .find(|trace| trace["marker"]["symbol"] == symbol);
        let trace = trace.unwrap_or_else(|| panic!("no {symbol}"));
        let text = trace["customdata"][0].as_str().unwrap();
        assert!(text.ends_with(&format!(" ({flag})")), "{text}");
        let template = "%{customdata}: %{text} Mbit/s<extra></extra>";
        assert_eq!(trace["hovertemplate"], template);
        let shown: f64 = trace["text"][0].as_str().unwrap().parse().unwrap();
        let drawn = trace["y"][0].as_f64().unwrap();
        assert!((shown / drawn - 1.0).abs() < 0.01, "{shown} {drawn}");
    }
    let ticks = plots["plot-throughput"]["layout"]["xaxis"]["ticktext"].as_array();
    assert_eq!(ticks.unwrap()[0], "1500<br>baseline<br>1 failed");
}

#[test]
fn published_figures_and_the_links_limit_are_in_the_plots() {
    let (plan, trials) = flagged_study();
    let plots = plots_of(&page(&plan, &trials, &facts()));
    let named = |plot: &str, name: &str| {
        let mut traces = traces(&plots, plot).iter();
        traces.find(|trace| trace["name"] == name).cloned()
    };
    let ours = named("plot-throughput", "published LU-LU").expect("of the scenario here");
    assert_eq!(ours["y"], serde_json::json!([750.94, 938.88]));
    assert_eq!(ours["visible"], true);
    let windows = named("plot-throughput", "published WS-WS off").expect("of the other");
    assert_eq!(windows["visible"], "legendonly");
    let limit = named("plot-throughput", "link limit").expect("a trial states it");
    assert_eq!(limit["y"], serde_json::json!([989.9, 989.9, null]));
    let change = named("plot-throughput-change", "published").expect("its change");
    assert_eq!(change["x"], serde_json::json!([25.03, 25.03]));
    assert_eq!(change["marker"]["symbol"], "diamond-open");
    // A study that prints only changes has no values.
    assert_eq!(named("plot-cpu_sender", "published LU-LU"), None);
}

#[test]
fn changes_are_a_row_each_with_a_label_and_an_interval() {
    let (plan, trials) = flagged_study();
    let plots = plots_of(&page(&plan, &trials, &facts()));
    let plot = &plots["plot-throughput-change"];
    let labels = &plot["layout"]["yaxis"]["ticktext"];
    assert_eq!(
        *labels,
        serde_json::json!(["offloads off: 9000", "offloads on: 9000"])
    );
    let above = plot["layout"]["annotations"]
        .as_array()
        .expect("long labels");
    assert_eq!(above[0]["text"], "offloads off: 9000");
    let measured = traces(&plots, "plot-throughput-change").iter();
    let measured: Vec<&Value> = measured
        .filter(|trace| trace["error_x"].is_object())
        .collect();
    let rows: usize = measured.iter().map(|trace| points(trace)).sum();
    assert_eq!(rows, 2, "no row for what this backend cannot measure");
    assert_eq!(measured[0]["name"], "difference found");
    let change = measured[0]["x"][0].as_f64().unwrap();
    assert!((change - 4.3).abs() < 0.1, "{change}");
    let range = &plot["layout"]["xaxis"]["range"];
    let [low, high] = [0, 1].map(|end| range[end].as_f64().unwrap());
    assert!(
        low < 0.0 && high > 25.03,
        "0 and the published change: {range}"
    );
    let heights = ["plot-throughput-change", "plot-cpu_sender-change"];
    assert_eq!(
        heights.map(|id| plots[id]["layout"]["height"].as_u64()),
        [Some(210); 2]
    );
}

#[test]
fn more_than_six_series_are_small_multiples_with_one_axis_and_one_legend() {
    let (mut plan, one) = study();
    let (mut cells, mut trials) = (Vec::new(), Vec::new());
    for copy in 0..4_i64 {
        let levels = [("buffer".to_owned(), Level::Integer(copy))];
        for cell in &plan.cells {
            let mut cell = cell.clone();
            cell.factors.0.splice(0..0, levels.clone());
            cells.push(cell);
        }
        for trial in &one {
            let mut trial = trial.clone();
            let factors = Arc::make_mut(&mut trial.factors);
            factors.0.splice(0..0, levels.clone());
            trials.push(trial);
        }
    }
    plan.cells = cells;
    let plots = plots_of(&page(&plan, &trials, &facts()));
    let panels = ["plot-throughput", "plot-throughput-1"];
    for (number, panel) in panels.into_iter().enumerate() {
        let traces = traces(&plots, panel).iter();
        let means: Vec<&Value> = traces
            .filter(|trace| trace["error_y"].is_object())
            .collect();
        assert_eq!(means.len(), 4, "{panel}");
        let layout = &plots[panel]["layout"];
        assert_eq!(
            layout["yaxis"]["range"],
            plots[panels[0]]["layout"]["yaxis"]["range"]
        );
        assert_eq!(layout["showlegend"], number == 0);
        let title = layout["title"]["text"].as_str().unwrap();
        assert_eq!(title, ["offloads off", "offloads on"][number]);
    }
    assert!(plots.get("plot-throughput-2").is_none());
}

#[test]
fn an_interval_that_would_rule_the_axis_ends_in_an_arrow() {
    let (plan, mut trials) = study();
    // Two trials far apart: their interval is several times as long.
    for trial in &mut trials {
        let of = &trial.factors;
        if of.to_string().ends_with("offloads=on mtu=9000") && trial.repeat == 1 {
            trial.metrics.insert("throughput", 900.0);
        }
    }
    let plots = plots_of(&page(&plan, &trials, &facts()));
    for plot in ["plot-throughput", "plot-throughput-change"] {
        let traces = traces(&plots, plot).iter();
        let arrows: Vec<&Value> = traces
            .filter(|trace| trace["name"] == "interval goes on")
            .collect();
        assert_eq!(arrows.len(), 2, "{plot}: to both sides");
        let text = arrows[0]["hovertext"][0].as_str().unwrap();
        assert!(
            text.contains("on") && text.contains('%') | text.contains('±'),
            "{text}"
        );
    }
}

#[test]
fn numbers_are_on_a_numeric_axis_with_lines_and_words_have_none() {
    let (mut plan, trials) = flagged_study();
    let of = |plan: &Plan| plots_of(&page(plan, &trials, &facts()))["plot-throughput"].clone();
    let modes = |plot: &Value| -> Vec<String> {
        let traces = plot["data"].as_array().unwrap().iter();
        let means = traces.filter(|trace| trace["error_y"].is_object());
        means
            .map(|mean| mean["mode"].as_str().unwrap().to_owned())
            .collect()
    };
    let by_mtu = of(&plan);
    assert_eq!(
        by_mtu["layout"]["xaxis"]["tickvals"],
        serde_json::json!([1500.0, 9000.0])
    );
    assert_eq!(modes(&by_mtu), ["lines+markers"; 2]);
    plan.compare.factor = "offloads".into();
    plan.compare.baseline = Level::Text("off".into());
    let by_offloads = of(&plan);
    assert_eq!(
        by_offloads["layout"]["xaxis"]["tickvals"],
        serde_json::json!([0.0, 1.0])
    );
    assert_eq!(modes(&by_offloads), ["markers"; 2]);
}

#[test]
fn a_figure_of_a_study_has_this_runs_means_beside_the_printed_points() {
    let (mut plan, trials) = flagged_study();
    plan.report.figures = vec![plan::ReportFigure {
        title: "Figure 4 of [Praptodiyono2019]".into(),
        shows: plan::Shows::Metrics {
            metrics: vec!["throughput".into()],
            x: Some("mtu".into()),
        },
        cells: vec![("offloads".into(), vec![Level::Text("off".into())])],
        points: Vec::new(),
    }];
    let page = page(&plan, &trials, &facts());
    let plots = plots_of(&page);
    let traces = traces(&plots, "figure-0");
    let of = |name: &str| traces.iter().find(|trace| trace["name"] == name);
    let ours = of("this run: scenario LU-LU").expect("it was measured");
    assert_eq!(ours["x"], serde_json::json!([1500.0, 9000.0]));
    let printed = of("printed: scenario LU-LU").expect("it is printed");
    assert_eq!(printed["y"], serde_json::json!([750.94, 938.88]));
    assert_eq!(printed["meta"], ours["meta"], "one colour");
    assert_eq!(of("printed: scenario WS-WS").unwrap()["y"][1], 884.96);
    assert!(of("this run: scenario WS-WS").is_none(), "no Windows here");
    assert!(page.contains("Figure 4 of [Praptodiyono2019]"));
}

#[test]
fn a_queue_over_time_has_its_average_its_drops_and_the_moment_that_is_named() {
    let (mut plan, mut trials) = study();
    for trial in &mut trials {
        let series = serde_json::json!({ "wire": {
            "interval_s": 0.5, "queue": "1 2 3", "average": "1 1 2",
            "drops": "0 1 0", "arrivals": "4 2 3",
        }});
        set_evidence(trial, "series", series);
    }
    plan.report.figures = vec![plan::ReportFigure {
        title: "Figure 6".into(),
        shows: plan::Shows::OverTime {
            link: "wire".into(),
            event: Some((1.0, "it begins".into())),
        },
        cells: [
            ("offloads", Level::Text("off".into())),
            ("mtu", Level::Integer(9000)),
        ]
        .map(|(name, level)| (name.to_owned(), vec![level]))
        .to_vec(),
        points: Vec::new(),
    }];
    let plots = plots_of(&page(&plan, &trials, &facts()));
    for (plot, of) in [("figure-0-0", "mean of 2 trials"), ("figure-0-1", "trial ")] {
        let title = plots[plot]["layout"]["title"]["text"].as_str().unwrap();
        assert!(title.contains(of), "{title}");
        let traces = traces(&plots, plot);
        let of = |name: &str| traces.iter().find(|trace| trace["name"] == name).unwrap();
        assert_eq!(of("queue")["y"], serde_json::json!([1.0, 2.0, 3.0, 3.0]));
        assert_eq!(of("average")["y"], serde_json::json!([1.0, 1.0, 2.0, 2.0]));
        assert_eq!(of("drops")["x"], serde_json::json!([0.75]));
        assert_eq!(of("it begins")["x"], serde_json::json!([1.0, 1.0]));
    }
}

#[test]
fn flows_over_time_are_panels_upon_each_other_and_single_trials_wait_to_be_clicked() {
    let (plan, mut trials) = study();
    for trial in trials.iter_mut().filter(|trial| trial.failure.is_none()) {
        let flows = serde_json::json!({
            "bulk": { "interval_s": 0.5, "bytes": "62500 125000", "rtt_ms": "4 -" },
            "talk": { "interval_s": 0.5, "bytes": "62500 0", "delay_ms": "1 2" },
        });
        set_evidence(trial, "flow_series", flows);
        let wire = serde_json::json!({ "wire": { "interval_s": 0.5, "queue": "3 4" }});
        set_evidence(trial, "series", wire);
    }
    let page = page(&plan, &trials, &facts());
    let plots = plots_of(&page);
    let cell = (0..plan.cells.len()).find(|cell| {
        let factors = &plan.cells[*cell].factors;
        { trials.iter() }
            .filter(|trial| trial.failure.is_none() && *trial.factors == *factors)
            .count()
            > 1
    });
    let id = format!("flows-{}", cell.unwrap());
    let traces = traces(&plots, &id);
    let of = |name: &str, axis: &str| {
        let mut found = traces
            .iter()
            .filter(|trace| trace["name"] == name && trace["yaxis"] == axis);
        found.next().unwrap_or_else(|| panic!("{name} on {axis}"))
    };
    assert_eq!(
        of("all flows", "y")["y"],
        serde_json::json!([2.0, 2.0, 2.0])
    );
    assert_eq!(of("bulk", "y")["y"], serde_json::json!([1.0, 2.0, 2.0]));
    assert_eq!(of("bulk", "y2")["y"], serde_json::json!([4.0, null, null]));
    assert_eq!(
        of("bulk", "y2")["meta"],
        of("bulk", "y")["meta"],
        "one colour"
    );
    assert_eq!(of("bulk", "y2")["showlegend"], false, "named once");
    assert_eq!(of("talk", "y3")["y"], serde_json::json!([1.0, 2.0, 2.0]));
    assert_eq!(
        of("queue of wire", "y4")["y"],
        serde_json::json!([3.0, 4.0, 4.0])
    );
    let hidden = traces
        .iter()
        .filter(|trace| trace["visible"] == "legendonly");
    let hidden: Vec<_> = hidden.collect();
    let named = hidden.iter().filter(|trace| trace["showlegend"] == true);
    assert_eq!((hidden.len(), named.count()), (2 * 6, 2), "{hidden:?}");
    let layout = &plots[&id]["layout"];
    assert_eq!(layout["xaxis"]["anchor"], "y4", "the lowest panel");
    let bottom = layout["yaxis4"]["domain"][0].as_f64().unwrap();
    assert!(bottom.abs() < 1e-9 && layout["yaxis"]["domain"][1] == 1.0);
    assert!(page.contains("id=\"over-time\""));
    let without = plots_of(&page_of_study());
    assert!(without.get(&id).is_none());
}

fn page_of_study() -> String {
    let (plan, trials) = study();
    page(&plan, &trials, &facts())
}

#[test]
fn a_distribution_goes_through_the_quantiles_of_a_flow() {
    let (plan, mut trials) = study();
    for trial in trials.iter_mut().filter(|trial| trial.failure.is_none()) {
        for (key, first) in [("delay_quantiles", 1), ("rtt_quantiles", 3)] {
            let times: Vec<String> = (first..first + 10).map(|time| time.to_string()).collect();
            let flows = serde_json::json!({ "talk": times.join(" ") });
            set_evidence(trial, key, flows);
        }
    }
    let plots = plots_of(&page(&plan, &trials, &facts()));
    let [delays, round_trips] = ["delays-0-0", "delays-1-0"].map(|id| traces(&plots, id));
    assert_eq!((delays.len(), round_trips.len()), (2, 2), "two MTUs");
    assert_eq!(
        (&delays[0]["x"][0], &delays[0]["y"][0]),
        (&1.0.into(), &0.01.into())
    );
    assert_eq!(
        (&round_trips[0]["x"][9], &round_trips[0]["y"][9]),
        (&12.0.into(), &0.999.into())
    );
    let title = &plots["delays-0-0"]["layout"]["xaxis"]["title"]["text"];
    assert_eq!(title, "one-way delay (ms)");
}

#[test]
fn a_distribution_goes_through_the_percentiles_of_a_flow() {
    let (plan, mut trials) = study();
    for trial in trials.iter_mut().filter(|trial| trial.failure.is_none()) {
        for (name, value) in [("rtt_p50", 2.0), ("rtt_p95", 3.0), ("rtt_p99", 7.0)] {
            trial.metrics.insert(name, value);
        }
    }
    let plots = plots_of(&page(&plan, &trials, &facts()));
    let traces = traces(&plots, "delays-0-0");
    assert_eq!(traces.len(), 2, "two MTUs");
    assert_eq!(traces[0]["x"], serde_json::json!([2.0, 3.0, 7.0]));
    assert_eq!(traces[0]["y"], serde_json::json!([0.5, 0.95, 0.99]));
    let without = plots_of(&page(&plan, &study().1, &facts()));
    assert!(without.get("delays-0-0").is_none());
}

#[test]
fn plots_show_labels_instead_of_coded_levels() {
    let (mut plan, trials) = flagged_study();
    let labels = [("off".to_owned(), "without offloads".to_owned())];
    plan.report.labels.insert("offloads".into(), labels.into());
    let plots = plots_of(&page(&plan, &trials, &facts()));
    let labels = &plots["plot-throughput-change"]["layout"]["yaxis"]["ticktext"];
    assert_eq!(labels[0], "offloads without offloads: 9000");
}

#[test]
fn queues_over_time_show_labels_instead_of_coded_levels() {
    let (mut plan, mut trials) = study();
    for trial in &mut trials {
        let wire = serde_json::json!({ "wire": { "interval_s": 0.5, "queue": "3 4" }});
        set_evidence(trial, "series", wire);
    }
    let labels = [("9000".to_owned(), "jumbo frames".to_owned())];
    plan.report.labels.insert("mtu".into(), labels.into());
    let plots = plots_of(&page(&plan, &trials, &facts()));
    let names = plots.as_object().unwrap().iter();
    let names = names.filter(|(id, _)| id.starts_with("course-wire-queue"));
    let names: Vec<&Value> = names.map(|(_, plot)| &plot["data"]).collect();
    assert!(!names.is_empty());
    for traces in names {
        let traces = traces.as_array().unwrap().iter();
        let names: Vec<&str> = traces.filter_map(|trace| trace["name"].as_str()).collect();
        assert!(names.contains(&"jumbo frames"), "{names:?}");
        assert!(!names.contains(&"9000"), "{names:?}");
    }
}

#[test]
fn a_repeated_level_has_its_own_place() {
    let (mut plan, trials) = study();
    let mut copy = plan.cells[0].clone();
    copy.factors.0.push(("copy".into(), Level::Integer(2)));
    plan.cells.insert(1, copy);
    let plots = plots_of(&page(&plan, &trials, &facts()));
    assert_eq!(
        plots["plot-throughput"]["layout"]["xaxis"]["ticktext"],
        serde_json::json!(["1500<br>baseline<br>1 failed", "1500 (copy 2)", "9000"])
    );
}

#[test]
fn every_plot_has_a_place_and_every_place_a_plot() {
    let (plan, trials) = flagged_study();
    let page = page(&plan, &trials, &facts());
    let plots = plots_of(&page);
    let places = page.matches("class=\"plot\"").count() + page.matches("class=\"plot ").count();
    assert_eq!(plots.as_object().unwrap().len(), places);
    for id in plots.as_object().unwrap().keys() {
        assert!(page.contains(&format!("id=\"{id}\"")), "{id}");
    }
}
