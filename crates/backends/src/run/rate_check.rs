//! Checks before the first trial that this machine carries the rates of emulated
//! links at all.
//!
//! A short transfer fills a link of the rate and the MTU, as in `doctor`. The
//! best of several decides, and only where no other work ran meanwhile: a
//! momentary disturbance must not reject a machine.

use analysis::decomposition::slowest;
use analysis::predicted;
use anyhow::{Result, bail};
use os::{clock, interrupt};
use plan::setting::{Impairments, LinkKind};
use plan::{Plan, Setting};
use units::{Framing, IpMtu, IpVersion, Rate, Span, Transport};

use super::settings;
use crate::doctor::Trial;
use crate::doctor::attempt::emulated::attempt;
use crate::interrupted;

/// The number of attempts at a rate that is not carried.
const ATTEMPTS: usize = 3;

/// The share of the rate below which a machine does not carry it. Above it a
/// trial may be late, which its own rules judge.
const CARRIED: f64 = 0.8;

/// Lower rates are not tested: even 118 000 frames of MTU 68 a second, or 8 000
/// of MTU 1500, leave most of a processor idle.
const LEAST: u64 = 100_000_000;

/// The time after which no further rate is tested.
const TIMEOUT: Span = Span::from_millis(600);

/// The digits of the highest rate in Mbit/s to suggest, less one: 500 Gbit/s.
const MOST_DIGITS: u32 = 5;

/// A link to fill.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Load {
    rate: Rate,
    mtu: IpMtu,
    ip: IpVersion,
}

/// The outcome of the attempts at one load.
#[derive(Debug, PartialEq)]
enum Verdict {
    /// The rate is carried, or too few attempts gave evidence.
    Carried,
    /// It was not carried while other work ran, or only delays need it: the warning.
    Marginal(String),
    /// It cannot be carried: the error.
    Rejected(String),
}

/// What a plan asks of its links.
#[derive(Clone, Copy, Debug)]
struct Needs {
    /// All its links could be the kernel's.
    kernel_would_do: bool,
    /// The emulator carries delays and round trips alone; the kernel's links carry the
    /// rest.
    only_delays: bool,
}

/// Tests the rates of `plan`, in the sandbox of the calling process; returns
/// warnings.
///
/// # Errors
/// A rate cannot be carried over links that all metrics need: one line with the
/// options to type. Or the user asked to stop.
pub(super) fn check(plan: &Plan) -> Result<Vec<String>> {
    let begun = clock::monotonic();
    let needs = Needs {
        kernel_would_do: settings(plan).all(has_kernel_links),
        only_delays: settings(plan).all(|setting| setting.network.link != LinkKind::Emulated),
    };
    let mut warnings = Vec::new();
    for load in loads(settings(plan)) {
        match judge(load, &attempts(load)?, needs) {
            Verdict::Carried => {}
            Verdict::Marginal(warning) => warnings.push(warning),
            Verdict::Rejected(why) => bail!(why),
        }
        if clock::monotonic().since(begun) >= Some(TIMEOUT) {
            break;
        }
    }
    Ok(warnings)
}

/// The attempts at `load`, up to the first that carries it. One that fails is no
/// evidence.
fn attempts(load: Load) -> Result<Vec<Trial>> {
    let mut trials = Vec::new();
    for _ in 0..ATTEMPTS {
        let attempted = attempt(load.ip, load.mtu, load.rate);
        if interrupt::asked() {
            return Err(interrupted());
        }
        let Ok(trial) = attempted else { break };
        let carried = share(&trial) >= CARRIED;
        trials.push(trial);
        if carried {
            break;
        }
    }
    Ok(trials)
}

/// The links to fill, those with most frames first. A load is left out where
/// another one has at least its rate and at most its MTU.
fn loads<'a>(settings: impl Iterator<Item = &'a Setting>) -> Vec<Load> {
    let mut all: Vec<Load> = settings.filter_map(load).collect();
    all.sort_by_key(|load| (std::cmp::Reverse(load.rate), load.mtu));
    let mut loads: Vec<Load> = Vec::new();
    for load in all {
        if loads.iter().all(|harder| load.mtu < harder.mtu) {
            loads.push(load);
        }
    }
    loads
}

/// The link that the transfer of `setting` fills for longer than its queue
/// lasts, if there is one.
fn load(setting: &Setting) -> Option<Load> {
    let network = &setting.network;
    let transfer = setting.traffic.transfer()?;
    let (rate, mtu, ip) = (slowest(setting)?, network.path_mtu()?, network.ip);
    let slow = { network.links.iter() }.filter(|link| link.rate == Some(rate));
    let buffer = slow.map(|link| link.buffer).max()?;
    let limit = model::goodput_limit(rate, mtu, ip, Transport::Tcp, Framing::Ethernet)? / 1e6;
    let predicted = predicted::goodput(setting).unwrap_or(limit);
    let fills = network.link != LinkKind::Kernel
        && rate.bits_per_second() >= LEAST
        && transfer.size > buffer
        && predicted >= CARRIED * limit;
    fills.then_some(Load { rate, mtu, ip })
}

