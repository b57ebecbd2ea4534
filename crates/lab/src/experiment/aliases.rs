//! The short names that an experiment gives to its keys.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Result;

use super::cell::{
    self, CROSS_KEYS, LINK_KEYS, MOST_STAGES, RECORD_KEY, WATCH_KEYS, parameter_keys,
};
use super::quantity::name;
use super::reader::{Reader, did_you_mean, refusal};
use super::setting::Shape;
use super::tree::{KeyPath, Node, Origin, Table, Value};

/// Names that every experiment has: the repeats are the seeds.
const GIVEN: [&str; 2] = ["repeat", "seeds"];
/// What the given names stand for.
const REPEAT: &str = "trials.repeat";

/// The top-level keys beside those of a cell.
const OTHER_ROOTS: [&str; 9] = [
    "format",
    "name",
    "title",
    "source",
    "aliases",
    "sweep",
    "trials",
    "compare",
    "published",
];

/// Short names and the keys they stand for.
#[derive(Debug)]
pub(super) struct Aliases {
    paths: BTreeMap<String, KeyPath>,
    places: BTreeMap<String, Node>,
}

impl Aliases {
    /// The aliases of the experiment in `tree`.
    pub(super) fn read(tree: &Table, place: &Origin) -> Result<Self> {
        let mut reader = Reader::new(tree, "", place.clone());
        let mut aliases = Self {
            paths: BTreeMap::new(),
            places: BTreeMap::new(),
        };
        for given in GIVEN {
            aliases
                .paths
                .extend(Some(given.to_owned()).zip(KeyPath::parse(REPEAT)));
        }
        let Some((table, _)) = reader.table("aliases")? else {
            return Ok(aliases);
        };
        for (alias, node) in table.iter() {
            let Node { value, origin } = node;
            let refuse = |why: &str| {
                let path = KeyPath(vec!["aliases".into(), alias.into()]);
                refusal(origin, &path.to_string(), value, why)
            };
            name(32)(&Value::from(alias)).map_err(|why| refuse(&format!("the alias: {why}")))?;
            if GIVEN.contains(&alias) || alias == "copy" || roots().any(|root| root == alias) {
                return Err(refuse("this name is taken; choose another"));
            }
            let path = match value {
                Value::Text(text) => KeyPath::parse(text),
                _ => None,
            };
            let path = path.ok_or_else(|| refuse("write a key, for instance \"network.mtu\""))?;
            aliases.paths.insert(alias.to_owned(), path);
            aliases.places.insert(alias.to_owned(), node.clone());
        }
        Ok(aliases)
    }

    /// What `text` stands for: an alias, or a dotted key whose first part
    /// exists. `Err` says what is wrong with it.
    pub(super) fn resolve(&self, text: &str) -> Result<KeyPath, String> {
        if let Some(path) = self.paths.get(text) {
            return Ok(path.clone());
        }
        KeyPath::parse(text)
            .filter(|path| roots().any(|root| root == path.root()))
            .ok_or_else(|| {
                let known = self.paths.keys().map(String::as_str).chain(roots());
                let hint = did_you_mean(text, known);
                format!("no alias and no key is called `{text}`{hint}")
            })
    }

    /// Likewise, for a key of a cell.
    pub(super) fn resolve_factor(&self, text: &str) -> Result<KeyPath, String> {
        let path = self.resolve(text)?;
        match cell::ROOTS.contains(&path.root()) {
            true => Ok(path),
            false => Err(format!("`{path}` is one for the whole run, no factor")),
        }
    }

    /// What a factor over `path` is called.
    pub(super) fn name_of(&self, path: &KeyPath) -> String {
        self.paths
            .iter()
            .find(|(_, other)| *other == path)
            .map_or_else(|| path.to_string(), |(alias, _)| alias.clone())
    }

    /// Refuses an alias of a key that is not in `known`.
    pub(super) fn check(&self, known: &BTreeSet<String>) -> Result<()> {
        let queues = parameter_keys();
        let links = Shape::PATHS
            .iter()
            .flat_map(|shape| (1..=MOST_STAGES).map(|stages| (*shape, stages)))
            .flat_map(|(shape, stages)| shape.link_names(stages))
            .flat_map(|link| {
                let keys = LINK_KEYS
                    .iter()
                    .chain(&CROSS_KEYS)
                    .chain(&WATCH_KEYS)
                    .chain([&RECORD_KEY]);
                let keys = keys.copied().chain(queues.iter().map(String::as_str));
                let paths = keys.map(|key| format!("links.{link}.{key}"));
                paths.collect::<Vec<_>>()
            });
        let known: BTreeSet<String> = known.iter().cloned().chain(links).collect();
        for (alias, Node { value, origin }) in &self.places {
            let path = self
                .paths
                .get(alias)
                .map(KeyPath::to_string)
                .unwrap_or_default();
            if !known.contains(&path) {
                let hint = did_you_mean(&path, known.iter().map(String::as_str));
                let name = KeyPath(vec!["aliases".into(), alias.clone()]);
                return Err(refusal(
                    origin,
                    &name.to_string(),
                    value,
                    format!("there is no such key{hint}"),
                ));
            }
        }
        Ok(())
    }

    /// The declared aliases, by name.
    pub(super) fn declared(&self) -> impl Iterator<Item = (&str, &KeyPath)> {
        self.paths
            .iter()
            .filter(|(alias, _)| self.places.contains_key(*alias))
            .map(|(alias, path)| (alias.as_str(), path))
    }
}

fn roots<'a>() -> impl Iterator<Item = &'a str> {
    OTHER_ROOTS.into_iter().chain(cell::ROOTS)
}
