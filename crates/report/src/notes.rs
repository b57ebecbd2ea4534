//! What stands below the tables: how to read them, and the certificate.

use analysis::certificate::Certificate;
use analysis::compare::Comparison;
use plan::Setting;
use plan::setting::LinkKind;
use plan::{Hosts, Plan};

/// What is to be known of each kind of link.
const LINKS: &[(LinkKind, &str)] = &[
    (
        LinkKind::Kernel,
        "Links are the kernel's token buckets: right for throughput and CPU; single messages \
         may pass an idle bucket without being serialised, so rtt, delay and jitter are not those of a real link.",
    ),
    (
        LinkKind::Emulated,
        "Links are emulated in user space, every frame serialised at the rate: right for delay; \
         the emulator's own work is in the CPU of the whole machine.",
    ),
    (
        LinkKind::Mixed,
        "Throughput and CPU are over the kernel's token buckets; rtt, delay, jitter and loss over emulated links, \
         which serialise every frame at the rate.",
    ),
];

/// How to read the tables.
pub(super) fn explanation(plan: &Plan, comparisons: &[Comparison], width: u16) -> String {
    let counts = comparisons.iter().map(|comparison| comparison.n);
    let counts: Vec<usize> = counts.filter(|&n| n > 0).collect();
    let n = match (counts.iter().min(), counts.iter().max()) {
        (Some(low), Some(high)) if low == high => format!("{low} trials a cell. "),
        (Some(low), Some(high)) => format!("{low} to {high} trials a cell. "),
        _ => String::new(),
    };
    let mut lines = vec![
        format!(
            "{n}± and [..] are 95 % intervals: Student's t for means; for changes 100 (x / x_{} - 1) \
             the logarithm of the ratio, delta method, Welch-Satterthwaite.",
            plan.compare.baseline
        ),
        "A difference is found at 5 % over all comparisons of its metric (Holm) and above the \
         instrument's resolution; figures are not printed finer than that."
            .to_owned(),
    ];
    let has = |kind: LinkKind| {
        let of_kind = |setting: &Setting| setting.network.link == kind;
        let mut settings = plan.cells.iter().map(|cell| cell.setting.as_ref());
        settings.any(|setting| setting.is_ok_and(of_kind))
    };
    match plan.world.profile().hosts {
        Hosts::Simulated => lines.push(format!(
            "Simulated: every frame is serialised, queued and delayed in virtual time, exact to the picosecond; \
             hosts take the time that [host] gives them. Seed {}; trials of one repeat share their luck, \
             whatever the cell.",
            plan.seed.get()
        )),
        Hosts::Kernels => lines.extend(
            LINKS
                .iter()
                .filter(|(kind, _)| has(*kind))
                .map(|(_, words)| (*words).to_owned()),
        ),
    }
    lines.extend(
        plan.cells
            .iter()
            .enumerate()
            .filter_map(|(position, cell)| {
                let failed = comparisons
                    .iter()
                    .find(|comparison| comparison.cell == position)
                    .map(|comparison| comparison.failed)
                    .filter(|&failed| failed > 0)?;
                Some(format!("Failed and left out: {failed} of {}", cell.factors))
            }),
    );
    wrapped(&lines, width)
}

/// The certificate: verdict, faults, notes, facts.
pub(super) fn certificate(certificate: &Certificate, width: u16) -> String {
    let verdict = if certificate.passed {
        "Certificate: passed"
    } else {
        "Certificate: FAILED; do not rely on the figures above"
    };
    let mut lines = vec![verdict.to_owned()];
    let kinds = [
        ("fault: ", &certificate.faults),
        ("note: ", &certificate.notes),
        ("", &certificate.facts),
    ];
    for (kind, entries) in kinds {
        lines.extend(entries.iter().map(|entry| format!("  {kind}{entry}")));
    }
    wrapped(&lines, width)
}

/// Breaks lines between words; what continues a line is indented.
pub(super) fn wrapped(lines: &[String], width: u16) -> String {
    let mut text = String::new();
    for line in lines {
        let indent = line.len() - line.trim_start().len();
        let mut column = indent;
        text.push_str(&" ".repeat(indent));
        let words: Vec<&str> = line.split_whitespace().collect();
        for (position, word) in words.iter().enumerate() {
            // A figure keeps its "%".
            let unit = words.get(position + 1).filter(|next| next.starts_with('%'));
            let length = word.chars().count();
            let room = length + unit.map_or(0, |unit| 1 + unit.chars().count());
            if position > 0 && column + 1 + room > usize::from(width) && !word.starts_with('%') {
                column = indent + 2;
                text.push('\n');
                text.push_str(&" ".repeat(column));
            } else if position > 0 {
                column += 1;
                text.push(' ');
            }
            text.push_str(word);
            column += length;
        }
        text.push('\n');
    }
    text.truncate(text.trim_end().len());
    text
}
