//! The text of docs/evidence/validation.md.

use std::fmt::Write as _;

use crate::row::Row;
use crate::{disciplines, links, ns2, queueing};

const HEAD: &str = "\
# Known answers

Answers of theory, of standards and of other code, and what this code obtains. Every value below is computed by

    cargo run --release -p jumbolab-sim --example validation > docs/evidence/validation.md

with fixed seeds; a test compares the page. Queues and links are those of the emulator and the simulator (`queue`, `link`).
A random value is the mean of 20 independent runs with its 99 % interval by Student's t [Student1908]. The interval must contain
the expected value and be narrower than a quarter of it; one in a hundred misses by chance.
";

const TAIL: &str = "
## Checked by tests alone

| what | where |
|---|---|
| conservation: what comes in comes out, is dropped, or waits, in packets and bytes, for every discipline | `crates/queue/tests/known/conservation.rs` |
| the profile of ns-2 drops what a plain second implementation drops, 48 settings of 4000 arrivals each | `crates/queue/tests/known/red.rs` |
| rates times k and delays over k give the same packets; bundles of one are frames | `crates/queue/tests/known/red.rs` |
| PIE follows the recurrence of RFC 8033, also where it was not asked for long | `crates/queue/tests/known/delay.rs` |
| Poisson traffic through RED is dropped as often, and waits as long, as in ns-2's runs | `crates/queue/tests/known/ns2.rs` |
| the arrivals of a recorded link, replayed, meet the same outcomes at the same times, for every discipline | `crates/backends/src/replay/tests.rs` |
| the same with arrivals that a kernel stamped | `crates/jumbolab/tests/emulate/main.rs` |
| Reno, Newreno and Sack1 of the profile ns-2 send, lose and repeat what ns-2's agents do, packet by packet, within 2 us | `crates/sim/tests/tcp/ns2.rs` |
| windows at periodic loss, of Reno within 5 % and of CUBIC within 10 %; with independent loss the rate within 15 % [Padhye1998] | `crates/sim/tests/tcp/known.rs` |
| one flow uses of its link what the buffer lets it, within 2 %; equal flows share it, Jain's index 0.95 at least | `crates/sim/tests/tcp/links.rs` |

Not in this list yet: packets in bundles.
";

/// The heading of a chapter, and the function that computes its rows.
type Chapter = (&'static str, fn() -> Vec<Row>);

const CHAPTERS: [Chapter; 4] = [
    ("Queueing theory", queueing::rows),
    ("Queue disciplines", disciplines::rows),
    ("Links", links::rows),
    ("Runs of ns-2.35", ns2::rows),
];

/// The whole page.
pub(crate) fn document() -> String {
    let mut summary = "\n| part | answers | within tolerance |\n|---|---|---|\n".to_owned();
    let mut text = String::new();
    for (title, rows) in CHAPTERS {
        let rows = rows();
        let held = rows.iter().filter(|row| row.holds).count();
        // Writing to a string does not fail.
        let _ = writeln!(summary, "| {title} | {} | {held} |", rows.len());
        let _ = write!(
            text,
            "\n## {title}\n\n| what | expected | obtained | tolerance | holds |\n|---|---|---|---|---|\n"
        );
        for row in rows {
            let Row {
                what,
                expected,
                obtained,
                rule,
                holds,
            } = row;
            let holds = if holds { "yes" } else { "NO" };
            let _ = writeln!(
                text,
                "| {what} | {expected} | {obtained} | {rule} | {holds} |"
            );
        }
    }
    HEAD.to_owned() + &summary + &text + TAIL
}
