//! `jumbolab completions`.

use anyhow::Result;
use clap_complete::generate;

use crate::args::{self, Completions};
use crate::output;

pub(crate) fn run(args: &Completions) -> Result<()> {
    let mut script = Vec::new();
    generate(args.shell, &mut args::command(), "jumbolab", &mut script);
    output::print(&String::from_utf8(script)?)
}
