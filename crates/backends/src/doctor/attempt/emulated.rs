//! Which rate this machine sustains over emulated links: a short search. And the transfer
//! that fills links, which other searches use.

use crate::testbed::{Addresses, Forwarder, Link, Medium, Path, Tcp, Testbed};
use anyhow::{Context, Result};
use emulator::Report;
use link::Settings;
use os::clock;
use os::cpu_time::{Machine, Process, tick};
use os::socket::keep_stamping;
use queue::{Limit, Spec};
use serde::{Deserialize, Serialize};
use traffic::driver::transfer::Transfer;
use units::{Bytes, Framing, IpMtu, IpVersion, Rate, Seed, Span, Time, Transport};

use super::{carried, transfer};
use crate::agent::Agents;
use crate::emulation::{Emulation, ReportCounters};
use crate::measure::spare;
use crate::pace::{Paced, whole};

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

/// The bytes sent before counting: enough for TCP to fill the queue.
const WARMUP: Bytes = Bytes::new(1_000_000);

/// The most bytes of the counted transfer, so that a rate far beyond the
/// machine does not take long to fail.
const MOST_COUNTED: Bytes = Bytes::new(25_000_000);

/// The buffer in front of the link, as in experiments.
const BUFFER: Bytes = Bytes::new(500_000);

/// The number and the interval of looks at the threads that run.
const LOOKS: u32 = 5;
const BETWEEN_LOOKS: Span = Span::from_micros(300);

/// A link counts as filled if TCP reaches this share of the rate after framing.
const FILLED: f64 = 0.99;

/// The allowed 99th percentile of timing error: the strictest bound of trials.
const LATE: Span = Span::from_millis(1);

/// The number of CPUs that other processes may use, and the share of the
/// machine's time that the hypervisor may take, while a link is filled. Less
/// than a trial tolerates, because a machine is rejected for the result.
const OTHERS: f64 = 0.1;
const STOLEN: f64 = 0.02;

/// The results for emulated links of one MTU.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Encapsulation {
    /// The MTU, in bytes.
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
    /// The 99th percentile of timing error.
    pub late: Span,
    /// Frames that the emulator rejected.
    pub rejected: u64,
    /// Whether other work ran on the machine meanwhile.
    pub disturbed: bool,
}

impl Trial {
    /// Whether a valid trial filled the link.
    pub fn filled(&self) -> bool {
        let valid = self.rejected == 0 && self.late <= LATE;
        valid && self.goodput_mbit >= FILLED * self.limit_mbit
    }
}

impl Encapsulation {
    /// The fastest link that was filled.
    pub fn fastest(&self) -> Option<&Trial> {
        let filled = self.trials.iter().filter(|trial| trial.filled());
        filled.max_by_key(|trial| trial.rate_mbit)
    }
}

