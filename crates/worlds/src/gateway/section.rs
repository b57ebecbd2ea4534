//! Values of a configuration with their places, from a file or from options.

use std::collections::BTreeMap;
use std::path::Path;
use std::str::FromStr;

use anyhow::{Context as _, Error, Result, anyhow, bail};
use toml_edit::{Document, Item, TableLike, Value};

use super::keys::{TABLES, of_table};

const LARGEST_FILE: u64 = 8 << 20;

/// A table of a configuration.
#[derive(Clone, Debug, Default)]
pub(super) struct Section {
    /// The name of the table, and its place, for keys that are missing.
    place: String,
    values: BTreeMap<String, Written>,
}

#[derive(Clone, Debug)]
struct Written {
    values: Vec<String>,
    /// The beginning of messages about the value.
    place: String,
}

/// The tables of a configuration.
#[derive(Clone, Debug, Default)]
pub(super) struct Sections {
    tables: BTreeMap<String, Section>,
    /// The peers in the order of their names.
    pub(super) peers: Vec<(String, Section)>,
}

impl Sections {
    /// Reads a file.
    pub(super) fn read_file(path: &Path) -> Result<Self> {
        let name = path.display().to_string();
        let text = files::read_regular_text(path, LARGEST_FILE).with_context(|| name.clone())?;
        Self::read(&text, &name)
    }

    /// Reads text; messages name `file`.
    pub(super) fn read(text: &str, file: &str) -> Result<Self> {
        // The offset of each line's end: a file may have many lines and keys.
        let ends: Vec<usize> = text.match_indices('\n').map(|(end, _)| end).collect();
        let place = |span: Option<std::ops::Range<usize>>| {
            let octet = span.map_or(0, |span| span.start);
            let line = 1 + ends.partition_point(|end| *end < octet);
            format!("{file}:{line}")
        };
        let document = Document::parse(text).map_err(|error| {
            let message = error.message().replace('\n', " ");
            anyhow!("{}: {message}", place(error.span()))
        })?;
        let mut sections = Self::default();
        for (name, item) in document.iter() {
            let at = place(item.span());
            let known = TABLES.iter().any(|(table, _)| *table == name);
            let table = item.as_table_like().filter(|_| known);
            let Some(table) = table else {
                let names: Vec<&str> = TABLES.iter().map(|(table, _)| *table).collect();
                bail!("{at}: unknown table `{name}`; {}", hint(name, &names));
            };
            if name != "peers" {
                let section = Section::of(name, name, at, table, &place)?;
                sections.tables.insert(name.to_owned(), section);
                continue;
            }
            for (peer, item) in table.iter() {
                let at = place(item.span());
                let Some(table) = item.as_table_like() else {
                    bail!("{at}: peers.{peer} is not a table; write [peers.{peer}]");
                };
                let section = Section::of("peers", &format!("peers.{peer}"), at, table, &place)?;
                sections.peers.push((peer.to_owned(), section));
            }
        }
        if sections.peers.is_empty() {
            bail!(
                "{file}:1: no peers; write for instance [peers.west] and below it address = \"192.0.2.2\", local = \"192.0.2.1\""
            );
        }
        Ok(sections)
    }

    /// The table of this name; empty if it is absent.
    pub(super) fn table(&self, name: &str) -> Section {
        self.tables.get(name).cloned().unwrap_or_default()
    }

    /// The table of this name, if it is there.
    pub(super) fn table_if_there(&self, name: &str) -> Option<Section> {
        self.tables.get(name).cloned()
    }

    /// Adds a value that was written as an option.
    pub(super) fn option(&mut self, table: &str, key: &str, option: &str, values: &[String]) {
        let section = self.tables.entry(table.to_owned()).or_default();
        section.set(key, option, values);
    }
}

impl Section {
    /// A table of options.
    pub(super) fn set(&mut self, key: &str, option: &str, values: &[String]) {
        let written = Written {
            values: values.to_vec(),
            place: format!("--{option} {}", values.join(" ")),
        };
        self.values.insert(key.to_owned(), written);
    }

    /// Adds a value whose messages begin with `place`.
    pub(super) fn set_at(&mut self, key: &str, value: &str, place: String) {
        let values = vec![value.to_owned()];
        self.values
            .insert(key.to_owned(), Written { values, place });
    }

