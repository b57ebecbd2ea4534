//! `[choices]`: words that each set several keys. Where the words of a choice
//! select the queue of a link, the names of all disciplines are words of it, too.

use std::collections::BTreeMap;

use anyhow::Result;
use keyfile::quantity::{choices, line, name};
use keyfile::{KeyPath, Node, Origin, Table, Value, rejection};
use link::written::queues;

use super::keys;
use super::reader::Reader;

/// The table of choices, and the first part of their paths.
pub(super) const ROOT: &str = "choices";

/// The key of a word whose cells are not run, with the reason.
pub(super) const LEFT_OUT: &str = "left_out";

/// The maximum length of a choice's name, as of an alias.
const LONGEST: usize = 32;

/// Whether a word may have the key at `path` below it.
pub(super) fn is_key(path: &[String]) -> bool {
    let parts = path.iter().flat_map(|part| match KeyPath::parse(part) {
        Some(dotted) => dotted.0,
        None => vec![part.clone()],
    });
    path == [LEFT_OUT] || keys::known(&KeyPath(parts.collect()))
}

/// The choices of an experiment, by name.
#[derive(Debug, Default)]
pub(super) struct Choices(BTreeMap<String, Choice>);

/// The words of one choice, as written.
#[derive(Debug)]
pub(super) struct Choice {
    pub(super) words: Vec<Word>,
    origin: Origin,
}

/// A word and the keys that it sets.
#[derive(Clone, Debug)]
pub(super) struct Word {
    pub(super) name: String,
    pub(super) keys: Vec<(KeyPath, Node)>,
    /// Why its cells are not run, if they are not.
    pub(super) left_out: Option<String>,
}

impl Choices {
    /// The choices of the experiment in `tree`.
    ///
    /// # Errors
    /// One line of text if the table is invalid.
    pub(super) fn read(tree: &Table, place: &Origin) -> Result<Self> {
        let mut reader = Reader::new(tree, "", place.clone());
        let Some((table, _)) = reader.table(ROOT)? else {
            return Ok(Self::default());
        };
        let read = |(called, node): (&str, &Node)| -> Result<(String, Choice)> {
            let path = [ROOT, called];
            name(LONGEST)(&Value::from(called)).map_err(|why| reject(&path, node, &why))?;
            let words = tables(&path, node)?.iter().map(|(word, node)| {
                let path = [ROOT, called, word];
                name(LONGEST)(&Value::from(word)).map_err(|why| reject(&path, node, &why))?;
                Ok(Word {
                    name: word.to_owned(),
                    keys: keys(&path, node)?,
                    left_out: left_out(&path, node)?,
                })
            });
            let choice = Choice {
                words: words.collect::<Result<_>>()?,
                origin: node.origin.clone(),
            };
            Ok((called.to_owned(), choice))
        };
        Ok(Self(table.iter().map(read).collect::<Result<_>>()?))
    }

    /// The path of the choice `name`, if it exists.
    pub(super) fn path(&self, name: &str) -> Option<KeyPath> {
        let (name, _) = self.0.get_key_value(name)?;
        Some(KeyPath(vec![ROOT.to_owned(), name.clone()]))
    }

    /// The choice at `path`, if there is one.
    pub(super) fn at(&self, path: &KeyPath) -> Option<&Choice> {
        match path.0.as_slice() {
            [root, name] if root == ROOT => self.0.get(name),
            _ => None,
        }
    }

    /// All choices by name.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, &Choice)> {
        self.0.iter().map(|(name, choice)| (name.as_str(), choice))
    }
}

