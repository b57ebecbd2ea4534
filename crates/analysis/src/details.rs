//! Time series of links and flows, and distributions of delays, which only the evidence
//! of trials has. The evidence of a trial is read once, because it may have to
//! come from the journal.

mod distribution;
mod series;

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZero;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{self, Builder};

use plan::{Trial, evidence};

use crate::statistics::Mean;
pub use distribution::{Quantiles, Times};
pub use series::{Quantity, Resolution, TimeSeries};
use series::{Resolved, SeriesSource, Subject, TrialSeries};

/// The most threads that read evidence: each holds the time series of all trials of a
/// cell.
const MOST_THREADS: usize = 8;

/// The details of some trials, combined.
#[derive(Default)]
pub struct Details {
    /// Links or flows that have time series.
    names: BTreeMap<Subject, BTreeSet<String>>,
    series: BTreeMap<Quantity, BTreeMap<String, Resolved>>,
    /// The goodput of all flows together.
    total: Option<Resolved>,
    quantiles: BTreeMap<Times, BTreeMap<String, Quantiles>>,
}

impl Details {
    /// The details of `trials`.
    pub fn of<'a>(trials: impl IntoIterator<Item = &'a Trial>) -> Self {
        let mut collected = Collected::default();
        for trial in trials {
            collected.take(trial);
        }
        collected.combined()
    }

    /// The details of each cell's finished trials, read by several threads.
    pub(crate) fn of_cells(by_cell: &[Vec<&Trial>]) -> Vec<Self> {
        let finished = |cell: &[&Trial]| {
            let trials = cell.iter().copied();
            Self::of(trials.filter(|trial| trial.failure.is_none()))
        };
        let cells: Vec<OnceLock<Self>> = by_cell.iter().map(|_| OnceLock::new()).collect();
        let next = AtomicUsize::new(0);
        let work = || {
            while let number = next.fetch_add(1, Ordering::Relaxed)
                && let Some(trials) = by_cell.get(number)
            {
                // Nobody else has this number.
                let _ = cells[number].set(finished(trials));
            }
        };
        let threads = thread::available_parallelism().map_or(1, NonZero::get);
        let threads = threads.min(MOST_THREADS).min(by_cell.len());
        thread::scope(|scope| {
            for _ in 1..threads {
                // This thread does it all where no other can be made, as in a sandbox.
                let _ = Builder::new().spawn_scoped(scope, work);
            }
            work();
        });
        let cells = cells.into_iter().map(OnceLock::into_inner);
        cells.map(Option::unwrap_or_default).collect()
    }

    /// The links or flows with time series, whichever may have `quantity`, by name.
    pub fn names(&self, quantity: Quantity) -> impl Iterator<Item = &str> {
        let names = self.names.get(&quantity.subject()).into_iter().flatten();
        names.map(String::as_str)
    }

    /// The time series of a quantity of the link or flow `name`; `None` if no trial has it.
    pub fn series(
        &self,
        quantity: Quantity,
        name: &str,
        resolution: Resolution,
    ) -> Option<&TimeSeries> {
        let series = self.series.get(&quantity)?.get(name)?;
        Some(series.at(resolution))
    }

    /// The goodput of all flows together; `None` if no trial has it.
    pub fn total(&self, resolution: Resolution) -> Option<&TimeSeries> {
        Some(self.total.as_ref()?.at(resolution))
    }

    /// The flows with quantiles of these times, by name: means over the trials that have
    /// all of them.
    pub fn quantiles(&self, times: Times) -> impl Iterator<Item = (&str, &[Mean])> {
        let flows = self.quantiles.get(&times).into_iter().flatten();
        flows.map(|(flow, quantiles)| (flow.as_str(), &quantiles[..]))
    }
}

/// The values of trials, not combined yet.
#[derive(Default)]
struct Collected {
    names: BTreeMap<Subject, BTreeSet<String>>,
    series: BTreeMap<Quantity, BTreeMap<String, Vec<TrialSeries>>>,
    totals: Vec<TrialSeries>,
    quantiles: BTreeMap<Times, BTreeMap<String, Vec<[f64; distribution::COUNT]>>>,
}

impl Collected {
    fn take(&mut self, trial: &Trial) {
        let kept = &trial.evidence;
        let has_any = kept.contains(evidence::SERIES)
            || kept.contains(evidence::FLOW_SERIES)
            || Times::ALL
                .iter()
                .any(|times| kept.contains(times.evidence()));
        if !has_any {
            return;
        }
        let kept = kept.loaded();
        let links = kept.get(evidence::SERIES).unwrap_or_default();
        let links = links
            .iter()
            .map(|(name, link)| (name, SeriesSource::Link(link)));
        self.take_series(Subject::Links, links);
        let flows = kept.get(evidence::FLOW_SERIES).unwrap_or_default();
        let flows = flows
            .iter()
            .map(|(name, flow)| (name, SeriesSource::Flow(flow)));
        self.take_series(Subject::Flows, flows);
        for times in Times::ALL {
            for (flow, text) in kept.get(times.evidence()).unwrap_or_default() {
                if let Some(quantiles) = distribution::of_trial(&text) {
                    push(self.quantiles.entry(times).or_default(), &flow, quantiles);
                }
            }
        }
    }

    /// The time series of the links or of the flows of a trial.
    fn take_series<'a>(
        &mut self,
        subject: Subject,
        all: impl Iterator<Item = (&'a String, SeriesSource<'a>)>,
    ) {
        let quantities = || {
            Quantity::ALL
                .into_iter()
                .filter(|one| one.subject() == subject)
        };
        let mut total: Option<TrialSeries> = None;
        for (name, kept) in all {
            for quantity in quantities() {
                let Some(series) = TrialSeries::of(kept, quantity) else {
                    continue;
                };
                if quantity == Quantity::Goodput {
                    total = Some(match total {
                        None => series.clone(),
                        Some(total) => total.plus(&series),
                    });
                }
                push(self.series.entry(quantity).or_default(), name, series);
            }
            let names = self.names.entry(subject).or_default();
            if !names.contains(name) {
                names.insert(name.clone());
            }
        }
        self.totals.extend(total);
    }

    fn combined(self) -> Details {
        let by_name = |named: BTreeMap<String, Vec<TrialSeries>>| {
            let series = named.into_iter();
            let series = series.filter_map(|(name, trials)| Some((name, Resolved::of(trials)?)));
            series.collect()
        };
        let of_flows = |flows: BTreeMap<String, Vec<_>>| {
            let flows = flows.into_iter();
            let flows = flows.filter_map(|(name, all)| Some((name, distribution::means(&all)?)));
            flows.collect()
        };
        let series = self.series.into_iter();
        let quantiles = self.quantiles.into_iter();
        Details {
            names: self.names,
            series: series
                .map(|(quantity, named)| (quantity, by_name(named)))
                .collect(),
            total: Resolved::of(self.totals),
            quantiles: quantiles
                .map(|(times, flows)| (times, of_flows(flows)))
                .collect(),
        }
    }
}

/// Adds a value to those of `name`.
fn push<T>(named: &mut BTreeMap<String, Vec<T>>, name: &str, value: T) {
    match named.get_mut(name) {
        Some(values) => values.push(value),
        None => drop(named.insert(name.to_owned(), vec![value])),
    }
}

#[cfg(test)]
mod tests;