/// Whether links of the kernel could take the place of the emulated ones.
fn has_kernel_links(setting: &Setting) -> bool {
    let none = Impairments::default();
    { setting.network.links.iter() }.all(|link| {
        link.impairments == none
            && link.cross.is_none()
            && !link.recorded
            && link.counted.transfer.is_none()
    })
}

/// The carried share of the rate.
fn share(trial: &Trial) -> f64 {
    trial.goodput_mbit / trial.limit_mbit
}

/// Judges the attempts at `load` of a plan with these needs.
fn judge(load: Load, trials: &[Trial], needs: Needs) -> Verdict {
    let disturbed = trials.iter().any(|trial| trial.disturbed);
    let Some(best) = trials.iter().map(share).max_by(f64::total_cmp) else {
        return Verdict::Carried;
    };
    let few = trials.len() < ATTEMPTS && !disturbed;
    if best >= CARRIED || few {
        return Verdict::Carried;
    }
    let carried = best * load.rate.megabits_per_second();
    let lower = round(carried).map(|rate| format!("--set rate={rate}"));
    let other = { needs.kernel_would_do }.then(|| "--set link=kernel".to_owned());
    let options: Vec<String> = lower.into_iter().chain(other).collect();
    let (rate, mtu, options) = (load.rate, load.mtu.get(), options.join(" or "));
    if disturbed {
        return Verdict::Marginal(format!(
            "rate = {rate}: the emulator sustained {carried:.0} Mbit/s with MTU {mtu} while other work ran; \
             let the machine be idle, or use {options}"
        ));
    }
    let found = format!(
        "rate = {rate}: the emulator of this machine sustains {carried:.0} Mbit/s with MTU {mtu} \
         (the best of {ATTEMPTS} attempts, without other work)"
    );
    match needs.only_delays {
        true => Verdict::Marginal(format!(
            "{found}; expect few figures of delays and round trips, or use {options}"
        )),
        false => Verdict::Rejected(format!("{found}; use {options}")),
    }
}

/// The largest rate of 1, 2 or 5 times a power of ten that is not above
/// `megabits`; none below 1 Mbit/s.
fn round(megabits: f64) -> Option<Rate> {
    let powers = (0..=MOST_DIGITS).rev().map(|digits| 10_u64.pow(digits));
    let mut rates = powers.flat_map(|power| [5, 2, 1].map(|digit| digit * power));
    let rounded = rates.find(|&rate| rate as f64 <= megabits)?;
    Rate::from_bits_per_second(rounded * 1_000_000)
}

#[cfg(test)]
mod tests {
    use super::*;
    use plan::setting::Traffic;
    use plan::synthetic;
    use units::Bytes;

    fn gigabits(rate: u64) -> Rate {
        Rate::from_bits_per_second(rate * 1_000_000_000).unwrap()
    }

    fn load_of(rate: u64, mtu: u64) -> Load {
        let ip = IpVersion::V6;
        let mtu = IpMtu::new(mtu, ip).unwrap();
        let rate = gigabits(rate);
        Load { rate, mtu, ip }
    }

    /// The verdict on 10 Gbit/s after attempts that carried these shares.
    fn verdict(attempts: &[(f64, bool)], kernel_would_do: bool) -> Verdict {
        verdict_for(
            attempts,
            Needs {
                kernel_would_do,
                only_delays: false,
            },
        )
    }

    fn verdict_for(attempts: &[(f64, bool)], needs: Needs) -> Verdict {
        let trials = attempts.iter().map(|&(share, disturbed)| Trial {
            rate_mbit: 10_000,
            goodput_mbit: share * 9_490.0,
            limit_mbit: 9_490.0,
            late: Span::ZERO,
            rejected: 0,
            disturbed,
        });
        judge(load_of(10, 1500), &trials.collect::<Vec<_>>(), needs)
    }

    #[test]
    fn a_rate_is_rejected_where_the_best_of_undisturbed_attempts_falls_short() {
        let short = [(0.2, false), (0.27, false), (0.1, false)];
        let Verdict::Rejected(why) = verdict(&short, true) else {
            panic!("not rejected");
        };
        for words in [
            "10gbit",
            "2700 Mbit/s",
            "MTU 1500",
            "--set rate=2gbit or --set link=kernel",
        ] {
            assert!(why.contains(words), "{why}");
        }
        let Verdict::Rejected(why) = verdict(&short, false) else {
            panic!("not rejected");
        };
        assert!(why.ends_with("use --set rate=2gbit"), "{why}");
        let one = [(0.2, false), (0.801, false)];
        assert_eq!(verdict(&one, true), Verdict::Carried);
    }

