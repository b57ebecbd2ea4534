//! The trials of a folder, with all attempts at those that were run again.

use std::collections::BTreeMap;
use std::sync::Arc;

use plan::attempts::combined;
use plan::{EvidenceStore, Factors, Shared, Trial};

use super::places::{Places, TrialKey};

/// The bytes of evidence that stay in memory; what trials after these have is read
/// from their journals again.
const EVIDENCE_IN_MEMORY: usize = 16 << 20;

/// The most cells that are found by the names of their trials.
const MOST_NAMED: usize = 1 << 20;

/// The trials of a folder.
#[derive(Debug)]
pub(super) struct Attempts {
    /// One trial for each repeat of a cell, in order of the first attempts.
    trials: Vec<Trial>,
    /// The place of each of them.
    places: Places,
    /// All attempts at trials whose first one may be replaced.
    all: BTreeMap<TrialKey, Vec<Trial>>,
    /// The cells by their factors as text: numbers in order of their first trials,
    /// and the factors, which their trials share.
    cells: BTreeMap<String, (u32, Arc<Factors>)>,
    /// The same by the number in the names of their trials.
    named: Vec<Option<(u32, Arc<Factors>)>>,
    /// Values that trials share.
    shared: Shared,
    /// The bytes of evidence that may still stay in memory.
    room: usize,
}

impl Default for Attempts {
    fn default() -> Self {
        Self::with_room(EVIDENCE_IN_MEMORY)
    }
}

impl Attempts {
    /// No trials yet. So many bytes of their evidence may stay in memory.
    fn with_room(room: usize) -> Self {
        Self {
            trials: Vec::new(),
            places: Places::default(),
            all: BTreeMap::new(),
            cells: BTreeMap::new(),
            named: Vec::new(),
            shared: Shared::default(),
            room,
        }
    }

    /// Adds an attempt; `evidence` has its evidence at `offset`. The same attempt twice
    /// counts once: a full run in addition to a shard may have repeated the same trial,
    /// with the same result.
    pub(super) fn take(
        &mut self,
        mut trial: Trial,
        evidence: &Arc<dyn EvidenceStore>,
        offset: u64,
    ) {
        self.share(&mut trial, evidence, offset);
        let key = (self.cell(&mut trial), trial.repeat);
        let Some(place) = self.places.get(key) else {
            self.places.insert(key, self.trials.len());
            self.trials.push(trial);
            return;
        };
        let known = &self.trials[place];
        if trial.attempt <= known.attempt {
            return;
        }
        let first = || vec![known.clone()];
        let attempts = self.all.entry(key).or_insert_with(first);
        attempts.push(trial);
        if let Some(one) = combined(attempts) {
            self.trials[place] = one;
        }
    }

    /// Makes a trial keep in memory what it alone has.
    fn share(&mut self, trial: &mut Trial, evidence: &Arc<dyn EvidenceStore>, offset: u64) {
        self.shared.share(trial);
        match self.room.checked_sub(trial.evidence.bytes()) {
            Some(room) => self.room = room,
            None => self.shared.leave(trial, evidence, offset),
        }
    }

    /// The number of the cell of `trial`, which then shares its factors.
    fn cell(&mut self, trial: &mut Trial) -> u32 {
        let named = cell_named(&trial.id).filter(|&named| named < MOST_NAMED);
        let known = named.and_then(|named| self.named.get(named)?.as_ref());
        if let Some((cell, factors)) = known.filter(|(_, known)| *known == trial.factors) {
            trial.factors = Arc::clone(factors);
            return *cell;
        }
        let number = u32::try_from(self.cells.len()).unwrap_or(u32::MAX);
        let new = || (number, Arc::clone(&trial.factors));
        let (cell, factors) = self
            .cells
            .entry(trial.factors.to_string())
            .or_insert_with(new);
        if *factors == trial.factors {
            trial.factors = Arc::clone(factors);
            if let Some(named) = named {
                let length = self.named.len().max(named + 1);
                self.named.resize(length, None);
                self.named[named] = Some((*cell, Arc::clone(factors)));
            }
        }
        *cell
    }

