//! Short names (aliases) of an experiment's keys.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Result;
use keyfile::quantity::name;
use keyfile::{KeyPath, Node, Origin, Table, Value, did_you_mean, fault, rejection};
use plan::setting::Shape;

use super::cell::MOST_DEVICES;
use super::choices::{self, Choices};
use super::reader::Reader;
use super::{backend_overrides, keys};

/// Aliases of every experiment: repeats are seeds.
const GIVEN: [&str; 2] = ["repeat", "seeds"];
/// The key of these aliases.
const REPEAT: &str = "trials.repeat";

/// The alias of the queue in front of the narrow link, where the experiment does
/// not use the name otherwise.
const QUEUE: &str = "queue";

/// The maximum number of keys that an error suggests.
const MOST_HINTS: usize = 4;

/// Aliases and their keys.
#[derive(Debug)]
pub(super) struct Aliases {
    queue: Option<KeyPath>,
    paths: BTreeMap<String, KeyPath>,
    places: BTreeMap<String, Node>,
    /// The units of bare numbers, for some aliases.
    units: BTreeMap<String, String>,
    choices: Choices,
}

impl Aliases {
    /// The aliases of the experiment in `tree`.
    pub(super) fn read(tree: &Table, place: &Origin) -> Result<Self> {
        let mut reader = Reader::new(tree, "", place.clone());
        let mut aliases = Self {
            queue: None,
            paths: BTreeMap::new(),
            places: BTreeMap::new(),
            units: BTreeMap::new(),
            choices: Choices::read(tree, place)?,
        };
        for given in GIVEN {
            aliases
                .paths
                .extend(Some(given.to_owned()).zip(KeyPath::parse(REPEAT)));
        }
        for (choice, found) in aliases.choices.iter() {
            if is_taken(choice) {
                let path = format!("{}.{choice}", choices::ROOT);
                return Err(fault(found.origin(), format!("{path}: {TAKEN}")));
            }
        }
        let table = reader.table("aliases")?;
        for (alias, node) in table.into_iter().flat_map(|(table, _)| table.iter()) {
            let Node { value, origin } = node;
            let reject = |why: &str| {
                let path = KeyPath(vec!["aliases".into(), alias.into()]);
                rejection(origin, &path.to_string(), value, why)
            };
            name(32)(&Value::from(alias)).map_err(|why| reject(&format!("the alias: {why}")))?;
            if is_taken(alias) || aliases.choices.path(alias).is_some() {
                return Err(reject(TAKEN));
            }
            let (path, unit) = target(value).map_err(reject)?;
            aliases
                .units
                .extend(unit.map(|unit| (alias.to_owned(), unit)));
            aliases.paths.insert(alias.to_owned(), path);
            aliases.places.insert(alias.to_owned(), node.clone());
        }
        let is_free = !aliases.paths.contains_key(QUEUE) && aliases.choices.path(QUEUE).is_none();
        aliases.queue = is_free.then(|| queue_of(tree));
        Ok(aliases)
    }

    /// The key that `text` names: an alias, or a dotted key whose first part
    /// exists. `Err` describes the error.
    pub(super) fn resolve(&self, text: &str) -> Result<KeyPath, String> {
        if let Some(path) = self.paths.get(text) {
            return Ok(path.clone());
        }
        if let Some(path) = self.choices.path(text) {
            return Ok(path);
        }
        if let (QUEUE, Some(path)) = (text, &self.queue) {
            return Ok(path.clone());
        }
        KeyPath::parse(text)
            .filter(|path| roots().any(|root| root == path.root()))
            .ok_or_else(|| format!("unknown alias or key `{text}`{}", self.hint(text)))
    }

    /// `; did you mean ..?` for a name that is no alias and no key: the aliases of a
    /// key of this name, the keys of this name, or a similar alias.
    fn hint(&self, text: &str) -> String {
        let named = |(_, path): &(&str, &KeyPath)| {
            keys::known(path) && path.0.last().is_some_and(|key| key == text)
        };
        let aliases: Vec<String> = self
            .keys()
            .filter(named)
            .map(|(alias, path)| format!("`{alias}` ({path})"))
            .collect();
        let keys = || {
            let keys = keys::named(text).into_iter().take(MOST_HINTS);
            keys.map(|key| format!("`{key}`")).collect::<Vec<_>>()
        };
        let found = if aliases.is_empty() { keys() } else { aliases };
        if !found.is_empty() {
            return format!("; did you mean {}?", found.join(" or "));
        }
        let choices = self.choices.iter().map(|(name, _)| name);
        let known = self.paths.keys().map(String::as_str);
        let similar = did_you_mean(text, known.chain(choices).chain(roots()));
        match similar.is_empty() {
            true => "; `jumbolab show` prints an experiment with its aliases".into(),
            false => similar,
        }
    }

    /// As [`Aliases::resolve`], for a key of a cell.
    pub(super) fn resolve_factor(&self, text: &str) -> Result<KeyPath, String> {
        let path = self.resolve(text)?;
        match path.root() {
            _ if self.choices.at(&path).is_some() => Ok(path),
            root if keys::cell_roots().contains(&root) => Ok(path),
            backend_overrides::ROOT => {
                Err("a backend has one value of its own; levels are for all backends".into())
            }
            _ => Err(format!(
                "`{path}` is one for the whole run, no factor; write one value"
            )),
        }
    }

