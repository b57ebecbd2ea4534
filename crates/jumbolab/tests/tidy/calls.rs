//! Which code may call what: `unsafe`, Linux, the wall clock, files.

use crate::project::{is_test, read, rust_files};
use crate::settle;
use crate::source::{Source, is_identifier, lines_without_tests};

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
