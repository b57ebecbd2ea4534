//! Builds the cells from the levels of factors.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Result;
use keyfile::{KeyPath, Node, Origin, Table, Value, fault, rejection};
use plan::{Backend, Cell, Factors, Level};

use super::Factor;
use crate::aliases::Aliases;
use crate::cell::{self, NO_LIMIT, Resolved, UnusedKey};
use crate::check::Check;
use crate::distribution_files::DistributionFiles;
use crate::slow_link;

/// The maximum number of cells of an experiment.
const MOST_CELLS: usize = 10_000;

/// The cells in order, the first factor varying slowest, with the reading of
/// the first one, and the keys that differ between them.
pub(crate) fn cells(
    tree: &Table,
    place: &Origin,
    factors: &[Factor],
    aliases: &Aliases,
    backend: Backend,
    check: Check,
    files: &DistributionFiles,
) -> Result<(Vec<Cell>, Resolved, BTreeSet<String>)> {
    reject_what_words_write(tree, factors, aliases)?;
    let count = factors
        .iter()
        .try_fold(1_usize, |count, factor| {
            count.checked_mul(factor.levels.len())
        })
        .filter(|count| *count <= MOST_CELLS);
    let Some(count) = count else {
        let origin = factors.first().map_or(place, |factor| &factor.origin);
        return Err(fault(
            origin,
            format!("sweep makes more cells than {MOST_CELLS}; list fewer levels"),
        ));
    };
    for factor in factors {
        if let Some(Node { value, origin }) = tree.at(&factor.path.0)
            && matches!(value, Value::Table(_) | Value::List(_))
        {
            let why = format!(
                "this key is swept; write its levels under [sweep] as {}",
                factor.name
            );
            return Err(rejection(origin, &factor.path.to_string(), value, why));
        }
        factor.holds_no_file()?;
    }
    let mut cells = Vec::new();
    let mut copies: BTreeMap<String, i64> = BTreeMap::new();
    let mut varying = BTreeSet::new();
    let mut sample: Option<Resolved> = None;
    for number in 0..count {
        let mut tree = tree.clone();
        let (mut names, mut queues, mut left_out) = (Vec::new(), Vec::new(), None);
        let mut below = count;
        for factor in factors {
            below /= factor.levels.len();
            let (level, node) = &factor.levels[number / below % factor.levels.len()];
            for (path, node) in written(factor, node, aliases) {
                let origin = node.origin.clone();
                tree.put(&path.0, node).map_err(|key| {
                    fault(
                        &origin,
                        format!("{path}: `{key}` is no table; write the keys of a table below one"),
                    )
                })?;
            }
            let choice = aliases.choices().at(&factor.path);
            let word = choice.and_then(|choice| choice.word(&node.value).ok());
            left_out = left_out.or_else(|| word?.left_out);
            queues.extend(choice.and_then(|choice| choice.discipline(&node.value)));
            names.push((factor.name.clone(), level.clone()));
        }
        for (path, _) in queues {
            if let Some((target, node)) = slow_link::target(&tree, path) {
                tree.put(&target.0, node).map_err(|key| {
                    fault(
                        place,
                        format!(
                            "{target}: `{key}` is no table; write the keys of a table below one"
                        ),
                    )
                })?;
            }
        }
        let copy = copies.entry(format!("{names:?}")).or_default();
        *copy += 1;
        if *copy > 1 {
            names.push(("copy".into(), Level::Integer(*copy)));
        }
        if let Some(why) = left_out {
            cells.push(Cell {
                factors: Factors(names),
                setting: Err(format!("not measured here: {why}")),
            });
            continue;
        }
        let read = cell::read(&tree, place, backend, check, files)?;
        cells.push(Cell {
            factors: Factors(names),
            setting: read.setting.clone(),
        });
        match &mut sample {
            None => sample = Some(read),
            Some(sample) => {
                differences(&sample.keys, &read.keys, &mut varying);
                let unused = |path: &str| read.unused.iter().any(|other| other.path == path);
                sample.unused.retain(|UnusedKey { path, .. }| unused(path));
                sample.asked.extend(read.asked);
                sample.side_effects.extend(read.side_effects);
            }
        }
    }
    let Some(mut sample) = sample else {
        let left_out = cells.first().and_then(|cell| cell.setting.as_ref().err());
        let why = left_out.map_or("a sweep over nothing", String::as_str);
        return Err(fault(place, format!("sweep: {why}")));
    };
    let is_unlimited = |cell: &Cell| {
        cell.setting
            .as_ref()
            .err()
            .is_some_and(|why| why == NO_LIMIT)
    };
    if cells.iter().all(is_unlimited) {
        let missing = "network.rate is missing; write for instance rate = \"1gbit\", or what hosts cost: nothing else paces a simulated transfer";
        return Err(fault(place, missing));
    }
    let unused = sample
        .unused
        .iter()
        .position(|unused| !is_for_a_word(unused, aliases));
    match unused {
        None => Ok((cells, sample, varying)),
        Some(unused) => Err(sample.unused.swap_remove(unused).why),
    }
}

