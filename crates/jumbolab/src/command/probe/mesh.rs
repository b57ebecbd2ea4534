//! `jumbolab probe --mesh`: which packets the paths between hosts carry, once or again and
//! again, and what has changed.

mod watch;

use std::io::Write as _;
use std::path::Path;

use anyhow::{Context as _, Result, anyhow, bail, ensure};
use document::Document;
use os::interrupt;
use probe::driver::Effort;
use probe::driver::mesh::{self, MeshProgress, MeshTask};
use probe::machine::{MeshComparison, MeshOutcome, MeshState};
use probe::text::{mesh_comparison_json, mesh_json, of_mesh, of_mesh_comparison, read_mesh};
use units::Bytes;

use super::progress::Progress;
use super::watch::Rounds;
use super::{ending, protocols};
use crate::args::Probe;
use crate::command::consent::is_own;
use crate::exit::Ending;
use crate::output;

/// The most paths under way that the progress names.
const MOST_NAMED: usize = 3;

/// The largest file to compare with, in bytes: 100 hosts have a third of it.
const LARGEST: u64 = 16 << 20;

pub(super) fn run(
    args: &Probe,
    file: &Path,
    up_to: Option<Bytes>,
    effort: Effort,
) -> Result<Ending> {
    if let Some(page) = &args.page {
        let inputs = args.mesh.iter().chain(&args.compare);
        output::spare_inputs("--page", page, inputs)?;
    }
    let (hosts, opened) = mesh::read(file)?;
    ensure!(
        is_own(&opened),
        "{}: the file belongs to another user, or everybody can write it, and it names hosts to reach and programs to run there; read it, and use a copy of your own",
        file.display()
    );
    let compared = args.compare.as_deref();
    let before = compared.map(|file| state(file, up_to)).transpose()?;
    let rounds = Rounds::of(args)?;
    let task = MeshTask {
        hosts,
        up_to,
        at_least: before.as_ref().map_or(Bytes::ZERO, |before| before.asked),
        protocols: protocols(args),
        ignores_cache: false,
        effort,
    };
    interrupt::listen()?;
    let outcome = investigate(&task);
    if let (Some(why), false) = (outcome.failure(), outcome.is_stopped) {
        bail!("no host can probe: {why}");
    }
    let comparison = before.map(|before| MeshComparison::of(&before, &outcome.state()));
    let document = match &comparison {
        None => of_mesh(&outcome),
        Some(comparison) => of_mesh_comparison(&outcome, comparison),
    };
    if args.json {
        let lines = mesh_json(&outcome).into_iter();
        let compared = comparison.iter();
        let compared =
            compared.flat_map(|comparison| mesh_comparison_json(&outcome, comparison, None));
        output::print_lines(lines.chain(compared))?;
    } else {
        output::print_report(&document::text(&document, output::width()))?;
    }
    write_page(args, &document)?;
    Ok(match (rounds, comparison) {
        _ if outcome.is_stopped => Ending::Stopped,
        (Some(rounds), _) => ending(watch::run(args, task, outcome, rounds)?),
        (None, None) => ending(outcome.verdict()),
        (None, Some(comparison)) if comparison.is_worse() => Ending::Unsound,
        (None, Some(_)) => Ending::Sound,
    })
}

/// The state of a mesh in a file to compare with.
///
/// # Errors
/// It cannot be read, is something else, or was made with larger packets than `up_to`.
fn state(file: &Path, up_to: Option<Bytes>) -> Result<MeshState> {
    let text = files::read_text(file, LARGEST)
        .with_context(|| format!("{}: cannot read the earlier mesh", file.display()))?;
    let before = read_mesh(&text).map_err(|(line, why)| {
        anyhow!(
            "{}:{line}: {why}; name a file that `jumbolab probe --mesh HOSTS --json` wrote",
            file.display()
        )
    })?;
    if let Some(size) = up_to {
        ensure!(
            size >= before.asked,
            "--max-mtu {}: {} has results up to {} bytes; write this size or a larger one",
            size.get(),
            file.display(),
            before.asked.get()
        );
    }
    Ok(before)
}

/// Investigates all paths, and shows the progress.
fn investigate(task: &MeshTask) -> MeshOutcome {
    let mut progress = Progress::new();
    let outcome = mesh::run(task, |state| progress.show(|| words(state)));
    progress.end();
    outcome
}

/// Writes the page that the user asked for.
fn write_page(args: &Probe, document: &Document) -> Result<()> {
    let Some(page) = &args.page else {
        return Ok(());
    };
    let html = report::html(document);
    files::replace(page, |file| Ok(file.write_all(html.as_bytes())?))
}

/// The state of the investigations.
fn words(state: &MeshProgress) -> String {
    let running = state.running.iter().take(MOST_NAMED);
    let mut running: Vec<String> = running
        .map(|(from, to)| format!("{from} to {to}"))
        .collect();
    if state.running.len() > MOST_NAMED {
        running.push("others".to_owned());
    }
    format!(
        "{} of {} paths probed, now {}",
        state.done,
        state.paths,
        running.join(", ")
    )
}
