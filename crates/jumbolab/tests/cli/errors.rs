//! Every class of message that a user can meet, provoked with the program.
//!
//! The files in `errors` are transcripts. A case is a script, whose lines begin with `$ `, and
//! the messages that the last command prints; empty lines stand between cases. In scripts,
//! `jumbolab` is the program, `weak` runs a command without capabilities, `weaker` does so in
//! the namespaces of its caller, `alone` runs a script in namespaces with loopback, and `path`
//! in those of the tests of `probe`. In a message, `[..]` stands for any text.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::process::{Command, Stdio};

use crate::harness::{Dir, Outcome};
use crate::unprivileged::probe::BED;

/// Writes the messages of the program into the transcripts.
const WRITE: &str = "JUMBOLAB_WRITE_ERRORS";

/// The placeholder for any text in a message.
const ANY: &str = "[..]";

/// The characters of the longest message.
const LONGEST: usize = 600;

/// Words that no message has: numbers and names of the system, names of the code, and words
/// that are not terms of the field. Letters on both sides make another word of them.
const PRIVATE: &[&str] = &[
    "os error",
    "errno",
    "kind:",
    "Err(",
    "Os {",
    "Some(",
    "None",
    "unwrap",
    "panicked",
    "anyhow",
    "serde",
    "toml_edit",
    "clap",
    "nix",
    "struct",
    "enum",
    "usize",
    "u16",
    "u32",
    "u64",
    "i64",
    "f64",
    "EACCES",
    "EPERM",
    "ENOENT",
    "carries",
    "carry",
    "rejected by name",
    "say",
    "says",
    "said",
    "tell",
    "tells",
    "the own",
    "told",
    "vanish",
    "vanished",
];

/// The verbs that begin a remedy, and what stands for one.
const REMEDIES: &[&str] = &[
    "`jumbolab",
    "add",
    "break",
    "check",
    "choose",
    "compare",
    "connect",
    "correct",
    "create",
    "did you mean",
    "end",
    "free",
    "keep",
    "leave",
    "lists",
    "make",
    "name",
    "needs",
    "open",
    "prints",
    "put",
    "raise",
    "record",
    "remove",
    "replace",
    "restore",
    "run",
    "save",
    "see",
    "set",
    "shows",
    "start",
    "type",
    "use",
    "write",
];

struct Case {
    /// The line of the first `$ `.
    line: usize,
    script: Vec<String>,
    messages: Vec<String>,
}

/// The cases of a transcript.
fn cases(text: &str) -> Vec<Case> {
    let mut cases: Vec<Case> = Vec::new();
    let mut is_script = false;
    for (number, line) in text.lines().enumerate() {
        let command = line.strip_prefix("$ ");
        match (command, cases.last_mut()) {
            (Some(command), Some(case)) if is_script => case.script.push(command.to_owned()),
            (Some(command), _) => cases.push(Case {
                line: number + 1,
                script: vec![command.to_owned()],
                messages: Vec::new(),
            }),
            (None, Some(case)) if !line.is_empty() && !line.starts_with('#') => {
                case.messages.push(line.to_owned());
            }
            (None, _) => {}
        }
        is_script = command.is_some();
    }
    cases
}

/// Writes a program of scripts.
fn tool(tools: &Dir, name: &str, text: &str) {
    let path = tools.write(name, &format!("#!/bin/sh\n{text}\n"));
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

/// What a script prints, and its exit code. Only the last command may print messages. No
/// results and no process are left.
#[track_caller]
fn outcome(script: &[String]) -> Outcome {
    let dir = Dir::new();
    let tools = Dir::new();
    let at = tools.path().display().to_string();
    symlink(dir.command().get_program(), tools.path().join("jumbolab")).unwrap();
    // Root of a user namespace who has none of its capabilities.
    let weak = "exec setpriv --bounding-set=-all --inh-caps=-all \"$@\"";
    tool(
        &tools,
        "weak",
        &format!("exec unshare -Ur '{at}/weaker' \"$@\""),
    );
    tool(&tools, "weaker", weak);
    let namespaces = "exec unshare -Urnmpf --mount-proc --kill-child sh -ec";
    tool(
        &tools,
        "alone",
        &format!("{namespaces} \"ip link set lo up; $1\""),
    );
    tool(&tools, "bed", BED);
    tool(
        &tools,
        "path",
        &format!("{namespaces} \". '{at}/bed'; $1\""),
    );
    let mut command = Command::new("timeout");
    command.args(["60", "sh", "-ec", &script.join("\n")]);
    for (name, value) in dir.command().get_envs() {
        command.env(name, value.unwrap_or_default());
    }
    let path = std::env::var("PATH").unwrap();
    command.env("PATH", format!("{at}:{path}"));
    command.current_dir(dir.path()).stdin(Stdio::null());
    let outcome = Outcome::of(command.output().unwrap());
    assert!(!dir.path().join("results").exists(), "{script:?}");
    dir.expect_no_process();
    outcome
}

/// Whether a line is the message, in which [`ANY`] stands for any text.
fn is_like(line: &str, message: &str) -> bool {
    let parts: Vec<&str> = message.split(ANY).collect();
    let [first, parts @ ..] = &parts[..] else {
        return false;
    };
    let Some(mut rest) = line.strip_prefix(*first) else {
        return false;
    };
    let [parts @ .., last] = parts else {
        return rest.is_empty();
    };
    for part in parts {
        match rest.split_once(part) {
            Some((_, after)) => rest = after,
            None => return false,
        }
    }
    rest.ends_with(last)
}

/// The words of `list` in a text, where no letters are beside them.
fn words_in<'a>(text: &str, list: &[&'a str]) -> Vec<&'a str> {
    let is_part = |letter: char| letter.is_alphanumeric() || letter == '_';
    let has = |word: &&str| {
        text.match_indices(*word).any(|(at, _)| {
            let (before, after) = (&text[..at], &text[at + word.len()..]);
            let ends = word.ends_with(is_part) && after.starts_with(is_part);
            !(ends || word.starts_with(is_part) && before.ends_with(is_part))
        })
    };
    list.iter().filter(|word| has(word)).copied().collect()
}

