//! A trial to run.

use plan::{Factors, Flag, Setting, Trial, metric};

use crate::backend::model;
use crate::measurements::Measurements;

/// The share of what links, windows and hosts allow below which goodput needs an
/// explanation.
const FAR_BELOW: f64 = 0.5;

/// The name and the content of a trial.
#[derive(Clone)]
pub(crate) struct Job<'a> {
    /// The name of the trial.
    pub(crate) id: String,
    /// Its factors.
    pub(crate) factors: Factors,
    /// Which repeat it is.
    pub(crate) repeat: u32,
    /// Which attempt at it, from 1.
    pub(crate) attempt: u32,
    pub(crate) setting: &'a Setting,
}

impl Job<'_> {
    /// The trial that came of it, without its times.
    pub(super) fn trial(self, mut measurements: Measurements, failure: Option<String>) -> Trial {
        if stays_far_below(self.setting, &measurements) {
            measurements.flags.push(Flag::BelowLimit);
        }
        Trial {
            id: self.id.into(),
            factors: self.factors.into(),
            repeat: self.repeat,
            attempt: self.attempt,
            start: None,
            seconds: 0.0,
            failure: failure.map(String::into_boxed_str),
            disturbed: measurements.disturbed.into(),
            flags: measurements
                .flags
                .iter()
                .map(|flag| flag.as_str().to_owned())
                .collect(),
            metrics: measurements.metrics.into_iter().collect(),
            evidence: measurements.evidence.into(),
        }
    }
}

/// Whether a transfer that should fill the path stays far below what closed forms say
/// that it allows, although no host was busy and nothing disturbed the trial.
fn stays_far_below(setting: &Setting, measurements: &Measurements) -> bool {
    let explained = [Flag::CpuBound, Flag::Disturbed];
    let Some(goodput) = measurements.value(&metric::THROUGHPUT) else {
        return false;
    };
    !explained
        .iter()
        .any(|flag| measurements.flags.contains(flag))
        && model::allowed(setting).is_some_and(|allowed| goodput < FAR_BELOW * allowed)
}

#[cfg(test)]
mod tests {
    use experiment::Experiment;
    use plan::Backend;
    use units::Seed;

    use super::*;
    use crate::backend::sim::Simulator;

    /// A trial of the first cell of `experiment` in the simulator.
    fn simulated(experiment: &str, sets: &[&str]) -> Trial {
        let mut experiment = Experiment::load(experiment).unwrap();
        for set in sets {
            experiment.set(set).unwrap();
        }
        let plan = crate::backend::plan(experiment, Backend::Sim).unwrap();
        let cell = plan.cells.iter().find(|cell| cell.setting.is_ok()).unwrap();
        let setting = cell.setting.as_ref().unwrap();
        let simulator = Simulator::ready(std::iter::once(setting), 1).unwrap();
        let (measurements, _) = simulator.run(setting, Seed::new(1)).unwrap();
        let job = Job {
            id: "c00-r01".into(),
            factors: cell.factors.clone(),
            repeat: 1,
            attempt: 1,
            setting,
        };
        job.trial(measurements, None)
    }

    #[test]
    fn goodput_is_not_above_the_links_where_segments_wait_behind_a_lost_one() {
        // A segment of the warm-up is lost; what follows it has arrived before it.
        let free = ["host.send_per_packet=0s", "host.send_per_byte=0s"];
        let held = ["agent=linux", "congestion=reno", "mtu=9000"];
        let trial = simulated("os-comparison", &[&free[..], &held].concat());
        let goodput = trial.metrics["throughput"];
        assert!((900.0..=990.0).contains(&goodput), "{goodput}");
        assert_eq!(analysis::quality_check::above_limit(&trial), None);
    }

    #[test]
    fn a_transfer_that_waits_for_a_timeout_is_flagged_and_a_slow_host_or_path_is_not() {
        // A retransmission is lost, too: standard TCP waits for a second.
        let free = ["host.send_per_packet=0s", "host.send_per_byte=0s"];
        let lost = ["mtu=9000", "buffer=2MB", "congestion=reno"];
        let trial = simulated("os-comparison", &[&free[..], &lost].concat());
        assert!(trial.metrics["throughput"] < 100.0);
        assert_eq!(trial.flags.to_vec(), ["below-limit"]);
        for sets in [
            [&free[..], &["mtu=4000", "buffer=2MB"]].concat(),
            vec!["mtu=1500", "host.send_per_packet=50us"],
            vec!["mtu=9000", "rate=100mbit"],
            vec!["mtu=1500", "tcp.window=4"],
        ] {
            let trial = simulated("os-comparison", &sets);
            assert!(trial.flags.is_empty(), "{sets:?}: {:?}", trial.flags);
        }
    }

    #[test]
    fn goodput_in_any_backend_is_compared_with_what_its_path_allows() {
        let plan = |backend, sets: &[&str]| {
            let mut experiment = Experiment::load("os-comparison").unwrap();
            for set in sets {
                experiment.set(set).unwrap();
            }
            crate::backend::plan(experiment, backend).unwrap()
        };
        let judged = |sets: &[&str], goodput: f64, flags: Vec<Flag>| {
            let plan = plan(Backend::Netns, sets);
            let setting = plan
                .cells
                .iter()
                .find_map(|cell| cell.setting.as_ref().ok());
            let mut measurements = Measurements {
                flags,
                ..Measurements::default()
            };
            measurements.put(&metric::THROUGHPUT, Some(goodput));
            stays_far_below(setting.unwrap(), &measurements)
        };
        assert!(judged(&["rate=200mbit"], 90.0, vec![]));
        assert!(!judged(&["rate=200mbit"], 110.0, vec![]));
        for explained in [Flag::CpuBound, Flag::Disturbed] {
            assert!(!judged(&["rate=200mbit"], 10.0, vec![explained]));
        }
        // Nothing limits, or losses do.
        assert!(!judged(&["rate=none"], 10.0, vec![]));
        assert!(!judged(&["link=emulated", "network.loss=1%"], 10.0, vec![]));
        // A window of the kernel over a long path.
        assert!(!judged(
            &["link=emulated", "network.delay=200ms"],
            30.0,
            vec![]
        ));
    }
}
