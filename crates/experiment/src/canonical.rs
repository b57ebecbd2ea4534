//! The canonical form of a resolved experiment, and its hash, which names the
//! results folder.
//!
//! The hash covers the content of the experiment, not its form: comments,
//! spacing, the order of keys, inline tables and the names of Rust types do not
//! affect it. Only the order of the factors in `[sweep]` matters, because it
//! numbers the cells.

use std::fmt::Write as _;

use anyhow::Result;
use keyfile::{KeyPath, Table, Value, parse};
use plan::Backend;
use sha2::{Digest, Sha256};

use super::{FORMAT, report, sweep};

/// The bytes of the digest in a folder name.
const SHOWN: usize = 4;

/// Keys that change no trial: the facts of a run, how reports present it, and the
/// backend, which the first line has.
const LEFT_OUT: [&str; 3] = ["run", report::ROOT, "backend"];

/// Eight hexadecimal digits of the SHA-256 [FIPS180-4] of the canonical form of
/// the resolved experiment `text`, its backend and the version of the format.
///
/// # Errors
/// `text` is not valid TOML.
pub(super) fn hash(text: &str, backend: Backend) -> Result<String> {
    let tree = parse(text, "plan.toml")?;
    let mut digest = Sha256::new();
    digest.update(format!(
        "jumbolab experiment, format {FORMAT}, backend {backend}\n"
    ));
    for line in lines(&tree) {
        digest.update(line);
        digest.update("\n");
    }
    let mut shown = String::new();
    for byte in digest.finalize().iter().take(SHOWN) {
        write!(shown, "{byte:02x}")?;
    }
    Ok(shown)
}

/// One line for each value: the dotted path of its key, and the value.
fn lines(tree: &Table) -> Vec<String> {
    let mut lines = Vec::new();
    for (key, node) in tree.iter() {
        let path = KeyPath(vec![key.to_owned()]).to_string();
        if !LEFT_OUT.contains(&key) {
            flatten(&path, &node.value, &mut lines);
        }
    }
    lines.sort();
    if let Some(factors) = tree.table(sweep::ROOT) {
        let names = factors.iter().map(|(name, _)| name);
        lines.push(format!("order = {:?}", names.collect::<Vec<_>>()));
    }
    lines
}

fn flatten(path: &str, value: &Value, lines: &mut Vec<String>) {
    match value {
        Value::Table(table) => {
            for (key, node) in table.iter() {
                let below = format!("{path}.{}", KeyPath(vec![key.to_owned()]));
                flatten(&below, &node.value, lines);
            }
        }
        Value::List(nodes) => {
            lines.push(format!("{path} = {} values", nodes.len()));
            for (position, node) in nodes.iter().enumerate() {
                flatten(&format!("{path}[{position}]"), &node.value, lines);
            }
        }
        value => lines.push(format!("{path} = {value}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> String {
        hash(text, Backend::Sim).unwrap()
    }

    const TEXT: &str = "name = \"x\"\n[network]\nmtu = 1500\nrate = \"1gbit\"\n[sweep]\nb = [1]\na = [2, 3]\n[[claim]]\nby = 1.0\n";

    #[test]
    fn how_a_plan_is_written_does_not_change_its_hash() {
        let again = "# A comment.\nnetwork = { rate = \"1gbit\", mtu = 1_500 }\nname = 'x'\nclaim = [{ by = 1.0 }]\nsweep.b = [1]\nsweep.a = [2, 3]\n[run]\nhash = \"0\"\n[report]\nquestion = \"Why?\"\n";
        assert_eq!(of(TEXT), of(again));
    }

    #[test]
    fn what_a_plan_says_changes_its_hash() {
        for (old, new) in [
            ("\"x\"", "\"y\""),
            ("1500", "1501"),
            ("mtu", "mtv"),
            ("b = [1]\na = [2, 3]", "a = [2, 3]\nb = [1]"),
            ("[2, 3]", "[3, 2]"),
            ("[2, 3]", "[\"2\", 3]"),
            ("[[claim]]\nby = 1.0\n", ""),
        ] {
            assert!(TEXT.contains(old), "{old}");
            assert_ne!(of(TEXT), of(&TEXT.replacen(old, new, 1)), "{old} -> {new}");
        }
        assert_ne!(of(TEXT), hash(TEXT, Backend::Netns).unwrap());
    }

    /// Printed by `sha256sum` of the lines: a change of the canonical form
    /// renames every results folder and is a change of the format.
    #[test]
    fn the_hash_is_one_that_anybody_can_compute() {
        assert_eq!(of("name = \"x\"\n"), "e1166038");
    }
}
