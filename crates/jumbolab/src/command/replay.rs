//! `jumbolab run replay`: sends recorded arrivals through their link or gateway again.

#[cfg(feature = "gateway")]
mod gateway;

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use backends::recording::{Decision, Input, Recorded};
use backends::replay::{self, Agreement, Difference};
use document::Document;
use link::PacketOutcome;
use plan::replayed_link::{ReplayedLink, ReplayedQueue};
use queue::Reason;
use report::Places;
use serde_json::{Value, json};
use units::Time;

use super::page;
use super::printed;
use super::run::RESULTS;
use crate::args::Run;
use crate::output;

/// The name of the experiment.
pub(crate) const EXPERIMENT: &str = "replay";

pub(crate) fn run(args: &Run) -> Result<()> {
    let Some(path) = &args.recording else {
        bail!(
            "replay: it needs a recording; write for instance `jumbolab run replay --recording frames.csv`"
        );
    };
    if args.experiment.as_deref() != Some(EXPERIMENT) {
        bail!("--recording: works with `jumbolab run replay` only");
    }
    if let Some(backend) = args.on.as_deref().filter(|&backend| backend != "sim") {
        bail!("--on {backend}: a replay is always simulated; leave it out");
    }
    let page = folder(args.output.as_deref(), path).join(report::REPLAY_PAGE);
    output::spare_inputs("--output", &page, [path])?;
    let input = Input::open(path)?;
    if input.is_of_gateway() {
        #[cfg(feature = "gateway")]
        return gateway::run(args, path, input);
        #[cfg(not(feature = "gateway"))]
        bail!(
            "{}: a gateway recorded it, and {}",
            path.display(),
            backends::NO_GATEWAY
        );
    }
    let recorded = Recorded::read(input)?;
    let packets = recorded.directions.iter();
    let packets = packets.map(|traced| traced.packets.len()).sum();
    let cut_after = (!recorded.is_whole).then_some(packets);
    if let Some(packets) = cut_after {
        output::warn(&format!(
            "{}: the recording was cut; its first {packets} packets are replayed",
            path.display(),
        ));
    }
    let variants = replay::variants(&recorded, &args.set)?;
    let mut agreements = Vec::new();
    let mut queues = Vec::new();
    for direction in 0..recorded.directions.len() {
        agreements.push(replay::reproduce(&recorded, direction)?);
        queues.push(replay::recorded(&recorded, direction));
        for variant in &variants {
            queues.push(replay::replay_with(&recorded, direction, variant)?);
        }
    }
    let link = ReplayedLink {
        recording: path.display().to_string(),
        cut_after,
        verdict: verdict(&agreements),
        is_reproduced: agreements.iter().all(|own| own.first.is_none()),
        queues,
    };
    let document = report::of_replay(&link);
    let page = write_page(args, path, &document);
    if args.json {
        return output::print_lines(link.queues.iter().map(|queue| {
            let is_recorded = queue.settings.is_none();
            let agreement = is_recorded.then(|| &agreements[queue.direction]);
            json(queue, agreement).to_string()
        }));
    }
    let files = Places {
        folder: None,
        page: page.as_deref(),
    };
    printed::other(&document, files, args.detail)
}

/// Writes the page of a replay. Says why if it cannot be written: what was asked for is
/// printed all the same.
fn write_page(args: &Run, recording: &Path, document: &Document) -> Option<PathBuf> {
    let folder = folder(args.output.as_deref(), recording);
    let page = files::Folder::create(&folder)
        .with_context(|| format!("cannot write in the folder {}", folder.display()))
        .and_then(|folder| page::write(&folder, report::REPLAY_PAGE, &report::html(document)));
    page.inspect_err(output::report_error).ok()
}

/// The folder of the page: the one that is asked for, or one that is named after the
/// recording.
fn folder(asked: Option<&Path>, recording: &Path) -> PathBuf {
    let name = recording.file_stem().unwrap_or_default().to_string_lossy();
    asked.map_or_else(
        || Path::new(RESULTS).join(format!("{EXPERIMENT}-{name}")),
        Path::to_owned,
    )
}

/// A line for programs; `agreement` of the recorded settings.
fn json(queue: &ReplayedQueue, agreement: Option<&Agreement>) -> Value {
    let outcomes = |outcome| queue.outcomes.of(outcome);
    let dropped = |reason| queue.outcomes.dropped_for(reason);
    let waits = &queue.waits;
    let mut object = json!({
        "kind": "replay",
        "direction": queue.direction,
        "settings": queue.settings.as_deref().unwrap_or("recorded"),
        "delivered": outcomes(PacketOutcome::Delivered),
        "duplicated": outcomes(PacketOutcome::Duplicated),
        "dropped": outcomes(PacketOutcome::Dropped),
        "dropped_full": dropped(Reason::Full),
        "dropped_early": dropped(Reason::Early),
        "dropped_forced": dropped(Reason::Forced),
        "dropped_late": dropped(Reason::Late),
        "lost": outcomes(PacketOutcome::Lost),
        "damaged": outcomes(PacketOutcome::Damaged),
        "too_big": outcomes(PacketOutcome::TooBig),
        "marked": queue.outcomes.marked,
        "wait_mean_s": waits.mean,
        "wait_p50_s": waits.median,
        "wait_p99_s": waits.p99,
        "wait_max_s": waits.longest,
    });
    if let Some(agreement) = agreement {
        object["compared"] = agreement.compared.into();
        object["agreed"] = agreement.agreed.into();
        object["first_difference"] = agreement
            .first
            .as_ref()
            .map_or(Value::Null, |first| first.number.into());
    }
    object
}

/// Whether the link repeated its decisions, in one line.
fn verdict(agreements: &[Agreement]) -> String {
    let compared: usize = agreements.iter().map(|own| own.compared).sum();
    let agreed: usize = agreements.iter().map(|own| own.agreed).sum();
    let mut first = agreements.iter().enumerate();
    let first = first.find_map(|(direction, own)| Some((direction, own.first?)));
    match first {
        None => {
            format!("reproduced: all {compared} decisions are as recorded, each at the same time")
        }
        Some((direction, first)) => format!(
            "not reproduced: {agreed} of {compared} decisions are as recorded; first difference: {}",
            difference(direction, &first)
        ),
    }
}

fn difference(direction: usize, first: &Difference) -> String {
    format!(
        "packet {} of direction {direction}, arrived at {:.9} s, was {} and is now {}",
        first.number,
        seconds(first.arrival),
        decision(&first.recorded),
        decision(&first.replayed)
    )
}

fn decision(decision: &Decision) -> String {
    let outcome = match decision.outcome {
        PacketOutcome::Delivered => "delivered",
        PacketOutcome::Duplicated => "duplicated",
        PacketOutcome::Dropped => "dropped",
        PacketOutcome::Lost => "lost",
        PacketOutcome::Damaged => "damaged",
        PacketOutcome::TooBig => "too big",
    };
    let reason = match decision.reason {
        None => "",
        Some(Reason::Full) => " (full)",
        Some(Reason::Early) => " (early)",
        Some(Reason::Forced) => " (forced)",
        Some(Reason::Late) => " (late)",
    };
    let marked = if decision.marked { " with a mark" } else { "" };
    format!("{outcome}{reason}{marked} at {:.9} s", seconds(decision.at))
}

fn seconds(at: Time) -> f64 {
    at.since(Time::ZERO).unwrap_or_default().as_secs_f64()
}
