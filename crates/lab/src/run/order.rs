//! The trials of a plan and their order.

use std::collections::BTreeMap;

use plan::{Cell, Plan, Trial, trial_id};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use units::Seed;

use super::job::Job;

/// A trial in the order of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Slot {
    pub(super) cell: usize,
    pub(super) repeat: u32,
    /// Which attempt at this repeat, from 1.
    pub(super) attempt: u32,
}

impl Slot {
    pub(super) fn id(self) -> String {
        trial_id(self.cell, self.repeat)
    }

    /// The trial to run for `cell`, which is measurable.
    pub(super) fn job(self, cell: &Cell) -> Job<'_> {
        Job {
            id: self.id(),
            factors: cell.factors.clone(),
            repeat: self.repeat,
            attempt: self.attempt,
            setting: cell
                .setting
                .as_ref()
                .expect("only cells that can be measured have slots"),
        }
    }
}

/// The names of all measurable trials of `plan`, in order.
pub fn trial_ids(plan: &Plan) -> Vec<String> {
    order(plan).into_iter().map(Slot::id).collect()
}

/// Sorts `trials` into the order of the whole run, whichever shard ran them.
pub fn sort(plan: &Plan, trials: &mut [Trial]) {
    let ids = trial_ids(plan).into_iter().zip(0_usize..);
    let places: BTreeMap<String, usize> = ids.collect();
    trials.sort_by_key(|trial| places.get(&trial.id).copied());
}

/// Every repeat is a block that contains each cell once, in its own random
/// order, so that drift during the run affects all cells alike [Fisher1935
/// s26].
pub(super) fn order(plan: &Plan) -> Vec<Slot> {
    let measured: Vec<usize> = (0..plan.cells.len())
        .filter(|&cell| plan.cells[cell].setting.is_ok())
        .collect();
    let mut generator = ChaCha8Rng::seed_from_u64(Seed::derive(plan.seed, "order").get());
    (1..=plan.repeat)
        .flat_map(|repeat| {
            let mut block: Vec<Slot> = measured
                .iter()
                .map(|&cell| Slot {
                    cell,
                    repeat,
                    attempt: 1,
                })
                .collect();
            block.shuffle(&mut generator);
            block
        })
        .collect()
}

/// The next attempts at the trials of `plan` that `wanted` selects, in the order
/// of `trials` and shuffled like a block of [`order`]. `round` makes each round
/// differ.
pub(super) fn further(
    plan: &Plan,
    trials: &[Trial],
    round: u32,
    wanted: impl Fn(&Trial) -> bool,
) -> Vec<Slot> {
    let slots = order(plan).into_iter().map(|slot| (slot.id(), slot));
    let slots: BTreeMap<String, Slot> = slots.collect();
    let next = |trial: &Trial| {
        Some(Slot {
            attempt: trial.attempt.checked_add(1)?,
            ..*slots.get(&trial.id)?
        })
    };
    let wanted = trials.iter().filter(|trial| wanted(trial));
    let mut slots: Vec<Slot> = wanted.filter_map(next).collect();
    let seed = Seed::derive(plan.seed, &format!("order/{round}"));
    slots.shuffle(&mut ChaCha8Rng::seed_from_u64(seed.get()));
    slots
}

#[cfg(test)]
mod tests {
    use super::*;
    use plan::synthetic::study;
    use results::folder::Shard;

    #[test]
    fn parts_of_as_many_as_trials_are_ranges_of_the_order() {
        let (plan, _) = study();
        let all = order(&plan).len();
        let shard: Shard = format!("3-5/{all}").parse().unwrap();
        let ours: Vec<usize> = (0..all).filter(|&position| shard.has(position)).collect();
        assert_eq!(ours, [2, 3, 4]);
    }

    #[test]
    fn shards_share_the_trials_out_and_leave_none() {
        let (plan, _) = study();
        let all = order(&plan).len();
        for of in 1..=all + 1 {
            let parts = (1..=of).map(|number| format!("{number}/{of}"));
            let shards: Vec<Shard> = parts.map(|part| part.parse().unwrap()).collect();
            for position in 0..all {
                let ours = shards.iter().filter(|shard| shard.has(position));
                assert_eq!(ours.count(), 1);
            }
        }
    }
}
