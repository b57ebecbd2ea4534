//! Prints docs/reference/keys.md and docs/reference/support.md anew, from the table of keys:
//!
//!     cargo run -p jumbolab-experiment --example keys

use std::{env, fs, io};

fn main() -> io::Result<()> {
    let crates = env::var("CARGO_MANIFEST_DIR").map_err(io::Error::other)?;
    for (name, printed) in jumbolab_experiment::PAGES {
        let page = format!("{crates}/../../docs/reference/{name}");
        let text = fs::read_to_string(&page)?;
        fs::write(&page, printed(&text))?;
    }
    Ok(())
}
