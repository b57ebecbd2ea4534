//! The sizes of files and of parts.

use crate::project::{crates, is_test, read, rust_files};
use crate::settle;
use crate::source::lines_without_tests;

/// Lines of each part, without tests, in hundreds. A commit that needs more says why it raises
/// its row here; one that takes lines away lowers it.
const HUNDREDS_OF_LINES: [(&str, usize); 25] = [
    ("analysis", 94),
    ("claims", 33),
    ("document", 8),
    ("emulator", 12),
    ("experiment", 137),
    ("files", 12),
    ("gateway", 104),
    ("jumbolab", 145),
    ("keyfile", 12),
    ("link", 49),
    ("meter", 38),
    ("model", 21),
    ("os", 196),
    ("plan", 66),
    ("probe", 206),
    ("queue", 64),
    ("report", 145),
    ("results", 58),
    ("secret", 4),
    ("sim", 70),
    ("tcp", 29),
    ("traffic", 219),
    ("units", 11),
    ("backends", 252),
    ("wire", 116),
];

/// Lines of a file without its tests: none above, and half the files below.
const LONGEST_FILE: usize = 600;
const LONGEST_MEDIAN: usize = 250;
const LONGEST_MAIN: usize = 64;

#[test]
fn files_are_short() {
    let mut problems = Vec::new();
    let mut lengths = Vec::new();
    for file in rust_files().filter(|file| !is_test(file)) {
        let length = lines_without_tests(&read(&file));
        lengths.push(length);
        let most = if file == "crates/jumbolab/src/main.rs" {
            LONGEST_MAIN
        } else {
            LONGEST_FILE
        };
        if length > most {
            problems.push(format!("{file}:{most}: {length} lines without its tests, at most {most}; split it by what it is about"));
        }
    }
    lengths.sort_unstable();
    let median = lengths[lengths.len() / 2];
    if median > LONGEST_MEDIAN {
        problems.push(format!("crates:1: half the files are longer than {median} lines, at most {LONGEST_MEDIAN}; split the long ones"));
    }
    settle(&problems);
}

#[test]
fn parts_have_the_size_that_is_agreed() {
    let mut problems = Vec::new();
    for name in crates() {
        let source = format!("crates/{name}/src/");
        let lines: usize = rust_files()
            .filter(|file| file.starts_with(&source) && !is_test(file))
            .map(|file| lines_without_tests(&read(&file)))
            .sum();
        let agreed = HUNDREDS_OF_LINES.iter().find(|(part, _)| *part == name);
        let most = agreed.map_or(0, |(_, hundreds)| 100 * hundreds);
        if lines > most {
            problems.push(format!(
                "{source}:1: {lines} lines, at most {most}; delete what has no user, or raise HUNDREDS_OF_LINES and say why"
            ));
        } else if most - lines > 300 {
            problems.push(format!(
                "{source}:1: {lines} lines, and {most} are agreed; lower HUNDREDS_OF_LINES"
            ));
        }
    }
    settle(&problems);
}
