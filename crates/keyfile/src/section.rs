//! The keys of one table as text: from a file, or from options with the same meaning.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use anyhow::{Error, Result, anyhow};
use units::BadText;

use super::fault::{fault, fault_at, rejection};
use super::similar::meant;
use super::tree::{Node, Origin, Value};

/// The keys of one table with their values, in the form of options.
#[derive(Clone, Debug, Default)]
pub struct Section {
    /// Where the table stands, and its name; `None`: it is made of options.
    table: Option<(Origin, String)>,
    keys: BTreeMap<String, Written>,
}

#[derive(Clone, Debug)]
struct Written {
    values: Vec<String>,
    is_list: bool,
    origin: Origin,
    /// The key with its table.
    path: String,
}

impl Section {
    /// The table `name` of a file, which may have the keys `known`.
    ///
    /// # Errors
    /// It is no table, or a key is unknown or has a table as its value.
    pub fn read(name: &str, node: &Node, known: &[&str]) -> Result<Self> {
        let Value::Table(table) = &node.value else {
            let why = format!("write a table [{name}]");
            return Err(rejection(&node.origin, name, &node.value, why));
        };
        let mut section = Self {
            table: Some((node.origin.clone(), name.to_owned())),
            ..Self::default()
        };
        for (key, node) in table.iter() {
            let (path, origin) = (format!("{name}.{key}"), node.origin.clone());
            let reject = |why: String| rejection(&origin, &path, &node.value, why);
            if !known.contains(&key) {
                let hint = meant(key, known.iter().copied());
                return Err(reject(format!("unknown key{hint}")));
            }
            let (values, is_list) = match &node.value {
                Value::List(nodes) => (nodes.iter().map(text_of).collect(), true),
                _ => (text_of(node).map(|text| vec![text]), false),
            };
            let Some(values) = values else {
                let why = "write text, a number, true or false, or a list of these";
                return Err(reject(why.into()));
            };
            let written = Written {
                values,
                is_list,
                origin,
                path,
            };
            section.keys.insert(key.to_owned(), written);
        }
        Ok(section)
    }

    /// Sets a key to `values`, which `origin` wrote.
    pub fn set(&mut self, key: &str, values: &[String], origin: Origin) {
        let written = Written {
            values: values.to_vec(),
            is_list: values.len() != 1,
            origin,
            path: key.to_owned(),
        };
        self.keys.insert(key.to_owned(), written);
    }

    /// Sets a key that is an option, too.
    pub fn option(&mut self, key: &str, value: &str) {
        let origin = Origin::option(&key.replace('_', "-"), value);
        self.set(key, &[value.to_owned()], origin);
    }

    /// Takes a key away.
    pub fn remove(&mut self, key: &str) {
        self.keys.remove(key);
    }

    /// The keys of `self`, and otherwise those of `usual`.
    #[must_use]
    pub fn over(self, usual: Self) -> Self {
        let mut keys = usual.keys;
        keys.extend(self.keys);
        let table = self.table.or(usual.table);
        Self { table, keys }
    }

    /// Whether a key is written.
    pub fn has(&self, key: &str) -> bool {
        self.keys.contains_key(key)
    }

    /// The value of a key.
    ///
    /// # Errors
    /// It is a list.
    pub fn text(&self, key: &str) -> Result<Option<&str>> {
        match self.keys.get(key) {
            None => Ok(None),
            Some(written) => match written.values.as_slice() {
                [one] if !written.is_list => Ok(Some(one)),
                _ => Err(self.reject(key, "write one value, not a list")),
            },
        }
    }

    /// The values of a key that may be a list.
    pub fn texts(&self, key: &str) -> &[String] {
        self.keys.get(key).map_or(&[], |written| &written.values)
    }

    /// The error that a key is invalid or missing, with the reason.
    pub fn reject(&self, key: &str, why: impl fmt::Display) -> Error {
        match (self.keys.get(key), &self.table) {
            (Some(written), _) => match &written.origin {
                origin @ Origin::Option { .. } => fault(origin, why),
                origin => {
                    let value = written.values.join(", ");
                    fault_at(origin, &written.path, Some(&value), why)
                }
            },
            (None, Some(_)) => self.reject_table(format!("{key}: {why}")),
            (None, None) => anyhow!("--{}: {why}", key.replace('_', "-")),
        }
    }

    /// The error that the table itself is invalid, with the reason.
    pub fn reject_table(&self, why: impl fmt::Display) -> Error {
        match &self.table {
            Some((origin, name)) => fault(origin, format!("[{name}]: {why}")),
            None => anyhow!("{why}"),
        }
    }

    /// The value of a key as `read` reads it.
    ///
    /// # Errors
    /// As those of `read`, with place, key and value.
    pub fn read_by<T, E: fmt::Display>(
        &self,
        key: &str,
        read: impl FnOnce(&str) -> Result<T, E>,
    ) -> Result<Option<T>> {
        let read = |text: &str| read(text).map_err(|why| self.reject(key, why));
        self.text(key)?.map(read).transpose()
    }

    /// The value of a key in its type; `like` is an example of what is right.
    ///
    /// # Errors
    /// With this example.
    pub fn parsed<T: FromStr>(&self, key: &str, like: &str) -> Result<Option<T>> {
        self.read_by(key, |text| {
            text.parse().map_err(|_| format!("write {like}"))
        })
    }

