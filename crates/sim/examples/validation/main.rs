//! Prints docs/evidence/validation.md: known answers next to the results of this code.
//!
//!     cargo run --release -p jumbolab-sim --example validation > docs/evidence/validation.md

// The reader of ns-2 traces is shared with `queue`, whose tests use this name.
extern crate queue as jumbolab_queue;

mod chance;
mod disciplines;
mod document;
mod links;
mod ns2;
mod queueing;
mod row;

use std::io::{self, Write};

fn main() -> io::Result<()> {
    io::stdout().write_all(document::document().as_bytes())
}
