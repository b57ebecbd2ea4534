//! JSON lines of metrics: one object per metric and cell.

use analysis::Findings;
use analysis::compare::{Comparison, Difference};
use analysis::decomposition::Decomposition;
use analysis::statistics::Interval;
use analysis::verdict::Verdict;
use document::json_line;
use plan::metric::THROUGHPUT;
use plan::{Factors, Plan};
use serde::Serialize;

use super::line::{Estimate, fails};
use crate::rows::{framing_note, model};

/// One metric in one cell, with the field order of the format.
#[derive(Serialize)]
struct Line<'a> {
    kind: &'static str,
    metric: &'a str,
    unit: &'a str,
    factors: &'a Factors,
    n: usize,
    mean: Option<f64>,
    ci95: Option<Interval>,
    change_percent: Option<f64>,
    change_ci95: Option<Interval>,
    difference: Option<Difference>,
    /// The study to which simulated hosts are fitted: then it is no measurement of any host.
    #[serde(skip_serializing_if = "Option::is_none")]
    fitted_to: Option<&'a str>,
    published: Option<f64>,
    published_change_percent: Option<f64>,
    verdict: Option<Verdict>,
    reason: Option<String>,
    /// Present (possibly null) for the CPU time of one end.
    #[serde(skip_serializing_if = "Option::is_none")]
    attribution: Option<Option<[f64; 2]>>,
    failed: usize,
    /// Trials of the cell with a flag that fails the quality check.
    flagged: usize,
    /// A larger change, in per cent, would have been detected.
    excluded_above_percent: Option<f64>,
    /// The number of trials per cell that would settle open questions.
    trials_to_settle: Option<usize>,
    /// Present for a change of goodput that can be decomposed.
    #[serde(skip_serializing_if = "Option::is_none")]
    split: Option<Decomposition>,
    /// Present (possibly null) for goodput: the prediction of the closed forms.
    #[serde(skip_serializing_if = "Option::is_none")]
    model: Option<Option<f64>>,
    #[serde(flatten)]
    estimate: Estimate,
}

/// One object per metric and cell, without line ends.
pub(super) fn lines(found: &Findings<'_>) -> Vec<String> {
    let comparisons = found.comparisons.iter();
    // Each cell has a line for each metric; its trials are counted once.
    let flagged = found.by_cell.iter();
    let flagged: Vec<usize> = flagged
        .map(|trials| trials.iter().filter(|trial| fails(trial)).count())
        .collect();
    let lines = comparisons.map(|one| json_line(&line(found.plan, flagged[one.cell], one)));
    lines.collect()
}

