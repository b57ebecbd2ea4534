//! Reads the keys of flows with their positions, from options and files.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, Error, Result, anyhow, bail};
use toml_edit::{Document, Item, TableLike};
use units::{Bytes, Span};
use wire::dscp;

/// The keys of a flow in tables; options have dashes instead of underscores.
pub const KEYS: [&str; 25] = [
    "protocol",
    "meter",
    "message",
    "gap",
    "rate",
    "on",
    "off",
    "start",
    "stop",
    "for",
    "packets",
    "octets",
    "dscp",
    "ttl",
    "path_mtu",
    "bind",
    "device",
    "nagle",
    "mss",
    "congestion",
    "send_buffer",
    "receive_buffer",
    "segmentation",
    "merge",
    "busy",
];

/// Pairs of alternative keys.
const ALIKE: [[&str; 2]; 2] = [["gap", "rate"], ["stop", "for"]];

/// The size limit of a file of flows.
const LARGEST_FILE: u64 = 1 << 20;

/// The written keys of one flow.
#[derive(Clone, Debug, Default)]
pub struct Keys(BTreeMap<String, Written>);

#[derive(Clone, Debug)]
struct Written {
    value: String,
    /// The prefix of error messages about this flow.
    place: String,
}

impl Keys {
    /// An option of the command line.
    pub fn option(&mut self, key: &str, value: impl Into<String>) {
        let value = value.into();
        let place = format!("--{} {value}", key.replace('_', "-"));
        self.0.insert(key.to_owned(), Written { value, place });
    }

    /// The flows of a file in order, each with its name. Keys that the file
    /// omits are as in `self`.
    ///
    /// # Errors
    /// One line of text with file, line, key and the expected value.
    pub fn read_file(&self, path: &Path) -> Result<Vec<(String, Self)>> {
        let name = path.display();
        let text = files::read_text(path, LARGEST_FILE).with_context(|| format!("{name}"))?;
        self.read(&text, &name.to_string())
    }

    /// Like [`Keys::read_file`], from text; error messages name `file`.
    ///
    /// # Errors
    /// As [`Keys::read_file`].
    pub fn read(&self, text: &str, file: &str) -> Result<Vec<(String, Self)>> {
        let document = Document::parse(text).map_err(|error| {
            let line = line_of(text, error.span().map_or(0, |span| span.start));
            anyhow!("{file}:{line}: {}", error.message())
        })?;
        let place = |item: &Item| {
            let line = line_of(text, item.span().map_or(0, |span| span.start));
            format!("{file}:{line}")
        };
        let other = document.iter().find(|(key, _)| *key != "flows");
        if let Some((key, item)) = other {
            let place = place(item);
            bail!("{place}: unknown key `{key}`; a file of flows has only tables [flows.NAME]");
        }
        let flows = document.get("flows").and_then(Item::as_table_like);
        let Some(flows) = flows.filter(|flows| !flows.is_empty()) else {
            bail!(
                "{file}:1: no flows; write for instance [flows.voice] and below it message = 160, gap = \"20ms\""
            );
        };
        flows
            .iter()
            .map(|(name, item)| {
                let table = item.as_table_like().ok_or_else(|| {
                    anyhow!(
                        "{}: flows.{name} is not a table; write [flows.{name}]",
                        place(item)
                    )
                })?;
                let keys = self.with(name, table, &place)?;
                Ok((name.to_owned(), keys))
            })
            .collect()
    }

    fn with(
        &self,
        flow: &str,
        table: &dyn TableLike,
        place: &impl Fn(&Item) -> String,
    ) -> Result<Self> {
        let mut keys = self.clone();
        for (key, item) in table.iter() {
            let at = place(item);
            if !KEYS.contains(&key) {
                let near = KEYS
                    .iter()
                    .map(|known| (strsim::damerau_levenshtein(key, known), known))
                    .min();
                let hint = match near {
                    Some((distance, known)) if distance <= 2 => format!("did you mean `{known}`?"),
                    _ => format!("keys are {}", KEYS.join(", ")),
                };
                bail!("{at}: unknown key `{key}` in flows.{flow}; {hint}");
            }
            let value = text_of(item).ok_or_else(|| {
                anyhow!("{at}: flows.{flow}.{key} must be text, a number, or true or false")
            })?;
            let place = format!("{at}: flows.{flow}.{key} = {value}");
            // A flow's own gap replaces the default rate and vice versa, as do
            // its end and its duration.
            for [one, other] in ALIKE {
                match key {
                    key if key == one => drop(keys.0.remove(other)),
                    key if key == other => drop(keys.0.remove(one)),
                    _ => {}
                }
            }
            keys.0.insert(key.to_owned(), Written { value, place });
        }
        for [one, other] in ALIKE {
            if table.contains_key(one)
                && let Some(item) = table.get(other)
            {
                return Err(anyhow!(
                    "{}: flows.{flow} has both {one} and {other}; write one of the two",
                    place(item)
                ));
            }
        }
        Ok(keys)
    }