impl Choice {
    /// The word that `value` names; `Err` lists the words.
    pub(super) fn word(&self, value: &Value) -> Result<Word, String> {
        let is = |word: &&Word| matches!(value, Value::Text(text) if *text == word.name);
        if let Some(word) = self.words.iter().find(is) {
            return Ok(word.clone());
        }
        let (path, name) = self.discipline(value).ok_or_else(|| {
            let own: Vec<&str> = self.words.iter().map(|word| &*word.name).collect();
            match self.queue() {
                None => format!("write {}", choices(own)),
                Some(_) => {
                    let others = queues().into_iter().filter(|name| !own.contains(name));
                    let own: Vec<String> = own.iter().map(|word| format!("\"{word}\"")).collect();
                    format!("write {}, or a queue: {}", own.join(", "), choices(others))
                }
            }
        })?;
        let node = Node {
            value: Value::from(name),
            origin: self.origin.clone(),
        };
        Ok(Word {
            name: name.to_owned(),
            keys: vec![(path.clone(), node)],
            left_out: None,
        })
    }

    /// The key that selects a queue, and the discipline, if `value` is the name of
    /// one and none of the file's words.
    pub(super) fn discipline(&self, value: &Value) -> Option<(&KeyPath, &'static str)> {
        let Value::Text(text) = value else {
            return None;
        };
        let name = queues().into_iter().find(|name| name == text)?;
        let is_own = self.words.iter().any(|word| word.name == name);
        self.queue().filter(|_| !is_own).map(|path| (path, name))
    }

    /// The key that selects the queue of a link, if every word sets it.
    fn queue(&self) -> Option<&KeyPath> {
        let (first, others) = self.words.split_first()?;
        let mut keys = first.keys.iter().map(|(path, _)| path);
        let path = keys.find(|path| path.0.last().is_some_and(|key| key == "queue"))?;
        let sets = |word: &Word| word.keys.iter().any(|(other, _)| other == path);
        others.iter().all(sets).then_some(path)
    }

    /// The place of the choice.
    pub(super) const fn origin(&self) -> &Origin {
        &self.origin
    }
}

fn tables<'a>(path: &[&str], node: &'a Node) -> Result<&'a Table> {
    match &node.value {
        Value::Table(table) if table.iter().next().is_some() => Ok(table),
        _ => Err(reject(
            path,
            node,
            "write a table for each word: [choices.queue.gentle] \"network.red.gentle\" = \"on\"",
        )),
    }
}

/// The keys of a word: dotted, quoted or as tables. A word without keys leaves all as it is.
fn keys(path: &[&str], node: &Node) -> Result<Vec<(KeyPath, Node)>> {
    let mut found = Vec::new();
    let word = match &node.value {
        Value::Table(table) => table,
        _ => tables(path, node)?,
    };
    let mut open = vec![(KeyPath(Vec::new()), word)];
    while let Some((above, table)) = open.pop() {
        for (key, node) in table.iter().filter(|(key, _)| *key != LEFT_OUT) {
            let below = KeyPath::parse(key).unwrap_or_else(|| KeyPath(vec![key.to_owned()]));
            let at = KeyPath([above.0.clone(), below.0].concat());
            match &node.value {
                Value::Table(inner) => open.push((at, inner)),
                Value::List(_) => {
                    let why = "write one value; each word has one";
                    return Err(reject(&within(path, &at), node, why));
                }
                _ if !keys::cell_roots().contains(&at.root()) => {
                    let why = "no key of a cell, as \"network.queue\" is one";
                    return Err(reject(&within(path, &at), node, why));
                }
                _ => found.push((at, node.clone())),
            }
        }
    }
    Ok(found)
}

/// Why the cells of a word are not run, if it says so.
fn left_out(path: &[&str], node: &Node) -> Result<Option<String>> {
    let written = match &node.value {
        Value::Table(table) => table.get(LEFT_OUT),
        _ => None,
    };
    let read = |node: &Node| {
        let place = [path, &[LEFT_OUT]].concat();
        let (why, _) = line(&node.value).map_err(|why| reject(&place, node, &why))?;
        Ok(why)
    };
    written.map(read).transpose()
}

fn within<'a>(path: &[&'a str], at: &'a KeyPath) -> Vec<&'a str> {
    let below = at.0.iter().map(String::as_str);
    path.iter().copied().chain(below).collect()
}

fn reject(path: &[&str], Node { value, origin }: &Node, why: &str) -> anyhow::Error {
    let path = KeyPath(path.iter().map(|&key| key.to_owned()).collect());
    rejection(origin, &path.to_string(), value, why)
}
