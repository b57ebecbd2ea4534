//! Which rate this machine carries over emulated links: a short search.

use anyhow::{Context, Result};
use live::clock;
use live::testbed::{Addresses, Forwarder, Link, Medium, Path, Testbed};
use live::transfer::{Transfer, keep_stamping};
use proto::link::Settings;
use queue::{Limit, Spec};
use serde::{Deserialize, Serialize};
use units::{Bytes, Framing, IpMtu, IpVersion, Rate, Seed, Span, Time, Transport};

use super::{carried, transfer};
use crate::agent::Agents;
use crate::emulation::Emulation;

/// The tested MTUs.
const MTUS: [u64; 2] = [1500, 9000];

/// The rates to test in Mbit/s, and the first one.
const RATES: [u64; 7] = [100, 200, 333, 500, 700, 1_000, 2_500];
const FIRST: usize = 5;

/// The number of attempts for a failing rate, since other load may have ended.
const TIMES: usize = 2;

/// The time limit for one MTU.
const TIMEOUT: Span = Span::from_secs(2);

/// The duration of the counted transfer at its rate.
const COUNTED: Span = Span::from_millis(80);

/// The octets sent before counting: enough for TCP to fill the queue.
const PREROLL: Bytes = Bytes::new(1_000_000);

/// The buffer in front of the link, as in experiments.
const BUFFER: Bytes = Bytes::new(500_000);

/// A link counts as filled if TCP reaches this share of the rate after framing.
const FILLED: f64 = 0.99;

/// The admissible 99th percentile of lateness: the strictest bound of trials.
const LATE: Span = Span::from_millis(1);

/// The results for emulated links of one MTU.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Carriage {
    /// The MTU, in octets.
    pub mtu: u64,
    /// The tested rates, in order; the last attempt of each.
    pub trials: Vec<Trial>,
    /// The reason why testing stopped early, if it did.
    pub problem: Option<String>,
}

/// A transfer over TCP through an emulated link.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Trial {
    /// The link's rate, in Mbit/s.
    pub rate_mbit: u64,
    /// Goodput, in Mbit/s.
    pub goodput_mbit: f64,
    /// The maximum goodput after framing, in Mbit/s.
    pub limit_mbit: f64,
    /// The 99th percentile of lateness.
    pub late: Span,
    /// Frames that the emulator rejected.
    pub refused: u64,
}

impl Trial {
    /// Whether a valid trial filled the link.
    pub fn filled(&self) -> bool {
        let valid = self.refused == 0 && self.late <= LATE;
        valid && self.goodput_mbit >= FILLED * self.limit_mbit
    }
}

impl Carriage {
    /// The fastest link that was filled.
    pub fn fastest(&self) -> Option<&Trial> {
        let filled = self.trials.iter().filter(|trial| trial.filled());
        filled.max_by_key(|trial| trial.rate_mbit)
    }
}

/// Searches the fastest filled link for each MTU, over `ip`.
pub(super) fn search(ip: IpVersion) -> Vec<Carriage> {
    let of_mtu = |mtu| {
        let deadline = clock::monotonic() + TIMEOUT;
        let mut trials = Vec::new();
        let found = climb(deadline, |rate| {
            let trial = attempt(ip, mtu, rate)?;
            let filled = trial.filled();
            trials.push(trial);
            Ok(filled)
        });
        Carriage {
            mtu,
            trials,
            problem: found.err().map(|error| format!("{error:#}")),
        }
    };
    MTUS.map(of_mtu).into()
}

/// Tests the first rate; then faster ones until one fails, or slower ones until
/// one succeeds, within the time limit.
fn climb(deadline: Time, mut goes: impl FnMut(u64) -> Result<bool>) -> Result<()> {
    let mut in_time = |rate: u64| -> Result<bool> {
        for _ in 0..TIMES {
            if clock::monotonic() >= deadline {
                break;
            }
            if goes(rate)? {
                return Ok(true);
            }
        }
        Ok(false)
    };
    if in_time(RATES[FIRST])? {
        for &rate in &RATES[FIRST + 1..] {
            if !in_time(rate)? {
                break;
            }
        }
        return Ok(());
    }
    for &rate in RATES[..FIRST].iter().rev() {
        if in_time(rate)? {
            break;
        }
    }
    Ok(())
}

