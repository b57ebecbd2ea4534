//! The rate of links with `rate = "auto"` of a run: that of the run that goes on, or else one
//! that the machine is asked for.

use std::path::{Path, PathBuf};

use analysis::completion::complete;
use anyhow::{Result, bail};
use backends::auto_rate;
use experiment::{AUTO_RATES, Experiment};
use plan::{AutoRate, Backend, Plan};
use results::folder::Folder;

/// The folder of all results, and the one that a run names instead.
type Places<'a> = (&'a Path, Option<&'a Path>);

/// An earlier run that chose a rate.
struct Earlier {
    chosen: AutoRate,
    folder: PathBuf,
    is_complete: bool,
}

/// The rate of the links of `plan` that leave it to the machine; `None` if there are none.
/// `plan` was made of `experiment`; its results are in `place`, or in a folder of the usual
/// name in `base`.
///
/// # Errors
/// Several runs of the experiment could go on, at different rates.
pub(crate) fn chosen(
    experiment: &Experiment,
    plan: &Plan,
    (base, place): Places<'_>,
    resumes: bool,
) -> Result<Option<AutoRate>> {
    let settings = auto_rate::settings(experiment, plan);
    if settings.is_empty() {
        return Ok(None);
    }
    if plan.backend.profile().depends_on_machine {
        let begun = match place {
            Some(_) => begun_in(plan, (base, place))?.into_iter().collect(),
            None => at_all_rates(experiment, plan.backend, base)?,
        };
        if let Some(chosen) = continued(begun, place.is_some() || resumes)? {
            return Ok(Some(chosen));
        }
    }
    auto_rate::choose(plan.backend, &settings).map(Some)
}

/// The experiment with the chosen rate.
///
/// # Errors
/// The choice is recorded with a rate that it cannot be.
pub(crate) fn applied(experiment: &Experiment, chosen: &AutoRate) -> Result<Experiment> {
    Ok(experiment.clone().with_auto_rate(auto_rate::rate(chosen)?))
}

/// What `--dry-run` says of the rate: one line, or nothing where no link leaves it to the machine.
pub(super) fn announced(experiment: &Experiment, plan: &Plan) -> String {
    let candidates = candidates(experiment, plan);
    match candidates.as_slice() {
        [] => String::new(),
        [only] => format!("rate = \"auto\": {only}, because no machine limits these links\n"),
        [first, others @ ..] => format!(
            "rate = \"auto\": the run first finds the largest of {first}, {} that this machine sustains, within 2 s; shown is {first}\n",
            others.join(", ")
        ),
    }
}

/// The rates of which a run chooses; none where no link leaves its rate to the machine.
pub(super) fn candidates(experiment: &Experiment, plan: &Plan) -> Vec<String> {
    if auto_rate::settings(experiment, plan).is_empty() {
        return Vec::new();
    }
    let count = match plan.backend.profile().depends_on_machine {
        true => AUTO_RATES.len(),
        false => 1,
    };
    let rates = AUTO_RATES.iter().take(count);
    rates.map(ToString::to_string).collect()
}

/// The run in `place`, if it chose a rate, or the last one of this plan.
fn begun_in(plan: &Plan, (base, place): Places<'_>) -> Result<Option<Earlier>> {
    let begun = Folder::begun(base, place, plan, complete)?;
    Ok(begun.and_then(|begun| {
        Some(Earlier {
            chosen: begun.facts.auto_rate?,
            folder: begun.path,
            is_complete: begun.is_complete,
        })
    }))
}

/// The runs of the experiment at each rate in the folders of their usual names.
fn at_all_rates(experiment: &Experiment, backend: Backend, base: &Path) -> Result<Vec<Earlier>> {
    let mut found = Vec::new();
    for rate in AUTO_RATES {
        // A plan that cannot be run at a rate has no results either.
        let at_rate = experiment.clone().with_auto_rate(rate);
        if let Ok(plan) = backends::backend::plan(at_rate, backend) {
            found.extend(begun_in(&plan, (base, None))?);
        }
    }
    Ok(found)
}

/// The choice of the run that goes on: of the only one with trials left, or of a complete one
/// if that `may_be_complete`.
fn continued(runs: Vec<Earlier>, may_be_complete: bool) -> Result<Option<AutoRate>> {
    let (complete, incomplete): (Vec<_>, Vec<_>) =
        runs.into_iter().partition(|earlier| earlier.is_complete);
    match incomplete.as_slice() {
        [] => {
            let mut complete = complete.into_iter().filter(|_| may_be_complete);
            Ok(complete.next().map(|earlier| earlier.chosen))
        }
        [one] => Ok(Some(one.chosen.clone())),
        several => {
            let named = several.iter().map(|Earlier { chosen, folder, .. }| {
                format!("{} ({})", folder.display(), chosen.rate)
            });
            let named: Vec<String> = named.collect();
            bail!(
                "rate = \"auto\": {} runs of this experiment are not complete: {}; name the folder of one with -o DIR",
                several.len(),
                named.join(", ")
            )
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn earlier(rate: &str, is_complete: bool) -> Earlier {
        Earlier {
            chosen: AutoRate {
                rate: rate.to_owned(),
                sustained: Some(true),
                tried: String::new(),
            },
            folder: PathBuf::from(format!("results/x-{rate}")),
            is_complete,
        }
    }

    fn rate(runs: Vec<Earlier>, may_be_complete: bool) -> Option<String> {
        let chosen = continued(runs, may_be_complete).unwrap();
        chosen.map(|chosen| chosen.rate)
    }

    #[test]
    fn a_run_goes_on_at_the_rate_of_the_one_with_trials_left() {
        let runs = || vec![earlier("1gbit", true), earlier("500mbit", false)];
        for resumes in [false, true] {
            assert_eq!(rate(runs(), resumes).as_deref(), Some("500mbit"));
        }
        let complete = || vec![earlier("1gbit", true)];
        assert_eq!(rate(complete(), false), None, "a new run");
        assert_eq!(rate(complete(), true).as_deref(), Some("1gbit"));
        assert_eq!(rate(Vec::new(), true), None);
    }

    #[test]
    fn of_two_runs_with_trials_left_one_must_be_named() {
        let runs = vec![earlier("1gbit", false), earlier("200mbit", false)];
        let error = continued(runs, true).unwrap_err().to_string();
        assert_eq!(
            error,
            "rate = \"auto\": 2 runs of this experiment are not complete: results/x-1gbit (1gbit), results/x-200mbit (200mbit); name the folder of one with -o DIR"
        );
    }
}