/// What is wrong with the style of the messages of an error.
fn faults(messages: &[&str]) -> Vec<String> {
    let mut faults = Vec::new();
    let all = messages.join("\n");
    if !(1..=2).contains(&messages.len()) {
        faults.push(format!(
            "{} lines instead of one, and a hint",
            messages.len()
        ));
    }
    let private = words_in(&all, PRIVATE);
    if !private.is_empty() {
        faults.push(format!("private words: {}", private.join(", ")));
    }
    // `a::b` is a path of the code, `fd00::1` an address.
    let paths = all.match_indices("::").any(|(at, _)| {
        let is_name = |letter: char| letter.is_ascii_alphabetic() && !letter.is_ascii_hexdigit();
        all[..at].ends_with(is_name) && all[at + 2..].starts_with(|c: char| c.is_alphabetic())
    });
    if paths {
        faults.push("a path of the code".to_owned());
    }
    if words_in(&all, REMEDIES).is_empty() {
        faults.push("no remedy".to_owned());
    }
    if all.chars().count() > LONGEST {
        faults.push(format!("more than {LONGEST} characters"));
    }
    faults
}

/// Checks the cases of a transcript.
#[track_caller]
fn check(name: &str, text: &str) {
    let mut wrong = Vec::new();
    let mut written: Vec<String> = text.lines().map(str::to_owned).collect();
    let cases = cases(text);
    assert!(cases.len() >= 5, "{name}: {} cases", cases.len());
    for case in cases.iter().rev() {
        let outcome = outcome(&case.script);
        let lines: Vec<&str> = outcome.stderr.lines().collect();
        let place = format!("{name}:{}: $ {}", case.line, case.script.join("\n$ "));
        let is_same = lines.len() == case.messages.len()
            && lines
                .iter()
                .zip(&case.messages)
                .all(|(line, message)| is_like(line, message));
        let mut faults = faults(&lines);
        if outcome.code != Some(2) {
            faults.push(format!("exit code {:?}", outcome.code));
        }
        if !is_same {
            let begin = case.line - 1 + case.script.len();
            let end = begin + case.messages.len();
            written.splice(begin..end, lines.iter().map(|line| (*line).to_owned()));
            if std::env::var_os(WRITE).is_none() {
                faults.push("other messages".to_owned());
            }
        }
        if !faults.is_empty() {
            wrong.push(format!(
                "{place}\n{}\n    {}",
                outcome.stderr,
                faults.join("\n    ")
            ));
        }
    }
    if std::env::var_os(WRITE).is_some() {
        let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cli/errors");
        fs::write(here.join(name), written.join("\n") + "\n").unwrap();
    }
    wrong.reverse();
    assert!(
        wrong.is_empty(),
        "{} of {} cases; {WRITE}=1 writes the messages into the transcript\n{}",
        wrong.len(),
        cases.len(),
        wrong.join("\n")
    );
}

/// A test for each transcript.
macro_rules! transcripts {
    ($($test:ident: $file:literal;)*) => {$(
        #[test]
        fn $test() {
            check($file, include_str!(concat!("errors/", $file)));
        }
    )*};
}

transcripts! {
    messages_about_keys_of_experiments: "keys.txt";
    messages_about_backends_of_experiments: "backends.txt";
    messages_about_options: "options.txt";
    messages_about_files: "files.txt";
    messages_about_results: "results.txt";
    messages_about_flows_and_meshes: "flows.txt";
    messages_about_gateways: "gateway.txt";
    messages_about_networks: "network.txt";
    messages_about_rights_and_limits: "rights.txt";
}

#[test]
fn style_is_judged_by_whole_words() {
    assert_eq!(words_in("retold, say: no", PRIVATE), ["say"]);
    assert!(faults(&["error: x.toml:3: mtu = 0: 0 is too small; write 1500"]).is_empty());
    for bad in [
        "error: x: permission denied (os error 13); use sudo",
        "error: x: units::Bytes; write another one",
        "error: x: it is wrong",
        "",
    ] {
        assert_eq!(faults(&[bad]).len(), 1, "{bad}");
    }
    assert_eq!(faults(&["use a", "use b", "use c"]).len(), 1);
}

#[test]
fn any_text_is_only_where_it_may_be() {
    assert!(is_like("a 12 b", "a [..] b"));
    assert!(is_like("a 12 b 3", "a [..] b [..]"));
    assert!(is_like("a", "a") && !is_like("ab", "a"));
    assert!(!is_like("a 12 c", "a [..] b"));
    assert!(!is_like("x a 12 b", "a [..] b"));
}
