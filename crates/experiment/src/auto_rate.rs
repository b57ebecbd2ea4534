//! `rate = "auto"`: links whose rate the machine decides.
//!
//! The word is replaced by a rate before anything else reads it, so that a resolved plan
//! holds the rate itself.

use plan::World;
use units::Rate;

use super::on;
use super::quantity::rate_or_none;
use super::reader::Parsed;
use super::tree::{KeyPath, Table, Value};
use super::{Experiment, choices};

/// The word for a rate that the machine decides.
const AUTO: &str = "auto";

/// The rates that `auto` may stand for, the largest first.
pub const AUTO_RATES: [Rate; 4] = [megabits(1_000), megabits(500), megabits(200), megabits(100)];

const fn megabits(number: u64) -> Rate {
    Rate::from_bits_per_second(number * 1_000_000).expect("the number is not zero")
}

impl Experiment {
    /// Whether a link has `rate = "auto"`, in whatever world.
    pub fn has_auto_rate(&self) -> bool {
        let mut tree = self.tree.clone();
        replace(&mut tree, &KeyPath(Vec::new()), &AUTO.into()) > 0
    }

    /// The same experiment, whose links with `rate = "auto"` have this rate.
    #[must_use]
    pub fn with_auto_rate(mut self, rate: Rate) -> Self {
        let rate = rate.to_string();
        replace(
            &mut self.tree,
            &KeyPath(Vec::new()),
            &Value::from(rate.as_str()),
        );
        self
    }
}

/// Replaces the word in `tree` by what it means in `world` if nobody asked the machine: the
/// largest of its rates. A path between named hosts has the rate that it has. Gateways emulate
/// links at any rate, so the word is left to [`rate`], which refuses it.
pub(super) fn resolve(tree: &mut Table, world: World) {
    let [usual, ..] = AUTO_RATES;
    let usual = usual.to_string();
    let value = match world.profile().builds_network {
        true => usual.as_str(),
        false if is_path(tree, world) => "none",
        false => return,
    };
    replace(tree, &KeyPath(Vec::new()), &value.into());
}

/// Whether the experiment states no other shape of the network than a path.
fn is_path(tree: &Table, world: World) -> bool {
    let shape = KeyPath(vec!["network".to_owned(), "shape".to_owned()]);
    let of_world = on::Scope::World(world).below(&shape);
    let found = tree.at(&of_world.0).or_else(|| tree.at(&shape.0));
    !matches!(found.map(|node| &node.value), Some(Value::Text(shape)) if ["dumbbell", "explicit"].contains(&shape.as_str()))
}

/// The rate of a link, `none` for unlimited.
pub(super) fn rate(value: &Value) -> Parsed<Option<Rate>> {
    match value {
        Value::Text(word) if word == AUTO => Err(
            "\"auto\" is no level of a sweep, and no rate of links between gateways: write rates, for instance \"1gbit\""
                .into(),
        ),
        value => rate_or_none(value),
    }
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
    let path = on::of_cell(path);
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
