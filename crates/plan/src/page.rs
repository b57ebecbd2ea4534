//! The tables of metrics and of evidence in docs/reference/metrics.md, printed from the catalogues.

use crate::metric::{METRICS, Metric, OF_LATENCY_BREAKDOWN, OF_WINDOWS, of_flow, of_window};
use crate::{evidence, printed};

/// Returns `page` with up-to-date tables of metrics and of evidence.
pub fn documented(page: &str) -> String {
    let mut lines = vec![
        "| metric | unit | meaning |".to_owned(),
        "|---|---|---|".to_owned(),
    ];
    let whole = METRICS.iter().chain(&OF_LATENCY_BREAKDOWN);
    lines.extend(whole.map(|metric| match metric.of_flows {
        true => row(metric, &[metric.name, of_flow(metric, "FLOW").name]),
        false => row(metric, &[metric.name]),
    }));
    let windows = OF_WINDOWS.iter();
    lines.extend(windows.map(|metric| row(metric, &[of_window(metric, "WINDOW").name])));
    let page = printed(page, "metrics", &(lines.join("\n") + "\n"));
    printed(&page, "evidence", &of_evidence())
}

fn of_evidence() -> String {
    let mut lines = vec![
        "| key | unit | meaning |".to_owned(),
        "|---|---|---|".to_owned(),
    ];
    lines.extend(evidence::rows().map(|row| {
        let names: Vec<String> = row.names.iter().map(|name| format!("`{name}`")).collect();
        let unit = match row.unit {
            "" => String::new(),
            unit => format!("{unit} "),
        };
        format!("| {} | {unit}| {} |", names.join(", "), row.meaning)
    }));
    lines.join("\n") + "\n"
}

fn row(metric: &Metric, names: &[&str]) -> String {
    let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    let meaning = metric.definition.replace('|', "\\|");
    format!("| {} | {} | {meaning} |", names.join(", "), metric.unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = include_str!("../../../docs/reference/metrics.md");

    #[test]
    fn the_page_has_the_table_of_the_catalogue() {
        assert!(
            documented(PAGE) == PAGE,
            "docs/reference/metrics.md has other tables; print them anew: cargo run -p jumbolab-plan --example metrics"
        );
        let other = PAGE.replace("| `delay`, `delay/FLOW` | ms |", "| `delay` | s |");
        assert_ne!(other, PAGE);
        assert_eq!(documented(&other), PAGE);
        let other = PAGE.replace("| `clock_step_us` | us |", "| `clock_step_us` | ms |");
        assert_ne!(other, PAGE);
        assert_eq!(documented(&other), PAGE);
    }
}
