//! Decomposes a gain in goodput into framing, start-up and loss, and host cost.
//!
//! Goodput is a product of three factors. The first is the payload share of the
//! link rate after framing (a closed form). The second is the share of that
//! limit that a long transfer reaches, including what it sent in vain; the rest
//! is the cost of the hosts. The third is the useful share of the long
//! transfer, times the ratio of the studied transfer to it (start-up and loss).
//! A gain is the quotient of two such products, so its parts multiply to the
//! whole.

use plan::setting::LinkKind;
use plan::{Setting, Trial, evidence, metric};
use serde::Serialize;
use units::{Bytes, Framing, IpMtu, Rate, Transport};

use crate::digits;
use crate::statistics::{Contrast, Estimator, Interval};

/// The factors of a change of goodput.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Decomposition {
    /// The effect of the share of headers and framing alone: exact.
    pub framing_percent: f64,
    /// The effect of start-up and lost segments; `None` without a long
    /// transfer.
    pub startup_and_loss: Option<Part>,
    /// The effect of the hosts' cost per packet; `None` without a long
    /// transfer.
    pub host: Option<Part>,
}

/// A factor of a change.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Part {
    /// 100 (factor - 1).
    pub percent: f64,
    /// Its 95 % interval.
    pub ci95: Interval,
}

impl Decomposition {
    /// Decomposes the change from `baseline` to `cell`, each given by its
    /// setting and its finished trials, by this estimator. `None` unless both have a slowest link
    /// of the same rate, and if a bucket does not count each frame.
    pub fn of(
        cell: (&Setting, &[&Trial]),
        baseline: (&Setting, &[&Trial]),
        estimator: Estimator,
    ) -> Option<Self> {
        let ratio = |of: fn(&Trial) -> Option<f64>| {
            let samples = [cell.1, baseline.1].map(|trials| of_trials(trials, of));
            let [cell, baseline] = samples.map(|values| estimator.estimate(&values));
            let contrast = Contrast::of(&[&cell?], &[&baseline?])?;
            Some(Part {
                percent: contrast.percent(),
                ci95: contrast.interval(0.95)?,
            })
        };
        Some(Self {
            framing_percent: framing(cell.0, baseline.0)?,
            startup_and_loss: ratio(startup_and_loss),
            host: ratio(host),
        })
    }

    /// The share of framing in a change of `percent`, on a logarithmic scale,
    /// because the parts multiply. `None` if either is zero.
    pub fn framing_share(&self, percent: f64) -> Option<f64> {
        let logarithm = |percent: f64| digits::ln_1p(percent / 100.0);
        let share = logarithm(self.framing_percent) / logarithm(percent);
        share.is_finite().then_some(share)
    }
}

fn of_trials(trials: &[&Trial], of: fn(&Trial) -> Option<f64>) -> Vec<f64> {
    trials.iter().filter_map(|&trial| of(trial)).collect()
}

/// The rate of a long transfer relative to the link's limit, including what it
/// sent in vain.
fn host(trial: &Trial) -> Option<f64> {
    let long = trial.metrics.of(&metric::THROUGHPUT_LONG)?;
    Some(long / (useful(trial) * trial.number(evidence::LIMIT_MBIT)?))
}

/// The rate of a transfer of the studied length relative to a long one without
/// losses.
fn startup_and_loss(trial: &Trial) -> Option<f64> {
    let (short, long) = (
        trial.metrics.of(&metric::THROUGHPUT)?,
        trial.metrics.of(&metric::THROUGHPUT_LONG)?,
    );
    Some(useful(trial) * short / long)
}

/// The useful share of the data that a long transfer sent.
fn useful(trial: &Trial) -> f64 {
    let vain = trial.metrics.of(&metric::RETRANSMITTED_LONG);
    1.0 - vain.unwrap_or(0.0) / 100.0
}

/// The effect of the smaller share of headers and framing alone, in per cent.
fn framing(cell: &Setting, baseline: &Setting) -> Option<f64> {
    if framing_uncounted(cell).is_some() || framing_uncounted(baseline).is_some() {
        return None;
    }
    (slowest(cell)? == slowest(baseline)?)
        .then(|| Some(100.0 * (efficiency(cell)? / efficiency(baseline)? - 1.0)))?
}

/// The rate of the slowest link, if any has one.
pub fn slowest(setting: &Setting) -> Option<Rate> {
    let links = &setting.network.links;
    links.iter().filter_map(|link| link.rate).min()
}

/// The payload share of the wire's bytes in full packets; `None` for programs
/// of the user.
fn efficiency(setting: &Setting) -> Option<f64> {
    let network = &setting.network;
    let mtu: IpMtu = network.path_mtu()?;
    let transfer = setting.traffic.transfer()?;
    let (payload, wire): (Bytes, Bytes) = match transfer.protocol {
        Transport::Tcp => (
            model::payload_per_packet(mtu, network.ip, Transport::Tcp)?,
            Framing::Ethernet.wire_size(mtu.bytes()),
        ),
        Transport::Udp => {
            let message = transfer.message;
            (
                message,
                model::message_wire_size(message, mtu, network.ip, Framing::Ethernet),
            )
        }
    };
    Some(payload.get() as f64 / wire.get() as f64)
}

