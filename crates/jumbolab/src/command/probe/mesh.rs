//! `jumbolab probe --mesh`: which packets the paths between hosts carry.

use std::io::Write as _;
use std::path::Path;

use anyhow::{Result, ensure};
use os::interrupt;
use probe::driver::mesh::{self, MeshProgress, MeshTask};
use probe::text::{mesh_json, of_mesh};
use units::Bytes;

use super::progress::Progress;
use super::{ending, protocols};
use crate::args::Probe;
use crate::command::consent::is_own;
use crate::exit::Ending;
use crate::output;

/// The most paths under way that the progress names.
const MOST_NAMED: usize = 3;

pub(super) fn run(args: &Probe, file: &Path, up_to: Option<Bytes>) -> Result<Ending> {
    if let Some(page) = &args.page {
        output::spare_inputs("--page", page, &args.mesh)?;
    }
    let (hosts, opened) = mesh::read(file)?;
    ensure!(
        is_own(&opened),
        "{}: the file belongs to another user, or everybody can write it, and it names hosts to reach and programs to run there; read it, and use a copy of your own",
        file.display()
    );
    let task = MeshTask {
        hosts,
        up_to,
        protocols: protocols(args),
    };
    interrupt::listen()?;
    let mut progress = Progress::new();
    let outcome = mesh::run(&task, |state| progress.show(|| words(state)));
    progress.end();
    let outcome = outcome?;
    let document = of_mesh(&outcome);
    match args.json {
        true => output::print_lines(mesh_json(&outcome))?,
        false => output::print_report(&document::text(&document, output::width()))?,
    }
    if let Some(page) = &args.page {
        let html = report::html(&document);
        files::replace(page, |file| Ok(file.write_all(html.as_bytes())?))?;
    }
    Ok(match outcome.is_stopped {
        true => Ending::Stopped,
        false => ending(outcome.verdict()),
    })
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
