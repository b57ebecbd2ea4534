//! The search for the largest rate: from the top, the first that most attempts fill.

use experiment::AUTO_RATES;
use serde::{Deserialize, Serialize};
use units::Rate;

/// The most attempts at a rate. Two of the same outcome decide.
const ATTEMPTS: u32 = 3;

/// The outcome of a search.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Chosen {
    pub rate: Rate,
    /// Whether it was filled over all links.
    pub is_sustained: bool,
    /// What was tried, in order.
    pub rungs: Vec<Rung>,
    /// Why attempts failed, if some did.
    pub problem: Option<String>,
}

/// The attempts at one rate over one row of links.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Rung {
    pub(super) rate: Rate,
    /// The number of the row.
    pub(super) load: usize,
    /// How many attempts filled the links.
    pub(super) filled: u32,
    /// The number of attempts.
    pub(super) of: u32,
}

impl Chosen {
    /// The smallest rate, without an attempt.
    pub(super) fn nothing(problem: String) -> Self {
        let [.., rate] = AUTO_RATES;
        Self {
            rate,
            is_sustained: false,
            rungs: Vec::new(),
            problem: Some(problem),
        }
    }
}

/// Searches the largest rate that so many rows of links all sustain. `fills` makes an attempt
/// at a row and a rate; it answers `None` when there is no time left.
pub(super) fn search(loads: usize, mut fills: impl FnMut(usize, Rate) -> Option<bool>) -> Chosen {
    let mut rungs = Vec::new();
    let mut rates = AUTO_RATES.into_iter();
    let mut rate = rates.next();
    let mut load = 0;
    while let Some(tried) = rate.filter(|_| load < loads) {
        let mut rung = Rung {
            rate: tried,
            load,
            filled: 0,
            of: 0,
        };
        let is_sustained = decide(&mut rung, |load| fills(load, tried));
        rungs.push(rung);
        match is_sustained {
            Some(true) => load += 1,
            Some(false) => rate = rates.next(),
            None => rate = None,
        }
    }
    let [.., smallest] = AUTO_RATES;
    Chosen {
        rate: rate.unwrap_or(smallest),
        is_sustained: rate.is_some(),
        rungs,
        problem: None,
    }
}

/// Whether most attempts fill the links; `None` if time ran out before.
fn decide(rung: &mut Rung, mut fills: impl FnMut(usize) -> Option<bool>) -> Option<bool> {
    const MOST: u32 = ATTEMPTS / 2 + 1;
    loop {
        rung.filled += u32::from(fills(rung.load)?);
        rung.of += 1;
        if rung.filled >= MOST {
            return Some(true);
        }
        if rung.of - rung.filled >= MOST {
            return Some(false);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The rate in Mbit/s that is chosen, and whether it is sustained.
    fn chosen(loads: usize, fills: impl FnMut(usize, Rate) -> Option<bool>) -> (u64, bool) {
        let chosen = search(loads, fills);
        (
            chosen.rate.bits_per_second() / 1_000_000,
            chosen.is_sustained,
        )
    }

    fn megabits(rate: Rate) -> u64 {
        rate.bits_per_second() / 1_000_000
    }

    #[test]
    fn the_largest_rate_that_a_machine_fills_is_chosen() {
        for (limit, expected) in [
            (10_000, 1_000),
            (1_000, 1_000),
            (999, 500),
            (499, 200),
            (100, 100),
        ] {
            let found = chosen(1, |_, rate| Some(megabits(rate) <= limit));
            assert_eq!(found, (expected, true), "{limit}");
        }
    }

    #[test]
    fn all_kinds_of_links_must_sustain_the_rate() {
        let limits = [500, 1_000, 200];
        let found = chosen(3, |load, rate| Some(megabits(rate) <= limits[load]));
        assert_eq!(found, (200, true));
    }

    #[test]
    fn most_of_three_attempts_decide() {
        for (outcomes, expected) in [
            ([false, true, true], 1_000),
            ([true, false, true], 1_000),
            ([true, false, false], 500),
            ([false, false, true], 500),
        ] {
            let mut at_the_top = outcomes.into_iter();
            let found = chosen(1, |_, rate| match megabits(rate) {
                1_000 => at_the_top.next(),
                _ => Some(true),
            });
            assert_eq!(found, (expected, true), "{outcomes:?}");
        }
    }

    #[test]
    fn where_nothing_is_sustained_the_smallest_rate_is_left() {
        assert_eq!(chosen(2, |_, _| Some(false)), (100, false));
        let mut attempts = 0;
        let out_of_time = chosen(1, |_, _| {
            attempts += 1;
            (attempts <= 3).then_some(false)
        });
        assert_eq!(out_of_time, (100, false));
    }

    #[test]
    fn an_undisturbed_machine_needs_two_attempts_for_each_kind_of_link() {
        let found = search(2, |_, _| Some(true));
        let attempts = found.rungs.iter().map(|rung| rung.of);
        assert_eq!(attempts.collect::<Vec<_>>(), [2, 2]);
    }
}
