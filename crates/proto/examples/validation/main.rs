//! Prints docs/validation.md: known answers beside what this code obtains.
//!
//!     cargo run --release -p jumbolab-proto --example validation > docs/validation.md

// What reads the runs of ns-2 is shared with `queue` and knows it by that name.
extern crate queue as jumbolab_queue;

mod chance;
mod document;
mod laws;
mod links;
mod ns2;
mod queueing;
mod row;

use std::io::{self, Write};

fn main() -> io::Result<()> {
    io::stdout().write_all(document::document().as_bytes())
}