/// With offloads TCP passes super-packets to the token bucket, which counts
/// framing once for each, so goodput may exceed the limit for frames of that
/// size. A bucket that cannot hold the largest of them segments them and counts
/// their framing.
pub fn framing_uncounted(setting: &Setting) -> Option<&'static str> {
    const LARGEST_SUPER_PACKET: Bytes = Bytes::new(1 << 16);
    let mut shaped = setting
        .network
        .links
        .iter()
        .filter(|link| link.rate.is_some())
        .peekable();
    shaped.peek()?;
    // The transport of the user's programs is unknown: it may be TCP.
    let transfer = setting.traffic.transfer();
    let uncounted = setting.host.offloads
        && transfer.is_none_or(|transfer| transfer.protocol == Transport::Tcp)
        && setting.network.link != LinkKind::Emulated;
    let holds_all = shaped.all(|link| link.burst >= LARGEST_SUPER_PACKET);
    uncounted.then_some(match holds_all {
        true => "framing not counted by the bucket",
        false => "framing only partly counted by the bucket",
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use plan::synthetic::{factors, setting, trial};

    fn trials(mtu: i64, short: f64, long: f64, vain: f64, limit: f64) -> Vec<Trial> {
        [0.999, 1.0, 1.001]
            .map(|noise| {
                let metrics = [
                    ("throughput", short * noise),
                    ("throughput_long", long),
                    ("retransmitted_long", vain),
                ];
                let mut trial = trial(factors(mtu), 1, &metrics);
                trial.evidence.insert(evidence::LIMIT_MBIT, limit);
                trial
            })
            .to_vec()
    }

    #[test]
    fn the_parts_multiply_to_the_whole() {
        // At 1500 a transfer reaches 800, a long one 900, which sent 2 % in
        // vain; the link carries 928.48 Mbit/s. At 9000: 980, 985, 0, 987.83.
        let (before, after) = (
            trials(1500, 800.0, 900.0, 2.0, 928.48),
            trials(9000, 980.0, 985.0, 0.0, 987.83),
        );
        let decomposition = Decomposition::of(
            (&setting(9000, false), &after.iter().collect::<Vec<_>>()),
            (&setting(1500, false), &before.iter().collect::<Vec<_>>()),
            Estimator::Mean,
        )
        .unwrap();
        let (startup, host) = (
            decomposition.startup_and_loss.unwrap(),
            decomposition.host.unwrap(),
        );
        let close = |a: f64, b: f64| assert!((a - b).abs() < 0.01, "{a} is not {b}");
        // 8928 of 9038 bytes over 1428 of 1538 [IEEE802.3].
        close(decomposition.framing_percent, 6.393);
        close(
            host.percent,
            100.0 * (985.0 / 987.83 / (900.0 / 928.48 / 0.98) - 1.0),
        );
        close(
            startup.percent,
            100.0 * (980.0 / 985.0 / (800.0 / 900.0 * 0.98) - 1.0),
        );
        assert!(startup.ci95.holds(startup.percent) && startup.ci95.half() > 0.1);
        let factor = |percent: f64| 1.0 + percent / 100.0;
        let whole =
            factor(decomposition.framing_percent) * factor(startup.percent) * factor(host.percent);
        close(100.0 * (whole - 1.0), 22.5);
        close(decomposition.framing_share(22.5).unwrap(), 0.305);
        assert_eq!(decomposition.framing_share(0.0), None);
    }

    #[test]
    fn a_stalled_trial_does_not_decide_the_parts() {
        let repeated = |mtu: i64, short: f64| {
            let trials = trials(mtu, short, 985.0, 0.0, 987.83);
            [trials.clone(), trials].concat()
        };
        let (mut after, before) = (repeated(9000, 980.0), repeated(1500, 800.0));
        after[1].metrics.insert("throughput", 490.0);
        let startup = |estimator| {
            let decomposition = Decomposition::of(
                (&setting(9000, false), &after.iter().collect::<Vec<_>>()),
                (&setting(1500, false), &before.iter().collect::<Vec<_>>()),
                estimator,
            );
            decomposition.unwrap().startup_and_loss.unwrap().ci95
        };
        let live = startup(Estimator::TrimmedMean);
        assert!(live.holds(22.5) && live.half() < 1.0, "{live:?}");
        assert!(startup(Estimator::Mean).half() > 10.0);
    }

    #[test]
    fn without_a_long_transfer_framing_is_all_that_is_known() {
        let mut trials = trials(9000, 980.0, 985.0, 0.0, 987.83);
        for trial in &mut trials {
            trial.metrics.remove("throughput_long");
        }
        let trials: Vec<&Trial> = trials.iter().collect();
        let decomposition = Decomposition::of(
            (&setting(9000, false), &trials),
            (&setting(1500, false), &trials),
            Estimator::Mean,
        )
        .unwrap();
        assert_eq!(
            (decomposition.startup_and_loss, decomposition.host),
            (None, None)
        );
    }

    #[test]
    fn a_bucket_that_does_not_count_frames_has_no_split() {
        let [after, before] = [9000, 1500].map(|mtu| setting(mtu, true));
        let decomposition = Decomposition::of((&after, &[]), (&before, &[]), Estimator::Mean);
        assert_eq!(decomposition, None);
    }
}
