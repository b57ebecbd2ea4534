//! Changes between two runs.

use plan::metric::measured;
use plan::{Factors, Plan, Trial};

use super::{Comparison, baselines, by_cell, decide, estimators, hold, in_cell};
use crate::statistics::{Contrast, Estimator};

/// One metric in a cell that both runs measured.
#[derive(Clone, Debug)]
pub struct Shift {
    /// The measurement of the first run.
    pub before: Comparison,
    /// The measurement of the second run; its change is against the first.
    pub after: Comparison,
    /// The change of this cell's gain over its baseline: the ratio of the two
    /// gains. `None` for a baseline, and if a mean is not positive.
    pub gain: Option<Contrast>,
}

/// All metrics in all cells that both runs measured, by metric, then in the
/// order of the second plan. A difference must be significant at 5 % over all
/// cells of a metric and above the resolution of both.
pub fn diff(first: (&Plan, &[Trial]), second: (&Plan, &[Trial])) -> Vec<Shift> {
    let both = |name: &str| {
        let measured =
            |trials: &[Trial]| trials.iter().any(|trial| trial.metrics.contains_key(name));
        measured(first.1) && measured(second.1)
    };
    let metrics = measured(first.1)
        .into_iter()
        .filter(|metric| both(metric.name));
    let baselines = baselines(second.0);
    let trials = [first, second].map(|(plan, trials)| by_cell(plan, trials));
    let cells = second.0.cells.iter();
    let twins: Vec<Option<usize>> = cells.map(|cell| twin(first.0, &cell.factors)).collect();
    metrics
        .flat_map(|metric| {
            let own = estimators(first.0, metric, &trials[0]);
            let other = estimators(second.0, metric, &trials[1]);
            let of_cell = |plan: &Plan, trials: &[Vec<&Trial>], cell: usize, both: Estimator| {
                let estimator = match plan.backend.profile().depends_on_machine {
                    true => both,
                    false => Estimator::Mean,
                };
                let place = (cell, &plan.cells[cell]);
                in_cell(plan, metric, place, &trials[cell], estimator)
            };
            let pairs = twins.iter().enumerate().filter_map(|(position, twin)| {
                let twin = (*twin)?;
                // Two runs on machines are estimated alike.
                let both = own[twin].max(other[position]);
                let before = of_cell(first.0, &trials[0], twin, both);
                let after = of_cell(second.0, &trials[1], position, both);
                (before.n > 0 && after.n > 0).then_some((before, after))
            });
            let (before, mut after): (Vec<Comparison>, Vec<Comparison>) = pairs.unzip();
            for (after, before) in after.iter_mut().zip(&before) {
                hold(after, before);
            }
            decide(&mut after);
            let gains: Vec<Option<Contrast>> = after
                .iter()
                .zip(&before)
                .map(|(cell, was)| gain(&baselines, (&before, &after), (was, cell)))
                .collect();
            let shift = |((before, after), gain)| Shift {
                before,
                after,
                gain,
            };
            before
                .into_iter()
                .zip(after)
                .zip(gains)
                .map(shift)
                .collect::<Vec<_>>()
        })
        .collect()
}

/// The cell of `plan` with these factors.
fn twin(plan: &Plan, factors: &Factors) -> Option<usize> {
    let mut cells = plan.cells.iter();
    cells.position(|cell| same_factors(&cell.factors, factors))
}

/// Whether two cells have the same factors, in any order and spelling.
pub(crate) fn same_factors(a: &Factors, b: &Factors) -> bool {
    let within = |a: &Factors, b: &Factors| {
        a.0.iter().all(|(name, level)| {
            let other = b.level(name);
            other.is_some_and(|other| level.is_same(other))
        })
    };
    within(a, b) && within(b, a)
}

