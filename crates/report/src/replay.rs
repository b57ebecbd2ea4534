//! The queue of a trial, packet by packet: data for the page's script, and a table
//! of the first decisions.

use analysis::Findings;
use maud::{Markup, PreEscaped, html};
use plan::queue_recording::{Loss, QueueRecording, QueueWindow, QueuedPacket};
use plan::setting::Traffic;
use plan::{Hosts, Plan, Setting};
use queue::Spec;
use serde_json::{Value, json};
use units::{Span, Time};

use crate::document::{Block, Cell, Column, Document, Section, Style, Table};

const SCRIPT: &str = include_str!("page/replay.js");

/// The id of the section.
const SECTION: &str = "queue-replay";

/// The decisions in the table.
const MOST_ROWS: usize = 20;

/// Recordings as the page's script reads them.
pub(crate) struct Replay(Value);

/// A recorded queue to show.
pub(crate) struct ShownQueue<'a> {
    /// Its name, which tells it from the others.
    pub(crate) name: String,
    /// The discipline, if it is known.
    pub(crate) discipline: Option<Spec>,
    /// The packets.
    pub(crate) window: &'a QueueWindow,
    /// The instant of which the packets are about, behind "the first loss or mark".
    pub(crate) after: &'static str,
}

/// The instant from which the begin of congestion is looked for in a trial of
/// `setting`: the start of the last flow.
pub fn replayed_from(setting: &Setting) -> Time {
    let start = match &setting.traffic {
        Traffic::Flows(flows) => flows.flows.iter().map(|flow| flow.start).max(),
        Traffic::Transfer(_)
        | Traffic::Command(_)
        | Traffic::LatencyBreakdown(_)
        | Traffic::RequestResponse(_)
        | Traffic::Probe(_) => None,
    };
    Time::ZERO + start.unwrap_or(Span::ZERO)
}

impl Document {
    /// The document with the replay of these recordings in front of the test bed. If
    /// there are none and a simulated link has a discipline that drops early, with
    /// the command that records its queue.
    #[must_use]
    pub fn with_queues(mut self, found: &Findings<'_>, recordings: &[QueueRecording]) -> Self {
        let section = match recordings.is_empty() {
            true => hint(found.plan),
            false => Some(section(found.plan, recordings)),
        };
        let place = self.sections.iter().position(|own| own.id == "test-bed");
        let place = place.unwrap_or(self.sections.len());
        if let Some(section) = section {
            self.sections.insert(place, section);
        }
        self
    }
}

fn heading() -> Block {
    Block::heading("Queue, packet by packet")
}

/// How to record a queue.
fn hint(plan: &Plan) -> Option<Section> {
    match plan.world.profile().hosts {
        Hosts::Simulated => {}
        Hosts::Kernels => return None,
    }
    let mut settings = plan
        .cells
        .iter()
        .filter_map(|cell| cell.setting.as_ref().ok());
    let link = settings.find_map(|setting| {
        let mut links = setting.network.links.iter();
        links.find(|link| !matches!(link.queue(), Spec::DropTail { .. } | Spec::DropFront { .. }))
    })?;
    let words = format!(
        "No trial recorded its queue. After `jumbolab run {} --set links.{}.watch.queue=on` this page replays it.",
        plan.name, link.name
    );
    Some(Section {
        id: SECTION,
        blocks: vec![Block::Page(vec![
            heading(),
            Block::paragraph(Style::Note, words),
        ])],
    })
}

/// The recordings of a run.
fn section(plan: &Plan, recordings: &[QueueRecording]) -> Section {
    let queue = |recording| ShownQueue {
        name: name(plan, recording),
        discipline: discipline(plan, recording),
        window: &recording.window,
        after: " after the last flow began",
    };
    let queues: Vec<ShownQueue<'_>> = recordings.iter().map(queue).collect();
    replays(&queues)
}

