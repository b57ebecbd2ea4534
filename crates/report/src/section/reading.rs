//! The explanation of the tables.

use analysis::Findings;
use analysis::compare::Comparison;
use analysis::verdict::Verdict;
use document::{Block, Section, Style};
use plan::setting::LinkKind;
use plan::{Hosts, Plan, Setting};
use units::Transport;

use crate::figure;
use crate::section::headline;

/// Remarks on each kind of link.
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

/// The remark on CPU figures where the bucket of the sender segments.
const SEGMENTING: &str = "With offloads off and no slower link behind it, the token bucket of the sender segments \
     what TCP passes down: the CPU figures include this, which takes the more time the smaller the MTU is.";

/// Explains trimmed means, if the report has some.
const TRIMMED: &str = "†: a metric with an outlier far beyond all spread has trimmed means in all cells with five \
     trials or more, without the lowest and the highest fifth of their trials; intervals and comparisons are by the \
     Winsorized variance (Yuen). The section on outliers has the mean of all trials where there are some.";

/// Explains approximate results, if the report has some.
const APPROXIMATE: &str = "≈: other work on the machine disturbed so many trials of the compared cells that fewer than five others \
     remain in one of them. All trials count, without the lowest and the highest fifth of five or more; intervals and comparisons are by \
     the bootstrap.";

/// The remark on figures of closed forms.
const PREDICTED: &str = "Predicted by closed forms from headers, rates, delays, losses and the costs of hosts that [host] \
     gives; nothing was sent or simulated. A figure has no interval: how far a measurement is from it only a measurement says.";

/// The section on how to read the tables.
pub(crate) fn section(found: &Findings<'_>) -> Option<Section> {
    Some(Section {
        id: "method",
        blocks: vec![
            Block::Page(vec![Block::heading("How to read this")]),
            Block::Paragraphs(
                Style::Plain,
                explanation(found.plan, &found.comparisons)
                    .into_iter()
                    .chain(headline::not_predicted(found))
                    .collect(),
            ),
            Block::Page(vec![Block::list(verdicts(found))]),
        ],
    })
}

/// The definitions of the verdicts that the tables have.
fn verdicts(found: &Findings<'_>) -> Vec<String> {
    let judged = found.comparisons.iter();
    let judged: Vec<Verdict> = judged
        .filter_map(|row| Some(row.judgement.as_ref()?.verdict))
        .collect();
    let mut defined = Verdict::ALL.to_vec();
    defined.retain(|verdict| judged.contains(verdict));
    let line = |verdict: Verdict| format!("{verdict}: {}", verdict.meaning());
    defined.into_iter().map(line).collect()
}

fn explanation(plan: &Plan, comparisons: &[Comparison]) -> Vec<String> {
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
    if figure::trimmed(comparisons).is_some() {
        lines.push(TRIMMED.to_owned());
    }
    if comparisons.iter().any(Comparison::is_approximate) {
        lines.push(APPROXIMATE.to_owned());
    }
    let has = |is_so: &dyn Fn(&Setting) -> bool| {
        let mut settings = plan.cells.iter().map(|cell| cell.setting.as_ref());
        settings.any(|setting| setting.is_ok_and(is_so))
    };
    match plan.backend.profile().hosts {
        Hosts::Simulated if plan.backend.profile().predicts => lines.push(PREDICTED.to_owned()),
        Hosts::Simulated => lines.push(format!(
            "Simulated: every frame is serialised, queued and delayed in virtual time, exact to the picosecond; \
             hosts take the time that [host] gives them. Seed {}; all cells of a repeat \
             use the same seed.",
            plan.seed.get()
        )),
        Hosts::Kernels => {
            let builds = plan.backend.profile().builds_network;
            let links = LINKS.iter().filter(|_| builds);
            let links = links.filter(|(kind, _)| has(&|setting| setting.network.link == *kind));
            lines.extend(links.map(|(_, words)| (*words).to_owned()));
            let of_cpu = |row: &Comparison| row.n > 0 && row.metric.name.starts_with("cpu_");
            if has(&segments_at_sender) && comparisons.iter().any(of_cpu) {
                lines.push(SEGMENTING.to_owned());
            }
        }
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
                Some(format!("Failed and excluded: {failed} of {}", cell.factors))
            }),
    );
    lines
}

/// Whether super-packets reach the token bucket of the sender, and it segments them:
/// offloads are off, and no other link limits the rate as much, as `backends::testbed` decides
/// when it builds the test network. Datagrams are passed down one by one.
fn segments_at_sender(setting: &Setting) -> bool {
    let network = &setting.network;
    let Some((first, others)) = network.links.split_first() else {
        return false;
    };
    let limits = |rate| {
        !others
            .iter()
            .any(|link| link.rate.is_some_and(|other| other <= rate))
    };
    let transfer = setting.traffic.transfer();
    !setting.host.offloads
        && network.link != LinkKind::Emulated
        && first.rate.is_some_and(limits)
        && transfer.is_none_or(|transfer| transfer.protocol == Transport::Tcp)
}
