//! Lists that name what they are about: sources, dependencies, the tests of `.ci/run`.

use crate::project::{crates, files, line_of, read, rows, table};
use crate::settle;
use crate::source::{Source, cited};

/// Names in brackets that are no keys: of templates, error messages and tables, and arguments in
/// docs/reference/commands.md.
const PLACEHOLDERS: [&str; 8] = [
    "COMMAND",
    "EXPERIMENT",
    "HOST",
    "Key",
    "Key2019",
    "OPTIONS",
    "PAPER",
    "SUM",
];

#[test]
fn every_cited_source_is_listed() {
    let listed = rows("docs/sources.md");
    let mut problems = Vec::new();
    for file in files() {
        let text = match file.rsplit_once('.') {
            Some((_, "rs")) => Source::of_file(&file).prose.clone(),
            Some((folder, "toml")) if folder.starts_with("experiments/") => read(&file),
            Some((folder, "md")) if folder.starts_with("docs/") => read(&file),
            _ => continue,
        };
        for (number, line) in (1..).zip(text.lines()) {
            for key in
                cited(line).filter(|key| !PLACEHOLDERS.contains(key) && !listed.contains_key(*key))
            {
                problems.push(format!("{file}:{number}: [{key}] is not in docs/sources.md; add a row with the full reference, or correct the key"));
            }
        }
    }
    settle(&problems);
}

#[test]
fn sources_are_sorted_and_complete() {
    let keys: Vec<String> = table("docs/sources.md")
        .into_iter()
        .map(|(_, cells)| cells[0].clone())
        .collect();
    let mut problems = Vec::new();
    for (line, cells) in table("docs/sources.md") {
        if cells.get(1).is_none_or(|reference| reference.len() <= 20) {
            problems.push(format!(
                "docs/sources.md:{line}: {} has no full reference",
                cells[0]
            ));
        }
    }
    for pair in keys.windows(2).filter(|pair| pair[0] >= pair[1]) {
        problems.push(format!(
            "docs/sources.md: put {} before {}, once (sorted by bytes)",
            pair[1], pair[0]
        ));
    }
    settle(&problems);
}

#[test]
fn every_dependency_has_its_reason() {
    let (file, text) = ("docs/dependencies.md", read("Cargo.toml"));
    let manifest: toml::Table = text.parse().expect("cargo has read this file before us");
    let workspace = manifest["workspace"]["dependencies"]
        .as_table()
        .expect("cargo has read this file before us");
    let rows = rows(file);
    let mut problems = Vec::new();
    for (name, value) in workspace
        .iter()
        .filter(|(_, value)| value.get("path").is_none())
    {
        let version = value
            .get("version")
            .unwrap_or(value)
            .as_str()
            .unwrap_or("*");
        let line = line_of(&text, name);
        match rows.get(&format!("`{name}`")) {
            None => problems.push(format!("Cargo.toml:{line}: `{name}` has no row in {file}; say there why it is needed and what was weighed")),
            Some(cells) if cells[0] != version => {
                problems.push(format!("Cargo.toml:{line}: `{name}` is at {version}, {file} says {}; correct the row", cells[0]));
            }
            Some(_) => {}
        }
    }
    for (line, cells) in table(file) {
        let name = cells[0].trim_matches('`');
        if name != cells[0] && !workspace.contains_key(name) {
            problems.push(format!(
                "{file}:{line}: `{name}` is no dependency any more; remove the row"
            ));
        }
    }
    settle(&problems);
}

#[test]
fn ci_runs_every_test_that_cargo_test_leaves_out() {
    let script = read(".ci/run");
    let list = |line: &'static str| {
        let listed = script
            .lines()
            .find_map(|one| one.strip_prefix(line)?.strip_suffix(')'));
        listed.expect("one line").split(' ')
    };
    let named: Vec<&str> = list("ROOT_TESTS=(").chain(list("PEER_TESTS=(")).collect();
    let mut problems = Vec::new();
    for name in crates() {
        let file = format!("crates/{name}/Cargo.toml");
        let manifest: toml::Table = read(&file).parse().expect("cargo has read it before us");
        let targets = manifest.get("test").and_then(toml::Value::as_array);
        for target in targets.into_iter().flatten() {
            let name = target["name"].as_str().expect("a name is a string");
            let is_left_out = target.get("test").and_then(toml::Value::as_bool) == Some(false);
            if is_left_out && !named.contains(&name) {
                problems.push(format!(
                    "{file}: name the test `{name}` in ROOT_TESTS or PEER_TESTS of .ci/run"
                ));
            }
        }
    }
    settle(&problems);
}