fn line<'a>(plan: &Plan, flagged: usize, comparison: &'a Comparison) -> Line<'a> {
    let change = comparison.change;
    let judgement = comparison.judgement.as_ref();
    let framing = framing_note(plan, comparison).map(str::to_owned);
    let reason = match (judgement.map(|judgement| judgement.reason.clone()), framing) {
        (Some(reason), Some(framing)) => Some(format!("{reason}; {framing}")),
        (reason, framing) => reason.or(framing),
    };
    Line {
        kind: "metric",
        metric: comparison.metric.name,
        unit: comparison.metric.unit,
        factors: &comparison.factors,
        n: comparison.n,
        mean: comparison.mean.map(|mean| mean.mean),
        ci95: comparison.mean.and_then(|mean| mean.ci95),
        change_percent: change.and_then(|change| change.percent),
        change_ci95: change.and_then(|change| change.ci95),
        difference: comparison.difference,
        fitted_to: comparison.fitted_to.as_deref(),
        published: comparison.published.value,
        published_change_percent: comparison
            .published
            .claim
            .as_ref()
            .map(|claim| claim.percent),
        verdict: judgement.map(|judgement| judgement.verdict),
        reason,
        attribution: comparison
            .metric
            .attribution()
            .map(|_| comparison.attribution),
        failed: comparison.failed,
        flagged,
        excluded_above_percent: change.and_then(|change| change.excluded_above),
        trials_to_settle: comparison.trials_to_settle,
        split: comparison.decomposition,
        model: (comparison.metric.name == THROUGHPUT.name).then(|| model(plan, comparison)),
        estimate: Estimate::of_cell(comparison),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plan::synthetic::{facts, study};
    use serde_json::Value;

    fn lines() -> Vec<String> {
        let (plan, trials) = study();
        crate::json_lines(&Findings::of(&plan, &trials, &facts()))
    }

    fn line_of(metric: &str, scenario: &str, offloads: &str, mtu: i64) -> (String, Value) {
        lines()
            .into_iter()
            .map(|line| (line.clone(), serde_json::from_str::<Value>(&line).unwrap()))
            .find(|(_, value)| {
                let factors = &value["factors"];
                value["kind"] == "metric"
                    && value["metric"] == metric
                    && factors["scenario"] == scenario
                    && factors["offloads"] == offloads
                    && factors["mtu"] == mtu
            })
            .unwrap()
    }

    #[test]
    fn each_metric_has_a_line_for_each_cell_and_each_cell_has_one() {
        let lines = lines();
        assert_eq!(lines.len(), 4 * 6 + 6);
        for line in &lines {
            assert!(!line.contains("NaN") && !line.contains('\n'), "{line}");
        }
    }

    #[test]
    fn a_cell_that_cannot_be_measured_keeps_its_line() {
        let (line, _) = line_of("throughput", "WS-WS", "off", 9000);
        assert_eq!(
            line,
            r#"{"kind":"metric","metric":"throughput","unit":"Mbit/s","factors":{"scenario":"WS-WS","offloads":"off","mtu":9000},"n":0,"mean":null,"ci95":null,"change_percent":null,"change_ci95":null,"difference":null,"published":884.96,"published_change_percent":33.6,"verdict":"not_measured","reason":"not measured here: needs a Windows host","failed":0,"flagged":0,"excluded_above_percent":null,"trials_to_settle":null,"model":null}"#
        );
    }

    #[test]
    fn a_baseline_has_figures_and_no_verdict() {
        let (line, value) = line_of("throughput", "LU-LU", "off", 1500);
        let begin = r#"{"kind":"metric","metric":"throughput","unit":"Mbit/s","factors":{"scenario":"LU-LU","offloads":"off","mtu":1500},"n":2,"mean":948.0,"ci95":[935.95"#;
        let end = r#""change_percent":null,"change_ci95":null,"difference":null,"published":750.94,"published_change_percent":null,"verdict":null,"reason":null,"failed":1,"flagged":0,"excluded_above_percent":null,"trials_to_settle":null,"model":null}"#;
        assert!(line.starts_with(begin), "{line}");
        assert!(line.ends_with(end), "{line}");
        assert_eq!(value["ci95"].as_array().unwrap().len(), 2);
    }

    #[test]
    fn a_change_is_judged_and_offloads_are_explained() {
        let (_, off) = line_of("throughput", "LU-LU", "off", 9000);
        assert!((off["change_percent"].as_f64().unwrap() - 4.325).abs() < 0.001);
        assert_eq!(off["difference"], "found");
        assert_eq!(off["verdict"], "direction_only");
        let (_, on) = line_of("throughput", "LU-LU", "on", 9000);
        assert_eq!(on["difference"], "not_found");
        assert_eq!(on["verdict"], "not_reproduced");
        let reason = on["reason"].as_str().unwrap();
        assert!(
            reason.ends_with("; framing not counted by the bucket"),
            "{reason}"
        );
    }

    #[test]
    fn the_cpu_of_one_end_has_its_attribution_interval() {
        let (line, value) = line_of("cpu_sender", "LU-LU", "off", 9000);
        assert_eq!(value["attribution"], serde_json::json!([0.5, 1.0]));
        assert_eq!(value["verdict"], "reproduced");
        assert!(
            line.contains(r#""attribution":[0.5,1.0],"failed":0,"flagged":0,"#),
            "{line}"
        );
        let (_, windows) = line_of("cpu_sender", "WS-WS", "off", 9000);
        assert_eq!(windows["attribution"], Value::Null);
        let (line, _) = line_of("throughput", "LU-LU", "off", 9000);
        assert!(!line.contains("attribution"));
    }
}
