//! Prints the two tables of docs/reference/experiments.md anew, from the table of keys:
//!
//!     cargo run -p jumbolab-experiment --example keys

use std::{env, fs, io};

fn main() -> io::Result<()> {
    let crates = env::var("CARGO_MANIFEST_DIR").map_err(io::Error::other)?;
    let page = format!("{crates}/../../docs/reference/experiments.md");
    let text = fs::read_to_string(&page)?;
    fs::write(&page, jumbolab_experiment::documented(&text))
}
