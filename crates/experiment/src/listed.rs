//! `[[stated]]` and `[[irrelevant]]`: keys whose values are those of the source of an
//! experiment, and keys whose values do not matter to its conclusions. With the keys of
//! `[sweep]` and `[[unstated]]` they are all that have an effect on an experiment of a
//! paper, which a test holds.

use anyhow::Result;
use keyfile::quantity::line;
use keyfile::{KeyPath, Node, Value, rejection};

use super::keys;
use super::reader::Reader;

/// The two tables, each with the key that gives the reason.
const TABLES: [(&str, &str); 2] = [("stated", "source"), ("irrelevant", "reason")];

/// Stands for any part of a key.
#[cfg(test)]
const ANY: &str = "*";

/// A key of a list; some of its parts may stand for any.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Listed(KeyPath);

/// All that the lists name, in their order.
pub(super) fn read(reader: &mut Reader<'_>) -> Result<Vec<Listed>> {
    let mut all: Vec<Listed> = Vec::new();
    for (root, reason) in TABLES {
        let Some(node) = reader.find(root)? else {
            continue;
        };
        let not_tables = |node: &Node| {
            let why = format!("write [[{root}]] above each list");
            rejection(&node.origin, root, &node.value, why)
        };
        let Value::List(entries) = &node.value else {
            return Err(not_tables(node));
        };
        for entry in entries {
            let Value::Table(table) = &entry.value else {
                return Err(not_tables(entry));
            };
            let mut reader = Reader::new(table, root, entry.origin.clone());
            reader.required(reason, &format!("{reason} = \"[Floyd2001 s6]\""), line)?;
            let Some(names) = reader.words("keys")? else {
                return Err(reader.missing("keys", "keys = [\"links.bottleneck.rate\"]"));
            };
            for name in &names.value {
                let reject = |why: &str| {
                    let name = Value::Text(name.clone());
                    rejection(&names.origin, &format!("{root}.keys"), &name, why)
                };
                let path = KeyPath(name.split('.').map(str::to_owned).collect());
                let is_of_cell = keys::cell_roots().contains(&path.root());
                let Some(listed) = (is_of_cell && keys::known(&path)).then_some(Listed(path))
                else {
                    return Err(reject(
                        "no such key of a cell; `*` stands for one part, as in \"links.*.loss\"",
                    ));
                };
                if all.contains(&listed) {
                    return Err(reject("it stands in a list already"));
                }
                all.push(listed);
            }
            reader.finish()?;
        }
    }
    Ok(all)
}

#[cfg(test)]
impl Listed {
    /// Whether it names the key at `path`.
    pub(super) fn names(&self, path: &KeyPath) -> bool {
        let mut parts = self.0.0.iter().zip(&path.0);
        let same = |(own, other): (&String, &String)| own == ANY || own == other;
        self.0.0.len() == path.0.len() && parts.all(same)
    }
}
