//! The counters of a gateway on the terminal, drawn anew each second.

use std::io::{self, Write as _};

use anyhow::{Context as _, Result};
use live::gateway::{PeerCounts, Report};
use proto::gateway::Traffic;
use units::Span;

use crate::output;

/// Moves the cursor up over lines drawn earlier, to their beginning.
const UP: &str = "\u{1b}[F";

/// Clears what is on the right of the cursor, and what is below it.
const CLEAR_LINE: &str = "\u{1b}[K";
const CLEAR_BELOW: &str = "\u{1b}[J";

/// The lines on the terminal. They are drawn over by the next ones and stay at the end:
/// no mode of the terminal has to be restored, however the program ends.
#[derive(Default)]
pub(super) struct View {
    drawn: usize,
}

impl View {
    /// Draws the changes from `before` to `after`, which took `elapsed`.
    ///
    /// # Errors
    /// If the terminal is gone.
    pub(super) fn draw(&mut self, elapsed: Span, before: &Report, after: &Report) -> Result<()> {
        let (width, height) = output::size_of(io::stdout());
        let lines = fitted(table(elapsed, before, after), lines(after), width, height);
        let mut text = UP.repeat(self.drawn);
        for line in &lines {
            text.push_str(line);
            text.push_str(CLEAR_LINE);
            text.push('\n');
        }
        text.push_str(CLEAR_BELOW);
        self.drawn = lines.len();
        let mut out = io::stdout().lock();
        let written = out.write_all(text.as_bytes()).and_then(|()| out.flush());
        written.context("--view: drawing")
    }
}

/// As many lines as fit the terminal above the cursor, each cut at its width: all of
/// `below`, and of `table` what remains.
fn fitted(table: Vec<String>, below: Vec<String>, width: usize, height: usize) -> Vec<String> {
    let rows = height.saturating_sub(below.len() + 2);
    let empty = [String::new()];
    let all = table.into_iter().take(rows).chain(empty).chain(below);
    all.take(height.saturating_sub(1))
        .map(|line| line.chars().take(width).collect())
        .collect()
}

const HEAD: [&str; 11] = [
    "peer",
    "in pkt/s",
    "in Mbit/s",
    "out pkt/s",
    "out Mbit/s",
    "bundles/s",
    "fill",
    "dropped",
    "marked",
    "MTU",
    "sealed",
];

/// A line for the names of the columns and one for each peer.
fn table(elapsed: Span, before: &Report, after: &Report) -> Vec<String> {
    let seconds = elapsed.as_secs_f64().max(1e-3);
    let rows = after.names.iter().enumerate().map(|(number, name)| {
        let none = Traffic::default();
        let now = after.counts.peers.get(number).unwrap_or(&none);
        let earlier = before.counts.peers.get(number).unwrap_or(&none);
        let driver = after.peers.get(number).copied().unwrap_or_default();
        cells(name, earlier, now, seconds, driver)
    });
    aligned(
        &[HEAD.map(str::to_owned)]
            .into_iter()
            .chain(rows)
            .collect::<Vec<_>>(),
    )
}

/// Rows as lines: names at the left, numbers at the right of their columns.
fn aligned<const COLUMNS: usize>(rows: &[[String; COLUMNS]]) -> Vec<String> {
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max();
    let widths: [usize; COLUMNS] = std::array::from_fn(|column| width(column).unwrap_or(0));
    let cell = |column: usize, text: &String| match column {
        0 => format!("{text:<0$}", widths[column]),
        _ => format!("  {text:>0$}", widths[column]),
    };
    let line = |row: &[String; COLUMNS]| {
        row.iter()
            .enumerate()
            .map(|(at, text)| cell(at, text))
            .collect()
    };
    rows.iter().map(line).collect()
}

/// The cells of a peer. "in" is toward the inside, "out" toward the core.
fn cells(
    name: &str,
    before: &Traffic,
    now: &Traffic,
    seconds: f64,
    driver: PeerCounts,
) -> [String; HEAD.len()] {
    let per_second = |of: fn(&Traffic) -> u64| {
        let change = of(now).saturating_sub(of(before));
        change as f64 / seconds
    };
    let packets = |of| format!("{:.0}", per_second(of));
    let megabits = |of| format!("{:.2}", per_second(of) * 8.0 / 1e6);
    let bundles = per_second(|traffic| traffic.outward.bundles);
    let bundled = per_second(|traffic| traffic.outward.bundled);
    let fill = match bundles > 0.0 {
        true => format!("{:.1}", bundled / bundles),
        false => "-".to_owned(),
    };
    let sealed = match driver.has_key {
        None => "no",
        Some(false) => "no key yet",
        Some(true) => "yes",
    };
    let dropped = now.outward.drops.total() + now.inward.drops.total();
    let marked = now.outward.marked + now.inward.marked;
    [
        plan::escaped(name, &[]).into_owned(),
        packets(|traffic| traffic.inward.released),
        megabits(|traffic| traffic.inward.released_octets),
        packets(|traffic| traffic.outward.came),
        megabits(|traffic| traffic.outward.came_octets),
        format!("{bundles:.0}"),
        fill,
        dropped.to_string(),
        marked.to_string(),
        driver.path_mtu.to_string(),
        sealed.to_owned(),
    ]
}

/// Settings of all peers.
fn lines(report: &Report) -> Vec<String> {
    let total = report.counts.total();
    let other = &report.counts.other;
    let quantile = |share| match report.holds.quantile(share) {
        Some(span) => span.to_string(),
        None => "-".to_owned(),
    };
    let mut lines = vec![
        format!(
            "waits in bundles: median {}, 90 % {}, 99 % {}",
            quantile(0.5),
            quantile(0.9),
            quantile(0.99)
        ),
        format!(
            "waiting: {} packets outward, {} inward; {} prefixes",
            report.waiting.outward, report.waiting.inward, report.prefixes
        ),
        format!(
            "no egress: {} packets dropped; refused from the core: {}; not sent by the kernel: {}",
            other.outward.drops.total(),
            total.inward.refusals.total(),
            report.peers.iter().map(|peer| peer.unsent).sum::<u64>()
        ),
        format!(
            "kernel dropped for lack of room: {} from inside, {} from the core",
            report.inside.overrun, report.core_overrun
        ),
    ];
    if let Some((backlog, average)) = report.uplink {
        let average = average.map_or_else(
            || "-".to_owned(),
            |average| format!("{:.2}", average.frames),
        );
        lines.push(format!(
            "uplink: {} bundles wait, {average} on average, {} packets taken out of bundles",
            backlog.packets, total.outward.taken_out
        ));
    }
    lines.push("Ctrl-C ends".to_owned());
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up_at_the_right_but_names_at_the_left() {
        let row = |name: &str, rate: &str| [name.to_owned(), rate.to_owned()];
        let lines = aligned(&[row("peer", "in"), row("a", "1234"), row("longer", "7")]);
        assert_eq!(lines, ["peer      in", "a       1234", "longer     7"]);
    }

    #[test]
    fn on_a_small_terminal_peers_and_ends_of_lines_are_left_out() {
        let lines = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        let table: Vec<String> = lines(&["head", "one", "two", "three"]);
        let below: Vec<String> = lines(&["waits", "Ctrl-C ends"]);
        let shown = fitted(table.clone(), below.clone(), 6, 6);
        assert_eq!(shown, ["head", "one", "", "waits", "Ctrl-C"]);
        assert_eq!(fitted(table, below, 80, 40).len(), 7);
    }
}
