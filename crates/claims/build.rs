//! Embeds the register of claims and the recorded results in the program.
#![allow(
    clippy::print_stdout,
    reason = "cargo reads the output of a build script"
)]

use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let mut papers = files("../../claims", "toml")?;
    // Those that the order does not name come last, by name.
    let order = fs::read_to_string("../../claims/order")?;
    let place = |path: &PathBuf| {
        order
            .lines()
            .position(|line| path.file_stem().is_some_and(|name| name == line))
            .unwrap_or(usize::MAX)
    };
    papers.sort_by_key(place);
    embed("papers.rs", &papers)?;
    embed("recorded.rs", &files("../../docs/results", "json")?)
}

/// The files of a folder with this extension, by name.
fn files(folder: &str, extension: &str) -> io::Result<Vec<PathBuf>> {
    println!("cargo::rerun-if-changed={folder}");
    let mut files = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|other| other == extension) {
            files.push(path.canonicalize()?);
        }
    }
    files.sort();
    Ok(files)
}

/// Writes a list of the names and texts of files.
fn embed(output: &str, files: &[PathBuf]) -> io::Result<()> {
    let rows = files.iter().map(|path| {
        let name = path.file_name().unwrap_or_default();
        format!("({name:?}, include_str!({path:?})),\n")
    });
    let list = format!("&[\n{}]\n", rows.collect::<String>());
    let folder = env::var("OUT_DIR").map_err(io::Error::other)?;
    fs::write(Path::new(&folder).join(output), list)
}
