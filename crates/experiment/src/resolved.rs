//! Writes an experiment as TOML with all defaults filled in.

use std::collections::BTreeSet;

use keyfile::{KeyPath, Table, Value, quoted};
use plan::{Assertion, Backend, Compare, Level, Report, ReportFigure, Shows, StepClaim, Unstated};
use serde::Serialize;

use super::aliases::Aliases;
use super::choices::LEFT_OUT;
use super::published::Row;
use super::report;
use super::sweep::Factor;

/// A valid experiment after `--set`.
pub(super) struct Resolved<'a> {
    /// The keys of the file's head, of `[trials]` and of `[compare]`.
    pub(super) head: &'a [(String, Value)],
    /// The keys of the first cell.
    pub(super) cell: &'a [(String, Value)],
    /// The tables of a cell as written.
    pub(super) body: &'a Table,
    /// The keys that differ between cells.
    pub(super) varying: &'a BTreeSet<String>,
    pub(super) aliases: &'a Aliases,
    pub(super) factors: &'a [Factor],
    pub(super) backend: Backend,
    pub(super) compare: &'a Compare,
    pub(super) leading: &'a [String],
    pub(super) paired: &'a [String],
    pub(super) rows: &'a [Row],
    pub(super) claims: &'a [Assertion],
    pub(super) steps: &'a [StepClaim],
    pub(super) unstated: &'a [Unstated],
    pub(super) report: &'a Report,
}

/// The text so far.
#[derive(Default)]
struct Writer(String);

impl Resolved<'_> {
    /// The experiment as TOML. Keys are written in the order of the format, so
    /// their order in the file does not matter, except for factors, whose order
    /// numbers the cells.
    pub(super) fn write(&self) -> String {
        let mut writer = Writer::default();
        writer.comment("Resolved by jumbolab: --set applied, defaults written out.");
        for key in ["format", "name", "title", "source"] {
            self.head_key(&mut writer, key, key);
        }
        // The backend of the run, which `--on` may have chosen.
        writer.pair("backend", &quoted(&self.backend.to_string()));
        writer.table("aliases");
        for (alias, value) in self.aliases.declared() {
            writer.pair(alias, &value.to_string());
        }
        self.choices(&mut writer);
        self.cell_keys(&mut writer);
        writer.table("sweep");
        for factor in self.factors {
            let levels: Vec<_> = factor.levels.iter().map(|(at, _)| level(at)).collect();
            let list = format!("[{}]", levels.join(", "));
            writer.pair(&KeyPath(vec![factor.name.clone()]).to_string(), &list);
        }
        writer.table("trials");
        for key in ["repeat", "until", "retry_limit", "seed", "order"] {
            self.head_key(&mut writer, &format!("trials.{key}"), key);
        }
        writer.table("compare");
        writer.pair("factor", &quoted(&self.compare.factor));
        writer.pair("baseline", &level(&self.compare.baseline));
        for (key, names) in [("metrics", self.leading), ("paired", self.paired)] {
            if !names.is_empty() {
                writer.pair(key, &words(names));
            }
        }
        self.rows
            .iter()
            .for_each(|row| writer.listed("published", row));
        self.claims
            .iter()
            .for_each(|claim| writer.listed("claim", claim));
        self.steps
            .iter()
            .for_each(|step| writer.listed("jump", step));
        let unstated = self.unstated.iter();
        unstated.for_each(|setting| writer.listed("unstated", setting));
        writer.report(self.report);
        writer.0
    }

    fn head_key(&self, writer: &mut Writer, path: &str, key: &str) {
        if let Some((_, value)) = self.head.iter().find(|(other, _)| other == path) {
            writer.pair(key, &value.to_string());
        }
    }

    fn choices(&self, writer: &mut Writer) {
        for (choice, found) in self.aliases.choices().iter() {
            for word in &found.words {
                writer.table(&format!("choices.{choice}.{}", word.name));
                if let Some(why) = &word.left_out {
                    writer.pair(LEFT_OUT, &quoted(why));
                }
                for (path, node) in &word.keys {
                    writer.pair(&quoted(&path.to_string()), &node.value.to_string());
                }
            }
        }
    }

    /// The tables of a cell. A swept key is written in `[sweep]` only, and a
    /// key derived from swept ones as it was written, if it was.
    fn cell_keys(&self, writer: &mut Writer) {
        let mut tables: Vec<&str> = Vec::new();
        for (path, _) in self.cell {
            let (table, _) = path.rsplit_once('.').unwrap_or(("", path));
            if !tables.contains(&table) && !self.is_of_a_choice(table) {
                tables.push(table);
            }
        }
        for table in tables {
            let keys = self.cell.iter().map(|(path, _)| path);
            let mut keys =
                keys.filter(|path| path.rsplit_once('.').unwrap_or(("", path)).0 == table);
            if keys.all(|path| self.follows(path)) {
                // Even an empty table can have an effect, and only some cells have it.
                writer.comment(&format!("[{table}] follows from the factors"));
                continue;
            }
            writer.table(table);
            for (path, value) in self.cell {
                let (other, key) = path.rsplit_once('.').unwrap_or(("", path));
                let factor = self.factor(path);
                match factor {
                    _ if other != table => {}
                    Some(factor) => {
                        writer.comment(&format!("{key}: see {} in [sweep]", factor.name))
                    }
                    None if self.varying.contains(path) => self.varies(writer, path, key),
                    None => writer.pair(key, &value.to_string()),
                }
            }
        }
    }
}

