//! Links, anchors and paths in Markdown files lead somewhere.

use std::collections::BTreeSet;
use std::path::Path;

use crate::project::{crates, files, read, table};
use crate::settle;

/// Ends of file names that only files of the project have.
const OWN: [&str; 6] = [".rs", ".md", ".py", ".sh", ".lua", ".service"];

/// Names that stand for any file, in descriptions of the style.
const STAND_FOR_ANY: [&str; 3] = ["foo.rs", "foo/tests.rs", "mod.rs"];

/// Crates with the name of a folder that runs write.
const OF_RUNS: [&str; 2] = ["files", "results"];

fn documents() -> impl Iterator<Item = String> {
    files().into_iter().filter(|file| file.ends_with(".md"))
}

/// The files and folders of the project.
struct Tree {
    paths: BTreeSet<String>,
    /// Its top folders, and those of `crates`.
    first: BTreeSet<String>,
}

impl Tree {
    fn of(files: &[String]) -> Self {
        let mut paths = BTreeSet::new();
        for file in files {
            let all = Path::new(file).ancestors().filter_map(Path::to_str);
            paths.extend(all.filter(|path| !path.is_empty()).map(str::to_owned));
        }
        let crates = crates().into_iter();
        let top = paths.iter().filter_map(|path| path.split_once('/'));
        let top = top.map(|(first, _)| first.to_owned());
        Self {
            first: top.chain(crates).collect(),
            paths,
        }
    }

    /// The paths that end with `path`, as whole components.
    fn ending_with<'a>(&'a self, path: &'a str) -> impl Iterator<Item = &'a str> {
        let all = self.paths.iter().map(String::as_str);
        all.filter(move |full| {
            let before = full.strip_suffix(path);
            before.is_some_and(|before| before.is_empty() || before.ends_with('/'))
        })
    }

    /// Whether `word` in backquotes names a file or folder of the project, so that it
    /// must exist.
    fn is_own(&self, word: &str) -> bool {
        let letters = |c: char| c.is_ascii_alphanumeric() || "._/-".contains(c);
        if !word.chars().all(letters) || word.starts_with('/') || STAND_FOR_ANY.contains(&word) {
            return false;
        }
        let (first, rest) = word.split_once('/').unwrap_or((word, ""));
        let is_run = OF_RUNS.contains(&first) && !rest.starts_with("src");
        let is_path = !rest.is_empty() && self.first.contains(first) && !is_run;
        is_path || OWN.iter().any(|end| word.ends_with(end))
    }

    /// The words in backquotes of a line that name nothing. A name without a folder is
    /// looked for in the crate of the path in front of it.
    fn dead<'a>(&self, line: &'a str) -> Vec<&'a str> {
        let mut crate_before = None;
        let words = line.split('`').skip(1).step_by(2);
        let mut dead = Vec::new();
        for word in words.filter(|word| self.is_own(word)) {
            let path = word.trim_end_matches('/');
            let mut found = self.ending_with(path);
            let first = match (&crate_before, path.contains('/')) {
                (Some(home), false) => found.find(|full| full.starts_with(home)),
                _ => found.next(),
            };
            match first {
                None => dead.push(word),
                Some(full) if path.contains('/') => {
                    let home = full.strip_prefix("crates/");
                    let home = home.and_then(|path| path.split_once('/'));
                    crate_before = home.map(|(name, _)| format!("crates/{name}/"));
                }
                Some(_) => {}
            }
        }
        dead
    }
}

/// The names of tests in backquotes: words of at least four parts.
fn named_tests(text: &str) -> impl Iterator<Item = &str> {
    let is_part = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    text.split('`')
        .skip(1)
        .step_by(2)
        .filter(move |word| word.chars().all(is_part) && word.matches('_').count() >= 3)
}

#[test]
fn each_promise_of_security_names_a_test_that_exists() {
    const FILE: &str = "SECURITY.md";
    let is_code = |file: &String| file.ends_with(".rs") || file.ends_with(".py");
    let functions: BTreeSet<String> = files()
        .into_iter()
        .filter(is_code)
        .flat_map(|file| {
            let lines: Vec<String> = read(&file).lines().map(str::to_owned).collect();
            lines.into_iter().filter_map(|line| {
                let line = line.trim_start();
                let named = line
                    .strip_prefix("fn ")
                    .or_else(|| line.strip_prefix("def "))?;
                Some(named.split('(').next()?.to_owned())
            })
        })
        .collect();
    let mut problems = Vec::new();
    for (number, line) in (1..).zip(read(FILE).lines()) {
        let missing = named_tests(line).filter(|name| !functions.contains(*name));
        problems.extend(missing.map(|name| format!("{FILE}:{number}: no test is called {name}")));
    }
    for (number, cells) in table(FILE) {
        if cells.len() == 2 && cells[0] != "promise" && named_tests(&cells[1]).next().is_none() {
            problems.push(format!(
                "{FILE}:{number}: name the test that holds this promise"
            ));
        }
    }
    settle(&problems);
}

