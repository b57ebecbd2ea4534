//! The files of the project and their contents.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// The folders of `crates`, sorted.
pub(crate) fn crates() -> Vec<String> {
    let all = files().into_iter();
    let manifests = all.filter_map(|file| {
        Some(
            file.strip_prefix("crates/")?
                .strip_suffix("/Cargo.toml")?
                .to_owned(),
        )
    });
    manifests.filter(|name| !name.contains('/')).collect()
}

pub(crate) fn rust_files() -> impl Iterator<Item = String> {
    files()
        .into_iter()
        .filter(|file| file.starts_with("crates/") && file.ends_with(".rs"))
}

/// Every file of the project relative to its root, sorted, without build
/// outputs and results.
pub(crate) fn files() -> Vec<String> {
    let root = root();
    let skipped = [".git", "target", "results"].map(|name| root.join(name));
    let mut found = Vec::new();
    let mut folders = vec![root.clone()];
    while let Some(folder) = folders.pop() {
        let entries =
            fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
        for entry in entries {
            let entry = entry.expect("a folder that was opened can be read");
            let path = entry.path();
            if skipped.contains(&path) {
                continue;
            }
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                folders.push(path);
            } else if let Ok(relative) = path.strip_prefix(&root) {
                found.push(relative.to_string_lossy().into_owned());
            }
        }
    }
    found.sort();
    found
}

pub(crate) fn read(file: &str) -> String {
    fs::read_to_string(root().join(file)).unwrap_or_else(|error| panic!("{file}: {error}"))
}

/// The root of the project. Asked at run time first: `.ci/run` runs this test
/// from a copy that an ordinary user can read.
pub(crate) fn root() -> PathBuf {
    let here = std::env::var("CARGO_MANIFEST_DIR")
        .unwrap_or_else(|_| env!("CARGO_MANIFEST_DIR").to_owned());
    let root = Path::new(&here).ancestors().nth(2);
    root.expect("this crate is two folders below the root")
        .to_owned()
}

/// Whether a file contains only tests.
pub(crate) fn is_test(file: &str) -> bool {
    file.ends_with("/tests.rs") || file.contains("/tests/")
}

/// The rows of the Markdown tables of a file below their heads, with lines.
pub(crate) fn table(file: &str) -> Vec<(usize, Vec<String>)> {
    let text = read(file);
    let lines: Vec<&str> = text.lines().collect();
    let is_row = |line: &str| line.starts_with('|');
    let is_rule = |line: &str| line.starts_with("|-");
    let cells = |line: &str| {
        line.trim_matches('|')
            .split('|')
            .map(|cell| cell.trim().to_owned())
            .collect()
    };
    (0..lines.len())
        .filter(|&at| {
            is_row(lines[at])
                && !is_rule(lines[at])
                && !lines.get(at + 1).is_some_and(|next| is_rule(next))
        })
        .map(|at| (at + 1, cells(lines[at])))
        .collect()
}

/// The rows of a Markdown table: the cells after the first, by the first.
pub(crate) fn rows(file: &str) -> BTreeMap<String, Vec<String>> {
    table(file)
        .into_iter()
        .map(|(_, cells)| (cells[0].clone(), cells[1..].to_vec()))
        .collect()
}

/// The runtime dependencies of a crate among this project's crates, on any
/// system.
pub(crate) fn dependencies(manifest: &str) -> Vec<String> {
    let manifest: toml::Table = manifest
        .parse()
        .expect("cargo has read this file before us");
    let everywhere = manifest.get("dependencies");
    let somewhere = manifest
        .get("target")
        .and_then(toml::Value::as_table)
        .into_iter()
        .flat_map(toml::Table::values);
    everywhere
        .into_iter()
        .chain(somewhere.filter_map(|target| target.get("dependencies")))
        .filter_map(toml::Value::as_table)
        .flat_map(toml::Table::keys)
        .map(|name| name.strip_prefix("jumbolab-").unwrap_or(name).to_owned())
        .collect()
}

/// The line on which `name` is assigned, from 1.
pub(crate) fn line_of(text: &str, name: &str) -> usize {
    let gives = |line: &str| {
        line.strip_prefix(name)
            .is_some_and(|rest| rest.starts_with([' ', '.', '=']))
    };
    text.lines()
        .position(gives)
        .map_or(1, |position| position + 1)
}
