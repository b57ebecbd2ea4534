//! Prints the tables of metrics and of evidence of docs/reference/metrics.md anew, from the catalogues:
//!
//!     cargo run -p jumbolab-plan --example metrics

use std::{env, fs, io};

fn main() -> io::Result<()> {
    let crates = env::var("CARGO_MANIFEST_DIR").map_err(io::Error::other)?;
    let page = format!("{crates}/../../docs/reference/metrics.md");
    let text = fs::read_to_string(&page)?;
    fs::write(&page, jumbolab_plan::documented(&text))
}