    /// The factor name of `path`.
    pub(super) fn name_of(&self, path: &KeyPath) -> String {
        if let ([_, name], Some(_)) = (path.0.as_slice(), self.choices.at(path)) {
            return name.clone();
        }
        // An alias with a unit changes the meaning of a number.
        let plain = |alias: &String| !self.units.contains_key(alias);
        self.paths
            .iter()
            .find(|(alias, other)| *other == path && plain(alias))
            .map_or_else(|| path.to_string(), |(alias, _)| alias.clone())
    }

    /// The factor name of `path`, which was written as `text`.
    pub(super) fn factor_name(&self, text: &str, path: &KeyPath) -> String {
        let is_queue = text == QUEUE && self.queue.as_ref() == Some(path);
        match is_queue || self.units.contains_key(text) {
            true => text.to_owned(),
            false => self.name_of(path),
        }
    }

    /// The unit of a bare number for `text`, if that is an alias with a unit.
    pub(super) fn unit(&self, text: &str) -> Option<&str> {
        self.units.get(text).map(String::as_str)
    }

    /// The choices, which are used like aliases.
    pub(super) const fn choices(&self) -> &Choices {
        &self.choices
    }

    /// Rejects aliases of unknown keys: keys that are not in the table of keys,
    /// or that belong to a link, node or flow other than those of the keys in
    /// `asked` and the links of all paths.
    pub(super) fn check(&self, asked: &BTreeSet<String>) -> Result<()> {
        for (alias, Node { value, origin }) in &self.places {
            let Some(path) = self.paths.get(alias) else {
                continue;
            };
            if !keys::known(path) || !is_of_experiment(path, asked) {
                let hint = keys::hint(path, false);
                let name = KeyPath(vec!["aliases".into(), alias.clone()]);
                return Err(rejection(
                    origin,
                    &name.to_string(),
                    value,
                    format!("unknown key{hint}"),
                ));
            }
        }
        Ok(())
    }

    /// Every alias with its dotted key, by name.
    pub(super) fn keys(&self) -> impl Iterator<Item = (&str, &KeyPath)> {
        self.paths
            .iter()
            .map(|(alias, path)| (alias.as_str(), path))
    }

    /// The declared aliases as they were written, by name.
    pub(super) fn declared(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.places
            .iter()
            .map(|(alias, node)| (alias.as_str(), &node.value))
    }
}

/// The key of the queue in front of the narrow link, or of all links.
fn queue_of(tree: &Table) -> KeyPath {
    let link = ["links", "bottleneck"].map(str::to_owned);
    let shape = tree.at(&["network", "shape"].map(str::to_owned));
    let is_dumbbell =
        shape.is_some_and(|node| matches!(&node.value, Value::Text(shape) if shape == "dumbbell"));
    match is_dumbbell || tree.at(&link).is_some() {
        true => KeyPath(link.to_vec()).then(QUEUE),
        false => KeyPath(vec!["network".to_owned(), QUEUE.to_owned()]),
    }
}

/// `node`, with a bare number converted to `unit`s if there is a unit.
pub(super) fn with_unit(node: &Node, unit: Option<&str>) -> Node {
    let mut node = node.clone();
    if let (Some(unit), Value::Integer(_) | Value::Float(_)) = (unit, &node.value) {
        node.value = Value::Text(format!("{} {unit}", node.value));
    }
    node
}

/// The error for a name that cannot be an alias or a choice.
const TAKEN: &str = "this name is taken; choose another";

/// The name of a table alone is not a key, so it may be an alias.
fn is_taken(name: &str) -> bool {
    GIVEN.contains(&name) || name == "copy" || keys::run_roots().contains(&name)
}

/// The key of an alias, and the unit of bare numbers: text, or `{ key =
/// "network.buffer", unit = "packets" }`.
fn target(value: &Value) -> Result<(KeyPath, Option<String>), &'static str> {
    const EXAMPLE: &str = "write a key, for instance \"network.mtu\"";
    let key = |value: &Value| match value {
        Value::Text(text) => KeyPath::parse(text).ok_or(EXAMPLE),
        _ => Err(EXAMPLE),
    };
    let Value::Table(table) = value else {
        return Ok((key(value)?, None));
    };
    const BOTH: &str = "write { key = \"network.buffer\", unit = \"packets\" }";
    match (table.get("key"), table.get("unit"), table.iter().count()) {
        (
            Some(path),
            Some(Node {
                value: Value::Text(unit),
                ..
            }),
            2,
        ) => Ok((key(&path.value)?, Some(unit.clone()))),
        _ => Err(BOTH),
    }
}

/// Whether the experiment has, or could have, the link, node or flow of a key.
fn is_of_experiment(path: &KeyPath, asked: &BTreeSet<String>) -> bool {
    let [root, name, _, ..] = path.0.as_slice() else {
        return true;
    };
    if !["links", "nodes", "flows"].contains(&root.as_str()) {
        return true;
    }
    let devices = 1..=MOST_DEVICES;
    let mut paths = (Shape::PATHS.iter()).flat_map(|shape| {
        let devices = devices.clone();
        devices.flat_map(|devices| shape.link_names(devices))
    });
    let table = format!("{root}.{name}.");
    asked.iter().any(|key| key.starts_with(&table))
        || root == "links" && paths.any(|link| link == *name)
}

fn roots<'a>() -> impl Iterator<Item = &'a str> {
    keys::run_roots().iter().chain(keys::cell_roots()).copied()
}
