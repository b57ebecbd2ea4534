//! The tables of a configuration with their places, from a file or from options.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context as _, Result};
use keyfile::{Origin, Section, Value, fault, fault_at, meant, parse, rejection};

use super::keys::{TABLES, of_table};

const LARGEST_FILE: u64 = 8 << 20;

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
        let mut sections = Self::default();
        for (name, node) in parse(text, file)?.iter() {
            if !TABLES.iter().any(|(table, _)| *table == name) {
                let hint = meant(name, TABLES.map(|(table, _)| table));
                let why = format!("unknown table{hint}");
                return Err(fault_at(&node.origin, name, None, why));
            }
            let known: Vec<&str> = of_table(name).map(|known| known.name).collect();
            if name != "peers" {
                let section = Section::read(name, node, &known)?;
                sections.tables.insert(name.to_owned(), section);
                continue;
            }
            let Value::Table(peers) = &node.value else {
                let why = "write a table for each, for instance [peers.west]";
                return Err(rejection(&node.origin, name, &node.value, why));
            };
            for (peer, node) in peers.iter() {
                let section = Section::read(&format!("peers.{peer}"), node, &known)?;
                sections.peers.push((peer.to_owned(), section));
            }
        }
        if sections.peers.is_empty() {
            return Err(fault(
                &Origin::start_of(file),
                "no peers; write for instance [peers.west] and below it address = \"192.0.2.2\", local = \"192.0.2.1\"",
            ));
        }
        Ok(sections)
    }

    /// The table of this name; empty if it is absent.
    pub(super) fn table(&self, name: &str) -> Section {
        self.table_if_there(name).unwrap_or_default()
    }

    /// The table of this name, if it is there.
    pub(super) fn table_if_there(&self, name: &str) -> Option<Section> {
        self.tables.get(name).cloned()
    }

    /// The table of this name, for a value that was written as an option.
    pub(super) fn of_option(&mut self, name: &str) -> &mut Section {
        self.tables.entry(name.to_owned()).or_default()
    }
}
