//! The simulated runs that docs/start and docs/guides quote print the quoted lines, and no other
//! ones than those for which a line `...` stands.

use std::fs;
use std::path::Path;

use experiment::Experiment;

use crate::harness::Dir;

/// A command of a document and the lines of its output that stand below it.
pub(super) struct Quoted {
    pub(super) command: String,
    pub(super) lines: Vec<String>,
}

/// The commands of this program with quoted output: the lines after a `$` that are
/// indented as it is, up to the next command, with the empty lines between them.
pub(super) fn quoted(text: &str) -> Vec<Quoted> {
    const COMMANDS: [&str; 4] = ["jumbolab ", "cargo ", "git ", "pip "];
    let mut all: Vec<Quoted> = Vec::new();
    let mut empty = 0;
    for line in text.lines() {
        let Some(line) = line.strip_prefix("    ") else {
            // Prose ends a block; an empty line does not.
            empty = if line.is_empty() { empty + 1 } else { 0 };
            continue;
        };
        let own = line.strip_prefix("$ jumbolab ");
        if own.is_some() || COMMANDS.iter().any(|word| line.starts_with(word)) {
            all.push(Quoted {
                command: own.unwrap_or_default().to_owned(),
                lines: Vec::new(),
            });
        } else if let Some(Quoted { lines, .. }) = all.last_mut() {
            let empty = if lines.is_empty() { 0 } else { empty };
            lines.extend(std::iter::repeat_n(String::new(), empty));
            lines.push(line.to_owned());
        }
        empty = 0;
    }
    all.retain(|quoted| !quoted.command.is_empty() && !quoted.lines.is_empty());
    all
}

/// Whether a command simulates, so that its figures are the same everywhere.
fn is_simulated(command: &str, folder: &Path) -> bool {
    let named = command.split(' ').nth(1).unwrap();
    let own = folder.join(named);
    let named = match named.ends_with(".toml") {
        true => own.to_str().unwrap(),
        false => named,
    };
    let backend = Experiment::load(named).unwrap().backend().unwrap();
    command.contains("--on sim") || backend.is_some_and(|backend| backend.to_string() == "sim")
}

/// Whether quoted lines are all of the output, where `...` stands for any lines.
/// Otherwise the first part between two `...` that is not there.
pub(super) fn quotes<'a>(quoted: &'a [String], printed: &str) -> Result<(), &'a [String]> {
    let mut left: Vec<&str> = printed.lines().collect();
    let parts: Vec<&[String]> = quoted.split(|line| line == "...").collect();
    for (number, part) in parts.iter().enumerate() {
        let is_last = number + 1 == parts.len();
        let starts = |at: &usize| {
            left[*at..]
                .iter()
                .zip(*part)
                .all(|(one, other)| one == other)
        };
        let places = 0..=left.len().checked_sub(part.len()).ok_or(*part)?;
        let place = match (number, is_last) {
            (0, true) => (left.len() == part.len()).then_some(0),
            (0, false) => Some(0),
            (_, true) => Some(*places.end()),
            (_, false) => places.clone().find(starts),
        };
        let place = place.filter(starts).ok_or(*part)?;
        left.drain(..place + part.len());
    }
    Ok(())
}

#[test]
fn a_quotation_leaves_out_only_what_it_marks() {
    let quotes = |quoted: &str, printed: &str| {
        let quoted: Vec<String> = quoted.split('/').map(str::to_owned).collect();
        quotes(&quoted, &printed.replace('/', "\n")).is_ok()
    };
    for quoted in [
        "a/b/c",
        "...",
        ".../c",
        "a/...",
        "a/.../c",
        ".../b/...",
        "a/.../b/c",
    ] {
        assert!(quotes(quoted, "a/b/c"), "{quoted}");
    }
    for quoted in [
        "a/c",
        "a/b",
        "b/c",
        ".../b",
        ".../a/c/...",
        "a/.../d/...",
        "a/b/c/d",
    ] {
        assert!(!quotes(quoted, "a/b/c"), "{quoted}");
    }
}

#[test]
fn quoted_output_of_simulations_is_what_they_print() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut compared = 0;
    let folders = ["docs/start", "docs/guides"].map(|folder| root.join(folder));
    let entries = folders
        .iter()
        .flat_map(|folder| fs::read_dir(folder).unwrap());
    let paths = entries.map(|entry| entry.unwrap().path());
    for path in paths.filter(|path| path.extension().is_some_and(|end| end == "md")) {
        let text = fs::read_to_string(&path).unwrap();
        let dir = Dir::new();
        if let Some(rest) = text.split("```toml\n").nth(1) {
            dir.write("my.toml", rest.split("```").next().unwrap());
        }
        for (number, Quoted { command, lines }) in quoted(&text).into_iter().enumerate() {
            let is_run = command.starts_with("run ") && !command.contains("--dry-run");
            if !is_run || !is_simulated(&command, dir.path()) {
                continue;
            }
            let printed = dir.run(&format!("{command} -o r{number}")).ran().stdout;
            if let Err(part) = quotes(&lines, &printed) {
                panic!(
                    "{}: {command} does not print, in this place:\n{}\n{printed}",
                    path.display(),
                    part.join("\n")
                );
            }
            compared += lines.len();
        }
    }
    assert!(compared > 10, "{compared}");
}
