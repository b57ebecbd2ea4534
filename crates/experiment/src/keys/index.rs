//! Finds the rows of a key, and suggestions for unknown keys.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use keyfile::{KeyPath, Node, Table, Value, slips};

use super::table::{RUN, of_cell, sections};
use super::{Key, Section};

/// A node of the tree of keys: a table, a key, or both.
#[derive(Debug, Default)]
pub(crate) struct KeyNode {
    inner: BTreeMap<&'static str, Self>,
    /// The node for any name.
    any: Option<Box<Self>>,
    /// The sections that have this table.
    tables: Vec<&'static Section>,
    /// The rows of this key, at most one per kind of traffic.
    rows: Vec<(&'static Section, &'static Key)>,
}

static KEY_TREE: LazyLock<KeyNode> = LazyLock::new(|| {
    let mut tree = KeyNode::default();
    for section in sections() {
        for table in section.tables {
            let entry = tree.make(table);
            entry.tables.push(section);
            for key in section.keys {
                entry.make(key.name).rows.push((section, key));
            }
        }
    }
    tree
});

static CELL_ROOTS: LazyLock<Vec<&str>> = LazyLock::new(|| roots(&of_cell()));

static RUN_ROOTS: LazyLock<Vec<&str>> = LazyLock::new(|| roots(RUN));

/// The first parts of the keys of a cell.
pub(super) fn cell_roots() -> &'static [&'static str] {
    &CELL_ROOTS
}

/// The first parts of all other keys.
pub(super) fn run_roots() -> &'static [&'static str] {
    &RUN_ROOTS
}

/// The whole table of keys as a tree.
pub(super) fn root() -> &'static KeyNode {
    &KEY_TREE
}

/// The node of the key or table at `path`, if it exists.
pub(crate) fn find(path: &str) -> Option<&'static KeyNode> {
    path.split('.')
        .try_fold(&*KEY_TREE, |entry, part| entry.below(part))
}

/// Whether a row has the key at `path`.
pub(crate) fn known(path: &KeyPath) -> bool {
    let mut parts = path.0.iter();
    let entry = parts.try_fold(&*KEY_TREE, |entry, part| entry.below(part));
    entry.is_some_and(|entry| !entry.rows.is_empty())
}

/// The first node in `tree` that is in no row or table.
pub(crate) fn unknown(tree: &Table) -> Option<(KeyPath, &Node)> {
    KEY_TREE.unknown(tree, &KeyPath(Vec::new()))
}

/// `; did you mean ..?` for an unknown key at `path`, or table if `is_table`;
/// empty without a similar one.
pub(crate) fn hint(path: &KeyPath, is_table: bool) -> String {
    match meant(path, is_table) {
        Some(key) if key != path.to_string() => format!("; did you mean `{key}`?"),
        _ => String::new(),
    }
}

/// The dotted keys of a cell with this name, those of whole tables first and
/// those of tables with any name last.
pub(crate) fn named(name: &str) -> Vec<String> {
    let sections = of_cell().into_iter().flatten();
    let tables = sections.flat_map(|section| {
        let has = section.keys.iter().any(|key| key.name == name);
        section.tables.iter().filter(move |_| has)
    });
    let mut found: Vec<String> = tables.map(|table| joined(table, name)).collect();
    found.dedup();
    found.sort_by_key(|key| (key.split('.').any(is_any), key.matches('.').count()));
    found
}

/// The suggestion for the unknown key at `path`, or table if `is_table`: a
/// similar name in the same table, or else in another one.
fn meant(path: &KeyPath, is_table: bool) -> Option<String> {
    let (wanted, above) = path.0.split_last()?;
    let above = above.join(".");
    let candidates = sections().flat_map(|section| {
        section.tables.iter().flat_map(move |table| {
            let keys = section.keys.iter().map(|key| joined(table, key.name));
            let table = (is_table && !table.is_empty()).then(|| (*table).to_owned());
            keys.chain(table)
        })
    });
    let alike = candidates.filter_map(|candidate| {
        let candidate = under(&candidate, &path.0);
        let (table, name) = candidate.rsplit_once('.').unwrap_or(("", &candidate));
        let elsewhere = table != above;
        let slips = slips(wanted, name).filter(|slips| !elsewhere || *slips == 0)?;
        (!is_any(name)).then_some((slips, elsewhere, candidate))
    });
    let nearest = alike.min_by_key(|(slips, elsewhere, _)| (*slips, *elsewhere));
    nearest.map(|(.., candidate)| candidate)
}

