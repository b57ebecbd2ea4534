//! `[on.BACKEND.TABLE]`: keys that override others in one backend only.
//! `[on.published.TABLE]`: keys that do so while a run has the settings of a row of
//! `[[published]]`.

use std::fmt;

use anyhow::Result;
use keyfile::{KeyPath, Node, Parsed, Table, Value, did_you_mean, fault, rejection};
use plan::Backend;

use super::choices;
use super::keys;
use super::report;
use super::sweep::{self, Factor};

/// The name of the table.
pub(super) const ROOT: &str = "on";

/// The keys besides those of a cell that can be overridden: what words stand for, the
/// number of trials, the levels of a sweep, and how a report names them.
const HEAD: [&str; 4] = [choices::ROOT, "sweep", "trials", "report"];

/// The name of [`Scope::Published`].
const PUBLISHED: &str = "published";

/// Where keys are overridden.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scope {
    Backend(Backend),
    /// In a run with the settings of a published row, as far as they are not swept.
    Published,
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Backend(backend) => backend.fmt(f),
            Self::Published => f.write_str(PUBLISHED),
        }
    }
}

impl Scope {
    /// Where `path` is overridden in this scope.
    pub(super) fn below(self, path: &KeyPath) -> KeyPath {
        let place = [ROOT.to_owned(), self.to_string()];
        KeyPath(place.into_iter().chain(path.0.iter().cloned()).collect())
    }
}

/// A scope by its name.
pub(super) fn scope(value: &Value) -> Parsed<Scope> {
    let scope = match value {
        Value::Text(name) if name == PUBLISHED => Scope::Published,
        Value::Text(name) => Scope::Backend(name.parse().map_err(|error| format!("{error}"))?),
        _ => {
            return Err(
                "write the name of a backend, for instance \"sim\", or \"published\"".into(),
            );
        }
    };
    Ok((scope, scope.to_string().as_str().into()))
}

/// The key of a cell that `path` overrides below `[on]`; any other path as it is.
pub(super) fn of_cell(path: &KeyPath) -> KeyPath {
    match path.0.as_slice() {
        [root, _, below @ ..] if root == ROOT && !below.is_empty() => KeyPath(below.to_vec()),
        _ => path.clone(),
    }
}

/// A key that is overridden in some scope.
struct Over<'a> {
    scope: Scope,
    path: KeyPath,
    node: &'a Node,
}

/// `tree` with the overrides of `backend` applied and without `[on]`. Values from
/// `--set` take precedence, unless `--set` wrote the override as well.
///
/// # Errors
/// An unknown backend or table.
pub(super) fn applied(tree: &Table, backend: Backend) -> Result<Table> {
    let base = tree.only(|key| key != ROOT);
    Ok(overridden(tree, Scope::Backend(backend), &base)?.unwrap_or(base))
}

/// The keys `body` of cells with those of `[on.published]` in `tree`; `None` if there
/// are none.
///
/// # Errors
/// An unknown backend or table.
pub(super) fn published(tree: &Table, body: &Table) -> Result<Option<Table>> {
    overridden(tree, Scope::Published, body)
}

/// `base` with the overrides of `scope` in `tree`; `None` if there are none.
fn overridden(tree: &Table, scope: Scope, base: &Table) -> Result<Option<Table>> {
    let mut overs = all(tree)?;
    overs.retain(|over| over.scope == scope);
    if overs.is_empty() {
        return Ok(None);
    }
    let mut applied = base.clone();
    if overs.iter().any(|over| over.path.root() == sweep::ROOT) {
        report::remove_levels(&mut applied);
    }
    for over in overs {
        let set = |node: &Node| node.origin.is_option("set");
        if tree.at(&over.path.0).is_some_and(set) && !set(over.node) {
            continue;
        }
        applied
            .put(&over.path.0, over.node.clone())
            .map_err(|key| {
                over.reject(&format!(
                    "`{key}` is no table; write the keys of a table below one"
                ))
            })?;
    }
    Ok(Some(applied))
}

/// Rejects overrides of swept keys, whose levels would take precedence.
pub(super) fn reject_swept(tree: &Table, factors: &[Factor]) -> Result<()> {
    for over in all(tree)? {
        let swept = factors.iter().find(|factor| factor.path == over.path);
        if let Some(factor) = swept.filter(|factor| !factor.origin.is_option("set")) {
            let why = format!("this key is swept as {}, in every backend", factor.name);
            return Err(over.reject(&why));
        }
    }
    Ok(())
}

/// Rejects overrides for other backends of keys that are not in the table of
/// keys.
pub(super) fn reject_unknown(tree: &Table, backend: Backend) -> Result<()> {
    let mut others = all(tree)?;
    others.retain(|over| over.scope != Scope::Backend(backend));
    let is_known = |over: &Over<'_>| match over.path.0.as_slice() {
        [root, _, _, below @ ..] if root == choices::ROOT => choices::is_key(below),
        _ => keys::known(&over.path),
    };
    match others.into_iter().find(|over| !is_known(over)) {
        None => Ok(()),
        Some(over) => {
            let hint = keys::hint(&over.path, false);
            Err(over.reject(&format!("unknown key `{}`{hint}", over.path)))
        }
    }
}

impl Over<'_> {
    fn reject(&self, why: &str) -> anyhow::Error {
        let place = format!("{ROOT}.{}.{}", self.scope, self.path);
        rejection(&self.node.origin, &place, &self.node.value, why)
    }
}

/// All keys below `[on]`.
fn all(tree: &Table) -> Result<Vec<Over<'_>>> {
    let Some(node) = tree.get(ROOT) else {
        return Ok(Vec::new());
    };
    let mut found = Vec::new();
    for (name, of_backend) in table(ROOT, node)?.iter() {
        let place = format!("{ROOT}.{name}");
        let scope = match name {
            PUBLISHED => Scope::Published,
            name => name
                .parse()
                .map(Scope::Backend)
                .map_err(|why| fault(&of_backend.origin, format!("{place}: {why}")))?,
        };
        for (root, node) in table(&place, of_backend)?.iter() {
            let place = format!("{place}.{root}");
            let head: &[&str] = match scope {
                Scope::Backend(_) => &HEAD,
                Scope::Published => &[],
            };
            if !keys::cell_roots().contains(&root) && !head.contains(&root) {
                let roots = keys::cell_roots().iter().chain(head).copied();
                let tables: Vec<&str> = roots.collect();
                let hint = match did_you_mean(root, tables.iter().copied()).as_str() {
                    "" => format!("; there are: {}", tables.join(", ")),
                    hint => hint.to_owned(),
                };
                return Err(fault(&node.origin, format!("{place}: unknown table{hint}")));
            }
            walk(
                scope,
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
        value => Err(rejection(&node.origin, place, value, "write a table")),
    }
}

fn walk<'a>(scope: Scope, table: &'a Table, above: &KeyPath, found: &mut Vec<Over<'a>>) {
    for (key, node) in table.iter() {
        let path = above.then(key);
        match &node.value {
            Value::Table(inner) => walk(scope, inner, &path, found),
            _ => found.push(Over { scope, path, node }),
        }
    }
}
