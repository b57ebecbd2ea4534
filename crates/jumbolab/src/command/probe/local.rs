//! `jumbolab probe --self`: the configuration of this host.

use anyhow::Result;
use probe::driver::local_host;
use probe::text::{local_json, of_local};

use super::ending;
use crate::args::Probe;
use crate::exit::Ending;
use crate::output;

/// Checks the configuration of this host.
pub(super) fn check(args: &Probe) -> Result<Ending> {
    let host = local_host()?;
    match args.json {
        true => output::print_lines(local_json(&host))?,
        false => output::print_report(&document::text(&of_local(&host), output::width()))?,
    }
    Ok(ending(host.verdict()))
}
