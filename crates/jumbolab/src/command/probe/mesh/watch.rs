//! `jumbolab probe --mesh --watch`: the mesh is investigated again and again, and changes
//! are printed.

use std::collections::BTreeMap;

use anyhow::Result;
use probe::driver::mesh::MeshTask;
use probe::machine::{MeshComparison, MeshOutcome, PathReport, Verdict};
use probe::text::{mesh_change_lines, mesh_comparison_json, of_mesh};

use super::super::metrics::{self, Watched};
use super::super::watch::{Rounds, now};
use super::{investigate, write_page};
use crate::args::Probe;
use crate::output;

/// The number of changes of each path, by the names of sender and receiver.
type Changes = BTreeMap<(String, String), u64>;

/// Repeats the mesh until the user stops the program. Returns the last verdict.
///
/// # Errors
/// Stdout or the page cannot be written to.
pub(super) fn run(
    args: &Probe,
    task: MeshTask,
    mut latest: MeshOutcome,
    mut rounds: Rounds,
) -> Result<Verdict> {
    let task = MeshTask {
        up_to: Some(latest.asked),
        ignores_cache: true,
        ..task
    };
    let mut changes = Changes::new();
    rounds.publish(|| metrics::text(&watched(&latest, &changes)));
    while rounds.wait() {
        let outcome = investigate(&task);
        if outcome.is_stopped {
            break;
        }
        let comparison = MeshComparison::of(&latest.state(), &outcome.state());
        latest = outcome;
        for change in &comparison.changes {
            let path = (change.from.clone(), change.to.clone());
            *changes.entry(path).or_default() += 1;
        }
        if !comparison.changes.is_empty() {
            print(args, &latest, &comparison)?;
        }
        write_page(args, &of_mesh(&latest))?;
        rounds.publish(|| metrics::text(&watched(&latest, &changes)));
    }
    Ok(latest.verdict())
}

/// Prints the changes of a round.
fn print(args: &Probe, outcome: &MeshOutcome, comparison: &MeshComparison) -> Result<()> {
    let time = now();
    match args.json {
        true => output::print_lines(mesh_comparison_json(outcome, comparison, Some(&time))),
        false => {
            let lines = mesh_change_lines(outcome, comparison).into_iter();
            output::print_lines(lines.map(|line| format!("{time} {line}")))
        }
    }
}

/// All paths from hosts that probe. Of one without a result nothing is seen.
fn watched(outcome: &MeshOutcome, changes: &Changes) -> Vec<Watched> {
    let results = outcome.paths.iter().filter_map(|path| {
        let report = path.result.as_ref().ok()?;
        Some(((path.from, path.to), report))
    });
    let results: BTreeMap<(usize, usize), &PathReport> = results.collect();
    let pairs = outcome.pairs();
    let pairs = pairs.filter(|(from, _)| outcome.hosts[*from].probes);
    let paths = pairs.map(|(from, to)| {
        let names = [from, to].map(|host| outcome.name(host).to_owned());
        let address = outcome.hosts[to].address;
        let report = results.get(&(from, to)).map(|report| (*report).clone());
        let [sender, receiver] = names.clone();
        Watched {
            labels: vec![
                ("from", sender),
                ("to", receiver),
                ("ip", if address.is_ipv4() { "4" } else { "6" }.to_owned()),
            ],
            report: report.unwrap_or_else(|| PathReport::nothing_seen(address, outcome.asked)),
            changes: changes.get(&names.into()).copied().unwrap_or_default(),
        }
    });
    paths.collect()
}
