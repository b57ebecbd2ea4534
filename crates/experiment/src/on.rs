//! `[on.WORLD.TABLE]`: keys that override others in one world only.

use anyhow::Result;
use plan::World;

use super::keys;
use super::reader::{did_you_mean, refusal};
use super::sweep::Factor;
use super::tree::{KeyPath, Node, Origin, Table, Value, fault};

/// The name of the table.
pub(super) const ROOT: &str = "on";

/// The keys besides those of a cell that can be overridden: the number of
/// trials, and the levels of a sweep.
const HEAD: [&str; 2] = ["sweep", "trials"];

/// A key that is overridden in some world.
struct Over<'a> {
    world: World,
    path: KeyPath,
    node: &'a Node,
}

/// `tree` with the overrides of `world` applied and without `[on]`. Values from
/// `--set` take precedence, unless `--set` wrote the override as well.
///
/// # Errors
/// An unknown world or table.
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

/// Rejects overrides of swept keys, whose levels would take precedence.
pub(super) fn refuse_swept(tree: &Table, factors: &[Factor]) -> Result<()> {
    for over in all(tree)? {
        let swept = factors.iter().find(|factor| factor.path == over.path);
        if let Some(factor) = swept.filter(|factor| !matches!(factor.origin, Origin::Set(_))) {
            let why = format!("this key is swept as {}, in every world", factor.name);
            return Err(over.refuse(&why));
        }
    }
    Ok(())
}

/// Rejects overrides for other worlds of keys that are not in the table of
/// keys.
pub(super) fn refuse_unknown(tree: &Table, world: World) -> Result<()> {
    let mut others = all(tree)?;
    others.retain(|over| over.world != world);
    match others.into_iter().find(|over| !keys::known(&over.path)) {
        None => Ok(()),
        Some(over) => {
            let hint = keys::hint(&over.path, false);
            Err(over.refuse(&format!("unknown key `{}`{hint}", over.path)))
        }
    }
}

impl Over<'_> {
    fn refuse(&self, why: &str) -> anyhow::Error {
        let place = format!("{ROOT}.{}.{}", self.world, self.path);
        refusal(&self.node.origin, &place, &self.node.value, why)
    }
}

/// All keys below `[on]`.
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
            if !keys::cell_roots().contains(&root) && !HEAD.contains(&root) {
                let roots = keys::cell_roots().iter().copied();
                let tables: Vec<&str> = roots.chain(HEAD).collect();
                let hint = match did_you_mean(root, tables.iter().copied()).as_str() {
                    "" => format!("; there are: {}", tables.join(", ")),
                    hint => hint.to_owned(),
                };
                return Err(fault(&node.origin, format!("{place}: unknown table{hint}")));
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
