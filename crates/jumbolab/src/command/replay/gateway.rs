//! The replay of a gateway's recording.

mod outcome;

use std::path::Path;

use anyhow::Result;
use backends::recording::Input;
use gateway::recording::{Described, Recording};
use gateway::replay::{Agreement, recorded, replay_with, reproduce, variants};
use plan::replayed_gateway::{ReplayedGateway, ReplayedSettings};
use report::Places;
use serde_json::{Value, json};
use units::Span;

use super::super::printed;
use super::write_page;
use crate::args::Run;
use crate::output;
use outcome::outcome;

pub(super) fn run(args: &Run, path: &Path, input: Input) -> Result<()> {
    let recording = input.parse(Recording::parse)?;
    if !recording.is_whole {
        output::warn(&format!(
            "{}: the recording was cut; what is there is replayed",
            path.display(),
        ));
    }
    let sections = recording.sections.iter();
    let described: Vec<Described> = sections.map(|section| section.settings.clone()).collect();
    let variants = variants(&described, &args.set)?;
    let agreement = reproduce(&recording)?;
    let mut settings = vec![outcome(None, recorded(&recording))];
    for variant in &variants {
        let decided = replay_with(&recording, variant)?;
        settings.push(outcome(Some(variant.name.clone()), decided));
    }
    let gateway = ReplayedGateway {
        recording: path.display().to_string(),
        is_whole: recording.is_whole,
        verdict: verdict(&agreement),
        is_reproduced: agreement.first.is_none(),
        settings,
    };
    let document = report::of_gateway_replay(&gateway);
    let page = write_page(args, path, &document);
    if args.json {
        let lines = gateway.settings.iter().map(|own| {
            let is_recorded = own.settings.is_none();
            json(own, is_recorded.then_some(&agreement)).to_string()
        });
        return output::print_lines(lines);
    }
    let files = Places {
        folder: None,
        page: page.as_deref(),
    };
    printed::other(&document, files, args.detail)
}

/// Whether the gateway repeated its decisions, in one line.
fn verdict(agreement: &Agreement) -> String {
    let Agreement {
        compared,
        agreed,
        first,
    } = agreement;
    match first {
        None => {
            format!("reproduced: all {compared} decisions are as recorded, each at the same time")
        }
        Some(first) => format!(
            "not reproduced: {agreed} of {compared} decisions are as recorded; the first that differs is number {first}"
        ),
    }
}

/// A line for programs; `agreement` of the recorded settings.
fn json(own: &ReplayedSettings, agreement: Option<&Agreement>) -> Value {
    let [median, ninety, p99] = own.waits.map(|wait| wait.map(Span::as_secs_f64));
    let mut object = json!({
        "kind": "gateway_replay",
        "settings": own.settings.as_deref().unwrap_or("recorded"),
        "arrived": own.arrived,
        "core_packets": own.bundles,
        "sent": own.sent,
        "dropped": own.dropped,
        "inner_dropped": own.taken_out,
        "marked": own.marked,
        "hold_p50_s": median,
        "hold_p90_s": ninety,
        "hold_p99_s": p99,
    });
    if let Some(agreement) = agreement {
        object["compared"] = agreement.compared.into();
        object["agreed"] = agreement.agreed.into();
        object["first_difference"] = agreement.first.into();
    }
    object
}
