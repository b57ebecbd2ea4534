//! Prints the tables of docs/reference/keys.md and docs/reference/support.md.

use link::written::queues;
use plan::{Backend, printed};

use super::index::joined;
use super::queue::one_of;
use super::row::QUEUES;
use super::support::SUPPORTED;
use super::table::sections;
use super::{Backends, DefaultValue, Key, KeySupport, Section, Support};

/// The tables whose rows are written as lists, each with its own heading.
pub(super) const LISTS: [&str; 9] = [
    "published",
    "report.row",
    "report.figure",
    "report.figure.points",
    "claim",
    "jump",
    "unstated",
    "stated",
    "irrelevant",
];

/// A page of docs/reference, and what brings its tables up to date.
type Page = (&'static str, fn(&str) -> String);

/// All keys, and the backends' support of keys that not every backend supports
/// unconditionally.
pub const PAGES: [Page; 2] = [
    ("keys.md", |page| printed(page, "keys", &of_keys())),
    ("support.md", |page| {
        printed(page, "backends", &of_backends())
    }),
];

fn of_keys() -> String {
    let mut lines = Vec::new();
    let mut tables: Vec<(Vec<String>, String)> = Vec::new();
    for section in sections() {
        if !lines.is_empty() {
            lines.push(String::new());
        }
        let heading = heading(section);
        lines.extend([format!("## {heading}"), String::new()]);
        if !section.about.is_empty() {
            lines.extend([section.about.to_owned(), String::new()]);
        }
        let rows: Vec<String> = section.keys.iter().map(row).collect();
        let earlier = tables.iter().find(|(earlier, _)| *earlier == rows);
        match earlier.filter(|_| rows.len() > 1) {
            Some((_, earlier)) => lines.push(format!("Its keys are those of {earlier}.")),
            None => {
                lines.push("| key | type | default | meaning |".to_owned());
                lines.push("|---|---|---|---|".to_owned());
                lines.extend(rows.iter().cloned());
                tables.push((rows, heading));
            }
        }
    }
    lines.join("\n") + "\n"
}

fn row(key: &Key) -> String {
    format!(
        "| `{}` | {} | {} | {} |",
        key.name,
        kind(key),
        default(key.default),
        key.meaning
    )
}

/// The tables of a section, and their kinds of traffic.
fn heading(section: &Section) -> String {
    let tables = section.tables.iter().map(|table| match *table {
        "" => "Head of the file".to_owned(),
        list if LISTS.contains(&list) => format!("`[[{list}]]`"),
        table => format!("`[{table}]`"),
    });
    let tables: Vec<String> = tables.collect();
    let kinds = section.kinds.iter().map(|kind| format!("`\"{kind}\"`"));
    let kinds: Vec<String> = kinds.collect();
    match kinds.is_empty() {
        true => tables.join(", "),
        false => format!("{}, `kind =` {}", tables.join(", "), kinds.join(", ")),
    }
}

fn kind(key: &Key) -> String {
    match key.kind {
        QUEUES => one_of(&queues()),
        kind => kind.to_owned(),
    }
}

fn default(default: DefaultValue) -> String {
    match default {
        DefaultValue::Text(text) => format!("`\"{text}\"`"),
        DefaultValue::Number(number) => format!("`{number}`"),
        DefaultValue::Required => "required".to_owned(),
        DefaultValue::Absent => "none".to_owned(),
        DefaultValue::Follows(words) => words.to_owned(),
    }
}

fn of_backends() -> String {
    let cells = |cells: Vec<String>| format!("| {} |", cells.join(" | "));
    let names = Backend::ALL.iter().map(|backend| format!("`{backend}`"));
    let mut lines = vec![
        cells(["key".to_owned()].into_iter().chain(names).collect()),
        "|---".repeat(1 + Backend::ALL.len()) + "|",
    ];
    let mut rows: Vec<(Vec<String>, Backends)> = Vec::new();
    for section in sections() {
        for (keys, backends) in alike(section) {
            let whole = keys.len() == section.keys.len();
            let keys = named(section, &keys);
            match rows.last_mut() {
                Some((names, other)) if whole && *other == backends => names.push(keys),
                _ => rows.push((vec![keys], backends)),
            }
        }
    }
    let mut notes = Notes::default();
    for (keys, backends) in rows {
        let supports = Backend::ALL
            .iter()
            .map(|backend| backends.support(*backend));
        if supports.clone().any(|support| *support != SUPPORTED) {
            let supports = supports.map(|support| words(support, &mut notes));
            let row = std::iter::once(keys.join(", ")).chain(supports);
            lines.push(cells(row.collect()));
        }
    }
    lines.push(String::new());
    lines.extend(
        (1..)
            .zip(&notes.0)
            .map(|(number, note)| format!("{number}. {note}")),
    );
    lines.join("\n") + "\n"
}

/// Conditions and reasons, each once, numbered from 1.
#[derive(Default)]
struct Notes(Vec<String>);

impl Notes {
    /// `text` with the number of this note.
    fn of(&mut self, text: &str, note: &str) -> String {
        let note = note.trim_start_matches([',', ';', ' ']);
        if note.is_empty() {
            return text.to_owned();
        }
        let place = self.0.iter().position(|other| other == note);
        let place = place.unwrap_or_else(|| {
            self.0.push(note.to_owned());
            self.0.len() - 1
        });
        format!("{text} ({})", place + 1)
    }
}

/// The keys of a section grouped by equal support, in order.
fn alike(section: &Section) -> Vec<(Vec<&'static str>, Backends)> {
    let mut groups: Vec<(Vec<&'static str>, Backends)> = Vec::new();
    for Key { name, backends, .. } in section.keys {
        match groups.iter_mut().find(|(_, other)| other == backends) {
            Some((names, _)) => names.push(name),
            None => groups.push((vec![name], *backends)),
        }
    }
    groups
}

/// Keys of a section, the first with its table.
fn named(section: &Section, keys: &[&str]) -> String {
    let all = keys.len() > 1 && keys.len() == section.keys.len();
    let names: Vec<String> = match all {
        true => vec![format!("**{}**", heading(section))],
        false => {
            let table = section.tables.first().copied().unwrap_or_default();
            let first = keys.first().map(|name| joined(table, name));
            let others = keys.iter().skip(1).map(|name| (*name).to_owned());
            let names = first.into_iter().chain(others);
            names.map(|name| format!("`{name}`")).collect()
        }
    };
    let kinds = section.kinds.iter().map(|kind| format!("`\"{kind}\"`"));
    let kinds: Vec<String> = kinds.collect();
    match all || kinds.is_empty() || section.tables.first() != Some(&"traffic") {
        true => names.join(", "),
        false => format!("{} of `kind =` {}", names.join(", "), kinds.join(", ")),
    }
}

/// A backend's support of a key in words.
fn words(support: &Support, notes: &mut Notes) -> String {
    let condition = support.condition;
    match support.takes {
        KeySupport::Any => notes.of("yes", condition),
        KeySupport::NoEffect(why) => {
            let words = notes.of("no effect", why);
            notes.of(&words, condition)
        }
        KeySupport::Nothing(why) => notes.of("no", why),
        KeySupport::Only(values, why) => {
            let words = notes.of(&format!("only {}", quoted(values)), why);
            notes.of(&words, condition)
        }
        KeySupport::AllBut(rejected) => {
            let mut words = notes.of("yes", condition);
            let mut rest = rejected;
            while let Some((_, why)) = rest.first() {
                let same = rest.iter().take_while(|(_, other)| other == why).count();
                let (group, others) = rest.split_at(same);
                let values: Vec<&str> = group.iter().map(|(value, _)| *value).collect();
                words += &notes.of(&format!("; not {}", quoted(&values)), why);
                rest = others;
            }
            words
        }
        KeySupport::Measured(values, why) => {
            let words = notes.of(&quoted(values), condition);
            notes.of(&format!("{words}; others are kept"), why)
        }
    }
}

fn quoted(values: &[&str]) -> String {
    let values: Vec<String> = values.iter().map(|value| format!("`{value}`")).collect();
    values.join(", ")
}
