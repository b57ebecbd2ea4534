//! Prints docs/reference/experiment.schema.json anew, from the table of keys:
//!
//!     cargo run -p jumbolab-experiment --example schema

use std::{env, fs, io};

fn main() -> io::Result<()> {
    let crates = env::var("CARGO_MANIFEST_DIR").map_err(io::Error::other)?;
    let file = format!("{crates}/../../docs/reference/experiment.schema.json");
    fs::write(file, jumbolab_experiment::schema())
}
