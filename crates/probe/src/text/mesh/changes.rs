//! Changes of a mesh in words and as lines of JSON.

use std::collections::BTreeSet;

use document::{Block, Document, Item, List, ListKind, Section, Style, json_line};
use serde::Serialize;
use units::Bytes;

use super::{of_mesh, words};
use crate::machine::{ChangeKind, MeshComparison, MeshOutcome, PathChange, PathState, Verdict};
use crate::text::sentence::bytes;

#[derive(Serialize)]
struct ComparisonLine<'a> {
    kind: &'static str,
    time: Option<&'a str>,
    requested_bytes_before: Bytes,
    requested_bytes: Bytes,
    better: usize,
    worse: usize,
    added: usize,
    removed: usize,
    unchanged: usize,
    verdict: Verdict,
    summary: String,
    mesh: Vec<String>,
}

#[derive(Serialize)]
struct ChangeLine<'a> {
    kind: &'static str,
    from: &'a str,
    to: &'a str,
    change: Option<ChangeKind>,
    worse: bool,
    passed_bytes_before: Option<Bytes>,
    passed_bytes: Option<Bytes>,
    verdict_before: Option<Verdict>,
    verdict: Option<Verdict>,
    text: String,
}

/// The numbers of paths by what became of them.
struct Counts {
    better: usize,
    worse: usize,
    added: usize,
    removed: usize,
}

impl Counts {
    fn of(comparison: &MeshComparison) -> Self {
        let count = |is: fn(&PathChange) -> bool| {
            let changes = comparison.changes.iter();
            changes.filter(|change| is(change)).count()
        };
        Self {
            better: count(PathChange::is_better),
            worse: count(PathChange::is_worse),
            added: count(|change| change.before.is_none()),
            removed: count(|change| change.after.is_none()),
        }
    }
}

/// The report of a comparison: its answer, the changes, and the mesh as it is now.
pub fn of_mesh_comparison(outcome: &MeshOutcome, comparison: &MeshComparison) -> Document {
    let now = of_mesh(outcome);
    let title = summary(comparison);
    let changes = grouped(comparison).into_iter().map(Item::from).collect();
    let changes = List {
        kind: ListKind::Facts,
        items: changes,
        brief: None,
    };
    let changes = (!changes.items.is_empty()).then(|| Section {
        id: "changes",
        blocks: vec![Block::heading("Changes"), Block::List(changes)],
    });
    let mut present = vec![Block::heading("The mesh now")];
    present.extend(now.head);
    let present = Section {
        id: "now",
        blocks: present,
    };
    let sections = changes.into_iter().chain([present]).chain(now.sections);
    Document {
        head: vec![Block::paragraph(Style::Answer, title.clone())],
        title,
        sections: sections.collect(),
    }
}

/// A line for each group of paths that changed alike, then the answer about the mesh as it
/// is now, and the hosts that dropped out.
pub fn mesh_change_lines(outcome: &MeshOutcome, comparison: &MeshComparison) -> Vec<String> {
    let mut lines = grouped(comparison);
    lines.extend(words::answer(outcome, &outcome.mesh()));
    lines.extend(words::lost(outcome));
    lines
}

/// An object for the comparison, which was made at `time` during a watch, then one for each
/// path that changed; without line ends.
pub fn mesh_comparison_json(
    outcome: &MeshOutcome,
    comparison: &MeshComparison,
    time: Option<&str>,
) -> Vec<String> {
    let [asked_before, asked] = comparison.asked;
    let counts = Counts::of(comparison);
    let mut lines = vec![json_line(&ComparisonLine {
        kind: "mesh_comparison",
        time,
        requested_bytes_before: asked_before,
        requested_bytes: asked,
        better: counts.better,
        worse: counts.worse,
        added: counts.added,
        removed: counts.removed,
        unchanged: comparison.unchanged,
        verdict: outcome.verdict(),
        summary: summary(comparison),
        mesh: words::answer(outcome, &outcome.mesh()),
    })];
    lines.extend(comparison.changes.iter().map(|change| {
        let [passed_before, passed] = change.passed();
        let verdict = |state: Option<PathState>| state?.verdict;
        json_line(&ChangeLine {
            kind: "mesh_change",
            from: &change.from,
            to: &change.to,
            change: change.kind(),
            worse: change.is_worse(),
            passed_bytes_before: passed_before,
            passed_bytes: passed,
            verdict_before: verdict(change.before),
            verdict: verdict(change.after),
            text: format!("{} to {}: {}", change.from, change.to, words_of(change)),
        })
    }));
    lines
}

