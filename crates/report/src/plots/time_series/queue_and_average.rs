//! A queue and its average over time, as studies of queue disciplines draw them:
//! with thresholds, drops, and the moment at which congestion begins.

use analysis::Findings;
use analysis::details::{Details, Quantity, Resolution, TimeSeries};
use document::{Drawing, Figure, Plot};
use plan::{ReportFigure, Trial};
use serde_json::{Value, json};

use super::{band, line};
use crate::plots::{axis, layout, marks, redrawn, small_title, text, traces};
use crate::series::labelled;

/// The explanation of the plots.
const NOTE: &str = "left the mean of all trials with its 95 % interval, right the first of them, interval by interval: frames that waited, their average as the discipline weighs them, min_th and max_th where these count frames, and along the bottom a cross where packets were dropped";

/// A figure of queue and average of `link` in each cell.
pub(in crate::plots) fn redrawn(
    found: &Findings<'_>,
    figure: &ReportFigure,
    link: &str,
    event: Option<&(f64, String)>,
    id: &str,
) -> Option<Figure> {
    let plan = found.plan;
    let cells = redrawn::included(plan, figure);
    let mut plots = Vec::new();
    for &cell in &cells {
        let trials = found.by_cell[cell].iter().copied();
        let trials: Vec<&Trial> = trials.filter(|trial| trial.failure.is_none()).collect();
        let Some(first) = trials.first() else {
            continue;
        };
        let name = labelled(plan, &redrawn::own(plan, &cells, cell, None));
        let thresholds = (plan.cells[cell].setting.as_ref().ok())
            .and_then(|setting| setting.network.links.iter().find(|of| of.name == link))
            .and_then(|link| link.queue().thresholds());
        let of_first = Details::of([*first]);
        let shown = [
            (
                format!("mean of {} trials", trials.len()),
                found.details(cell),
            ),
            (format!("trial {}", first.id), &of_first),
        ];
        for (what, details) in shown {
            let title = match name.as_str() {
                "" => what,
                name => format!("{name}: {what}"),
            };
            let Some(plot) = plot(details, link, thresholds, event, &title) else {
                continue;
            };
            plots.push(Drawing {
                id: format!("{id}-{}", plots.len()),
                label: format!("{}, {title}", figure.title),
                is_change: false,
                plot,
            });
        }
    }
    (!plots.is_empty()).then(|| Figure {
        title: figure.title.clone(),
        note: NOTE.to_owned(),
        plots,
    })
}

fn plot(
    details: &Details,
    link: &str,
    thresholds: Option<[f64; 2]>,
    event: Option<&(f64, String)>,
    title: &str,
) -> Option<Plot> {
    let of = |quantity| details.series(quantity, link, Resolution::Plot);
    let queue = of(Quantity::Queue)?;
    let instants = queue.instants();
    let end = instants.last().copied().unwrap_or_default();
    let mut data: Vec<Value> = Vec::new();
    data.extend(band(queue, &marks::band(0)));
    data.push(line(queue, "queue", 0));
    data.extend(of(Quantity::Average).map(|average| line(average, "average", 1)));
    for ((name, dash), at) in [("min_th", "dot"), ("max_th", "dash")]
        .into_iter()
        .zip(thresholds.into_iter().flatten())
    {
        data.push(json!({
            "mode": "lines",
            "x": [0.0, end],
            "y": [at, at],
            "name": format!("{name} {at}"),
            "meta": "limit",
            "line": {"width": 1.2, "dash": dash},
            "hoverinfo": "name",
        }));
    }
    data.extend(drops(of(Quantity::Drops)));
    if let Some((at, words)) = event {
        let means = queue.means.iter().flatten();
        let top = means.fold(0.0, |top, mean| mean.mean.max(top));
        let top = thresholds.map_or(top, |[_, most]| most.max(top));
        data.push(json!({
            "mode": "lines",
            "x": [at, at],
            "y": [0.0, traces::brief(top * 1.05)],
            "name": text(words),
            "meta": "published",
            "line": {"width": 1.5, "dash": "dashdot"},
            "hoverinfo": "name",
        }));
    }
    let time = axis("time (s)", json!({"range": [0.0, end]}));
    let packets = axis("queue, average (frames)", json!({"rangemode": "tozero"}));
    let mut layout = layout(time, packets, 380);
    layout["title"] = small_title(title);
    Some(Plot { data, layout })
}

/// A cross at the bottom for each interval in which packets were dropped.
fn drops(series: Option<&TimeSeries>) -> Option<Value> {
    let series = series?;
    let instants = series.instants();
    let (mut x, mut texts) = (Vec::new(), Vec::new());
    for (bounds, mean) in instants.windows(2).zip(&series.means) {
        if let Some(mean) = mean.filter(|mean| mean.mean > 0.0) {
            x.push(traces::rounded(f64::midpoint(bounds[0], bounds[1])));
            texts.push(format!(
                "{} to {} s: {:.2} % of arrivals dropped",
                bounds[0], bounds[1], mean.mean
            ));
        }
    }
    (!x.is_empty()).then(|| {
        json!({
            "mode": "markers",
            "x": x,
            "y": vec![0.0; x.len()],
            "name": "drops",
            "meta": "published",
            "cliponaxis": false,
            "marker": {"symbol": "x", "size": 5},
            "hovertext": texts,
            "hoverinfo": "text",
        })
    })
}
