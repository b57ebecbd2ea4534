//! The keys of a file as a tree in which every value knows its place, so that errors can
//! name file and line.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use anyhow::Result;
use serde::Serialize;
use toml_edit::ser::ValueSerializer;
use toml_edit::{Item, Key};

use super::fault::fault;
use super::shown::{one_line, quoted, without_middle};

/// The place of a value.
#[derive(Clone, Debug)]
pub enum Origin {
    File {
        path: Arc<str>,
        line: usize,
    },
    /// In the argument `text` of an option.
    Option {
        option: Arc<str>,
        text: Arc<str>,
    },
    /// A default of the format.
    Default,
}

/// A value with its place.
#[derive(Clone, Debug)]
pub struct Node {
    pub value: Value,
    pub origin: Origin,
}

/// A TOML value.
#[derive(Clone, Debug)]
pub enum Value {
    Table(Table),
    List(Vec<Node>),
    Text(String),
    Integer(i64),
    Float(f64),
    Boolean(bool),
    Date(String),
}

/// Keys and values in written order.
#[derive(Clone, Debug, Default)]
pub struct Table(Vec<(String, Node)>);

/// A path in the tree, such as `network.mtu`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct KeyPath(pub Vec<String>);

/// Parses `text`; error messages use `name` for the file.
pub fn parse(text: &str, name: &str) -> Result<Table> {
    let path: Arc<str> = one_line(name).into();
    let line_ends: Vec<usize> = text.match_indices('\n').map(|(end, _)| end).collect();
    let place = |span: Option<Range<usize>>| {
        let begin = span.map_or(0, |span| span.start);
        Origin::File {
            path: path.clone(),
            line: 1 + line_ends.partition_point(|&end| end < begin),
        }
    };
    match toml_edit::Document::parse(text) {
        Ok(document) => Ok(table(document.as_table().iter(), &place)),
        Err(error) => {
            let why = error.message().replace('\n', " ");
            let why = format!("this is not TOML: {why}; correct the line");
            Err(fault(&place(error.span()), why))
        }
    }
}

/// The letters of an argument that a message repeats before and after the rest.
const ARGUMENT_ENDS: [usize; 2] = [80, 20];

impl Table {
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Node)> {
        self.0.iter().map(|(key, node)| (key.as_str(), node))
    }

    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut (String, Node)> {
        self.0.iter_mut()
    }

    pub fn get(&self, key: &str) -> Option<&Node> {
        self.iter()
            .find_map(|(name, node)| (name == key).then_some(node))
    }

    pub fn get_mut(&mut self, key: &str) -> Option<&mut Node> {
        self.0
            .iter_mut()
            .find_map(|(name, node)| (name == key).then_some(node))
    }

    /// The table `key`, if it exists and is a table.
    pub fn table(&self, key: &str) -> Option<&Self> {
        match self.get(key)?.value {
            Value::Table(ref table) => Some(table),
            _ => None,
        }
    }

    /// The node at `path`.
    pub fn at(&self, path: &[String]) -> Option<&Node> {
        let (key, rest) = path.split_first()?;
        match self.get(key)? {
            node if rest.is_empty() => Some(node),
            Node {
                value: Value::Table(table),
                ..
            } => table.at(rest),
            _ => None,
        }
    }

    /// The keys that satisfy `choose`.
    pub fn only(&self, choose: impl Fn(&str) -> bool) -> Self {
        Self(
            self.0
                .iter()
                .filter(|(key, _)| choose(key))
                .cloned()
                .collect(),
        )
    }

    /// Takes away the node at `path`, if there is one.
    pub fn remove(&mut self, path: &[&str]) {
        match path {
            [] => {}
            [key] => self.0.retain(|(name, _)| name != key),
            [key, rest @ ..] => {
                if let Some(Node {
                    value: Value::Table(table),
                    ..
                }) = self.get_mut(key)
                {
                    table.remove(rest);
                }
            }
        }
    }

    /// Writes `node` at `path`, replacing any previous node and creating
    /// missing tables. `Err` is the first key on the path that is not a table.
    pub fn put(&mut self, path: &[String], node: Node) -> Result<(), String> {
        let Some((key, rest)) = path.split_first() else {
            return Ok(());
        };
        if self.get(key).is_none() {
            let value = Value::Table(Self::default());
            let origin = node.origin.clone();
            self.0.push((key.clone(), Node { value, origin }));
        }
        match self.get_mut(key) {
            Some(old) if rest.is_empty() => *old = node,
            Some(Node {
                value: Value::Table(table),
                ..
            }) => return table.put(rest, node),
            _ => return Err(key.clone()),
        }
        Ok(())
    }
}

impl Origin {
    /// The argument `text` of an option, on one line.
    pub fn option(option: &str, text: &str) -> Self {
        Self::Option {
            option: option.into(),
            text: one_line(text).into(),
        }
    }

