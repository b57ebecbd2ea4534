//! The rules of the project that the compiler does not check: layers, file
//! lengths, citations, `unsafe`. ARCHITECTURE.md and CONTRIBUTING.md give the
//! reasons.
//!
//! A failure names the file, the line and the remedy.

mod calls;
mod citation;
mod documents;
mod features;
mod glossary;
mod imports;
mod lists;
mod project;
mod sentences;
mod sizes;
mod source;

use std::fs;

use imports::{Cycle, cycles};
use project::{crates, dependencies, files, is_test, line_of, read, root, rust_files};
use source::{Source, is_identifier, lines_without_tests};

/// The rows of the table of crates, lowest first. A crate depends only on rows
/// below its own, so crates of one row are independent of each other.
const LAYERS: [&[&str]; 9] = [
    &["units", "files", "secret", "document"],
    &["keyfile", "wire", "queue", "model"],
    &["link", "tcp", "meter"],
    &["os"],
    &["traffic", "probe", "emulator", "gateway", "sim"],
    &["plan"],
    &["experiment", "results", "analysis"],
    &["backends", "report", "claims"],
    &["jumbolab"],
];

/// The maximum number of files of a crate in an import cycle.
const LARGEST_CYCLE: usize = 7;

/// Crates without clocks, sockets and libc.
const NO_STD: [&str; 3] = ["units", "wire", "queue"];

/// Files that may name a backend: the effects of keys in backends, the dispatch of
/// runs, code of one backend, and synthetic plans. All others ask
/// `Backend::profile`, so that a new backend must state its properties and is not
/// taken for another one.
const NAMES_BACKENDS: [&str; 8] = [
    "crates/experiment/src/keys/support.rs",
    "crates/backends/src/run.rs",
    "crates/backends/src/backend.rs",
    "crates/backends/src/doctor/elsewhere/known_answer.rs",
    "crates/backends/src/shell.rs",
    "crates/backends/src/replay/settings.rs",
    "crates/plan/src/synthetic.rs",
    "crates/backends/src/measure/synthetic.rs",
];

#[test]
fn crates_use_only_rows_below_their_own() {
    let mut problems = Vec::new();
    for name in crates() {
        let file = format!("crates/{name}/Cargo.toml");
        let text = read(&file);
        let Some(row) = row_of(&name) else {
            problems.push(format!(
                "{file}:1: `{name}` is in no row; add it to LAYERS here and to ARCHITECTURE.md"
            ));
            continue;
        };
        let used = dependencies(&text);
        for dependency in used
            .iter()
            .filter(|used| row_of(used).is_some_and(|other| other >= row))
        {
            let line = line_of(&text, dependency);
            problems.push(format!(
                "{file}:{line}: `{name}` must not use `{dependency}`, which is not in a row below; \
                 move what is shared down, or change the layers in ARCHITECTURE.md and say why"
            ));
        }
    }
    settle(&problems);
}

#[test]
fn files_that_import_each_other_are_few() {
    let mut problems = Vec::new();
    for name in crates() {
        let large = |cycle: &Cycle| cycle.files.len() > LARGEST_CYCLE;
        for Cycle { files, upward } in cycles(&name).into_iter().filter(large) {
            problems.push(format!(
                "{}:1: {} files import each other, at most {LARGEST_CYCLE}; a module that calls its children \
                 must not be called by them: {}; upward: {}",
                files[0],
                files.len(),
                files.join(" "),
                upward.join(", ")
            ));
        }
    }
    settle(&problems);
}

#[test]
fn machines_use_no_drivers() {
    let is_of_machine = |file: &String| file.contains("/src/machine");
    let mut problems = Vec::new();
    for file in rust_files().filter(is_of_machine) {
        let source = Source::of_file(&file);
        for (number, line) in (1..).zip(source.code.lines()) {
            for io in ["crate::driver", "os::"]
                .into_iter()
                .filter(|io| line.contains(io) && !line.contains("std::os::"))
            {
                problems.push(format!(
                    "{file}:{number}: a machine has no I/O: `{io}` belongs to the driver, which tells the machine what came"
                ));
            }
        }
    }
    settle(&problems);
}

#[test]
fn unknown_senders_are_in_one_row() {
    for [one, other] in [
        ["traffic", "probe"],
        ["probe", "emulator"],
        ["emulator", "gateway"],
        ["gateway", "sim"],
        ["wire", "queue"],
        ["wire", "model"],
        ["queue", "model"],
    ] {
        assert_eq!(
            row_of(one),
            row_of(other),
            "`{one}` and `{other}` must never meet"
        );
    }
    assert!(row_of("os") < row_of("sim") && row_of("units") < row_of("wire"));
}