    /// The same for each value of a list.
    ///
    /// # Errors
    /// With this example.
    pub fn all_parsed<T: FromStr>(&self, key: &str, like: &str) -> Result<Vec<T>> {
        let read = |text: &String| {
            let parsed = text.parse();
            parsed.map_err(|_| self.reject(key, format!("`{text}` is not right; write {like}")))
        };
        self.texts(key).iter().map(read).collect()
    }

    /// A quantity with its unit.
    ///
    /// # Errors
    /// It is none.
    pub fn quantity<T: FromStr<Err = BadText>>(&self, key: &str) -> Result<Option<T>> {
        self.read_by(key, str::parse)
    }

    /// A whole number within a range.
    ///
    /// # Errors
    /// It is none.
    pub fn number(&self, key: &str, least: u64, most: u64) -> Result<Option<u64>> {
        self.read_by(key, |text| {
            let number = text.parse().ok();
            let number = number.filter(|number| (least..=most).contains(number));
            number.ok_or_else(|| match most {
                u64::MAX => format!("write a whole number from {least} on"),
                _ => format!("write a whole number from {least} to {most}"),
            })
        })
    }

    /// The meaning of a word, or of `otherwise`.
    ///
    /// # Errors
    /// It is none of `words`.
    pub fn word<T: Copy>(&self, key: &str, otherwise: &str, words: &[(&str, T)]) -> Result<T> {
        let text = self.text(key)?.unwrap_or(otherwise);
        let found = words.iter().find(|(word, _)| *word == text);
        found.map(|(_, meaning)| *meaning).ok_or_else(|| {
            let words: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
            self.reject(key, format!("write one of {}", words.join(", ")))
        })
    }

    /// Whether a key says `true` or `on`, or whether `usual` does where it is absent.
    ///
    /// # Errors
    /// It says neither yes nor no.
    pub fn truth(&self, key: &str, usual: bool) -> Result<bool> {
        const WORDS: [(&str, bool); 4] = [
            ("on", true),
            ("off", false),
            ("true", true),
            ("false", false),
        ];
        self.word(key, if usual { "on" } else { "off" }, &WORDS)
    }
}

/// A value in the form of an option.
fn text_of(node: &Node) -> Option<String> {
    let text = match &node.value {
        Value::Text(text) => text.clone(),
        Value::Integer(number) => number.to_string(),
        Value::Float(number) => number.to_string(),
        Value::Boolean(truth) => truth.to_string(),
        Value::Table(_) | Value::List(_) | Value::Date(_) => return None,
    };
    (!text.contains(['\n', '\r'])).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse;

    fn section(text: &str) -> Result<Section> {
        let tree = parse(text, "f.toml").unwrap();
        Section::read("a", tree.get("a").unwrap(), &["size", "names", "on"])
    }

    #[test]
    fn a_file_and_options_say_the_same() {
        let written = section("[a]\nsize = 9000\nnames = [\"x\", \"y\"]\non = true\n").unwrap();
        let mut options = Section::default();
        options.option("size", "9000");
        options.option("on", "on");
        let names = ["x", "y"].map(str::to_owned);
        options.set("names", &names, Origin::option("name", "x y"));
        for keys in [written, options] {
            assert_eq!(keys.number("size", 1, 9_000).unwrap(), Some(9_000));
            assert_eq!(keys.texts("names"), names);
            assert!(keys.truth("on", false).unwrap());
        }
    }

    #[test]
    fn each_error_begins_with_its_place_and_shows_the_value() {
        let keys = section("[a]\n\nsize = 9000\nnames = [\"x\", \"y\"]\n").unwrap();
        let mut options = Section::default();
        options.option("send_buffer", "much");
        let mut both = Section::default();
        both.option("on", "perhaps");
        for (error, line) in [
            (
                keys.number("size", 1, 10).unwrap_err(),
                "f.toml:3: a.size = 9000: write a whole number from 1 to 10",
            ),
            (
                keys.text("names").unwrap_err(),
                "f.toml:4: a.names = x, y: write one value, not a list",
            ),
            (keys.reject("on", "write it"), "f.toml:1: [a]: on: write it"),
            (
                options.reject("send_buffer", "why"),
                "--send-buffer much: why",
            ),
            (
                options.reject("receive_buffer", "why"),
                "--receive-buffer: why",
            ),
            (
                keys.over(both).truth("on", true).unwrap_err(),
                "--on perhaps: write one of on, off, true, false",
            ),
            (
                section("[a]\nsiez = 1\n").unwrap_err(),
                "f.toml:2: a.siez = 1: unknown key; did you mean `size`?",
            ),
            (
                section("[a]\ncolour = 1\n").unwrap_err(),
                "f.toml:2: a.colour = 1: unknown key; write one of size, names, on",
            ),
            (
                section("[a]\nsize = { b = 1 }\n").unwrap_err(),
                "f.toml:2: a.size = { b = 1 }: write text, a number, true or false, or a list of these",
            ),
            (
                section("a = 1\n").unwrap_err(),
                "f.toml:1: a = 1: write a table [a]",
            ),
        ] {
            assert_eq!(error.to_string(), line);
        }
    }
}