/// Searches the fastest filled link for each MTU, over `ip`.
pub(super) fn search(ip: IpVersion) -> Vec<Encapsulation> {
    let of_mtu = |mtu| {
        let deadline = clock::monotonic() + TIMEOUT;
        let mut trials = Vec::new();
        let found = climb(deadline, |rate| {
            let mtu = IpMtu::new(mtu, ip).context("the MTU is out of range")?;
            let rate = Rate::from_bits_per_second(rate * 1_000_000).context("the rate is zero")?;
            let trial = attempt(ip, mtu, rate)?;
            let filled = trial.filled();
            trials.push(trial);
            Ok(filled)
        });
        Encapsulation {
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

/// One transfer that fills an emulated link of this rate and MTU, in the
/// sandbox of the calling process.
///
/// # Errors
/// The test network cannot be built, or the transfer failed.
pub(crate) fn attempt(ip: IpVersion, mtu: IpMtu, rate: Rate) -> Result<Trial> {
    let links = FilledLinks {
        paced: Paced::Emulator,
        ip,
        mtu: mtu.get(),
        count: 1,
        // The default of experiments.
        offloads: false,
    };
    links.attempt(rate)
}

/// Links in a row to fill with one transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FilledLinks {
    /// What paces them.
    pub(crate) paced: Paced,
    pub(crate) ip: IpVersion,
    /// Their MTU.
    pub(crate) mtu: u32,
    /// Their number.
    pub(crate) count: usize,
    /// Whether the hosts have offloads.
    pub(crate) offloads: bool,
}

impl FilledLinks {
    /// One transfer that fills the links at this rate, in the sandbox of the calling
    /// process.
    ///
    /// # Errors
    /// The test network cannot be built, or the transfer failed.
    pub(crate) fn attempt(self, rate: Rate) -> Result<Trial> {
        let Self { paced, ip, mtu, .. } = self;
        let mtu = IpMtu::new(mtu.into(), ip).context("the MTU is out of range")?;
        let path = self.path(mtu, rate);
        let mut emulation = None;
        let testbed = Testbed::build_with(&path, |namespace, links| {
            emulation = Some(Emulation::start(namespace, links, Seed::new(1))?);
            Ok::<_, anyhow::Error>(())
        })?;
        let _stamping = keep_stamping()?;
        let mut agents = Agents::of(&testbed)?;
        let bits = model::goodput_limit(rate, mtu, ip, Transport::Tcp, Framing::Ethernet)
            .context("the MTU leaves no room for payload")?;
        let limit = whole(bits).context("the rate is too low")?;
        let counted = limit.carries(COUNTED).min(MOST_COUNTED);
        let transfer = Transfer {
            warmup: WARMUP.min(counted),
            size: counted,
            // Emulated links have no token bucket to drain.
            pace: (paced == Paced::Kernel).then_some(rate),
            ..transfer(&testbed, &path, Transport::Tcp)
        };
        let before = Used::so_far(&mut agents, emulation.as_mut())?;
        let received = carried(&mut agents, &transfer)?;
        let after = Used::so_far(&mut agents, emulation.as_mut())?;
        let report = after.emulator.as_ref();
        let directions = report.map(|report| report.links.iter().flatten());
        let rejected = directions.into_iter().flatten().map(|direction| {
            direction.rejected.overrun
                + direction.rejected.super_packets
                + direction.rejected.unsent
        });
        Ok(Trial {
            rate_mbit: rate.bits_per_second() / 1_000_000,
            goodput_mbit: received
                .goodput
                .map_or(0.0, |goodput| goodput.bits_per_second / 1e6),
            limit_mbit: bits / 1e6,
            late: report.map_or(Span::ZERO, |report| report.late[1]),
            rejected: rejected.sum(),
            disturbed: after.is_disturbed_since(&before),
        })
    }

    /// The test network.
    fn path(self, mtu: IpMtu, rate: Rate) -> Path {
        let medium = match self.paced {
            Paced::Kernel => Medium::Kernel {
                rate: Some(rate),
                burst: experiment::auto_burst(mtu, Some(rate)),
                buffer: BUFFER,
            },
            Paced::Emulator => {
                let limit = Limit::Bytes(BUFFER);
                let direction = Settings {
                    largest_packet: Some(mtu.bytes()),
                    ..Settings::perfect(Some(rate), Spec::DropTail { limit })
                };
                Medium::Emulated {
                    directions: Box::new([direction.clone(), direction]),
                    rules: Vec::new(),
                }
            }
        };
        Path {
            graph: None,
            middle: Forwarder::Router,
            ip: self.ip,
            addresses: Addresses::Static,
            offloads: self.offloads,
            segments_per_packet: None,
            tcp: Tcp::default(),
            links: vec![Link { mtu, medium }; self.count],
        }
    }
}

/// The use of the processors up to one time, by all and by a test network.
struct Used {
    machine: Machine,
    /// The processor time of the agents, the emulator and this process.
    ours: Span,
    /// The runnable threads of others.
    running: Option<u64>,
    emulator: Option<Report>,
}

impl Used {
    fn so_far(agents: &mut Agents, emulation: Option<&mut Emulation>) -> Result<Self> {
        let emulator = emulation.map(|emulation| emulation.call(&ReportCounters()));
        let emulator = emulator.transpose()?;
        let [sender, receiver] = agents.samples()?.map(|sample| sample.process);
        let coordinator = Process::sample()?;
        let of_emulator = emulator.as_ref().map_or(Span::ZERO, |report| report.cpu);
        // The workers need a moment to go to sleep.
        let mut running = Machine::sample()?.running();
        for _ in 1..LOOKS {
            clock::sleep(BETWEEN_LOOKS);
            running = running.min(Machine::sample()?.running());
        }
        Ok(Self {
            machine: Machine::sample()?,
            ours: sender.cpu + receiver.cpu + coordinator.cpu + of_emulator,
            running,
            emulator,
        })
    }

    /// Whether other work ran since `earlier`. Soft interrupts during our
    /// processes are in both totals, so the time of others is a lower bound; the
    /// runnable threads at both ends show what it hides. Ticks are its error.
    fn is_disturbed_since(&self, earlier: &Self) -> bool {
        let used = self.machine.since(&earlier.machine);
        let seconds = |span: Span| span.as_secs_f64();
        let known = self.ours - earlier.ours + used.softirq.unwrap_or_default();
        let known = seconds(known) + seconds(tick());
        let others = (seconds(used.busy) - known) / seconds(used.elapsed);
        let all = seconds(used.elapsed) * used.processors as f64;
        let stolen = (seconds(used.steal.unwrap_or_default()) - seconds(tick())) / all;
        let spare = spare(used.processors);
        self.running.max(earlier.running) > Some(spare)
            || others > OTHERS + spare as f64
            || stolen > STOLEN
    }
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
    fn a_rejected_frame_a_late_one_or_a_hundredth_less_is_no_filled_link() {
        let trial = |goodput_mbit, rejected, micros| Trial {
            rate_mbit: 1_000,
            goodput_mbit,
            limit_mbit: 949.0,
            late: Span::from_micros(micros),
            rejected,
            disturbed: false,
        };
        assert!(trial(948.0, 0, 20).filled());
        assert!(!trial(948.0, 1, 20).filled());
        assert!(!trial(948.0, 0, 1_020).filled());
        assert!(!trial(939.0, 0, 20).filled());
    }
}