impl KeyNode {
    /// The row of this key for this kind of traffic, if known.
    pub(crate) fn key(&self, kind: Option<&str>) -> Option<&'static Key> {
        let suits = |(section, _): &&(&'static Section, &'static Key)| match kind {
            None => true,
            Some(kind) => section.kinds.is_empty() || section.kinds.contains(&kind),
        };
        self.rows.iter().find(suits).map(|(_, key)| *key)
    }

    /// The section of which this is a table and not a key.
    pub(crate) fn table(&self) -> Option<&'static Section> {
        self.tables
            .first()
            .copied()
            .filter(|_| self.rows.is_empty())
    }

    /// The rows of this key, at most one per kind of traffic.
    pub(super) fn keys(&self) -> impl Iterator<Item = &'static Key> {
        self.rows.iter().map(|(_, key)| *key)
    }

    /// The children with names of their own.
    pub(super) fn inner(&self) -> impl Iterator<Item = (&'static str, &Self)> {
        self.inner.iter().map(|(name, node)| (*name, node))
    }

    /// The child of any name, and a placeholder for the name.
    pub(super) fn any(&self) -> Option<(&'static str, &Self)> {
        self.any.as_deref().map(|node| ("NAME", node))
    }

    /// Whether the key may have any name; its reader knows the actual names.
    pub(crate) fn has_any_name(&self) -> bool {
        self.rows.iter().any(|(_, key)| is_any(key.name))
    }

    /// Whether this is a table of keys and not a key itself.
    pub(crate) fn is_table(&self) -> bool {
        self.rows.is_empty()
    }

    /// The kinds of traffic that have this key or table; empty: all.
    pub(crate) fn kinds(&self) -> Vec<&'static str> {
        let rows = self.rows.iter().map(|(section, _)| *section);
        let tables = self.tables.iter().copied().filter(|_| self.rows.is_empty());
        let sections: Vec<&Section> = rows.chain(tables).collect();
        match sections.iter().any(|section| section.kinds.is_empty()) {
            true => Vec::new(),
            false => sections
                .iter()
                .flat_map(|section| section.kinds)
                .copied()
                .collect(),
        }
    }

    /// The child with this name.
    pub(crate) fn below(&self, name: &str) -> Option<&Self> {
        self.inner.get(name).or(self.any.as_deref())
    }

    /// The node at `path` from here, created if needed.
    fn make(&mut self, path: &'static str) -> &mut Self {
        let parts = path.split('.').filter(|part| !part.is_empty());
        parts.fold(self, |entry, part| match is_any(part) {
            true => entry.any.get_or_insert_default(),
            false => entry.inner.entry(part).or_default(),
        })
    }

    fn unknown<'a>(&self, table: &'a Table, above: &KeyPath) -> Option<(KeyPath, &'a Node)> {
        table.iter().find_map(|(name, node)| {
            let path = above.then(name);
            let Some(entry) = self.below(name) else {
                return Some((path, node));
            };
            if !entry.rows.is_empty() {
                return None;
            }
            match &node.value {
                Value::Table(inner) => entry.unknown(inner, &path),
                Value::List(nodes) => nodes.iter().find_map(|node| match &node.value {
                    Value::Table(inner) => entry.unknown(inner, &path),
                    _ => None,
                }),
                _ => None,
            }
        })
    }
}

/// Whether a part of a path stands for any name.
pub(super) fn is_any(part: &str) -> bool {
    !part.is_empty() && part.chars().all(|letter| letter.is_ascii_uppercase())
}

/// `name` in `table`.
pub(super) fn joined(table: &str, name: &str) -> String {
    match table {
        "" => name.to_owned(),
        table => format!("{table}.{name}"),
    }
}

/// `pattern` with its placeholders replaced by the names in `path`, up to the
/// first part in which the two differ.
fn under(pattern: &str, path: &[String]) -> String {
    let mut agrees = true;
    let mut names = path.iter();
    let parts: Vec<&str> = pattern
        .split('.')
        .map(|part| match names.next() {
            Some(name) if agrees && is_any(part) => name,
            name => {
                agrees &= name.is_some_and(|name| name == part);
                part
            }
        })
        .collect();
    parts.join(".")
}

fn roots(of: &[&'static [Section]]) -> Vec<&'static str> {
    let mut roots = Vec::new();
    for section in of.iter().copied().flatten() {
        for table in section.tables {
            let names = section.keys.iter().map(|key| key.name);
            let of_head: Vec<&str> = names.filter(|_| table.is_empty()).collect();
            let root = table.split('.').next().filter(|root| !root.is_empty());
            for root in root.into_iter().chain(of_head) {
                if !roots.contains(&root) {
                    roots.push(root);
                }
            }
        }
    }
    roots
}