#[test]
fn the_lowest_crates_are_no_std() {
    let lacks = |name: &&str| {
        !read(&format!("crates/{name}/src/lib.rs"))
            .lines()
            .any(|line| line == "#![no_std]")
    };
    let problems: Vec<String> = NO_STD
        .into_iter()
        .filter(|name| crates().iter().any(|there| there == name))
        .filter(lacks)
        .map(|name| format!("crates/{name}/src/lib.rs:1: add #![no_std]: no clock and no socket exist in `{name}`"))
        .collect();
    settle(&problems);
}

#[test]
fn nothing_is_left_to_do() {
    let mut problems = Vec::new();
    for file in rust_files() {
        if file.ends_with("/mod.rs") {
            let folder = file.trim_end_matches("/mod.rs");
            problems.push(format!("{file}:1: move it to {folder}.rs"));
        }
        let source = Source::of_file(&file);
        for (number, line) in (1..).zip(source.code.lines()) {
            for left in ["todo!", "unimplemented!", "dbg!"]
                .iter()
                .filter(|left| line.contains(**left))
            {
                problems.push(format!("{file}:{number}: {left} must not stay: finish it, or reject by name at run time"));
            }
        }
    }
    settle(&problems);
}

#[test]
fn backends_are_named_where_they_are_dispatched_and_nowhere_else() {
    let mut problems = Vec::new();
    for file in rust_files().filter(|file| !is_test(file)) {
        let source = Source::of_file(&file);
        let allowed = NAMES_BACKENDS.contains(&file.as_str());
        let lines = lines_without_tests(&source.code);
        let mut named = (1..).zip(source.code.lines().take(lines));
        match named.find(|(_, line)| names_backend(line)) {
            Some((number, _)) if !allowed => problems.push(format!(
                "{file}:{number}: ask `Backend::profile` for the property that is meant, not for a backend"
            )),
            None if allowed => {
                problems.push(format!("{file}:1: it names no backend; take it from NAMES_BACKENDS"));
            }
            _ => {}
        }
    }
    settle(&problems);
}

#[test]
fn a_backend_is_told_from_what_belongs_to_all_backends() {
    for named in [
        "backend == Backend::Sim",
        "plan::Backend::Netns => 1,",
        "Backend::Model2",
    ] {
        assert!(names_backend(named), "{named}");
    }
    for other in [
        "Backend::ALL",
        "Backend::default()",
        "OfBackend::New",
        "BACKEND: Backend",
    ] {
        assert!(!names_backend(other), "{other}");
    }
}

#[test]
fn metrics_are_named_by_the_catalogue() {
    let by_text = ["metrics.get(\"", "metrics[\"", "Metric::named(\""];
    let is_of_the_program = |file: &String| file.contains("/src/") && !is_test(file);
    let mut problems = Vec::new();
    for file in rust_files().filter(is_of_the_program) {
        let text = read(&file);
        let code = text.lines().take(lines_without_tests(&text));
        for (number, _) in (1..)
            .zip(code)
            .filter(|(_, line)| by_text.iter().any(|one| line.contains(one)))
        {
            problems.push(format!(
                "{file}:{number}: name the metric by its constant in plan::metric"
            ));
        }
    }
    settle(&problems);
}

#[test]
fn no_file_names_a_developers_machine() {
    let homes = [
        concat!("/ho", "me/"),
        concat!("/ro", "ot/"),
        concat!("/Us", "ers/"),
    ];
    let mut problems = Vec::new();
    for file in files() {
        // Binary files contain no paths that a user would type.
        let Ok(text) = fs::read_to_string(root().join(&file)) else {
            continue;
        };
        for (number, line) in (1..).zip(text.lines()) {
            let starts = |home: &str| {
                line.match_indices(home).any(|(at, _)| {
                    !line[..at].ends_with(|c: char| c.is_alphanumeric() || "._-$}*".contains(c))
                })
            };
            if homes.iter().any(|home| starts(home)) {
                problems.push(format!("{file}:{number}: a path of somebody's machine; name it relative to the repository"));
            }
        }
    }
    settle(&problems);
}

/// Whether `code` names a variant of `Backend`.
fn names_backend(code: &str) -> bool {
    code.match_indices("Backend::").any(|(place, path)| {
        let whole = !code[..place].ends_with(is_identifier);
        let mut letters = code[place + path.len()..].chars();
        let upper = letters.next().is_some_and(char::is_uppercase);
        whole && upper && letters.next().is_some_and(char::is_lowercase)
    })
}

fn row_of(name: &str) -> Option<usize> {
    LAYERS.iter().position(|row| row.contains(&name))
}

#[track_caller]
fn settle(problems: &[String]) {
    assert!(problems.is_empty(), "\n{}\n", problems.join("\n"));
}
