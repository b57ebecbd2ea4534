//! `jumbolab claims`.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail};
use claims::{Outcome, Paper, Record};
use experiment::Experiment;

use super::report::{ReadRun, searched};
use crate::args::Claims;
use crate::output;

/// Folders of the repository.
const RESULTS: &str = "docs/results";
const PAGES: &str = "docs/evidence/claims";

pub(crate) fn run(args: &Claims) -> Result<()> {
    if !args.record.is_empty() {
        if let Some(name) = &args.variant {
            // It becomes a part of the name of a file.
            experiment::check_name(name)
                .map_err(|why| anyhow!("--variant {}: {why}", name.escape_debug()))?;
        }
        return record(&args.record, args.variant.as_deref());
    }
    let (papers, records) = (claims::papers()?, claims::recorded()?);
    let all = claims::outcomes(&papers, &records)?;
    let all: Vec<&Outcome<'_>> = all.iter().collect();
    if args.pages {
        return pages(&records, &all);
    }
    let chosen = match &args.name {
        None => all,
        Some(name) => chosen(&papers, all, name)?,
    };
    if args.json {
        return output::print_lines(claims::lines(&chosen)?);
    }
    match (chosen.as_slice(), &args.name) {
        ([one], Some(name)) if one.claim.id == *name => output::print(&claims::whole(one)),
        _ => output::print(&claims::overview(&chosen, output::width())),
    }
}

/// The claims of a paper, or the claim of this name.
fn chosen<'a>(
    papers: &[Paper],
    mut all: Vec<&'a Outcome<'a>>,
    name: &str,
) -> Result<Vec<&'a Outcome<'a>>> {
    all.retain(|one| one.paper.name == name || one.claim.id == name);
    if all.is_empty() {
        let papers: Vec<&str> = papers.iter().map(|paper| paper.name.as_str()).collect();
        bail!(
            "there is no paper or claim {name}; papers are {}, and `jumbolab claims` lists all claims",
            papers.join(", ")
        );
    }
    Ok(all)
}

/// Writes the pages of docs/evidence/claims.
fn pages(records: &[Record], all: &[&Outcome<'_>]) -> Result<()> {
    for page in claims::pages(all, records) {
        write(&Path::new(PAGES).join(page.name), &page.text)?;
    }
    Ok(())
}

/// Records the verdicts of results folders in docs/results.
fn record(folders: &[PathBuf], variant: Option<&str>) -> Result<()> {
    for folder in folders {
        let read = ReadRun::read(folder)?;
        if let Some(study) = searched(&read)? {
            let found = study.findings(read.trials());
            keep(&Record::of_search(&found, read.facts(), read.trials()))?;
            continue;
        }
        let plan = read.plan();
        let shipped = backends::backend::plan(Experiment::load(&plan.name)?, plan.backend)?;
        if variant.is_none() && shipped.hash != plan.hash {
            bail!(
                "{} is a run of plan {}, the shipped {} is {} in backend {}; run it again, or name the settings with --variant",
                folder.display(),
                plan.hash,
                plan.name,
                shipped.hash,
                plan.backend
            );
        }
        let record = Record::of(&read.run().found, variant);
        write(
            &Path::new(RESULTS).join(record.file_name()),
            &record.to_text()?,
        )?;
    }
    output::info("build the program again to use the recorded results");
    Ok(())
}

fn keep(record: &Record) -> Result<()> {
    let path = Path::new(RESULTS).join(record.file_name());
    write(&path, &record.to_text()?)
}

fn write(path: &Path, text: &str) -> Result<()> {
    files::replace(path, |file| Ok(file.write_all(text.as_bytes())?)).with_context(|| {
        format!(
            "cannot write {}; run this in the root of the repository",
            path.display()
        )
    })?;
    output::print(&format!("{}\n", path.display()))
}
