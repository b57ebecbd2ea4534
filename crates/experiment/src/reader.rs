//! Typed reading of a tree. Each key is requested once with its type. Defaults
//! and rejections of backends come from the table of keys. Keys that were not
//! requested are rejected at the end.

mod side_effects;

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt;

use anyhow::{Error, Result};
use keyfile::{
    KeyPath, Node, Origin, Parsed, Table, Value, did_you_mean, fault, fault_at, rejection,
};
use plan::{Backend, SideEffect};

use super::distribution_files::DistributionFiles;
use super::keys::{self, Key, KeyNode, KeySupport, Support};

/// Reads the keys below one table.
pub(super) struct Reader<'a> {
    root: &'a Table,
    /// The name of the table in messages, such as `published`; empty for the
    /// whole file.
    name: &'static str,
    /// The start of the table.
    place: Origin,
    /// The backend, if it matters.
    backend: Option<Backend>,
    /// The kind of traffic, once known: some keys depend on it.
    pub(super) kind: Option<&'static str>,
    /// Files of values that keys name.
    pub(super) files: DistributionFiles,
    /// Keys with values that the backend cannot measure, with the reason.
    pub(super) unmeasured: Vec<(String, &'static str)>,
    /// All requested keys, whether written or not.
    asked: BTreeSet<String>,
    /// All keys that were read or have a default, in reading order and
    /// canonical form.
    resolved: Vec<(String, Value)>,
    /// What the values that were read do outside of the run.
    side_effects: Vec<SideEffect>,
}

/// A value with its key and its place.
#[derive(Clone, Debug)]
pub(super) struct Spanned<T> {
    pub(super) value: T,
    path: String,
    written: Value,
    pub(super) origin: Origin,
}

impl<'a> Reader<'a> {
    pub(super) fn new(root: &'a Table, name: &'static str, place: Origin) -> Self {
        Self {
            root,
            name,
            place,
            backend: None,
            kind: None,
            files: DistributionFiles::default(),
            unmeasured: Vec::new(),
            asked: BTreeSet::new(),
            resolved: Vec::new(),
            side_effects: Vec::new(),
        }
    }

    /// A reader for `backend`, which may reject keys and values.
    pub(super) fn in_backend(self, backend: Backend) -> Self {
        Self {
            backend: Some(backend),
            ..self
        }
    }

    /// The value at `path`, if written.
    pub(super) fn optional<T>(
        &mut self,
        path: &str,
        parse: impl FnOnce(&Value) -> Parsed<T>,
    ) -> Result<Option<Spanned<T>>> {
        if let Some(node) = self.find(path)? {
            return self.parse(path, node, parse).map(Some);
        }
        self.side_effects.extend(self.default_side_effect(path));
        Ok(None)
    }

    /// The value at `path`, or the default of its row.
    pub(super) fn read<T>(
        &mut self,
        path: &str,
        parse: impl FnOnce(&Value) -> Parsed<T>,
    ) -> Result<Spanned<T>> {
        let default = self.key(path).and_then(|key| key.default.value());
        debug_assert!(default.is_some(), "the row of {path} has no default");
        self.read_or(path, default.unwrap_or_else(|| "".into()), parse)
    }

    /// The value at `path`, or `default`, which depends on other keys.
    pub(super) fn read_or<T>(
        &mut self,
        path: &str,
        default: impl Into<Value>,
        parse: impl FnOnce(&Value) -> Parsed<T>,
    ) -> Result<Spanned<T>> {
        let default = Node {
            value: default.into(),
            origin: Origin::Default,
        };
        let node = self.find(path)?.unwrap_or(&default);
        self.parse(path, node, parse)
    }

    /// The value at `path`, or the one derived from the value at `cause`.
    pub(super) fn follows<T>(
        &mut self,
        path: &str,
        value: Value,
        cause: &Origin,
        parse: impl FnOnce(&Value) -> Parsed<T>,
    ) -> Result<Spanned<T>> {
        let follows = Node {
            value,
            origin: cause.clone(),
        };
        let node = self.find(path)?.unwrap_or(&follows);
        self.parse(path, node, parse)
    }

    /// The value at `path`; an error if it is missing.
    pub(super) fn required<T>(
        &mut self,
        path: &str,
        example: &str,
        parse: impl FnOnce(&Value) -> Parsed<T>,
    ) -> Result<Spanned<T>> {
        match self.optional(path, parse)? {
            Some(found) => Ok(found),
            None => Err(self.missing(path, example)),
        }
    }

