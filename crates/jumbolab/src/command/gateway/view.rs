//! The counters of a gateway on the terminal, drawn anew each second.

use anyhow::{Context as _, Result};
use live::gateway::{PeerCounts, Report};
use proto::gateway::Traffic;
use ratatui::DefaultTerminal;
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout};
use ratatui::style::{Modifier, Style};
use ratatui::text::Line;
use ratatui::widgets::{Block, Paragraph, Row, Table};
use units::Span;

/// The terminal, which is restored when this value is dropped.
pub(super) struct View {
    terminal: DefaultTerminal,
}

impl View {
    /// Takes the terminal over.
    ///
    /// # Errors
    /// If it is none.
    pub(super) fn open() -> Result<Self> {
        let terminal = ratatui::try_init().context("--view: taking the terminal over")?;
        // Ctrl-C is to end the program as it does without the view.
        ratatui::crossterm::terminal::disable_raw_mode().context("--view")?;
        Ok(Self { terminal })
    }

    /// Draws the changes from `before` to `after`, which took `elapsed`.
    ///
    /// # Errors
    /// If the terminal is gone.
    pub(super) fn draw(&mut self, elapsed: Span, before: &Report, after: &Report) -> Result<()> {
        self.terminal
            .draw(|frame| draw(frame, elapsed, before, after))
            .context("--view: drawing")?;
        Ok(())
    }
}

impl Drop for View {
    fn drop(&mut self) {
        ratatui::restore();
    }
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

fn draw(frame: &mut Frame<'_>, elapsed: Span, before: &Report, after: &Report) {
    let peers = u16::try_from(after.names.len()).unwrap_or(u16::MAX);
    let areas = Layout::vertical([
        Constraint::Length(peers.saturating_add(4)),
        Constraint::Min(0),
    ])
    .split(frame.area());
    let seconds = elapsed.as_secs_f64().max(1e-3);
    let rows = after.names.iter().enumerate().map(|(number, name)| {
        let none = Traffic::default();
        let now = after.counts.peers.get(number).unwrap_or(&none);
        let earlier = before.counts.peers.get(number).unwrap_or(&none);
        let driver = after.peers.get(number).copied().unwrap_or_default();
        Row::new(cells(name, earlier, now, seconds, driver))
    });
    let widths = [Constraint::Fill(1); HEAD.len()];
    let bold = Style::new().add_modifier(Modifier::BOLD);
    let table = Table::new(rows, widths)
        .header(Row::new(HEAD).style(bold))
        .block(Block::bordered().title("jumbolab gateway"));
    frame.render_widget(table, areas[0]);
    let text: Vec<Line<'_>> = lines(after).into_iter().map(Line::from).collect();
    frame.render_widget(Paragraph::new(text).block(Block::bordered()), areas[1]);
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
