//! `jumbolab report`.

use anyhow::Result;
use lab::experiment::Experiment;
use lab::folder::Folder;
use lab::plan::World;
use lab::{archive, report};

use crate::args::Report;
use crate::output;

pub(crate) fn run(args: &Report) -> Result<()> {
    let (text, facts, trials) = Folder::read(&args.folder)?;
    let name = args.folder.join("plan.toml");
    let plan = Experiment::parse(&text, &name.display().to_string())?.plan(World::Netns)?;
    if args.csv {
        let mut lines = Vec::new();
        archive::csv(&trials, &mut lines)?;
        return output::print(&String::from_utf8_lossy(&lines));
    }
    if args.json {
        return output::print_lines(report::json_lines(&plan, &trials));
    }
    output::print(&report::tables(
        &plan,
        &trials,
        &facts,
        Some(&args.folder),
        output::width(),
    ))
}
