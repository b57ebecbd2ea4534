//! `jumbolab agent`.

use std::io::{self, IsTerminal as _};

use anyhow::{Result, bail};

pub(crate) fn run() -> Result<()> {
    if io::stdin().is_terminal() {
        bail!(
            "`jumbolab run --on hosts` starts this command by ssh; type that, or `jumbolab man agent`"
        );
    }
    backends::host_agent::serve()
}
