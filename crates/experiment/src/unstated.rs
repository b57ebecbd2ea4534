//! `[[unstated]]`: settings that the source of an experiment does not state, and
//! which values of them are plausible.
//!
//! A run uses the first values: they are written over the file when it is read, so
//! that `--set` of one of their keys counts, and then the setting counts as stated.
//! A setting with `on` belongs to one backend, or to runs with published settings; its
//! values are written below `[on]`.

use anyhow::Result;
use keyfile::quantity::{float, line, number, word};
use keyfile::{KeyPath, Node, Origin, Table, Value, rejection};
use plan::{Level, Unstated};

use super::Experiment;
use super::aliases::{Aliases, with_unit};
use super::backend_overrides::{self, Scope};
use super::reader::Reader;
use super::sweep::{Factor, level, levels};

/// The name of the table.
const ROOT: &str = "unstated";

/// How the values of a range follow each other.
const SCALES: [(&str, bool); 2] = [("linear", false), ("log", true)];

/// The most values of a range.
const MOST_STEPS: i64 = 100;

/// A setting that is not stated.
pub(super) struct Entry {
    name: String,
    path: KeyPath,
    values: Vec<Node>,
    unit: Option<String>,
    /// The only runs that have the setting; none: all of them.
    on: Option<Scope>,
    reason: String,
    origin: Origin,
}

/// The unstated settings of an experiment, in their order.
pub(super) fn entries(reader: &mut Reader<'_>, aliases: &Aliases) -> Result<Vec<Entry>> {
    let Some(node) = reader.find(ROOT)? else {
        return Ok(Vec::new());
    };
    let not_tables = |node: &Node| {
        let why = "write [[unstated]] above each of them";
        rejection(&node.origin, ROOT, &node.value, why)
    };
    let Value::List(nodes) = &node.value else {
        return Err(not_tables(node));
    };
    let mut entries: Vec<Entry> = Vec::new();
    for node in nodes {
        let Value::Table(table) = &node.value else {
            return Err(not_tables(node));
        };
        let entry = entry(Reader::new(table, ROOT, node.origin.clone()), aliases, node)?;
        if entries.iter().any(|other| other.path == entry.path) {
            let name = Value::Text(entry.name);
            return Err(rejection(
                &node.origin,
                "unstated.name",
                &name,
                "it stands here twice; remove one",
            ));
        }
        entries.push(entry);
    }
    Ok(entries)
}

fn entry(mut reader: Reader<'_>, aliases: &Aliases, node: &Node) -> Result<Entry> {
    let name = reader.required("name", "name = \"buffer\"", line)?;
    let path = aliases
        .resolve_factor(&name.value)
        .map_err(|why| name.reject(why))?;
    let mut values = match reader.find("values")? {
        Some(values) => levels(values).to_vec(),
        None => Vec::new(),
    };
    values.extend(range(&mut reader)?);
    let on = reader
        .optional("on", backend_overrides::scope)?
        .map(|found| found.value);
    let reason = reader.required("reason", "reason = \"the paper names no TCP\"", line)?;
    reader.finish()?;
    let reject =
        |node: &Node, why: &str| rejection(&node.origin, "unstated.values", &node.value, why);
    let mut seen: Vec<Level> = Vec::new();
    let choice = aliases.choices().at(&path);
    for value in &values {
        let own = level(&value.value).map_err(|why| reject(value, &why))?;
        if let Some(choice) = choice {
            choice
                .word(&value.value)
                .map_err(|why| reject(value, &why))?;
        }
        if seen.iter().any(|other| other.is_same(&own)) {
            return Err(reject(value, "it stands here twice; remove one"));
        }
        seen.push(own);
    }
    if values.len() < 2 {
        let value = values.first().unwrap_or(node);
        return Err(reject(
            value,
            "write two values at least, that of a run first; a setting with one value is stated",
        ));
    }
    Ok(Entry {
        unit: aliases.unit(&name.value).map(str::to_owned),
        name: aliases.factor_name(&name.value, &path),
        path,
        values,
        on,
        reason: reason.value,
        origin: node.origin.clone(),
    })
}

