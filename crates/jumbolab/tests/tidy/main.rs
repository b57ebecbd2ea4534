//! The rules of the project that the compiler does not check: layers, file
//! lengths, citations, `unsafe`. ARCHITECTURE.md and CONTRIBUTING.md give the
//! reasons.
//!
//! A failure names the file, the line and the remedy.

mod citation;
mod documents;
mod features;
mod glossary;
mod imports;
mod project;
mod sentences;
mod sizes;
mod source;

use std::fs;

use imports::{Cycle, cycles};
use project::{crates, dependencies, files, is_test, line_of, read, root, rows, rust_files, table};
use source::{Source, cited, is_identifier, lines_without_tests};

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

/// The only crate that may contain `unsafe`, apart from tests that fork and benchmarks.
const UNSAFE: &str = "os";

/// The only folder of that crate that calls Linux, and the crates by which it does.
const CALLS_LINUX: &str = "crates/os/src/linux";
/// The folder of calls of one other system each, by some of these crates.
const CALLS_OTHERS: &str = "crates/os/src/elsewhere/sys";
const OF_LINUX: [&str; 5] = [
    "libc",
    "netlink_packet_core",
    "netlink_packet_route",
    "netlink_sys",
    "nix",
];

/// The file with the options of sockets of macOS and FreeBSD, for which `libc` has names, too.
const OPTIONS_ELSEWHERE: &str = "crates/os/src/elsewhere/socket/option.rs";

/// The only crate that creates, replaces and removes files: it never follows a
/// link in a folder of somebody else's.
const FILES: &str = "files";

/// Calls that it replaces.
const WRITES_FILES: [&str; 15] = [
    "File::create",
    "File::create_new",
    "File::options",
    "OpenOptions",
    "fs::write",
    "fs::rename",
    "fs::copy",
    "fs::hard_link",
    "fs::create_dir",
    "fs::create_dir_all",
    "fs::remove_file",
    "fs::remove_dir",
    "fs::remove_dir_all",
    "symlink",
    "DirBuilder",
];

/// Calls that open files of users; `files` has limits for what they read.
const READS_FILES: [&str; 3] = ["File::open", "fs::read", "fs::read_to_string"];

/// Reads files of the kernel, in `/proc` and `/sys`.
const READS_THE_KERNEL: [&str; 5] = [
    "crates/os/",
    "crates/probe/src/driver/",
    "crates/traffic/src/driver/jumbogram/",
    "crates/backends/src/testbed/",
    "crates/gateway/src/driver/host.rs",
];

/// Files that write settings of the kernel, in `/proc`.
const WRITES_SETTINGS: [&str; 3] = [
    "crates/os/src/remote/host_changes/kernel.rs",
    "crates/os/src/linux/namespace.rs",
    "crates/os/src/linux/sandbox.rs",
];

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
fn unsafe_code_lives_in_one_crate() {
    let home = format!("crates/{UNSAFE}/");
    let mut problems = Vec::new();
    for file in rust_files()
        .filter(|file| !file.starts_with(&home) && !file.contains("/benches/") && !is_test(file))
    {
        let source = Source::of_file(&file);
        for (number, line) in (1..).zip(source.code.lines()) {
            if line
                .split(|c: char| !is_identifier(c))
                .any(|word| word == "unsafe")
            {
                problems.push(format!("{file}:{number}: `unsafe` belongs to `{UNSAFE}`; put a safe function there and call it"));
            }
        }
    }
    settle(&problems);
}

#[test]
fn linux_is_called_in_one_folder_of_os() {
    let others = |file: &String| {
        file.starts_with(&format!("crates/{UNSAFE}/src/"))
            && !file.starts_with(CALLS_LINUX)
            && !file.starts_with(CALLS_OTHERS)
            && file != OPTIONS_ELSEWHERE
            && !is_test(file)
    };
    let mut problems = Vec::new();
    for file in rust_files().filter(others) {
        let source = Source::of_file(&file);
        let lines = lines_without_tests(&source.code);
        for (number, line) in (1..).zip(source.code.lines().take(lines)) {
            let mut words = line.split(|c: char| !is_identifier(c));
            if let Some(word) = words.find(|word| OF_LINUX.contains(word)) {
                problems.push(format!(
                    "{file}:{number}: `{word}` calls Linux; put what it does in {CALLS_LINUX} and call that"
                ));
            }
        }
    }
    settle(&problems);
}

#[test]
fn a_step_of_the_wall_clock_does_not_reach_a_gateway() {
    let is_of_gateways = |file: &String| {
        ["gateway/", "os/src/linux/pacing"]
            .iter()
            .any(|name| file.starts_with(&format!("crates/{name}")))
    };
    let mut problems = Vec::new();
    for file in rust_files().filter(is_of_gateways) {
        for word in read(&file).split(|c: char| !is_identifier(c)) {
            if ["Epoch", "monotonic_at", "wall_offset_nanos"].contains(&word) {
                problems.push(format!(
                    "{file}:1: `{word}` asks for the time of day; use `clock::monotonic`, which nobody sets"
                ));
            }
        }
    }
    settle(&problems);
}

/// The calls of the program outside of the crate `files`, tests left out: the file, the
/// line's number and the call.
fn calls_outside<'a>(calls: &'a [&'a str]) -> Vec<(String, usize, &'a str)> {
    let home = format!("crates/{FILES}/");
    let is_of_the_program =
        |file: &String| file.contains("/src/") && !file.starts_with(&home) && !is_test(file);
    let mut found = Vec::new();
    for file in rust_files().filter(is_of_the_program) {
        let source = Source::of_file(&file);
        let lines = lines_without_tests(&read(&file));
        for (number, line) in (1..).zip(source.code.lines().take(lines)) {
            let made = calls.iter().filter(|call| has_call(line, call));
            found.extend(made.map(|call| (file.clone(), number, *call)));
        }
    }
    found
}

#[test]
fn files_are_written_in_one_crate() {
    let found = calls_outside(&WRITES_FILES).into_iter();
    let found = found.filter(|(file, ..)| !WRITES_SETTINGS.contains(&file.as_str()));
    let problem = |(file, number, call): (String, usize, &str)| {
        format!("{file}:{number}: {call} may follow a link out of a results folder; use `{FILES}`")
    };
    settle(&found.map(problem).collect::<Vec<_>>());
}

#[test]
fn files_of_users_are_read_in_one_crate() {
    let reads_the_kernel =
        |file: &str| READS_THE_KERNEL.iter().any(|place| file.starts_with(place));
    let found = calls_outside(&READS_FILES).into_iter();
    let found = found.filter(|(file, ..)| !reads_the_kernel(file));
    let problem = |(file, number, call): (String, usize, &str)| {
        format!("{file}:{number}: {call} has no limit; use `{FILES}`")
    };
    settle(&found.map(problem).collect::<Vec<_>>());
}

#[test]
fn calls_that_write_files_are_told_from_others() {
    assert!(has_call("let file = fs::write(path, text)?;", "fs::write"));
    assert!(has_call("std::fs::File::create(path)", "File::create"));
    assert!(!has_call("File::create_new(path)", "File::create"));
    assert!(!has_call("defs::write(path)", "fs::write"));
}

/// Whether `line` has `call` as a whole path.
fn has_call(line: &str, call: &str) -> bool {
    line.match_indices(call).any(|(at, _)| {
        !line[..at].ends_with(is_identifier) && !line[at + call.len()..].starts_with(is_identifier)
    })
}

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
