//! Keys that are written over the experiment in one world alone:
//! `[on.WORLD.TABLE]`.

use std::collections::BTreeSet;

use anyhow::Result;

use super::cell;
use super::reader::{did_you_mean, refusal};
use super::sweep::Factor;
use super::tree::{KeyPath, Node, Origin, Table, Value, fault};
use plan::World;

/// The table that holds them.
pub(super) const ROOT: &str = "on";

/// What may be written over beside the tables of a cell.
const TRIALS: &str = "trials";

/// A key that is written over in some world.
struct Over<'a> {
    world: World,
    path: KeyPath,
    node: &'a Node,
}

/// `tree` as `world` meets it: with what `[on]` writes over it there, and
/// without `[on]`. What `--set` wrote stays, unless `--set` wrote this too.
///
/// # Errors
/// Where a world, or a table of an experiment, is called by no such name.
pub(super) fn applied(tree: &Table, world: World) -> Result<Table> {
    let mut applied = tree.only(|key| key != ROOT);
    for over in all(tree)?.into_iter().filter(|over| over.world == world) {
        let set = |node: &Node| matches!(node.origin, Origin::Set(_));
        if tree.at(&over.path.0).is_some_and(set) && !set(over.node) {
            continue;
        }
        applied
            .put(&over.path.0, over.node.clone())
            .map_err(|key| over.refuse(&format!("`{key}` is no table")))?;
    }
    Ok(applied)
}

/// Refuses a key that the file sweeps, because its levels would count instead;
/// and a key for another world that does not exist, as far as `world`, which
/// asked for the keys `known`, can tell. A table that `world` has not is left
/// to the other one.
pub(super) fn check(
    tree: &Table,
    world: World,
    factors: &[Factor],
    known: &BTreeSet<String>,
) -> Result<()> {
    for over in all(tree)? {
        let swept = factors.iter().find(|factor| factor.path == over.path);
        if let Some(factor) = swept.filter(|factor| !matches!(factor.origin, Origin::Set(_))) {
            let why = format!("this key is swept as {}, in every world", factor.name);
            return Err(over.refuse(&why));
        }
        let path = over.path.to_string();
        if over.world == world {
            continue;
        }
        let table = path.rsplit_once('.').map_or("", |(table, _)| table);
        let beside = |key: &&String| key.rsplit_once('.').is_some_and(|(of, _)| of == table);
        let mut beside = known.iter().filter(beside).peekable();
        if beside.peek().is_some() && !known.contains(&path) {
            let hint = did_you_mean(&path, beside.map(String::as_str));
            return Err(over.refuse(&format!("there is no key `{path}`{hint}")));
        }
    }
    Ok(())
}

impl Over<'_> {
    fn refuse(&self, why: &str) -> anyhow::Error {
        let place = format!("{ROOT}.{}.{}", self.world, self.path);
        refusal(&self.node.origin, &place, &self.node.value, why)
    }
}

/// Every key below `[on]`.
fn all(tree: &Table) -> Result<Vec<Over<'_>>> {
    let Some(node) = tree.get(ROOT) else {
        return Ok(Vec::new());
    };
    let mut found = Vec::new();
    for (name, of_world) in table(ROOT, node)?.iter() {
        let place = format!("{ROOT}.{name}");
        let world: World = name
            .parse()
            .map_err(|why| fault(&of_world.origin, format!("{place}: {why}")))?;
        for (root, node) in table(&place, of_world)?.iter() {
            let place = format!("{place}.{root}");
            if !cell::ROOTS.contains(&root) && root != TRIALS {
                let tables: Vec<&str> = cell::ROOTS.into_iter().chain([TRIALS]).collect();
                let hint = match did_you_mean(root, tables.iter().copied()).as_str() {
                    "" => format!("; there are: {}", tables.join(", ")),
                    hint => hint.to_owned(),
                };
                return Err(fault(
                    &node.origin,
                    format!("{place}: no table that a world may have of its own{hint}"),
                ));
            }
            walk(
                world,
                table(&place, node)?,
                &KeyPath(vec![root.to_owned()]),
                &mut found,
            );
        }
    }
    Ok(found)
}

fn table<'a>(place: &str, node: &'a Node) -> Result<&'a Table> {
    match &node.value {
        Value::Table(table) => Ok(table),
        value => Err(refusal(&node.origin, place, value, "a table belongs here")),
    }
}

fn walk<'a>(world: World, table: &'a Table, above: &KeyPath, found: &mut Vec<Over<'a>>) {
    for (key, node) in table.iter() {
        let path = above.then(key);
        match &node.value {
            Value::Table(inner) => walk(world, inner, &path, found),
            _ => found.push(Over { world, path, node }),
        }
    }
}
