//! `send --jumbogram` and `recv --jumbogram`, on systems that send none.

use std::env::consts::OS;

use anyhow::{Result, anyhow};

use crate::args::{Recv, Send};
use crate::exit::Ending;

/// Rejects them.
pub(crate) fn send(_: &Send) -> Result<Ending> {
    rejected()
}

/// Rejects them.
pub(crate) fn receive(_: &Recv) -> Result<()> {
    rejected()
}

fn rejected<T>() -> Result<T> {
    Err(anyhow!(
        "--jumbogram: it needs Linux, and this program is for {OS}; leave it out"
    ))
}