/// Whether a key of the file belongs to a queue that a word of a choice
/// selects, although none of these cells does.
fn is_for_a_word(unused: &UnusedKey, aliases: &Aliases) -> bool {
    let queue = unused.path.rsplit('.').nth(1);
    let mut choices = aliases.choices().iter();
    !unused.is_set
        && choices.any(|(_, choice)| {
            let mut keys = choice.words.iter().flat_map(|word| &word.keys);
            keys.any(|(path, node)| {
                let is_queue = path.0.last().is_some_and(|key| key == "queue");
                is_queue && matches!(&node.value, Value::Text(text) if Some(&**text) == queue)
            })
        })
}

/// The keys that the level at `node` sets: its own key, or those of a word.
fn written(factor: &Factor, node: &Node, aliases: &Aliases) -> Vec<(KeyPath, Node)> {
    let choice = aliases.choices().at(&factor.path);
    match choice.map(|choice| choice.word(&node.value)) {
        None => vec![(factor.path.clone(), node.clone())],
        Some(word) => word.map_or_else(|_| Vec::new(), |word| word.keys),
    }
}

/// Rejects `--set` of a key that all levels of a choice set.
fn reject_what_words_write(tree: &Table, factors: &[Factor], aliases: &Aliases) -> Result<()> {
    let chosen = factors
        .iter()
        .filter(|factor| aliases.choices().at(&factor.path).is_some());
    for factor in chosen {
        let writes = |node: &Node, path: &KeyPath| {
            let written = written(factor, node, aliases);
            written.iter().any(|(other, _)| other == path)
        };
        let first = factor.levels.first().map(|(_, node)| node);
        let of_first = first.map(|node| written(factor, node, aliases));
        for (path, _) in of_first.iter().flatten() {
            let by_all = factor.levels.iter().all(|(_, node)| writes(node, path));
            if let Some(Node { value, origin }) = tree.at(&path.0)
                && origin.is_option("set")
                && by_all
            {
                let why = format!(
                    "every level of the factor {} writes this key; give that one instead",
                    factor.name
                );
                return Err(rejection(origin, &path.to_string(), value, why));
            }
        }
    }
    Ok(())
}

/// Adds the keys that differ between `one` and `other` to `varying`.
fn differences(one: &[(String, Value)], other: &[(String, Value)], varying: &mut BTreeSet<String>) {
    if one.len() == other.len()
        && (one.iter().zip(other)).all(|(a, b)| a.0 == b.0 && same(&a.1, &b.1))
    {
        return;
    }
    let of_one: BTreeMap<&str, &Value> = one.iter().map(|(key, value)| (&**key, value)).collect();
    let of_other: BTreeMap<&str, &Value> =
        other.iter().map(|(key, value)| (&**key, value)).collect();
    for key in of_one.keys().chain(of_other.keys()) {
        let both = of_one.get(key).zip(of_other.get(key));
        if !both.is_some_and(|(one, other)| same(one, other)) {
            varying.insert((*key).to_owned());
        }
    }
}

fn same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Text(one), Value::Text(other)) => one == other,
        (Value::Integer(one), Value::Integer(other)) => one == other,
        (one, other) => one.to_string() == other.to_string(),
    }
}
