//! Where the trials of a folder are in its list.

use std::collections::BTreeMap;

/// A cell by its number, and a repeat.
pub(super) type TrialKey = (u32, u32);

/// The repeats of one block.
const BLOCK: u32 = 64;

/// No trial.
const NONE: u32 = u32::MAX;

/// The place of each trial in a list: four bytes for each where repeats follow each
/// other, and a block for each where they do not.
#[derive(Debug, Default)]
pub(super) struct Places(BTreeMap<TrialKey, Box<[u32; BLOCK as usize]>>);

impl Places {
    /// The place of a trial, if it has one.
    pub(super) fn get(&self, key: TrialKey) -> Option<usize> {
        let (block, slot) = split(key);
        let place = *self.0.get(&block)?.get(slot)?;
        (place != NONE).then_some(place as usize)
    }

    /// Gives a trial the place `place`. A journal has fewer trials than 2^32.
    pub(super) fn insert(&mut self, key: TrialKey, place: usize) {
        let (block, slot) = split(key);
        let empty = || Box::new([NONE; BLOCK as usize]);
        let slots = self.0.entry(block).or_insert_with(empty);
        if let (Some(slot), Ok(place)) = (slots.get_mut(slot), u32::try_from(place)) {
            *slot = place;
        }
    }
}

/// The block of a trial, and its slot there.
const fn split((cell, repeat): TrialKey) -> (TrialKey, usize) {
    ((cell, repeat / BLOCK), (repeat % BLOCK) as usize)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn places_are_a_map(
            keys in prop::collection::vec((0..3_u32, prop_oneof![0..200_u32, any::<u32>()]), 0..200),
            asked in (0..3_u32, 0..200_u32),
        ) {
            let (mut places, mut map) = (Places::default(), BTreeMap::new());
            for (place, key) in keys.into_iter().enumerate() {
                places.insert(key, place);
                map.insert(key, place);
            }
            for (key, place) in &map {
                prop_assert_eq!(places.get(*key), Some(*place));
            }
            prop_assert_eq!(places.get(asked), map.get(&asked).copied());
        }
    }
}