/// How many paths got better and worse, in one sentence.
fn summary(comparison: &MeshComparison) -> String {
    let counts = Counts::of(comparison);
    let parts = [
        (counts.worse, "got worse"),
        (counts.better, "got better"),
        (counts.added, "were added"),
        (counts.removed, "were removed"),
        (comparison.unchanged, "did not change"),
    ];
    let total = comparison.changes.len() + comparison.unchanged;
    let parts = parts.into_iter().filter(|(count, _)| *count > 0);
    let mut parts: Vec<String> = parts
        .map(|(count, what)| format!("{count} {what}"))
        .collect();
    let last = parts.pop().unwrap_or_default();
    let list = match parts.is_empty() {
        true => last,
        false => format!("{} and {last}", parts.join(", ")),
    };
    let changed = match comparison.changes.is_empty() {
        true => format!("None of {total} paths changed"),
        false => format!("Of {total} paths, {list}"),
    };
    let [before, now] = comparison.asked;
    let asked = match before == now {
        true => String::new(),
        false => format!(
            "; packets of {} bytes were requested before, and of {} now",
            before.get(),
            now.get()
        ),
    };
    format!("{changed}{asked}.")
}

/// A line for each group of paths that changed alike, the worse ones first.
fn grouped(comparison: &MeshComparison) -> Vec<String> {
    let mut groups: Vec<(bool, String, Vec<&PathChange>)> = Vec::new();
    for change in &comparison.changes {
        let text = words_of(change);
        match groups.iter_mut().find(|(_, other, _)| *other == text) {
            Some((.., paths)) => paths.push(change),
            None => groups.push((change.is_worse(), text, vec![change])),
        }
    }
    groups.sort_by_key(|(is_worse, ..)| !is_worse);
    let lines = groups.into_iter();
    lines
        .map(|(_, text, paths)| format!("{}: {text}", place(&paths)))
        .collect()
}

/// The change of a path, without its name.
fn words_of(change: &PathChange) -> String {
    let is = |size: Bytes| match size {
        Bytes::ZERO => "nothing passes".to_owned(),
        size => format!("the path MTU is {}", bytes(size)),
    };
    let was = |size: Bytes| match size {
        Bytes::ZERO => "nothing passed".to_owned(),
        size => format!("the path MTU was {}", bytes(size)),
    };
    let place = match (change.before, change.after) {
        (None, _) => Some("new in the mesh"),
        (_, None) => Some("removed from the mesh"),
        _ if change.kind() == Some(ChangeKind::New) => Some("seen now"),
        _ if change.kind() == Some(ChangeKind::Gone) => Some("not seen any more"),
        _ => None,
    };
    let sizes = match change.passed() {
        [None, None] => None,
        [None, Some(now)] => Some(is(now)),
        [Some(before), None] => Some(was(before)),
        [Some(before), Some(now)] if before == now => None,
        [Some(before), Some(now)] if before.min(now) == Bytes::ZERO => {
            Some(format!("{}, and {} before", is(now), was(before)))
        }
        [Some(before), Some(now)] => {
            let verb = if before < now { "grew" } else { "shrank" };
            let (before, now) = (before.get(), now.get());
            Some(format!("the path MTU {verb} from {before} to {now} bytes"))
        }
    };
    let verdicts = change.verdicts().filter(|[before, now]| before != now);
    let verdict = verdicts.map(|[before, now]| {
        let [before, now] = [before, now].map(name);
        format!("the verdict is {now}, {before} before")
    });
    let parts = [place.map(str::to_owned), sizes, verdict];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    parts.join("; ")
}

const fn name(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Clean => "clean",
        Verdict::Unclear => "unclear",
        Verdict::Problem => "problem",
    }
}

/// The paths, by the host that all of them have in common if there is one.
fn place(paths: &[&PathChange]) -> String {
    let from: BTreeSet<&str> = paths.iter().map(|path| &*path.from).collect();
    let to: BTreeSet<&str> = paths.iter().map(|path| &*path.to).collect();
    if from.len() == 1 || to.len() == 1 {
        return format!("{} to {}", words::listed(&from), words::listed(&to));
    }
    let is_in_all = |host: &&str| {
        let mut paths = paths.iter();
        paths.all(|path| path.from == *host || path.to == *host)
    };
    match from.iter().copied().find(is_in_all) {
        Some(host) => {
            let others = from.union(&to).filter(|other| **other != host);
            format!("between {host} and {}", words::listed(others))
        }
        None => {
            let pairs = paths.iter();
            words::listed(pairs.map(|path| format!("{} to {}", path.from, path.to)))
        }
    }
}
