//! The trials of a plan and their order.

use analysis::passes::Further;
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

impl From<Further> for Slot {
    fn from(further: Further) -> Self {
        let Further {
            cell,
            repeat,
            attempt,
        } = further;
        Self {
            cell,
            repeat,
            attempt,
        }
    }
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
    order(plan).map(Slot::id).collect()
}

/// Sorts `trials` into the order of the whole run, whichever shard ran them.
pub fn sort(plan: &Plan, trials: &mut [Trial]) {
    let places = Places::of(plan);
    let place = |trial: &Trial| places.of_trial(&trial.id);
    if !trials.is_sorted_by_key(place) {
        // In place, and each name is looked up once.
        trials.sort_by_cached_key(place);
    }
}

/// The places of the trials of a plan in its order.
pub(super) struct Places {
    cells: usize,
    /// The places of the trials of repeat 1 by cell, then those of repeat 2, ..
    places: Vec<Option<usize>>,
}

impl Places {
    pub(super) fn of(plan: &Plan) -> Self {
        let cells = plan.cells.len();
        let mut places = vec![None; cells * plan.repeat as usize];
        for (place, slot) in order(plan).enumerate() {
            places[(slot.repeat as usize - 1) * cells + slot.cell] = Some(place);
        }
        Self { cells, places }
    }

    /// The place of the trial called `id`; `None` if the plan has none.
    pub(super) fn of_trial(&self, id: &str) -> Option<usize> {
        let (cell, repeat) = parsed(id).filter(|(cell, _)| *cell < self.cells)?;
        let before = usize::try_from(repeat).ok()?.checked_sub(1)?;
        *self.places.get(before * self.cells + cell)?
    }
}

/// The cell and the repeat of the trial called `id`.
fn parsed(id: &str) -> Option<(usize, u32)> {
    let (cell, repeat) = id.strip_prefix('c')?.split_once("-r")?;
    let (cell, repeat) = (cell.parse().ok()?, repeat.parse().ok()?);
    (trial_id(cell, repeat) == id).then_some((cell, repeat))
}

/// Every repeat is a block that contains each cell once, in its own random
/// order, so that drift during the run affects all cells alike [Fisher1935
/// s26]. The blocks follow one after the other from the generator's state.
pub(super) fn order(plan: &Plan) -> impl Iterator<Item = Slot> {
    let measured: Vec<usize> = (0..plan.cells.len())
        .filter(|&cell| plan.cells[cell].setting.is_ok())
        .collect();
    let mut generator = ChaCha8Rng::seed_from_u64(Seed::derive(plan.seed, "order").get());
    (1..=plan.repeat).flat_map(move |repeat| {
        let slot = |&cell: &usize| Slot {
            cell,
            repeat,
            attempt: 1,
        };
        let mut block: Vec<Slot> = measured.iter().map(slot).collect();
        block.shuffle(&mut generator);
        block
    })
}

/// The next attempts at the trials of `plan` that `wanted` selects, in the order
/// of `trials` and shuffled like a block of [`order`].
pub(super) fn further(plan: &Plan, trials: &[Trial], wanted: impl Fn(&Trial) -> bool) -> Vec<Slot> {
    let measured = |cell: &usize| {
        let cell = plan.cells.get(*cell);
        cell.is_some_and(|cell| cell.setting.is_ok())
    };
    let next = |trial: &Trial| {
        let (cell, repeat) = parsed(&trial.id)?;
        let is_ours = measured(&cell) && (1..=plan.repeat).contains(&repeat);
        is_ours.then_some(Slot {
            cell,
            repeat,
            attempt: trial.attempt.checked_add(1)?,
        })
    };
    let wanted = trials.iter().filter(|trial| wanted(trial));
    let mut slots: Vec<Slot> = wanted.filter_map(next).collect();
    let seed = Seed::derive(plan.seed, "order/retry");
    slots.shuffle(&mut ChaCha8Rng::seed_from_u64(seed.get()));
    slots
}

#[cfg(test)]
mod tests {
    use super::*;
    use plan::synthetic::study;
    use results::folder::Shard;

    #[test]
    fn every_trial_is_found_at_its_place_by_its_name() {
        let (mut plan, _) = study();
        plan.cells[1].setting = Err("not here".into());
        let places = Places::of(&plan);
        for (place, id) in trial_ids(&plan).iter().enumerate() {
            assert_eq!(places.of_trial(id), Some(place));
        }
        let repeat = plan.repeat;
        for other in [trial_id(1, 1), trial_id(0, repeat + 1), trial_id(99, 1)] {
            assert_eq!(places.of_trial(&other), None);
        }
        for wrong in [
            "", "c", "c00", "c00-r00", "c0-r01", "c00-r1", "x00-r01", "c+0-r01",
        ] {
            assert_eq!(places.of_trial(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn what_runs_again_are_trials_of_the_plan() {
        let (plan, trials) = study();
        let mut trials = trials[..2].to_vec();
        trials[0].id = trial_id(0, 1).into();
        trials[1].id = trial_id(0, plan.repeat + 1).into();
        let again = further(&plan, &trials, |_| true);
        let expected = Slot {
            cell: 0,
            repeat: 1,
            attempt: 2,
        };
        assert_eq!(again, [expected]);
    }

    #[test]
    fn parts_of_as_many_as_trials_are_ranges_of_the_order() {
        let (plan, _) = study();
        let all = order(&plan).count();
        let shard: Shard = format!("3-5/{all}").parse().unwrap();
        let ours: Vec<usize> = (0..all).filter(|&position| shard.has(position)).collect();
        assert_eq!(ours, [2, 3, 4]);
    }

    #[test]
    fn shards_share_the_trials_out_and_leave_none() {
        let (plan, _) = study();
        let all = order(&plan).count();
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
