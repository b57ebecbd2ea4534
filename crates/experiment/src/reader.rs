//! Typed reading of a tree: each key is asked for once, by what it may hold;
//! what nobody asked for is an unknown key.

use std::collections::BTreeSet;
use std::fmt;

use anyhow::{Error, Result};

use super::law::LawFiles;
use super::tree::{KeyPath, Node, Origin, Table, Value, fault};

/// Reads the keys below one table.
pub(super) struct Reader<'a> {
    root: &'a Table,
    /// How messages name the table: `published`; empty for the whole file.
    name: &'static str,
    /// Where the table begins.
    place: Origin,
    /// Files of values that keys name.
    pub(super) files: LawFiles,
    /// Every key that was asked for, whether there or not.
    asked: BTreeSet<String>,
    /// Every key that was read or filled in by default, in reading order and
    /// in canonical writing.
    resolved: Vec<(String, Value)>,
}

/// A value that was read, and where it came from.
#[derive(Clone, Debug)]
pub(super) struct Found<T> {
    pub(super) value: T,
    path: String,
    written: Value,
    pub(super) origin: Origin,
}

/// What a value means and how it is written canonically; `Err` says what
/// would have been right.
pub(super) type Meaning<T> = Result<(T, Value), String>;

impl<'a> Reader<'a> {
    pub(super) fn new(root: &'a Table, name: &'static str, place: Origin) -> Self {
        Self {
            root,
            name,
            place,
            files: LawFiles::default(),
            asked: BTreeSet::new(),
            resolved: Vec::new(),
        }
    }

    /// The value at `path`, if it was written.
    pub(super) fn optional<T>(
        &mut self,
        path: &str,
        meaning: impl FnOnce(&Value) -> Meaning<T>,
    ) -> Result<Option<Found<T>>> {
        self.find(path)?
            .map(|node| self.understand(path, node, meaning))
            .transpose()
    }

    /// The value at `path`, or else the format's default.
    pub(super) fn read<T>(
        &mut self,
        path: &str,
        default: impl Into<Value>,
        meaning: impl FnOnce(&Value) -> Meaning<T>,
    ) -> Result<Found<T>> {
        let default = Node {
            value: default.into(),
            origin: Origin::Default,
        };
        let node = self.find(path)?.unwrap_or(&default);
        self.understand(path, node, meaning)
    }

    /// The value at `path`, or else the one that follows from what was written
    /// at `cause`.
    pub(super) fn follows<T>(
        &mut self,
        path: &str,
        value: Value,
        cause: &Origin,
        meaning: impl FnOnce(&Value) -> Meaning<T>,
    ) -> Result<Found<T>> {
        let follows = Node {
            value,
            origin: cause.clone(),
        };
        let node = self.find(path)?.unwrap_or(&follows);
        self.understand(path, node, meaning)
    }

    /// The value at `path`, which must be written.
    pub(super) fn required<T>(
        &mut self,
        path: &str,
        example: &str,
        meaning: impl FnOnce(&Value) -> Meaning<T>,
    ) -> Result<Found<T>> {
        match self.optional(path, meaning)? {
            Some(found) => Ok(found),
            None => Err(self.missing(path, example)),
        }
    }

    /// The list of words at `path`, if it was written.
    pub(super) fn words(&mut self, path: &str) -> Result<Option<Found<Vec<String>>>> {
        let Some(node) = self.find(path)? else {
            return Ok(None);
        };
        let word = |node: &Node| match &node.value {
            Value::Text(text) => Some(text.clone()),
            _ => None,
        };
        let words = match &node.value {
            Value::List(nodes) => nodes.iter().map(word).collect(),
            _ => None,
        };
        let Node { value, origin } = node;
        let Some(words) = words else {
            let why = "a list of names belongs here, for instance [\"a\", \"b\"]";
            return Err(refusal(origin, &self.full(path), value, why));
        };
        self.resolved.push((path.to_owned(), value.clone()));
        Ok(Some(Found {
            value: words,
            path: self.full(path),
            written: value.clone(),
            origin: origin.clone(),
        }))
    }

    /// That `path` should have been written.
    pub(super) fn missing(&self, path: &str, example: &str) -> Error {
        let path = self.full(path);
        fault(
            &self.place,
            format!("{path} is missing; write for instance {example}"),
        )
    }

