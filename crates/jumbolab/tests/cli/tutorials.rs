//! The simulated runs that docs/tutorials quote print the quoted lines.

use std::fs;
use std::path::Path;

use experiment::Experiment;

use crate::harness::Dir;

/// A command of a tutorial and the lines of its output that stand below it.
struct Quoted {
    command: String,
    lines: Vec<String>,
}

/// The commands `jumbolab run` with quoted output.
fn quoted(text: &str) -> Vec<Quoted> {
    let mut all: Vec<Quoted> = Vec::new();
    let blocks = text.lines().filter_map(|line| line.strip_prefix("    "));
    for line in blocks {
        match (line.strip_prefix("$ jumbolab "), all.last_mut()) {
            (Some(command), _) => all.push(Quoted {
                command: command.to_owned(),
                lines: Vec::new(),
            }),
            (None, Some(quoted)) => quoted.lines.push(line.to_owned()),
            (None, None) => {}
        }
    }
    all.retain(|quoted| quoted.command.starts_with("run ") && !quoted.lines.is_empty());
    all.retain(|quoted| !quoted.command.contains("--dry-run"));
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
    let world = Experiment::load(named).unwrap().world().unwrap();
    command.contains("--on sim") || world.is_some_and(|world| world.to_string() == "sim")
}

#[test]
fn quoted_output_of_simulations_is_what_they_print() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut compared = 0;
    for entry in fs::read_dir(root.join("docs/tutorials")).unwrap() {
        let path = entry.unwrap().path();
        let text = fs::read_to_string(&path).unwrap();
        let dir = Dir::new();
        if let Some(rest) = text.split("```toml\n").nth(1) {
            dir.write("my.toml", rest.split("```").next().unwrap());
        }
        for (number, Quoted { command, lines }) in quoted(&text).into_iter().enumerate() {
            if !is_simulated(&command, dir.path()) {
                continue;
            }
            let printed = dir.run(&format!("{command} -o r{number}")).ran().stdout;
            let mut printed_lines = printed.lines();
            for line in lines {
                assert!(
                    printed_lines.any(|other| other == line),
                    "{}: {command} does not print, or not in this order:\n{line}\n{printed}",
                    path.display()
                );
                compared += 1;
            }
        }
    }
    assert!(compared > 10, "{compared}");
}