    /// The text of a key.
    pub(super) fn text(&self, key: &str) -> Option<&str> {
        self.0.get(key).map(|written| written.value.as_str())
    }

    /// An error about a key.
    pub(super) fn refuse(&self, key: &str, why: &str) -> Error {
        match self.0.get(key) {
            Some(written) => anyhow!("{}: {why}", written.place),
            None => anyhow!("--{}: {why}", key.replace('_', "-")),
        }
    }

    pub(super) fn word<T: Copy>(
        &self,
        key: &str,
        otherwise: &str,
        words: &[(&str, T)],
    ) -> Result<T> {
        let text = self.text(key).unwrap_or(otherwise);
        let found = words.iter().find(|(word, _)| *word == text);
        found.map(|(_, meaning)| *meaning).ok_or_else(|| {
            let words: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
            self.refuse(key, &format!("write one of {}", words.join(", ")))
        })
    }

    pub(super) fn switch(&self, key: &str) -> Result<bool> {
        self.word(
            key,
            "off",
            &[
                ("on", true),
                ("off", false),
                ("true", true),
                ("false", false),
            ],
        )
    }

    pub(super) fn number(&self, key: &str, least: u64, most: u64) -> Result<Option<u64>> {
        let read = |text: &str| {
            let number = text.parse().ok();
            number
                .filter(|number| (least..=most).contains(number))
                .ok_or_else(|| match most {
                    u64::MAX => self.refuse(key, &format!("write a whole number from {least} on")),
                    _ => self.refuse(key, &format!("write a whole number from {least} to {most}")),
                })
        };
        self.text(key).map(read).transpose()
    }

    /// A code point of differentiated services, as a number or by its name.
    pub(super) fn dscp(&self, key: &str) -> Result<Option<u8>> {
        let read = |text: &str| {
            let number = text.parse().ok().filter(|number| *number <= dscp::LARGEST);
            number.or_else(|| dscp::named(text)).ok_or_else(|| {
                self.refuse(
                    key,
                    "write a number from 0 to 63, or a name: EF, AF11 to AF43, CS0 to CS7",
                )
            })
        };
        self.text(key).map(read).transpose()
    }

    pub(super) fn size(&self, key: &str) -> Result<Option<Bytes>> {
        let read = |text: &str| {
            text.parse()
                .map_err(|bad: units::BadText| self.refuse(key, &bad.to_string()))
        };
        let size: Option<Bytes> = self.text(key).map(read).transpose()?;
        match size {
            Some(Bytes::ZERO) => Err(self.refuse(key, "must be above 0; write for instance 1MB")),
            size => Ok(size),
        }
    }

    pub(super) fn span(&self, key: &str) -> Result<Option<Span>> {
        let read = |text: &str| {
            text.parse()
                .map_err(|bad: units::BadText| self.refuse(key, &bad.to_string()))
        };
        self.text(key).map(read).transpose()
    }
}

/// A value in the form of an option.
fn text_of(item: &Item) -> Option<String> {
    let text = item.as_str().map(str::to_owned);
    text.or_else(|| item.as_integer().map(|number| number.to_string()))
        .or_else(|| item.as_bool().map(|truth| truth.to_string()))
        .filter(|text| !text.contains(['\n', '\r']))
}

fn line_of(text: &str, octet: usize) -> usize {
    let before = text.as_bytes().get(..octet).unwrap_or_default();
    1 + before.iter().filter(|&&octet| octet == b'\n').count()
}