    /// The node at `path`, whatever it holds; the caller reads all of it.
    pub(super) fn find(&mut self, path: &str) -> Result<Option<&'a Node>> {
        self.asked.insert(path.to_owned());
        let mut table = self.root;
        let mut keys = path.split('.').peekable();
        while let Some(key) = keys.next() {
            match table.get(key) {
                None => return Ok(None),
                Some(node) if keys.peek().is_none() => return Ok(Some(node)),
                Some(Node {
                    value: Value::Table(inner),
                    ..
                }) => table = inner,
                Some(node) => {
                    let Node { value, origin } = node;
                    let path = self.full(key);
                    return Err(refusal(origin, &path, value, "a table belongs here"));
                }
            }
        }
        Ok(None)
    }

    /// The table at `path`, if it was written; the caller reads all of it.
    pub(super) fn table(&mut self, path: &str) -> Result<Option<(&'a Table, &'a Origin)>> {
        match self.find(path)? {
            None => Ok(None),
            Some(Node {
                value: Value::Table(table),
                origin,
            }) => Ok(Some((table, origin))),
            Some(Node { value, origin }) => Err(refusal(
                origin,
                &self.full(path),
                value,
                "a table belongs here",
            )),
        }
    }

    /// Refuses the first key that nobody asked for; `elsewhere` are keys that
    /// exist in other tables and may have been meant.
    pub(super) fn finish(self, elsewhere: &BTreeSet<String>) -> Result<Outcome> {
        match unasked(self.root, &KeyPath(Vec::new()), &self.asked) {
            None => Ok(Outcome {
                asked: self.asked,
                resolved: self.resolved,
            }),
            Some((path, node)) => {
                let known = self.asked.iter().chain(elsewhere);
                let (is_table, shown) = match &node.value {
                    Value::Table(_) => (true, String::new()),
                    value => (false, format!(" = {}", shortened(value))),
                };
                let candidates = known.flat_map(|key| {
                    let table = key.rsplit_once('.').map(|(table, _)| table);
                    [table.filter(|_| is_table), Some(key.as_str())]
                });
                let hint = did_you_mean(&path.to_string(), candidates.flatten());
                let kind = if is_table { "table" } else { "key" };
                let path = self.full(&path.to_string());
                Err(fault(
                    &node.origin,
                    format!("{path}{shown}: unknown {kind}{hint}"),
                ))
            }
        }
    }

    fn understand<T>(
        &mut self,
        path: &str,
        node: &Node,
        meaning: impl FnOnce(&Value) -> Meaning<T>,
    ) -> Result<Found<T>> {
        let refuse = |why: &str| refusal(&node.origin, &self.full(path), &node.value, why);
        let (value, canonical) = match &node.value {
            Value::List(_) => {
                return Err(refuse("one value belongs here; levels go under [sweep]"));
            }
            Value::Table(_) => return Err(refuse("one value belongs here, not a table")),
            value => meaning(value).map_err(|why| refuse(&why))?,
        };
        self.resolved.push((path.to_owned(), canonical));
        Ok(Found {
            value,
            path: self.full(path),
            written: node.value.clone(),
            origin: node.origin.clone(),
        })
    }

    fn full(&self, path: &str) -> String {
        match self.name {
            "" => path.to_owned(),
            name => format!("{name}.{path}"),
        }
    }
}

/// What a reader leaves when all keys were known.
pub(super) struct Outcome {
    pub(super) asked: BTreeSet<String>,
    pub(super) resolved: Vec<(String, Value)>,
}

impl<T> Found<T> {
    /// The dotted key that it was read from.
    pub(super) fn path(&self) -> &str {
        &self.path
    }

    /// That this value cannot be, and why.
    pub(super) fn refuse(&self, why: impl fmt::Display) -> Error {
        refusal(&self.origin, &self.path, &self.written, why)
    }

    /// Likewise, where a default became wrong by the value at `cause`.
    pub(super) fn refuse_with(&self, cause: &Origin, why: impl fmt::Display) -> Error {
        let origin = match self.origin {
            Origin::Default => cause,
            _ => &self.origin,
        };
        refusal(origin, &self.path, &self.written, why)
    }
}

/// That `value` cannot stand at `path`, and why.
pub(super) fn refusal(origin: &Origin, path: &str, value: &Value, why: impl fmt::Display) -> Error {
    fault(origin, format!("{path} = {}: {why}", shortened(value)))
}

/// `; did you mean ..?` for the candidate nearest to `word`, or nothing.
pub(super) fn did_you_mean<'a>(
    word: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> String {
    let last = |path: &str| path.rsplit('.').next().unwrap_or_default().to_owned();
    let key = last(word);
    candidates
        .into_iter()
        .map(|candidate| {
            let slips = strsim::damerau_levenshtein(&key, &last(candidate));
            (
                slips,
                strsim::damerau_levenshtein(word, candidate),
                candidate,
            )
        })
        .filter(|(slips, ..)| *slips <= 1.max(key.chars().count() / 3))
        .min()
        .map_or_else(String::new, |(.., candidate)| {
            format!("; did you mean `{candidate}`?")
        })
}

/// The first node below `path` that is not in `asked` and holds none that is.
fn unasked<'a>(
    table: &'a Table,
    path: &KeyPath,
    asked: &BTreeSet<String>,
) -> Option<(KeyPath, &'a Node)> {
    table.iter().find_map(|(key, node)| {
        let path = path.then(key);
        let name = path.to_string();
        match &node.value {
            _ if asked.contains(&name) => None,
            Value::Table(inner) if asked.iter().any(|key| within(key, &name)) => {
                unasked(inner, &path, asked)
            }
            _ => Some((path, node)),
        }
    })
}

/// Whether `key` lies in the table `name`.
fn within(key: &str, name: &str) -> bool {
    key.strip_prefix(name)
        .is_some_and(|rest| rest.starts_with('.'))
}

/// `value` as TOML, cut where it would fill the screen.
fn shortened(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(80) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text,
    }
}