    /// The list of words at `path`, if written.
    pub(super) fn words(&mut self, path: &str) -> Result<Option<Spanned<Vec<String>>>> {
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
            let why = "write a list of names, for instance [\"a\", \"b\"]";
            return Err(rejection(origin, &self.full(path), value, why));
        };
        self.resolved.push((path.to_owned(), value.clone()));
        Ok(Some(Spanned {
            value: words,
            path: self.full(path).into_owned(),
            written: value.clone(),
            origin: origin.clone(),
        }))
    }

    /// The error for a missing `path`.
    pub(super) fn missing(&self, path: &str, example: &str) -> Error {
        let path = self.full(path);
        fault(
            &self.place,
            format!("{path} is missing; write for instance {example}"),
        )
    }

    /// The node at `path` with any content, all of which the caller reads. An
    /// error if the backend does not support the key.
    pub(super) fn find(&mut self, path: &str) -> Result<Option<&'a Node>> {
        debug_assert!(
            keys::find(&self.full(path)).is_some(),
            "{path} is in no row of the table of keys"
        );
        self.asked.insert(path.to_owned());
        let found = self.node(path)?;
        if let Some(node) = found
            && let Some(why) = self.support(path).and_then(Support::rejection)
        {
            return Err(rejection(&node.origin, &self.full(path), &node.value, why));
        }
        Ok(found)
    }

    /// The row of the key at `path`.
    fn key(&self, path: &str) -> Option<&'static Key> {
        keys::find(&self.full(path))?.key(self.kind)
    }

    /// The support of `backend` for the key or table at `path`.
    fn support(&self, path: &str) -> Option<&'static Support> {
        let place = keys::find(&self.full(path))?;
        let of_key = place.key(self.kind).map(|key| &key.backends);
        let of_table = || place.table().map(|section| &section.backends);
        Some(of_key.or_else(of_table)?.support(self.backend?))
    }

    fn node(&self, path: &str) -> Result<Option<&'a Node>> {
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
                    return Err(rejection(origin, &path, value, "write a table"));
                }
            }
        }
        Ok(None)
    }

    /// The table at `path`, if written; the caller reads all of it.
    pub(super) fn table(&mut self, path: &str) -> Result<Option<(&'a Table, &'a Origin)>> {
        match self.find(path)? {
            None => Ok(None),
            Some(Node {
                value: Value::Table(table),
                origin,
            }) => Ok(Some((table, origin))),
            Some(Node { value, origin }) => {
                Err(rejection(origin, &self.full(path), value, "write a table"))
            }
        }
    }

    /// Rejects the first key in `table` that the backend does not support, even
    /// if nothing requests it.
    pub(super) fn reject_unsupported(&self, table: &str) -> Result<()> {
        let keys = self.root.table(table);
        for (name, node) in keys.into_iter().flat_map(Table::iter) {
            let path = format!("{table}.{name}");
            if let Some(why) = self.support(&path).and_then(Support::rejection) {
                return Err(rejection(&node.origin, &self.full(&path), &node.value, why));
            }
        }
        Ok(())
    }

    /// Rejects the first key that was not requested: it does not exist, the
    /// backend rejects it, or nothing in this experiment uses it.
    pub(super) fn finish(self) -> Result<Outcome> {
        let Some((path, node)) = unasked(self.root, &KeyPath(Vec::new()), &self.asked) else {
            return Ok(Outcome {
                asked: self.asked,
                resolved: self.resolved,
                unmeasured: self.unmeasured,
                side_effects: self.side_effects,
            });
        };
        let path = path.to_string();
        let path = self.full(&path);
        let path = KeyPath::parse(&path).unwrap_or_else(|| KeyPath(vec![path.into_owned()]));
        let place = keys::find(&path.0.join("."));
        if place.is_none() {
            return Err(unknown(&path, node));
        }
        if place.is_some_and(KeyNode::has_any_name) {
            let asked = self.asked.iter().map(String::as_str);
            let hint = did_you_mean(&path.to_string(), asked);
            let why = format!("unknown key{hint}");
            return Err(rejection(&node.origin, &path.to_string(), &node.value, why));
        }
        let (path, node) = first_key(&path.0.join("."), node);
        let support = self.support(&path);
        let why = support.and_then(Support::rejection).unwrap_or(UNUSED);
        Err(rejection(&node.origin, &path, &node.value, why))
    }

    fn parse<T>(
        &mut self,
        path: &str,
        node: &Node,
        parse: impl FnOnce(&Value) -> Parsed<T>,
    ) -> Result<Spanned<T>> {
        let full = self.full(path);
        let reject = |why: &str| rejection(&node.origin, &full, &node.value, why);
        let (value, canonical) = match &node.value {
            Value::List(_) => {
                return Err(reject("write one value; levels go under [sweep]"));
            }
            Value::Table(_) => return Err(reject("write one value, not a table")),
            value => parse(value).map_err(|why| reject(&why))?,
        };
        if let Some(why) = self.unfit(path, node, &canonical) {
            return Err(reject(why));
        }
        self.side_effects.extend(self.side_effect(path, node));
        self.resolved.push((path.to_owned(), canonical));
        Ok(Spanned {
            value,
            path: self.full(path).into_owned(),
            written: node.value.clone(),
            origin: node.origin.clone(),
        })
    }

    /// The reason why the backend does not accept a value, if any. Values that it
    /// accepts but cannot measure are recorded.
    fn unfit(&mut self, path: &str, node: &Node, canonical: &Value) -> Option<&'static str> {
        if matches!(node.origin, Origin::Default) {
            return None;
        }
        let text = match canonical {
            Value::Text(text) => text.clone(),
            value => value.to_string(),
        };
        match self.support(path)?.takes {
            KeySupport::Any | KeySupport::NoEffect(_) | KeySupport::Nothing(_) => None,
            KeySupport::Only(values, why) => (!values.contains(&&*text)).then_some(why),
            KeySupport::AllBut(rejected) => {
                let rejected = rejected.iter().find(|(value, _)| *value == text);
                rejected.map(|(_, why)| *why)
            }
            KeySupport::Measured(values, why) => {
                if !values.contains(&&*text) {
                    self.unmeasured.push((path.to_owned(), why));
                }
                None
            }
        }
    }

    fn full<'p>(&self, path: &'p str) -> Cow<'p, str> {
        match self.name {
            "" => path.into(),
            name => format!("{name}.{path}").into(),
        }
    }
}