/// One transfer over a link of `megabits`.
fn attempt(ip: IpVersion, mtu: u64, megabits: u64) -> Result<Trial> {
    let mtu = IpMtu::new(mtu, ip).context("the MTU is out of range")?;
    let rate = Rate::from_bits_per_second(megabits * 1_000_000).context("the rate is zero")?;
    let limit = Limit::Bytes(BUFFER);
    let direction = Settings {
        largest_packet: Some(mtu.bytes()),
        ..Settings::perfect(Some(rate), Spec::DropTail { limit })
    };
    let path = Path {
        middle: Forwarder::Router,
        ip,
        addresses: Addresses::Static,
        // The default of experiments.
        offloads: false,
        links: vec![Link {
            mtu,
            medium: Medium::Emulated(Box::new([direction.clone(), direction])),
        }],
    };
    let mut emulation = None;
    let testbed = Testbed::build_with(&path, |namespace, links| {
        emulation = Some(Emulation::start(namespace, links, Seed::new(1))?);
        Ok::<_, anyhow::Error>(())
    })?;
    let mut emulation = emulation.context("the link has no emulator")?;
    let _stamping = keep_stamping()?;
    let mut agents = Agents::of(&testbed)?;
    let bits = model::goodput_limit(rate, mtu, ip, Transport::Tcp, Framing::Ethernet);
    let limit_mbit = bits.context("the MTU leaves no room for payload")? / 1e6;
    let received = carried(
        &mut agents,
        &Transfer {
            preroll: PREROLL,
            size: rate.carries(COUNTED),
            // Emulated links have no token bucket to drain.
            pace: None,
            ..transfer(&testbed, &path, Transport::Tcp)
        },
    )?;
    let report = emulation.report()?;
    let directions = report.links.iter().flatten();
    let refused = directions.map(|direction| {
        direction.refused.overrun + direction.refused.super_packets + direction.refused.unsent
    });
    let [_, late, _] = report.late;
    Ok(Trial {
        rate_mbit: megabits,
        goodput_mbit: received
            .goodput
            .map_or(0.0, |goodput| goodput.bits_per_second / 1e6),
        limit_mbit,
        late,
        refused: refused.sum(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The rates that are tested if those up to `most` succeed.
    fn tried(most: u64) -> Vec<u64> {
        let mut tried = Vec::new();
        let found = climb(clock::monotonic() + Span::from_secs(60), |rate| {
            tried.push(rate);
            Ok(rate <= most)
        });
        found.unwrap();
        tried
    }

    #[test]
    fn the_search_goes_up_where_the_first_rate_goes_and_down_where_not() {
        assert_eq!(tried(10_000), [1_000, 2_500]);
        assert_eq!(tried(1_000), [1_000, 2_500, 2_500]);
        assert_eq!(tried(400), [1_000, 1_000, 700, 700, 500, 500, 333]);
        assert_eq!(tried(10).len(), 2 * (RATES.len() - 1));
    }

    #[test]
    fn without_time_nothing_is_tried() {
        climb(Time::ZERO, |_| panic!("it is too late for that")).unwrap();
    }

    #[test]
    fn a_refused_frame_a_late_one_or_a_hundredth_less_is_no_filled_link() {
        let trial = |goodput_mbit, refused, micros| Trial {
            rate_mbit: 1_000,
            goodput_mbit,
            limit_mbit: 949.0,
            late: Span::from_micros(micros),
            refused,
        };
        assert!(trial(948.0, 0, 20).filled());
        assert!(!trial(948.0, 1, 20).filled());
        assert!(!trial(948.0, 0, 1_020).filled());
        assert!(!trial(939.0, 0, 20).filled());
    }
}
