//! The passes of a trial of transfers, and the values that each supplies.

use plan::DisturbedPass;
use plan::metric::Metric;

use super::disturbance::Disturbance;
use crate::measurements::Measurements;

/// A pass of a trial of transfers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pass {
    /// Bulk data through a drained bucket, for goodput.
    Throughput,
    /// The traffic on an idle path, for delays.
    Delay,
    /// The traffic with echoes, for round-trip times.
    RoundTrip,
    /// The transfer that is long enough for the CPU meters.
    Cpu,
}

impl Pass {
    /// The name of the pass in journals.
    const fn name(self) -> &'static str {
        match self {
            Self::Throughput => "throughput",
            Self::Delay => "delay",
            Self::RoundTrip => "round-trip",
            Self::Cpu => "cpu",
        }
    }

    /// The pass that supplies the metric `name`.
    fn of_metric(name: &str) -> Self {
        let of_window = || Metric::named(name).is_some_and(Metric::is_of_window);
        match name {
            "throughput" => Self::Throughput,
            "rtt" | "echo_time" => Self::RoundTrip,
            "throughput_long" | "retransmitted_long" => Self::Cpu,
            "energy" => Self::Cpu,
            _ if name.starts_with("cpu_") => Self::Cpu,
            _ if of_window() => Self::Throughput,
            _ => Self::Delay,
        }
    }

    /// The pass that supplies the evidence `name`; `None`: all passes together,
    /// or none.
    fn of_evidence(name: &str) -> Option<Self> {
        if let Some(metric) = name.strip_prefix("resolution_") {
            return Some(Self::of_metric(metric));
        }
        match name {
            "goodput_after_preroll_mbit"
            | "counted_octets"
            | "goodput_late_percent"
            | "flow_series" => Some(Self::Throughput),
            "clock_bound_us" | "clock_drift_us" | "clock_slew_us" | "negative_delays"
            | "reordered" | "send_buffer" | "receive_buffer" | "congestion" | "segment_size"
            | "delay_quantiles" => Some(Self::Delay),
            "echoes" | "rtt_quantiles" => Some(Self::RoundTrip),
            "run_queue_wait_percent" => Some(Self::Cpu),
            _ if name.starts_with("cpu_") => Some(Self::Cpu),
            _ => None,
        }
    }

    /// The metrics and the evidence among `measurements` that the pass supplies.
    fn values(self, measurements: &Measurements) -> Vec<String> {
        let metrics = measurements.metrics.keys();
        let metrics = metrics.filter(|name| Self::of_metric(name) == self);
        let evidence = measurements.evidence.keys();
        let evidence = evidence.filter(|name| Self::of_evidence(name) == Some(self));
        metrics.chain(evidence).cloned().collect()
    }
}

impl Measurements {
    /// Flags the passes that were disturbed, and leaves out the values of those
    /// that have no valid ones. Returns whether a valid metric remains.
    pub(super) fn judge_each(&mut self, each: &[(Pass, Disturbance)]) -> bool {
        let mut passes = Vec::new();
        for (pass, disturbance) in each {
            let Some(reason) = disturbance.reason() else {
                continue;
            };
            let values = pass.values(self);
            if disturbance.invalid.is_some() {
                for name in &values {
                    self.metrics.remove(name);
                    self.evidence.remove(name);
                }
            }
            passes.push(DisturbedPass {
                pass: pass.name().to_owned(),
                reason,
                values,
                replaced_by: None,
            });
        }
        self.disturbed_by(passes);
        !self.metrics.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::synthetic::{disturbance, passes};

    #[test]
    fn every_pass_is_judged_by_itself() {
        let of = |pass, change: fn(&mut Disturbance)| {
            let mut one = disturbance();
            change(&mut one);
            let mut measurements = Measurements::of(&passes());
            let remains = measurements.judge_each(&[(pass, one), (Pass::Cpu, disturbance())]);
            (measurements, remains)
        };
        let (late, remains) = of(Pass::Delay, |pass| pass.invalid = Some("late".into()));
        assert!(remains, "the throughput");
        assert!(late.metrics.contains_key("throughput") && late.metrics.contains_key("cpu_total"));
        assert!(!late.metrics.contains_key("delay") && !late.metrics.contains_key("jitter"));
        let [pass] = &late.disturbed[..] else {
            panic!("{:?}", late.disturbed);
        };
        assert_eq!(
            (pass.pass.as_str(), pass.reason.as_str()),
            ("delay", "late")
        );
        assert!(pass.values.iter().any(|name| name == "resolution_delay"));

        let (busy, _) = of(Pass::Throughput, |pass| pass.machine.running = 1);
        assert!(busy.metrics.contains_key("throughput"), "kept, and flagged");
        let values = &busy.disturbed[0].values;
        assert!(values.iter().any(|name| name == "throughput"));
        assert!(
            values
                .iter()
                .all(|name| name != "delay" && name != "cpu_total")
        );

        let (quiet, _) = of(Pass::Throughput, |_| {});
        assert_eq!((quiet.disturbed, quiet.flags), (Vec::new(), Vec::new()));
    }
}