    #[test]
    fn what_only_delays_need_is_a_warning() {
        let needs = Needs {
            kernel_would_do: true,
            only_delays: true,
        };
        let Verdict::Marginal(warning) = verdict_for(&[(0.27, false); 3], needs) else {
            panic!("no warning");
        };
        for words in [
            "2700 Mbit/s",
            "without other work",
            "delays and round trips",
            "--set rate=2gbit or --set link=kernel",
        ] {
            assert!(warning.contains(words), "{warning}");
        }
    }

    #[test]
    fn other_work_makes_a_rejection_a_warning_and_no_evidence_is_nothing() {
        let busy = [(0.2, false), (0.27, true), (0.1, false)];
        let Verdict::Marginal(warning) = verdict(&busy, true) else {
            panic!("no warning");
        };
        assert!(warning.contains("other work ran"), "{warning}");
        assert!(warning.contains("--set rate=2gbit"), "{warning}");
        let few = verdict(&[(0.2, false)], true);
        assert_eq!(few, Verdict::Carried, "too few attempts");
        assert_eq!(verdict(&[], true), Verdict::Carried);
    }

    #[test]
    fn rates_are_rounded_down_to_one_two_or_five() {
        let rounded = |megabits| round(megabits).map(|rate| rate.to_string());
        for (megabits, rate) in [
            (1.0, "1mbit"),
            (9.9, "5mbit"),
            (200.0, "200mbit"),
            (499.0, "200mbit"),
            (999.0, "500mbit"),
            (1_999.0, "1gbit"),
        ] {
            assert_eq!(rounded(megabits).as_deref(), Some(rate));
        }
        assert_eq!(rounded(0.9), None);
    }

    /// The load of a transfer of 5 MB over emulated links of 1 Gbit/s, with one
    /// change.
    fn load_with(change: impl FnOnce(&mut Setting)) -> Option<Load> {
        let mut setting = synthetic::setting(1500, false);
        setting.network.link = LinkKind::Emulated;
        change(&mut setting);
        load(&setting)
    }

    #[test]
    fn a_transfer_that_fills_an_emulated_link_is_a_load() {
        let expected = Some(load_of(1, 1500));
        assert_eq!(load_with(|_| {}), expected);
        let mixed = load_with(|setting| setting.network.link = LinkKind::Mixed);
        assert_eq!(mixed, expected);
        let slower = load_with(|setting| setting.network.links[0].rate = Some(gigabits(40)));
        assert_eq!(slower, expected, "the slowest link decides");

        let kernel = load_with(|setting| setting.network.link = LinkKind::Kernel);
        let unlimited = load_with(|setting| {
            let links = setting.network.links.iter_mut();
            links.for_each(|link| link.rate = None);
        });
        let slow = load_with(|setting| {
            setting.network.links[0].rate = Rate::from_bits_per_second(99_000_000);
        });
        let small = load_with(|setting| {
            if let Traffic::Transfer(transfer) = &mut setting.traffic {
                transfer.size = Bytes::new(250_000);
            }
        });
        let lossy = load_with(|setting| {
            setting.network.links[0].impairments.loss = 0.01;
            setting.network.links[0].impairments.delay = Span::from_millis(20);
        });
        assert_eq!([kernel, unlimited, slow, small, lossy], [None; 5]);
    }

    #[test]
    fn a_load_that_another_one_contains_is_left_out() {
        let setting = |mtu, rate| {
            let mut setting = synthetic::setting(mtu, false);
            setting.network.link = LinkKind::Emulated;
            let links = setting.network.links.iter_mut();
            links.for_each(|link| link.rate = Some(gigabits(rate)));
            setting
        };
        let settings = [(9000, 1), (1500, 1), (9000, 10), (1500, 2), (4000, 10)];
        let settings = settings.map(|(mtu, rate)| setting(mtu, rate));
        let expected = [load_of(10, 4000), load_of(2, 1500)];
        assert_eq!(loads(settings.iter()), expected);
    }

    #[test]
    fn what_only_the_emulator_does_leaves_no_choice_of_links() {
        let mut setting = synthetic::setting(1500, false);
        assert!(has_kernel_links(&setting));
        setting.network.links[1].impairments.delay = Span::from_millis(1);
        assert!(!has_kernel_links(&setting));
    }
}