/// The section that replays `queues`.
pub(crate) fn replays(queues: &[ShownQueue<'_>]) -> Section {
    let runs: Vec<Value> = queues.iter().map(data).collect();
    let about = queues.iter().map(about).collect();
    let tables = queues.iter().map(|one| Block::Table(table(one)));
    let fold = Block::Fold {
        summary: "The first decisions as a table".to_owned(),
        blocks: tables.collect(),
    };
    Section {
        id: SECTION,
        blocks: vec![Block::Page(vec![
            heading(),
            Block::Paragraphs(Style::Note, about),
            Block::Replay(Replay(json!(runs))),
            fold,
        ])],
    }
}

/// The part of a recording that is shown.
fn about(queue: &ShownQueue<'_>) -> String {
    let window = queue.window;
    let seconds = |packet: Option<&QueuedPacket>| packet.map_or(0.0, |packet| seconds(packet.at));
    format!(
        "{}: the {} packets from {:.3} s to {:.3} s, of {} in the recording, about the first loss or mark{}.",
        queue.name,
        window.packets.len(),
        seconds(window.packets.first()),
        seconds(window.packets.last()),
        window.recorded,
        queue.after,
    )
}

fn name(plan: &Plan, recording: &QueueRecording) -> String {
    let way = if recording.window.direction == 0 {
        ""
    } else {
        ", backward"
    };
    format!(
        "{} (trial {}, link {}{way})",
        plan.labelled(&recording.factors),
        recording.trial,
        recording.link
    )
}

/// The discipline of the recorded link.
fn discipline(plan: &Plan, recording: &QueueRecording) -> Option<Spec> {
    let cell = plan
        .cells
        .iter()
        .find(|cell| cell.factors == recording.factors)?;
    let network = &cell.setting.as_ref().ok()?.network;
    let graph = network.as_graph();
    let wire = graph
        .wires
        .iter()
        .find(|wire| wire.name == recording.link)?;
    Some(network.links[wire.link].queue())
}

/// A recording in columns; times in nanoseconds since the first packet, and since
/// the packet's arrival.
fn data(queue: &ShownQueue<'_>) -> Value {
    let window = queue.window;
    let packets = &window.packets;
    let begin = packets.first().map_or(Time::ZERO, |first| first.at);
    let thresholds = queue.discipline.as_ref().and_then(Spec::thresholds);
    let average = |packet: &QueuedPacket| {
        packet
            .average
            .map(|average| (average * 100.0).round() / 100.0)
    };
    let left = |packet: &QueuedPacket| packet.left.map(|(at, _)| since(packet.at, at));
    let loss = |packet: &QueuedPacket| packet.left.and_then(|(_, loss)| loss.map(Loss::words));
    let sparse = |of: &dyn Fn(&QueuedPacket) -> Option<Value>| -> Vec<Value> {
        let numbered = packets.iter().enumerate();
        numbered
            .filter_map(|(number, packet)| Some(json!([number, of(packet)?])))
            .collect()
    };
    let inner_drops = |packet: &QueuedPacket| {
        let drops = packet.inner_drops.iter();
        let drops: Vec<Value> = drops
            .map(|(at, why)| json!([since(packet.at, *at), why.words()]))
            .collect();
        (!drops.is_empty()).then(|| json!(drops))
    };
    let column = |of: &dyn Fn(&QueuedPacket) -> Value| packets.iter().map(of).collect::<Vec<_>>();
    json!({
        "name": queue.name,
        "flows": window.flows,
        "begin": seconds(begin),
        "decided": window.decided,
        "min": thresholds.map(|[min, _]| min),
        "max": thresholds.map(|[_, max]| max),
        "at": column(&|packet| json!(since(begin, packet.at))),
        "left": column(&|packet| json!(left(packet))),
        "waiting": column(&|packet| json!(packet.waiting)),
        "average": column(&|packet| json!(average(packet))),
        "flow": column(&|packet| json!(packet.flow)),
        "size": column(&|packet| json!(packet.size)),
        "inner": column(&|packet| json!(packet.inner)),
        "lost": sparse(&|packet| loss(packet).map(Value::from)),
        "marked": sparse(&|packet| packet.is_marked.then_some(Value::Bool(true))),
        "drops": sparse(&inner_drops),
    })
}

/// Nanoseconds from one instant to another.
fn since(from: Time, to: Time) -> u64 {
    to.since(from).unwrap_or_default().as_picos() / 1_000
}

fn seconds(at: Time) -> f64 {
    at.since(Time::ZERO).unwrap_or_default().as_secs_f64()
}

/// The first losses and marks.
fn table(queue: &ShownQueue<'_>) -> Table {
    let window = queue.window;
    let row = |packet: &QueuedPacket| {
        let inner = match packet.inner_drops.len() {
            0 => None,
            lost => Some(format!("{lost} of {} packets in it dropped", packet.inner)),
        };
        let marked = packet.is_marked.then(|| "marked".to_owned());
        let loss = packet.left.and_then(|(_, loss)| loss);
        let loss = loss.map(|loss| format!("{}: {}", loss.name(), loss.words()));
        let decision: Vec<String> = inner.into_iter().chain(marked).chain(loss).collect();
        let average = packet
            .average
            .map_or_else(String::new, |average| format!("{average:.2}"));
        (!decision.is_empty()).then(|| {
            vec![
                Cell::figure(format!("{:.6}", seconds(packet.at))),
                Cell::Text(window.flows.get(packet.flow).cloned().unwrap_or_default()),
                Cell::figure(packet.size.to_string()),
                Cell::figure(packet.waiting.to_string()),
                Cell::figure(average),
                Cell::Text(decision.join("; ")),
            ]
        })
    };
    Table {
        caption: Some(queue.name.clone()),
        columns: vec![
            Column::right("arrival (s)"),
            Column::new("flow"),
            Column::right("octets"),
            Column::right("queue before"),
            Column::right("average before (frames)"),
            Column::new("decision"),
        ],
        rows: window
            .packets
            .iter()
            .filter_map(row)
            .take(MOST_ROWS)
            .collect(),
        ..Table::default()
    }
}

/// The player, its data and its script. The data is JSON in which no tag can
/// start.
pub(crate) fn figure(Replay(runs): &Replay) -> Markup {
    let json = runs
        .to_string()
        .replace('<', "\\u003c")
        .replace('>', "\\u003e")
        .replace('&', "\\u0026");
    html! {
        figure.replay hidden {
            p { label { "Queue " select.run {} } }
            canvas.queue role="img" {}
            p.event aria-live="polite" {}
            canvas.history role="img" {}
            p {
                input.time type="range" min="0" value="0" aria-label="Event of the recording";
            }
            p.controls {
                button.back type="button" { "◀ Back" }
                button.play type="button" { "Play" }
                button.step type="button" { "Step ▶" }
                button.next type="button" { "Next loss or mark" }
                label { "Speed " select.speed {
                    option value="2" { "2 events/s" }
                    option value="10" selected { "10 events/s" }
                    option value="50" { "50 events/s" }
                } }
            }
            p.legend.note {}
        }
        script.replay-data type="application/json" { (PreEscaped(json)) }
        script { (PreEscaped(SCRIPT)) }
    }
}

#[cfg(test)]
mod tests;