/// The values of a range: `steps` values from one end to the other, in equal
/// differences or equal factors, rounded to three digits.
fn range(reader: &mut Reader<'_>) -> Result<Vec<Node>> {
    let end = |value: &Value| Ok((value.clone(), value.clone()));
    let Some(from) = reader.optional("range.from", end)? else {
        return Ok(Vec::new());
    };
    let to = reader.required("range.to", "to = \"50ms\"", end)?;
    let steps = reader
        .required("range.steps", "steps = 6", number(2, MOST_STEPS))?
        .value;
    let is_log = reader.read("range.scale", word(&SCALES))?.value;
    let (Some((low, unit)), Some((high, other))) = (parts(&from.value), parts(&to.value)) else {
        return Err(from.reject("write numbers, or quantities such as \"1ms\""));
    };
    if unit != other {
        return Err(to.reject("write both ends in the same unit"));
    }
    if is_log && (low <= 0.0 || high <= 0.0) {
        return Err(from.reject("equal factors need ends above 0; write others"));
    }
    let value = |step: i64| {
        let part = step as f64 / (steps - 1) as f64;
        let exact = match is_log {
            true => low * (high / low).powf(part),
            false => low + (high - low) * part,
        };
        let rounded = three_digits(exact);
        match (unit.is_empty(), rounded.fract() == 0.0) {
            (false, _) => Value::Text(format!("{rounded}{unit}")),
            #[expect(
                clippy::cast_possible_truncation,
                reason = "a whole number of three digits"
            )]
            (true, true) if rounded.abs() < 1e15 => Value::Integer(rounded as i64),
            (true, _) => Value::Float(rounded),
        }
    };
    let nodes = (0..steps).map(|step| Node {
        value: value(step),
        origin: from.origin.clone(),
    });
    Ok(nodes.collect())
}

/// The number of a quantity and its unit.
fn parts(value: &Value) -> Option<(f64, &str)> {
    let Value::Text(text) = value else {
        return Some((float(value)?, ""));
    };
    let end = text.find(|letter: char| !letter.is_ascii_digit() && letter != '.')?;
    let (number, unit) = text.split_at(end);
    Some((number.parse().ok()?, unit))
}

fn three_digits(number: f64) -> f64 {
    let text = format!("{number:.2e}");
    text.parse().unwrap_or(number)
}

impl Entry {
    /// Whether a run in these scopes has the setting.
    pub(super) fn is_in(&self, scopes: &[Scope]) -> bool {
        self.on.is_none_or(|on| scopes.contains(&on))
    }

    /// The keys of the file that a value writes, those below `[on]` among them.
    fn places(&self, aliases: &Aliases, value: &Node) -> Vec<(KeyPath, Node)> {
        let keys = self.keys(aliases, value).into_iter();
        let place = |(path, node): (KeyPath, Node)| match self.on {
            None => (path, node),
            Some(scope) => (scope.below(&path), node),
        };
        keys.map(place).collect()
    }

    /// The keys of a cell that a value writes.
    fn keys(&self, aliases: &Aliases, value: &Node) -> Vec<(KeyPath, Node)> {
        match aliases
            .choices()
            .at(&self.path)
            .map(|choice| choice.word(&value.value))
        {
            None => vec![(self.path.clone(), with_unit(value, self.unit.as_deref()))],
            Some(word) => word.map_or_else(|_| Vec::new(), |word| word.keys.clone()),
        }
    }

    /// Whether one of the values, or the choice that they are words of, writes `path`
    /// or a key that the choice at `path` writes.
    fn touches(&self, aliases: &Aliases, path: &KeyPath) -> bool {
        let choice = aliases.choices().at(path);
        let words = choice.iter().flat_map(|choice| &choice.words);
        let others: Vec<&KeyPath> = words
            .flat_map(|word| word.keys.iter().map(|(key, _)| key))
            .collect();
        let mut values = self.values.iter();
        self.path == *path
            || values.any(|value| {
                let mut keys = self.keys(aliases, value).into_iter();
                keys.any(|(key, _)| key == *path || others.contains(&&key))
            })
    }

    /// The keys of a cell that some value writes.
    #[cfg(test)]
    pub(super) fn written(&self, aliases: &Aliases) -> impl Iterator<Item = KeyPath> {
        let values = self.values.iter();
        values.flat_map(|value| self.keys(aliases, value).into_iter().map(|(path, _)| path))
    }

