//! README.md shows what the program prints: of `probe` in network namespaces, of an
//! experiment by its recorded run in docs/results. A line `...` stands for any lines. Above each
//! output stands a picture with the same text.

use std::fs;
use std::path::{Path, PathBuf};

use super::pictures;
use super::probe::{ALLOW_ECHO, BY, SILENT, see};
use super::tutorials::{Quoted, quoted, quotes};
use crate::harness::Dir;

/// Writes each output that differs into README.md, whole, and the pictures.
const WRITE: &str = "JUMBOLAB_WRITE_README";

/// The root of the project. Asked at run time first: `.ci/run` runs this test from a
/// copy that an ordinary user can read.
fn root() -> PathBuf {
    let here = std::env::var("CARGO_MANIFEST_DIR")
        .unwrap_or_else(|_| env!("CARGO_MANIFEST_DIR").to_owned());
    Path::new(&here).join("../..")
}

/// The output of a command.
fn printed(command: &str) -> String {
    match command.split_once(' ') {
        Some(("probe", rest)) => probe(rest),
        Some(("run", name)) => recorded(name),
        _ => panic!("README.md: $ jumbolab {command}: say here how its output is made"),
    }
}

/// The output of `probe` by an ordinary user, over a path with a black hole.
fn probe(rest: &str) -> String {
    let script = format!("{ALLOW_ECHO}\n{SILENT}\nat a {} {rest}", BY[1]);
    see(&Dir::new(), &script).ran().stdout
}

/// The report of the recorded run of an experiment, in a folder named as that of the run.
fn recorded(name: &str) -> String {
    let dir = Dir::new();
    let record = root().join("docs/results").join(name);
    let read = |file: &str| {
        let path = record.join(file);
        fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    };
    let plan = read("plan.toml");
    let mut hashes = plan
        .lines()
        .filter_map(|line| line.strip_prefix("hash = \""));
    let hash = hashes.next_back().unwrap().trim_end_matches('"');
    let folder = format!("results/{name}-{hash}");
    fs::create_dir_all(dir.path().join(&folder)).unwrap();
    dir.write(&format!("{folder}/plan.toml"), &plan);
    dir.write(&format!("{folder}/trials.jsonl"), &read("trials.jsonl"));
    dir.run(&format!("report {folder}")).ran().stdout
}

/// A line without its measured times: numbers with one point, and the width of their
/// columns. Addresses stay.
fn without_times(line: &str) -> String {
    let is_time = |word: &str| word.contains('.') && word.parse::<f64>().is_ok();
    let indent = line.len() - line.trim_start().len();
    let words = line.split_whitespace();
    let words = words.map(|word| if is_time(word) { "#" } else { word });
    format!(
        "{}{}",
        " ".repeat(indent),
        words.collect::<Vec<_>>().join(" ")
    )
}

/// Whether an output is quoted; `...` alone quotes nothing.
fn is_quoted(command: &str, lines: &[String], printed: &str) -> bool {
    let compared = |line: &str| match command.starts_with("probe ") {
        true => without_times(line),
        false => line.to_owned(),
    };
    let shown: Vec<String> = lines.iter().map(|line| compared(line)).collect();
    let printed: Vec<String> = printed.lines().map(compared).collect();
    lines.iter().any(|line| line != "...") && quotes(&shown, &printed.join("\n")).is_ok()
}

/// An output as the lines of an indented block.
fn block(command: &str, lines: &[&str]) -> String {
    let all = lines.iter().map(|line| match line.is_empty() {
        true => "\n".to_owned(),
        false => format!("    {line}\n"),
    });
    format!("    $ jumbolab {command}\n{}", all.collect::<String>())
}

#[test]
fn outputs_in_the_readme_are_those_of_the_program() {
    let path = root().join("README.md");
    let mut text = fs::read_to_string(&path).unwrap();
    let all = quoted(&text);
    assert!(all.len() >= 2, "{}", all.len());
    for Quoted { command, lines } in all {
        let printed = printed(&command);
        if is_quoted(&command, &lines, &printed) {
            continue;
        }
        assert!(
            std::env::var_os(WRITE).is_some(),
            "README.md: $ jumbolab {command}: it prints the lines below; {WRITE}=1 writes them there\n{printed}"
        );
        let shown: Vec<&str> = lines.iter().map(String::as_str).collect();
        let old = block(&command, &shown);
        assert!(text.contains(&old), "{old}");
        text = text.replace(&old, &block(&command, &printed.lines().collect::<Vec<_>>()));
        fs::write(&path, &text).unwrap();
    }
}

/// The pictures of a page: the path, and the text in their place.
fn shown(text: &str) -> Vec<(&str, &str)> {
    let images = text.split("<img src=\"").skip(1);
    let images = images.filter_map(|image| image.split_once("\">")?.0.split_once("\" alt=\""));
    images.collect()
}

#[test]
fn pictures_in_the_readme_show_the_outputs_beside_them() {
    let text = fs::read_to_string(root().join("README.md")).unwrap();
    let (images, outputs) = (shown(&text), quoted(&text));
    assert_eq!(images.len(), outputs.len(), "{images:?}");
    for ((path, title), Quoted { command, lines }) in images.into_iter().zip(outputs) {
        let file = root().join(path);
        let picture = pictures::terminal(title, &command, &lines);
        if std::env::var_os(WRITE).is_some() {
            fs::write(&file, &picture).unwrap();
        }
        let found = fs::read_to_string(&file).unwrap_or_default();
        assert!(
            found == picture,
            "{path} does not show the output of `jumbolab {command}` in README.md; {WRITE}=1 draws it"
        );
    }
}

#[test]
fn times_may_differ_and_nothing_else() {
    let row = "  3  10.0.3.2, the far end  0.03  1504";
    let other = row.replace("0.03", "12.40").replace("end ", "end  ");
    assert_eq!(without_times(row), without_times(&other));
    for other in [
        row.replace(".3.2", ".3.4"),
        row.replace("1504", "1500"),
        row.replace("  3", "3"),
    ] {
        assert_ne!(without_times(row), without_times(&other));
    }
    let lines = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
    assert!(is_quoted("probe h", &lines("a\n..."), "a\nb"));
    assert!(!is_quoted("probe h", &lines("..."), "a\nb"));
    assert!(!is_quoted("run e", &lines("a 1.5"), "a 1.6"));
}
