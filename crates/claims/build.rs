//! Embeds the recorded results of docs/results in the program.
#![allow(
    clippy::print_stdout,
    reason = "cargo reads the output of a build script"
)]

use std::path::Path;
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let package = env::var("CARGO_MANIFEST_DIR").map_err(io::Error::other)?;
    let folder = Path::new(&package).join("../../docs/results");
    println!("cargo::rerun-if-changed={}", folder.display());
    let mut files = Vec::new();
    for entry in fs::read_dir(&folder)? {
        let path = entry?.path();
        if path
            .extension()
            .is_some_and(|extension| extension == "json")
        {
            files.push(path.canonicalize()?);
        }
    }
    files.sort();
    let rows = files
        .iter()
        .map(|path| format!("include_str!({:?}),\n", path.display().to_string()));
    let list = format!("&[\n{}]\n", rows.collect::<String>());
    let output = env::var("OUT_DIR").map_err(io::Error::other)?;
    fs::write(Path::new(&output).join("recorded.rs"), list)
}