    /// Whether there is an attempt at this repeat of a cell.
    pub(super) fn holds(&self, factors: &Factors, repeat: u32) -> bool {
        // A new run asks for each of its trials.
        if self.trials.is_empty() {
            return false;
        }
        let cell = self.cells.get(&factors.to_string());
        cell.is_some_and(|(cell, _)| self.places.get((*cell, repeat)).is_some())
    }

    /// One trial for each repeat of a cell, the combination of its attempts.
    pub(super) fn trials(&self) -> &[Trial] {
        &self.trials
    }

    /// All attempts, those at the same trial in turn.
    pub(super) fn every(&self) -> impl Iterator<Item = &Trial> {
        self.trials.iter().flat_map(|trial| {
            let again = match self.all.is_empty() {
                true => None,
                false => self.cells.get(&trial.factors.to_string()),
            };
            let again = again.and_then(|(cell, _)| self.all.get(&(*cell, trial.repeat)));
            again.map_or_else(|| std::slice::from_ref(trial), Vec::as_slice)
        })
    }

    /// Reorders the trials.
    pub(super) fn sort(&mut self, into_order: impl FnOnce(&mut [Trial])) {
        into_order(&mut self.trials);
        // Trials share the factors of their cell.
        let of = |factors: &Factors| self.cells.get(&factors.to_string()).map(|(cell, _)| *cell);
        let mut known: BTreeMap<usize, Option<u32>> = BTreeMap::new();
        for (place, trial) in self.trials.iter().enumerate() {
            let address = Arc::as_ptr(&trial.factors).addr();
            let cell = known.entry(address).or_insert_with(|| of(&trial.factors));
            if let Some(cell) = *cell {
                self.places.insert((cell, trial.repeat), place);
            }
        }
    }

    /// The same trials, to change them once all attempts are there.
    pub(super) fn trials_mut(&mut self) -> &mut [Trial] {
        &mut self.trials
    }

    /// The same trials alone.
    pub(super) fn combined(self) -> Vec<Trial> {
        self.trials
    }
}

/// The number of the cell in the name of a trial.
fn cell_named(id: &str) -> Option<usize> {
    let (cell, _) = id.strip_prefix('c')?.split_once("-r")?;
    cell.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use plan::evidence::EVENTS;
    use plan::synthetic::{factors, trial};
    use plan::{DisturbedPass, Evidence};

    /// Evidence that no test asks for.
    #[derive(Debug)]
    struct Unread;

    impl EvidenceStore for Unread {
        fn read(&self, _: u64) -> Evidence {
            Evidence::default()
        }

        fn failure(&self) -> Option<&str> {
            None
        }
    }

    fn taken(trials: impl IntoIterator<Item = Trial>, room: usize) -> Vec<Trial> {
        let mut attempts = Attempts::with_room(room);
        let store: Arc<dyn EvidenceStore> = Arc::new(Unread);
        for trial in trials {
            attempts.take(trial, &store, 0);
        }
        attempts.combined()
    }

    #[test]
    fn evidence_beyond_its_room_is_left_to_the_journal() {
        let of = |repeat| {
            let mut trial = trial(factors(1500), repeat, &[]);
            trial.evidence.insert(EVENTS, 12345);
            trial
        };
        let bytes = of(1).evidence.bytes();
        assert!(bytes > 0);
        let found = taken((1..=3).map(of), 2 * bytes);
        let kept = found.iter().map(|trial| trial.evidence.bytes());
        assert_eq!(kept.collect::<Vec<_>>(), [bytes, bytes, 0]);
        assert!(found[2].evidence.contains(EVENTS));
    }

    #[test]
    fn a_later_attempt_replaces_a_disturbed_one_in_its_place() {
        let of = |repeat, attempt, value| Trial {
            attempt,
            ..trial(factors(1500), repeat, &[("throughput", value)])
        };
        let mut disturbed = of(1, 1, 600.0);
        disturbed
            .disturbed
            .push(DisturbedPass::of_trial("steal 20 %"));
        let found = taken(
            [
                disturbed.clone(),
                of(2, 1, 905.0),
                of(1, 2, 900.0),
                disturbed,
                of(1, 2, 1.0),
            ],
            0,
        );
        let values: Vec<_> = { found.iter() }
            .map(|trial| (trial.repeat, trial.attempt, trial.metrics["throughput"]))
            .collect();
        assert_eq!(values, [(1, 2, 900.0), (2, 1, 905.0)]);
    }
}