    fn of(
        kind: &str,
        name: &str,
        at: String,
        table: &dyn TableLike,
        place: &impl Fn(Option<std::ops::Range<usize>>) -> String,
    ) -> Result<Self> {
        let mut values = BTreeMap::new();
        for (key, item) in table.iter() {
            let at = place(item.span());
            if !of_table(kind).any(|known| known.name == key) {
                let names: Vec<&str> = of_table(kind).map(|known| known.name).collect();
                bail!(
                    "{at}: unknown key `{key}` in [{name}]; {}",
                    hint(key, &names)
                );
            }
            let Some(texts) = texts_of(item) else {
                bail!(
                    "{at}: {name}.{key} must be text, a number, true or false, or a list of these"
                );
            };
            let written = Written {
                place: format!("{at}: {name}.{key} = {}", texts.join(", ")),
                values: texts,
            };
            values.insert(key.to_owned(), written);
        }
        Ok(Self {
            place: format!("{at}: [{name}]"),
            values,
        })
    }

    /// The value of a key.
    pub(super) fn text(&self, key: &str) -> Result<Option<&str>> {
        match self
            .values
            .get(key)
            .map(|written| written.values.as_slice())
        {
            None => Ok(None),
            Some([one]) => Ok(Some(one)),
            Some(_) => Err(self.refuse(key, "write one value, not a list")),
        }
    }

    /// The values of a key that may be a list.
    pub(super) fn texts(&self, key: &str) -> &[String] {
        self.values
            .get(key)
            .map_or(&[], |written| written.values.as_slice())
    }

    /// An error about a key.
    pub(super) fn refuse(&self, key: &str, why: &str) -> Error {
        match self.values.get(key) {
            Some(written) => anyhow!("{}: {why}", written.place),
            None => anyhow!("{}: {key}: {why}", self.place),
        }
    }

    /// The value of a key in its type; `like` is an example of what is right.
    pub(super) fn parsed<T: FromStr>(&self, key: &str, like: &str) -> Result<Option<T>> {
        let read = |text: &str| {
            let parsed = text.parse();
            parsed.map_err(|_| self.refuse(key, &format!("write {like}")))
        };
        self.text(key)?.map(read).transpose()
    }

    /// The same for each value of a list.
    pub(super) fn all_parsed<T: FromStr>(&self, key: &str, like: &str) -> Result<Vec<T>> {
        let read = |text: &String| {
            let parsed = text.parse();
            parsed.map_err(|_| self.refuse(key, &format!("`{text}` is not right; write {like}")))
        };
        self.texts(key).iter().map(read).collect()
    }

    /// The meaning of a word.
    pub(super) fn word<T: Copy>(
        &self,
        key: &str,
        otherwise: &str,
        words: &[(&str, T)],
    ) -> Result<T> {
        let text = self.text(key)?.unwrap_or(otherwise);
        let found = words.iter().find(|(word, _)| *word == text);
        found.map(|(_, meaning)| *meaning).ok_or_else(|| {
            let words: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
            self.refuse(key, &format!("write one of {}", words.join(", ")))
        })
    }
}

/// A value, or the values of a list, in the form of options.
fn texts_of(item: &Item) -> Option<Vec<String>> {
    match item.as_value()? {
        Value::Array(values) => values.iter().map(text_of).collect(),
        value => Some(vec![text_of(value)?]),
    }
}

fn text_of(value: &Value) -> Option<String> {
    let text = value.as_str().map(str::to_owned);
    text.or_else(|| value.as_integer().map(|number| number.to_string()))
        .or_else(|| value.as_float().map(|number| number.to_string()))
        .or_else(|| value.as_bool().map(|truth| truth.to_string()))
        .filter(|text| !text.contains(['\n', '\r']))
}

/// A suggestion of the known name that an unknown one resembles.
fn hint(name: &str, known: &[&str]) -> String {
    let near = known
        .iter()
        .map(|known| (strsim::damerau_levenshtein(name, known), known))
        .min();
    match near {
        Some((distance, known)) if distance <= 3 => format!("did you mean `{known}`?"),
        _ => format!("write one of {}", known.join(", ")),
    }
}