    /// The first line of the file `name`.
    pub fn start_of(name: &str) -> Self {
        Self::File {
            path: one_line(name).into(),
            line: 1,
        }
    }

    /// Whether an argument of `option` wrote it.
    pub fn is_option(&self, option: &str) -> bool {
        matches!(self, Self::Option { option: own, .. } if **own == *option)
    }
}

impl KeyPath {
    /// Parses the path in `text` by TOML's rules for dotted keys.
    pub fn parse(text: &str) -> Option<Self> {
        let keys = Key::parse(text).ok()?;
        Some(Self(keys.iter().map(|key| key.get().to_owned()).collect()))
    }

    /// The first key.
    pub fn root(&self) -> &str {
        self.0.first().map_or("", String::as_str)
    }

    /// The path one key deeper.
    pub fn then(&self, key: &str) -> Self {
        Self(self.0.iter().cloned().chain([key.to_owned()]).collect())
    }
}

fn table<'a>(
    items: impl Iterator<Item = (&'a str, &'a Item)>,
    place: &dyn Fn(Option<Range<usize>>) -> Origin,
) -> Table {
    let nodes = items.filter_map(|(key, item)| Some((key.to_owned(), node(item, place)?)));
    Table(nodes.collect())
}

fn node(item: &Item, place: &dyn Fn(Option<Range<usize>>) -> Origin) -> Option<Node> {
    let value = match item {
        Item::None => return None,
        Item::Value(value) => return Some(Node::of(value, place)),
        Item::Table(inner) => Value::Table(table(inner.iter(), place)),
        Item::ArrayOfTables(tables) => {
            let nodes = tables.iter().map(|inner| Node {
                value: Value::Table(table(inner.iter(), place)),
                origin: place(inner.span()),
            });
            Value::List(nodes.collect())
        }
    };
    Some(Node {
        value,
        origin: place(item.span()),
    })
}

impl Node {
    /// Converts a TOML value; `place` maps it to its position in the text.
    pub fn of(value: &toml_edit::Value, place: &dyn Fn(Option<Range<usize>>) -> Origin) -> Self {
        use toml_edit::Value as Toml;
        let origin = place(value.span());
        let value = match value {
            Toml::String(text) => Value::Text(text.value().clone()),
            Toml::Integer(number) => Value::Integer(*number.value()),
            Toml::Float(number) => Value::Float(*number.value()),
            Toml::Boolean(truth) => Value::Boolean(*truth.value()),
            Toml::Datetime(date) => Value::Date(date.value().to_string()),
            Toml::Array(values) => {
                Value::List(values.iter().map(|value| Self::of(value, place)).collect())
            }
            Toml::InlineTable(inner) => {
                let nodes = inner
                    .iter()
                    .map(|(key, value)| (key.to_owned(), Self::of(value, place)));
                Value::Table(Table(nodes.collect()))
            }
        };
        Self { value, origin }
    }
}

impl Value {
    /// The value of a type; a struct becomes a table, and what it has none of is left out.
    pub fn of(from: &impl Serialize) -> Self {
        let value = from.serialize(ValueSerializer::new());
        let value = value.expect("a type of an experiment has nothing that TOML has not");
        Node::of(&value, &|_| Origin::Default).value
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<i64> for Value {
    fn from(number: i64) -> Self {
        Self::Integer(number)
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File { path, line } => write!(f, "{path}:{line}"),
            Self::Option { option, text } => {
                write!(f, "--{option} {}", without_middle(text, ARGUMENT_ENDS))
            }
            Self::Default => f.write_str("by default"),
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => f.write_str(&quoted(text)),
            Self::Integer(number) => number.fmt(f),
            Self::Float(number) => toml_edit::Value::from(*number).fmt(f),
            Self::Boolean(truth) => truth.fmt(f),
            Self::Date(date) => date.fmt(f),
            Self::List(nodes) => {
                f.write_str("[")?;
                for (position, node) in nodes.iter().enumerate() {
                    let comma = if position == 0 { "" } else { ", " };
                    write!(f, "{comma}{}", node.value)?;
                }
                f.write_str("]")
            }
            Self::Table(table) if table.0.is_empty() => f.write_str("{}"),
            Self::Table(table) => {
                for (position, (key, node)) in table.iter().enumerate() {
                    let start = if position == 0 { "{ " } else { ", " };
                    write!(f, "{start}{} = {}", Key::new(key), node.value)?;
                }
                f.write_str(" }")
            }
        }
    }
}

impl fmt::Display for KeyPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, key) in self.0.iter().enumerate() {
            let dot = if position == 0 { "" } else { "." };
            write!(f, "{dot}{}", Key::new(key))?;
        }
        Ok(())
    }
}
