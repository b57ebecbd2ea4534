//! `rate = "auto"`: links whose rate the machine decides.
//!
//! The word is replaced by a rate before anything else reads it, so that a resolved plan
//! holds the rate itself.

use keyfile::{KeyPath, Table, Value};
use plan::Backend;
use units::Rate;

use super::cell::AUTO;
use super::{backend_overrides, choices};

/// The rates that `auto` may stand for, the largest first.
pub const AUTO_RATES: [Rate; 4] = [megabits(1_000), megabits(500), megabits(200), megabits(100)];

const fn megabits(number: u64) -> Rate {
    Rate::from_bits_per_second(number * 1_000_000).expect("the number is not zero")
}

/// Whether a link has the rate `auto`, in whatever backend.
pub(super) fn is_in(tree: &Table) -> bool {
    let mut tree = tree.clone();
    replace(&mut tree, &KeyPath(Vec::new()), &AUTO.into()) > 0
}

/// Gives this rate to the links of `tree` that have the rate `auto`.
pub(super) fn apply(tree: &mut Table, rate: Rate) {
    let rate = rate.to_string();
    replace(tree, &KeyPath(Vec::new()), &rate.as_str().into());
}

/// Replaces the word in `tree` by what it means in `backend` if nobody asked the machine: the
/// largest of its rates. A path between named hosts has the rate that it has.
pub(super) fn resolve(tree: &mut Table, backend: Backend) {
    let [usual, ..] = AUTO_RATES;
    let usual = usual.to_string();
    let value = match backend.profile().builds_network {
        true => usual.as_str(),
        false => "none",
    };
    replace(tree, &KeyPath(Vec::new()), &value.into());
}

/// Replaces the word by `value` wherever it is the rate of links, and counts the places.
fn replace(table: &mut Table, above: &KeyPath, value: &Value) -> usize {
    let replaced = table.iter_mut().map(|(key, node)| {
        // The keys of a choice's word are written in quotes.
        let below = KeyPath::parse(key).unwrap_or_else(|| KeyPath(vec![key.clone()]));
        let path = KeyPath([above.0.clone(), below.0].concat());
        match &mut node.value {
            Value::Table(inner) => replace(inner, &path, value),
            Value::Text(word) if word == AUTO && is_rate(&path) => {
                node.value = value.clone();
                1
            }
            _ => 0,
        }
    });
    replaced.sum()
}

/// Whether `path` is the rate of links, in `[on]` or a word of a choice as well.
fn is_rate(path: &KeyPath) -> bool {
    let path = backend_overrides::of_cell(path);
    let key = match path.0.as_slice() {
        [root, _, _, key @ ..] if root == choices::ROOT => key,
        key => key,
    };
    match key {
        [network, key] => network == "network" && key == "rate",
        [links, _, key] => links == "links" && key == "rate",
        _ => false,
    }
}