/// The ratio of a cell's gains over its baseline, after to before.
fn gain(
    baselines: &[Option<usize>],
    (before, after): (&[Comparison], &[Comparison]),
    (was, is): (&Comparison, &Comparison),
) -> Option<Contrast> {
    let base = baselines[is.cell].filter(|&base| base != is.cell)?;
    let place = after.iter().position(|cell| cell.cell == base)?;
    Contrast::of(
        &[is.mean.as_ref()?, before[place].mean.as_ref()?],
        &[was.mean.as_ref()?, after[place].mean.as_ref()?],
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::Difference;
    use plan::Level;
    use plan::synthetic::{Normal, cell, factors, plan, trial};

    /// A run at 1500 and 9000 with these means and a spread of 0.5 %.
    fn run(seed: u64, n: usize, means: [f64; 2]) -> (Plan, Vec<Trial>) {
        let mut normal = Normal::new(seed);
        let cells = [1500, 9000].map(|mtu| cell(factors(mtu))).to_vec();
        let trials = [1500, 9000].iter().zip(means).flat_map(|(&mtu, mean)| {
            let values = normal.sample(n, mean, mean * 0.005);
            (1..)
                .zip(values)
                .map(move |(repeat, value)| trial(factors(mtu), repeat, &[("throughput", value)]))
        });
        let trials = trials.collect();
        (plan(cells, 20, Vec::new()), trials)
    }

    fn shifts(a: &(Plan, Vec<Trial>), b: &(Plan, Vec<Trial>)) -> Vec<Shift> {
        diff((&a.0, &a.1), (&b.0, &b.1))
    }

    #[test]
    fn a_planted_change_of_two_per_cent_is_found_where_it_was_planted() {
        let shifts = shifts(&run(1, 20, [900.0, 980.0]), &run(2, 20, [900.0, 960.4]));
        assert_eq!(shifts.len(), 2);
        assert_eq!(shifts[0].after.difference, Some(Difference::NotFound));
        assert_eq!(shifts[1].after.difference, Some(Difference::Found));
        let change = shifts[1].after.change.unwrap();
        assert!(change.ci95.unwrap().holds(-2.0), "{change:?}");
        assert!(shifts[0].gain.is_none(), "a baseline has no gain");
        assert!(shifts[1].gain.unwrap().interval(0.95).unwrap().holds(-2.0));
    }

    #[test]
    fn two_halves_of_one_run_differ_by_chance_at_most() {
        // At 5 % over the cells, 2 of 40 runs may differ by chance; 6 are rare.
        let found = (0..40).filter(|&seed| {
            let (plan, trials) = run(seed, 40, [900.0, 980.0]);
            let (one, other): (Vec<Trial>, Vec<Trial>) =
                trials.into_iter().partition(|trial| trial.repeat % 2 == 0);
            let found = |shift: &Shift| shift.after.difference == Some(Difference::Found);
            diff((&plan, &one), (&plan, &other)).iter().any(found)
        });
        assert!(found.count() <= 6);
    }

    #[test]
    fn an_outlier_in_one_run_trims_the_means_of_both() {
        let first = run(1, 8, [900.0, 980.0]);
        let mut second = run(2, 8, [900.0, 960.4]);
        second.1[10].metrics.insert("throughput", 600.0);
        let shifts = shifts(&first, &second);
        assert_eq!(shifts[1].after.difference, Some(Difference::Found));
        for shift in shifts {
            for side in [shift.before, shift.after] {
                assert!(side.mean.unwrap().trimmed.is_some());
            }
        }
        let mut simulated = second;
        simulated.0.backend = plan::Backend::Sim;
        let shifts = self::shifts(&first, &simulated);
        assert_eq!(shifts[1].after.mean.unwrap().trimmed, None);
    }

    #[test]
    fn factors_are_the_same_whatever_their_order_but_not_if_one_is_missing() {
        let pairs = [
            ("mtu", Level::Integer(9000)),
            ("offloads", Level::Text("on".into())),
        ];
        let [mtu, offloads] = pairs.map(|(name, level)| (name.to_owned(), level));
        let both = Factors(vec![mtu.clone(), offloads.clone()]);
        let written = ("mtu".to_owned(), Level::Text("9000".into()));
        assert!(same_factors(
            &both,
            &Factors(vec![offloads.clone(), written])
        ));
        let one = Factors(vec![mtu]);
        assert!(!same_factors(&one, &both) && !same_factors(&both, &one));
        let other = ("mtu".to_owned(), Level::Integer(1500));
        assert!(!same_factors(&both, &Factors(vec![other, offloads])));
    }

    #[test]
    fn only_cells_of_both_runs_are_held_against_each_other() {
        let first = run(1, 5, [900.0, 980.0]);
        let mut second = run(2, 5, [900.0, 980.0]);
        second.1.retain(|trial| *trial.factors == factors(9000));
        let both = shifts(&first, &second);
        assert_eq!(both.len(), 1);
        assert!(
            both[0].gain.is_none(),
            "its baseline was not measured twice"
        );
        second.0.cells.clear();
        assert!(shifts(&first, &second).is_empty());
    }
}
