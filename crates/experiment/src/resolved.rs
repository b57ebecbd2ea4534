//! Writes an experiment as TOML with all defaults filled in.

use std::collections::BTreeSet;

use keyfile::{KeyPath, Table, Value, quoted};
use plan::{
    Alternatives, Assertion, Compare, Expected, Factors, Level, Report, ReportFigure, ReportRow,
    Shows, StepClaim, Tolerance, Unstated, World,
};

use super::aliases::Aliases;
use super::choices::LEFT_OUT;
use super::claims::OVER;
use super::published::Row;
use super::report;
use super::steps::{OF, SIGNS};
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
    pub(super) world: World,
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
        // The world of the run, which `--on` may have chosen.
        writer.pair("world", &quoted(&self.world.to_string()));
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
        for key in ["repeat", "until", "patience", "seed", "order"] {
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
        for row in self.rows {
            writer.row(row);
        }
        for claim in self.claims {
            writer.claim(claim);
        }
        for step in self.steps {
            writer.step(step);
        }
        for setting in self.unstated {
            writer.unstated(setting);
        }
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

    fn row(&mut self, Row { figures, compare }: &Row) {
        self.line("");
        self.line("[[published]]");
        self.pair("metric", &quoted(&figures.metric));
        if !figures.unit.is_empty() {
            self.pair("unit", &quoted(&figures.unit));
        }
        self.levels("factors", &figures.factors);
        for (key, figures) in [("values", &figures.values), ("changes", &figures.changes)] {
            let figures = figures.iter();
            self.inline(
                key,
                figures.map(|(at, figure)| (at.to_string(), number(*figure))),
            );
        }
        if let Some(percent) = figures.resolution_percent {
            self.pair("resolution_percent", &number(percent));
        }
        if let Some(own) = &figures.sampling {
            self.pair("trials", &own.trials.to_string());
            self.pair("spread_percent", &number(own.spread_percent));
            self.pair("spread_source", &quoted(&own.source));
        }
        self.alternatives(&figures.alternatives);
        self.pair("source", &quoted(&figures.source));
        let compare = [
            ("factor".to_owned(), quoted(&compare.factor)),
            ("baseline".to_owned(), level(&compare.baseline)),
        ];
        self.inline("compare", compare.into_iter());
    }

    fn claim(&mut self, claim: &Assertion) {
        self.line("");
        self.line("[[claim]]");
        self.pair("text", &quoted(&claim.text));
        self.pair("source", &quoted(&claim.source));
        self.pair("metric", &quoted(&claim.metric));
        self.lists("cells", &claim.cells);
        self.alternatives(&claim.alternatives);
        match &claim.expected {
            Expected::Than { than, higher, by } => {
                self.pair("is", &quoted(if *higher { "higher" } else { "lower" }));
                self.levels("than", than);
                self.pair("by", &number(*by));
            }
            Expected::Changed {
                than,
                higher,
                percent,
                over,
            } => {
                self.pair("is", &quoted(if *higher { "higher" } else { "lower" }));
                self.levels("than", than);
                self.pair("by_percent", &number(*percent));
                let over = OVER.iter().find(|(_, known)| known == over);
                self.pair("over", &quoted(over.map_or("each", |(word, _)| word)));
            }
            Expected::AtMost(bound) => self.pair("at_most", &number(*bound)),
            Expected::AtLeast(bound) => self.pair("at_least", &number(*bound)),
        }
        if let Some(Tolerance { within, because }) = &claim.tolerance {
            self.pair("tolerance", &number(*within));
            self.pair("because", &quoted(because));
        }
    }

    /// The factors whose levels exclude each other, omitted if there are none.
    fn alternatives(&mut self, own: &Alternatives) {
        if !own.factors.is_empty() {
            self.pair("alternatives", &words(&own.factors));
        }
        self.lists("stated", &own.stated);
    }

    fn step(&mut self, claim: &StepClaim) {
        self.line("");
        self.line("[[jump]]");
        self.pair("text", &quoted(&claim.text));
        self.pair("source", &quoted(&claim.source));
        self.lists("cells", &claim.cells);
        self.alternatives(&claim.alternatives);
        let of = OF.iter().find(|(_, of)| *of == claim.of);
        self.pair("of", &quoted(of.map_or("time", |(word, _)| word)));
        self.pair("at", &claim.at.to_string());
        self.pair("within", &claim.within.to_string());
        let sign = SIGNS.iter().find(|(_, sign)| *sign == claim.sign);
        self.pair("is", &quoted(sign.map_or("none", |(word, _)| word)));
    }

    fn unstated(&mut self, setting: &Unstated) {
        self.line("");
        self.line("[[unstated]]");
        self.pair("name", &quoted(&setting.name));
        let values: Vec<String> = setting.values.iter().map(level).collect();
        self.pair("values", &format!("[{}]", values.join(", ")));
        self.pair("because", &quoted(&setting.because));
    }

    fn report(&mut self, report: &Report) {
        if *report == Report::default() {
            return;
        }
        self.table(report::ROOT);
        if let Some(question) = &report.question {
            self.pair("question", &quoted(question));
        }
        if !report.metrics.is_empty() {
            self.pair("metrics", &words(&report.metrics));
        }
        if let Some(at) = &report.level {
            self.pair("level", &level(at));
        }
        if !report.next.is_empty() {
            self.pair("next", &words(&report.next));
        }
        self.lists("cells", &report.cells);
        for (factor, labels) in &report.labels {
            let path = ["report", "labels", factor].map(str::to_owned);
            self.table(&KeyPath(path.to_vec()).to_string());
            for (level, label) in labels {
                self.pair(&KeyPath(vec![level.clone()]).to_string(), &quoted(label));
            }
        }
        for row in &report.rows {
            self.report_row(row);
        }
        for figure in &report.figures {
            self.figure(figure);
        }
    }

    fn report_row(&mut self, row: &ReportRow) {
        self.line("");
        self.line("[[report.row]]");
        self.pair("title", &quoted(&row.title));
        self.pair("metric", &quoted(&row.metric));
        for (key, words) in [("called", &row.called), ("where", &row.place)] {
            if let Some(words) = words {
                self.pair(key, &quoted(words));
            }
        }
        self.lists("cells", &row.cells);
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

    fn levels(&mut self, key: &str, Factors(factors): &Factors) {
        let factors = factors.iter();
        self.inline(key, factors.map(|(name, at)| (name.clone(), level(at))));
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
