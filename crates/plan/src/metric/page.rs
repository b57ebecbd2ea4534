//! The table of metrics in docs/formats.md, printed from the catalogue.

use super::window::OF_WINDOWS;
use super::{METRICS, Metric, OF_LATENCY_BREAKDOWN, of_flow, of_window};
use crate::printed;

/// Returns `page` with an up-to-date table of metrics.
pub fn documented(page: &str) -> String {
    let mut lines = vec![
        "| metric | unit | meaning |".to_owned(),
        "|---|---|---|".to_owned(),
    ];
    let whole = METRICS.iter().chain(&OF_LATENCY_BREAKDOWN);
    lines.extend(whole.map(|metric| match metric.of_flows {
        true => row(metric, &[metric.name, &of_flow(metric.name, "FLOW")]),
        false => row(metric, &[metric.name]),
    }));
    let windows = OF_WINDOWS.iter();
    lines.extend(windows.map(|metric| row(metric, &[&of_window(metric.name, "WINDOW")])));
    printed(page, "metrics", &(lines.join("\n") + "\n"))
}

fn row(metric: &Metric, names: &[&str]) -> String {
    let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    let meaning = metric.definition.replace('|', "\\|");
    format!("| {} | {} | {meaning} |", names.join(", "), metric.unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = include_str!("../../../../docs/formats.md");

    #[test]
    fn the_page_has_the_table_of_the_catalogue() {
        assert!(
            documented(PAGE) == PAGE,
            "docs/formats.md has another table of metrics; print it anew: cargo run -p jumbolab-plan --example metrics"
        );
        let other = PAGE.replace("| `delay`, `delay/FLOW` | ms |", "| `delay` | s |");
        assert_ne!(other, PAGE);
        assert_eq!(documented(&other), PAGE);
    }
}
