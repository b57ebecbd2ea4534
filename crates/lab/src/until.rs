//! When a run may stop before its last repeat.

use std::fmt;
use std::str::FromStr;

use crate::metric::{METRICS, Metric};
use crate::plan::Plan;
use crate::statistics::{Interval, mean};
use crate::trial::Trial;

/// An interval of fewer trials can be narrow by chance.
const FEWEST: usize = 5;

/// `"ci <= X%"` or `"METRIC ci <= X%"`: stop when the 95 % interval of the mean, in every
/// cell, reaches at most X per cent of it to each side. Without a metric it is
/// asked of all those with tables of their own that were measured.
///
/// Looking again and again finds narrow intervals a little too early: those of
/// a run that stopped so hold the truth slightly less often than 95 times in
/// 100, the less so the more trials there were [Chow1965].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Until {
    metric: Option<&'static Metric>,
    percent: f64,
}

impl Until {
    /// Whether `trials`, of whole repeats of `plan`, are enough.
    pub fn met(&self, plan: &Plan, trials: &[Trial]) -> bool {
        let of_tables = |metric: &&Metric| {
            let measured = |trial: &Trial| trial.metrics.contains_key(metric.name);
            plan.leads(metric) && trials.iter().any(measured)
        };
        let metrics: Vec<&Metric> = match self.metric {
            Some(one) => vec![one],
            None => METRICS.iter().filter(of_tables).collect(),
        };
        let mut cells = plan.cells.iter().filter(|cell| cell.setting.is_ok());
        !metrics.is_empty()
            && cells.all(|cell| {
                let trials: Vec<&Trial> = trials
                    .iter()
                    .filter(|trial| trial.factors == cell.factors && trial.failure.is_none())
                    .collect();
                let narrow = |metric: &&Metric| self.narrow(metric, &trials);
                metrics.iter().all(narrow)
            })
    }

    fn narrow(&self, metric: &Metric, trials: &[&Trial]) -> bool {
        let values: Vec<f64> = trials
            .iter()
            .filter_map(|trial| trial.metrics.get(metric.name).copied())
            .collect();
        let half = |ci95: Option<Interval>| ci95.map(Interval::half);
        values.len() >= FEWEST
            && mean(&values).is_some_and(|mean| {
                half(mean.ci95).is_some_and(|half| half <= mean.mean.abs() * self.percent / 100.0)
            })
    }
}

impl FromStr for Until {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let right = || "write until = \"ci <= 2%\" or \"throughput ci <= 0.5%\"".to_owned();
        let (left, percent) = text.split_once("<=").ok_or_else(right)?;
        let percent = percent.trim().strip_suffix('%').ok_or_else(right)?;
        let percent: f64 = percent.trim().parse().map_err(|_| right())?;
        if !(percent > 0.0 && percent <= 100.0) {
            return Err("the interval is above 0 % and at most 100 %".into());
        }
        let metric = match left.split_whitespace().collect::<Vec<_>>()[..] {
            ["ci"] => None,
            [name, "ci"] => {
                let known = || format!("`{name}` is no metric; docs/formats.md lists them");
                Some(Metric::named(name).ok_or_else(known)?)
            }
            _ => return Err(right()),
        };
        Ok(Self { metric, percent })
    }
}

impl fmt::Display for Until {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(metric) = self.metric {
            write!(f, "{} ", metric.name)?;
        }
        write!(f, "ci <= {}%", self.percent)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::synthetic::{Normal, cell, factors, plan, trial};

    fn trials(mtu: i64, values: &[f64]) -> Vec<Trial> {
        (1..)
            .zip(values)
            .map(|(repeat, &value)| trial(factors(mtu), repeat, &[("throughput", value)]))
            .collect()
    }

    #[test]
    fn what_is_written_reads_back() {
        for text in ["ci <= 2%", "throughput ci <= 0.5%"] {
            assert_eq!(text.parse::<Until>().unwrap().to_string(), text);
        }
        assert_eq!("ci<=2 %".parse::<Until>(), "ci <= 2%".parse());
        for wrong in [
            "",
            "ci < 2%",
            "ci <= 2",
            "ci <= 0%",
            "ci <= -1%",
            "ci <= nan%",
            "speed ci <= 2%",
            "a b ci <= 2%",
        ] {
            assert!(wrong.parse::<Until>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn every_cell_has_to_be_narrow_and_five_trials_are_the_least() {
        let plan = plan(
            vec![cell(factors(1500)), cell(factors(9000))],
            20,
            Vec::new(),
        );
        let until: Until = "ci <= 2%".parse().unwrap();
        let narrow = [100.0, 101.0, 100.0, 99.0, 100.0];
        let wide = [100.0, 120.0, 80.0, 99.0, 101.0];
        let run = |a: &[f64], b: &[f64]| [trials(1500, a), trials(9000, b)].concat();
        assert!(until.met(&plan, &run(&narrow, &narrow)));
        assert!(!until.met(&plan, &run(&narrow, &wide)));
        assert!(!until.met(&plan, &run(&narrow[..4], &narrow[..4])));
        assert!(!until.met(&plan, &run(&narrow, &[])));
        assert!(!until.met(&plan, &[]));
        let of_delay: Until = "delay ci <= 2%".parse().unwrap();
        assert!(!of_delay.met(&plan, &run(&narrow, &narrow)), "not measured");
    }

    #[test]
    fn a_run_that_stopped_early_still_covers() {
        let plan = plan(vec![cell(factors(1500))], 200, Vec::new());
        let until: Until = "ci <= 2%".parse().unwrap();
        let mut normal = Normal::new(5);
        let held = (0..300).filter(|_| {
            let values = normal.sample(200, 100.0, 5.0);
            let all = trials(1500, &values);
            let n = (FEWEST..200)
                .find(|&n| until.met(&plan, &all[..n]))
                .unwrap();
            mean(&values[..n]).unwrap().ci95.unwrap().holds(100.0)
        });
        assert!(held.count() >= 270, "at least 90 of 100");
    }
}