    /// The setting in the form of a plan.
    fn described(&self) -> Unstated {
        let levels = self
            .values
            .iter()
            .filter_map(|value| level(&value.value).ok());
        Unstated {
            name: self.name.clone(),
            values: levels.collect(),
            reason: self.reason.clone(),
        }
    }
}

/// The unstated settings as a plan has them.
///
/// # Errors
/// One line where a setting is swept as well, or where `[on]` of `tree` has a value
/// that would count more in one of the `scopes` of the run.
pub(super) fn described(
    entries: &[Entry],
    factors: &[Factor],
    (tree, aliases, scopes): (&Table, &Aliases, &[Scope]),
) -> Result<Vec<Unstated>> {
    let entries: Vec<&Entry> = entries.iter().filter(|entry| entry.is_in(scopes)).collect();
    for entry in &entries {
        let keys = entry.keys(aliases, &entry.values[0]);
        let mut others = scopes.iter().filter(|scope| Some(**scope) != entry.on);
        let counts_more = |scope: &&Scope| {
            let below = |(path, _): &(KeyPath, Node)| tree.at(&scope.below(path).0).is_some();
            keys.iter().any(below)
        };
        if let Some(scope) = others.find(counts_more) {
            let name = Value::Text(entry.name.clone());
            let why = format!(
                "[on.{scope}] has it as well, which counts more; write on = \"{scope}\", or remove it there"
            );
            return Err(rejection(&entry.origin, "unstated.name", &name, &why));
        }
        if factors.iter().any(|factor| factor.path == entry.path) {
            let name = Value::Text(entry.name.clone());
            let why = "it is swept as well; a factor of the study is not unstated";
            return Err(rejection(&entry.origin, "unstated.name", &name, why));
        }
    }
    Ok(entries.into_iter().map(Entry::described).collect())
}

impl Experiment {
    /// The same with other values of the unstated settings: for each of `settings`,
    /// which are those of a plan of it, the position of one.
    ///
    /// # Errors
    /// As [`Experiment::parse`].
    pub fn with_unstated(&self, settings: &[Unstated], values: &[usize]) -> Result<Self> {
        let mut other = self.clone();
        let aliases = Aliases::read(&self.tree, &self.place)?;
        let entries = entries(
            &mut Reader::new(&self.tree, "", self.place.clone()),
            &aliases,
        )?;
        for (setting, &value) in settings.iter().zip(values) {
            let entry = entries.iter().find(|entry| entry.name == setting.name);
            let chosen = entry.and_then(|entry| Some((entry, entry.values.get(value)?)));
            let Some((entry, value)) = chosen else {
                continue;
            };
            for (path, node) in entry.places(&aliases, value) {
                other.put(&path, node)?;
            }
        }
        Ok(other)
    }

    /// The setting at `path` is stated now.
    pub(super) fn state(&mut self, aliases: &Aliases, path: &KeyPath) -> Result<()> {
        let mut reader = Reader::new(&self.tree, "", self.place.clone());
        let entries = entries(&mut reader, aliases)?;
        let path = &backend_overrides::of_cell(path);
        let kept: Vec<bool> = entries
            .iter()
            .map(|entry| !entry.touches(aliases, path))
            .collect();
        if let Some(Node {
            value: Value::List(nodes),
            ..
        }) = self.tree.get_mut(ROOT)
        {
            let mut kept = kept.into_iter();
            nodes.retain(|_| kept.next().unwrap_or(true));
        }
        Ok(())
    }
}

/// Writes the first value of each unstated setting of `tree` over it.
pub(super) fn write_first(tree: &mut Table, aliases: &Aliases, place: &Origin) -> Result<()> {
    let entries = entries(&mut Reader::new(tree, "", place.clone()), aliases)?;
    for entry in entries {
        for (path, node) in entry.places(aliases, &entry.values[0]) {
            let origin = node.origin.clone();
            tree.put(&path.0, node).map_err(|key| {
                super::fault(
                    &origin,
                    format!("{path}: `{key}` is no table; write the keys of a table below one"),
                )
            })?;
        }
    }
    Ok(())
}