/// The result of a reader after all keys were known.
pub(super) struct Outcome {
    pub(super) asked: BTreeSet<String>,
    pub(super) resolved: Vec<(String, Value)>,
    pub(super) unmeasured: Vec<(String, &'static str)>,
    pub(super) side_effects: Vec<SideEffect>,
}

/// The error for a known key without effect.
pub(super) const UNUSED: &str = "nothing in this experiment uses it; remove it";

impl<T> Spanned<T> {
    /// The dotted key that it was read from.
    pub(super) fn path(&self) -> &str {
        &self.path
    }

    /// The error that this value is invalid, with the reason.
    pub(super) fn reject(&self, why: impl fmt::Display) -> Error {
        rejection(&self.origin, &self.path, &self.written, why)
    }

    /// The error that a default is invalid because of the value at `cause`.
    pub(super) fn reject_with(&self, cause: &Origin, why: impl fmt::Display) -> Error {
        let origin = match self.origin {
            Origin::Default => cause,
            _ => &self.origin,
        };
        rejection(origin, &self.path, &self.written, why)
    }
}

/// The error for an unknown key or table at `path`, with a suggestion.
pub(super) fn unknown(path: &KeyPath, node: &Node) -> Error {
    let (kind, shown) = match &node.value {
        Value::Table(_) => ("table", None),
        value => ("key", Some(value.to_string())),
    };
    let hint = keys::hint(path, kind == "table");
    let why = format!("unknown {kind}{hint}");
    fault_at(&node.origin, path, shown.as_deref(), why)
}

/// The first node below `path` that was not requested and contains no requested
/// key.
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

/// The first key in the table at `path` at any depth, or `path` itself if it is
/// a key.
pub(super) fn first_key<'a>(path: &str, node: &'a Node) -> (String, &'a Node) {
    let first = match &node.value {
        Value::Table(table) if keys::find(path).is_some_and(KeyNode::is_table) => {
            table.iter().next()
        }
        _ => None,
    };
    match first {
        Some((key, inner)) => first_key(&format!("{path}.{key}"), inner),
        None => (path.to_owned(), node),
    }
}

/// Whether `key` is in the table `name`.
fn within(key: &str, name: &str) -> bool {
    key.strip_prefix(name)
        .is_some_and(|rest| rest.starts_with('.'))
}