#[test]
fn every_path_in_a_document_exists() {
    let tree = Tree::of(&files());
    let mut problems = Vec::new();
    for file in documents() {
        for (number, line) in (1..).zip(read(&file).lines()) {
            for word in tree.dead(line) {
                problems.push(format!(
                    "{file}:{number}: there is no `{word}`; name what there is now"
                ));
            }
        }
    }
    settle(&problems);
}

/// The documents to which the links of a document lead, once for each link.
fn linked(file: &str) -> Vec<String> {
    let text = read(file);
    let targets = text.split("](").skip(1);
    let targets = targets.filter_map(|rest| rest.split([')', '#']).next());
    let documents = targets.filter(|target| target.ends_with(".md") && !target.contains("://"));
    documents.map(|target| beside(file, target)).collect()
}

/// The contents of the book name each page once.
#[test]
fn every_page_is_in_the_book_once() {
    const SUMMARY: &str = "docs/SUMMARY.md";
    let linked = linked(SUMMARY);
    let mut problems = Vec::new();
    let pages = documents().filter(|file| file.starts_with("docs/") && file != SUMMARY);
    for page in pages {
        let times = linked.iter().filter(|file| **file == page).count();
        if times != 1 {
            problems.push(format!("{SUMMARY}:1: name {page} once, not {times} times"));
        }
    }
    settle(&problems);
}

#[test]
fn the_readme_is_short() {
    let lines = read("README.md").lines().count();
    assert!(lines <= 100, "README.md has {lines} lines, at most 100");
}

#[test]
fn every_link_in_a_document_leads_to_a_file_and_a_heading() {
    let tree = Tree::of(&files());
    let mut problems = Vec::new();
    for file in documents() {
        for (number, line) in (1..).zip(read(&file).lines()) {
            for target in line.split("](").skip(1) {
                let target = target.split(')').next().unwrap_or_default();
                if let Some(problem) = fault(&tree, &file, target) {
                    problems.push(format!("{file}:{number}: {target}: {problem}"));
                }
            }
        }
    }
    settle(&problems);
}

/// What is wrong with a link of `file`.
fn fault(tree: &Tree, file: &str, target: &str) -> Option<&'static str> {
    if target.starts_with("https://") || target.starts_with("http://") {
        return None;
    }
    let (path, anchor) = target.split_once('#').unwrap_or((target, ""));
    let mut full = match path {
        "" => file.to_owned(),
        path => beside(file, path),
    };
    if !tree.paths.contains(&full) {
        return Some("no such file");
    }
    if file.starts_with("docs/") && !full.starts_with("docs") {
        return Some("leaves the book; name the file in backquotes instead");
    }
    if full.ends_with(".md") && !anchor.is_empty() {
        let text = read(&std::mem::take(&mut full));
        let id = format!("<a id=\"{anchor}\">");
        let mut headings = text.lines().filter(|line| line.starts_with('#'));
        if !text.contains(&id) && !headings.any(|line| slug(line) == anchor) {
            return Some("no such heading");
        }
    }
    None
}

/// `path` as it is written in `file`, from the root.
fn beside(file: &str, path: &str) -> String {
    let mut parts: Vec<&str> = file.split('/').collect();
    parts.pop();
    for part in path.trim_end_matches('/').split('/') {
        match part {
            ".." => drop(parts.pop()),
            "." => {}
            part => parts.push(part),
        }
    }
    parts.join("/")
}

/// The anchor of a heading.
fn slug(heading: &str) -> String {
    let letters = heading.trim_start_matches('#').trim().to_lowercase();
    let kept = letters
        .chars()
        .filter(|c| c.is_alphanumeric() || " -_".contains(*c));
    kept.map(|c| if c == ' ' { '-' } else { c }).collect()
}

#[test]
fn a_dead_path_is_told_from_a_live_one() {
    let known = [
        "README.md",
        "docs/a.md",
        "crates/os/src/tun.rs",
        "crates/os/src/tun/ring.rs",
        "crates/plan/src/backend.rs",
    ];
    let tree = Tree::of(&known.map(str::to_owned));
    for (line, dead) in [
        ("`os/src/tun.rs` and `ring.rs`, then `tun.rs`", vec![]),
        ("`os/src/tap.rs`", vec!["os/src/tap.rs"]),
        ("`os/src/tun.rs`, `backend.rs`", vec!["backend.rs"]),
        ("`backend.rs`, `plan/src/`", vec![]),
        ("`docs/b.md`, `c.py`", vec!["docs/b.md", "c.py"]),
        // Files of users, of runs and of the system.
        (
            "`my.toml`, `results/NAME-HASH`, `/proc/a.md`, `un.rs x`",
            vec![],
        ),
        ("`un.rs`", vec!["un.rs"]),
    ] {
        assert_eq!(tree.dead(line), dead, "{line}");
    }
    assert_eq!(fault(&tree, "README.md", "docs/"), None);
    assert_eq!(
        fault(&tree, "docs/a.md", "../README.md"),
        Some("leaves the book; name the file in backquotes instead")
    );
    assert_eq!(fault(&tree, "docs/a.md", "README.md"), Some("no such file"));
    assert_eq!(slug("## The plan, and `its` hash"), "the-plan-and-its-hash");
}