impl Resolved<'_> {
    /// Whether a table belongs to a flow that only words of `[choices]` create, or
    /// to a link of which the factors set every key: another shape may lack it.
    /// It stays in these words; otherwise it would be in every cell.
    fn is_of_a_choice(&self, table: &str) -> bool {
        let Some(path) = KeyPath::parse(table) else {
            return false;
        };
        match path.0.as_slice() {
            [flows, name, ..] if flows == "flows" => {
                self.body.at(&[flows.clone(), name.clone()]).is_none()
            }
            [links, ..] if links == "links" => {
                let mut keys = self.cell.iter().filter(|(path, _)| {
                    path.rsplit_once('.')
                        .is_some_and(|(other, _)| other == table)
                });
                self.body.at(&path.0).is_none() && keys.all(|(path, _)| self.varying.contains(path))
            }
            _ => false,
        }
    }

    fn factor(&self, path: &str) -> Option<&Factor> {
        let mut factors = self.factors.iter();
        factors.find(|factor| factor.path.to_string() == path)
    }

    /// Whether a key has a value that follows from factors and was not written.
    fn follows(&self, path: &str) -> bool {
        let written = || KeyPath::parse(path).and_then(|path| self.body.at(&path.0));
        self.varying.contains(path) && self.factor(path).is_none() && written().is_none()
    }

    fn varies(&self, writer: &mut Writer, path: &str, key: &str) {
        let written = KeyPath::parse(path).and_then(|path| self.body.at(&path.0));
        match written {
            Some(node) => writer.pair(key, &node.value.to_string()),
            None => writer.comment(&format!("{key}: follows from the factors")),
        }
    }
}

impl Writer {
    fn line(&mut self, line: &str) {
        self.0.push_str(line);
        self.0.push('\n');
    }

    fn comment(&mut self, comment: &str) {
        self.line(&format!("# {comment}"));
    }

    fn table(&mut self, name: &str) {
        self.line("");
        self.line(&format!("[{name}]"));
    }

    fn pair(&mut self, key: &str, value: &str) {
        self.line(&format!("{key} = {value}"));
    }

    /// A table of the list `name`.
    fn listed(&mut self, name: &str, row: &impl Serialize) {
        self.line("");
        self.line(&format!("[[{name}]]"));
        self.pairs(row);
    }

    /// The keys of `row` that are not empty, in the order of its fields.
    fn pairs(&mut self, row: &impl Serialize) {
        let Value::Table(row) = Value::of(row) else {
            return;
        };
        for (key, node) in row.iter() {
            match &node.value {
                Value::Table(table) => {
                    let pairs = table.iter();
                    self.inline(
                        key,
                        pairs.map(|(key, node)| (key.into(), node.value.to_string())),
                    );
                }
                Value::List(list) if list.is_empty() => {}
                value => self.pair(key, &value.to_string()),
            }
        }
    }

    fn report(&mut self, report: &Report) {
        if *report == Report::default() {
            return;
        }
        self.table(report::ROOT);
        self.pairs(report);
        for (factor, labels) in &report.labels {
            let path = ["report", "labels", factor].map(str::to_owned);
            self.table(&KeyPath(path.to_vec()).to_string());
            for (level, label) in labels {
                self.pair(&KeyPath(vec![level.clone()]).to_string(), &quoted(label));
            }
        }
        for row in &report.rows {
            self.listed("report.row", row);
        }
        for figure in &report.figures {
            self.figure(figure);
        }
    }

    fn figure(&mut self, figure: &ReportFigure) {
        self.line("");
        self.line("[[report.figure]]");
        self.pair("title", &quoted(&figure.title));
        match &figure.shows {
            Shows::Metrics { metrics, x } => {
                self.pair("metrics", &words(metrics));
                if let Some(x) = x {
                    self.pair("x", &quoted(x));
                }
            }
            Shows::OverTime { link, event } => {
                self.pair("over_time", &quoted(link));
                if let Some((at, text)) = event {
                    self.pair("event", &number(*at));
                    self.pair("event_text", &quoted(text));
                }
            }
            Shows::Sizes { from, to } => self.pair("sizes", &format!("[{from}, {to}]")),
        }
        self.lists("cells", &figure.cells);
        for point in &figure.points {
            self.line("[[report.figure.points]]");
            self.pair("name", &quoted(&point.name));
            self.pair("x", &number(point.x));
            self.pair("y", &number(point.y));
        }
    }

    fn lists(&mut self, key: &str, lists: &[(String, Vec<Level>)]) {
        let lists = lists.iter().map(|(name, levels)| {
            let levels: Vec<String> = levels.iter().map(level).collect();
            (name.clone(), format!("[{}]", levels.join(", ")))
        });
        self.inline(key, lists);
    }

    /// A table on one line, omitted if it is empty.
    fn inline(&mut self, key: &str, pairs: impl Iterator<Item = (String, String)>) {
        let pairs: Vec<_> = pairs
            .map(|(key, value)| format!("{} = {value}", quoted(&key)))
            .collect();
        if !pairs.is_empty() {
            self.pair(key, &format!("{{ {} }}", pairs.join(", ")));
        }
    }
}

/// A list of words.
fn words(words: &[String]) -> String {
    let words: Vec<String> = words.iter().map(|word| quoted(word)).collect();
    format!("[{}]", words.join(", "))
}

fn number(number: f64) -> String {
    Value::Float(number).to_string()
}

fn level(level: &Level) -> String {
    match level {
        Level::Integer(number) => number.to_string(),
        Level::Float(float) => number(*float),
        Level::Text(text) => quoted(text),
    }
}
