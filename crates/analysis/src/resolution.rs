//! The resolution of the instrument for a value.

use plan::metric::{Metric, Resolution};
use plan::{Setting, Trial, evidence};

/// The tick of CPU accounting in seconds if a trial does not state it: USER_HZ,
/// the unit of /proc/stat [proc_stat(5)].
const CPU_TICK: f64 = 0.01;

/// The smallest difference from `figure` that these trials can resolve, in the
/// metric's unit.
///
/// If trials state their resolution (`resolution_NAME` in their evidence), the
/// mean of these counts; otherwise the coarsest.
pub(crate) fn resolution(
    metric: &Metric,
    figure: f64,
    setting: Option<&Setting>,
    trials: &[&Trial],
) -> Option<f64> {
    // Per 10^9 bytes; `None` if neither the trial nor its setting has their
    // number.
    let per_gigabyte = |trial: &Trial, seconds: f64| {
        let bytes = trial
            .number(evidence::CPU_BYTES)
            .or_else(|| bytes_metered(setting?))?;
        Some(seconds / (bytes / 1e9))
    };
    let coarsest = |values: &mut dyn Iterator<Item = f64>| {
        values
            .filter(|value| value.is_finite())
            .reduce(|a, b| a.max(b))
    };
    let own = evidence::resolution(metric);
    let stated: Vec<f64> = trials
        .iter()
        .filter_map(|trial| trial.number(own))
        .collect();
    let stated = (!stated.is_empty()).then(|| stated.iter().sum::<f64>() / stated.len() as f64);
    stated.or_else(|| match metric.resolution? {
        Resolution::Percent(percent) => Some(figure.abs() * percent / 100.0),
        Resolution::Absolute(value) => Some(value),
        Resolution::CpuTick => coarsest(&mut trials.iter().filter_map(|trial| {
            let tick = trial.number(evidence::CPU_TICK_SECONDS);
            per_gigabyte(trial, tick.unwrap_or(CPU_TICK))
        })),
    })
}

/// The bytes over which CPU time is metered, if any.
fn bytes_metered(setting: &Setting) -> Option<f64> {
    Some(setting.traffic.transfer()?.cpu_bytes.get())
        .filter(|&bytes| bytes > 0)
        .map(|bytes| bytes as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use plan::synthetic;

    #[test]
    fn a_tick_weighs_more_when_fewer_bytes_are_metered() {
        let cpu = Metric::named("cpu_total").unwrap();
        let mut trial = synthetic::trial(synthetic::factors(9000), 1, &[("cpu_total", 1.0)]);
        assert_eq!(
            resolution(cpu, 1.0, None, &[&trial]),
            None,
            "bytes are unknown"
        );
        trial.evidence.insert(evidence::CPU_BYTES, 500_000_000);
        assert_eq!(resolution(cpu, 1.0, None, &[&trial]), Some(0.02));
        trial.evidence.insert(evidence::CPU_TICK_SECONDS, 0.001);
        assert_eq!(resolution(cpu, 1.0, None, &[&trial]), Some(0.002));
    }

    #[test]
    fn a_trial_that_states_its_resolution_is_believed() {
        let rtt = Metric::named("rtt").unwrap();
        let mut trial = synthetic::trial(synthetic::factors(9000), 1, &[("rtt", 1.0)]);
        assert_eq!(resolution(rtt, 1.0, None, &[&trial]), Some(0.001));
        trial.evidence.insert(evidence::resolution(rtt), 1.0);
        assert_eq!(resolution(rtt, 1.0, None, &[&trial]), Some(1.0));
    }
}
