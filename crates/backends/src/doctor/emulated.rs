//! Reports the rates that this machine sustains on emulated links.

use super::attempt::{Attempt, Encapsulation, Trial};
use super::check::{Check, Group, MEGABIT, short};
use super::facts::Facts;

const GROUP: Group = Group::EmulatedLinks;

/// The default rate of experiments, in Mbit/s.
const USUAL: u64 = 1_000;

pub(super) fn judge(facts: &Facts) -> Vec<Check> {
    match &facts.attempt {
        Attempt::Inside(inside) if !inside.emulated.is_empty() => {
            inside.emulated.iter().map(encapsulation).collect()
        }
        Attempt::Inside(_) | Attempt::Rejected { .. } | Attempt::Lost(_) => {
            vec![
                Check::ok(
                    GROUP,
                    "carried",
                    "not tested: no test network could be built",
                )
                .noted(),
            ]
        }
    }
}

fn encapsulation(encapsulation: &Encapsulation) -> Check {
    let name = format!("MTU {}", encapsulation.mtu);
    let check = |finding: String| Check::ok(GROUP, name.as_str(), finding);
    let Some(fastest) = encapsulation.fastest() else {
        return match (&encapsulation.problem, encapsulation.trials.last()) {
            (Some(problem), _) => check(format!("failed: {problem}")),
            (None, Some(last)) => check(format!(
                "no rate is sustained, not even {}: TCP reached {:.0} of {:.0} Mbit/s, p99 timing error {}, \
                 {} frames dropped",
                rate(last.rate_mbit),
                last.goodput_mbit,
                last.limit_mbit,
                short(last.late),
                last.rejected
            )),
            (None, None) => check("not tested: out of time".to_owned()),
        }
        .noted_with(
            "top",
            "to see which processes are busy, then run the check again",
        );
    };
    let above = |trial: &&Trial| trial.rate_mbit > fastest.rate_mbit;
    let rates = encapsulation.trials.iter().filter(above);
    let beyond = rates
        .map(|trial| trial.rate_mbit)
        .min()
        .map_or_else(String::new, |too_much| {
            format!("; {} is too fast", rate(too_much))
        });
    let filled = check(format!(
        "TCP fills {}, p99 timing error {}{beyond}",
        rate(fastest.rate_mbit),
        short(fastest.late),
    ))
    .value("rate_bps", fastest.rate_mbit * MEGABIT)
    .value("goodput_bps", fastest.goodput_mbit * MEGABIT as f64)
    .value("limit_bps", fastest.limit_mbit * MEGABIT as f64)
    .value("timing_error_p99_s", fastest.late.as_secs_f64());
    match fastest.rate_mbit < USUAL {
        true => filled.noted_with(
            format!(
                "jumbolab run jumbo-frames --set rate={}mbit",
                fastest.rate_mbit
            ),
            "or use fewer links, or stop other processes",
        ),
        false => filled,
    }
}

fn rate(megabits: u64) -> String {
    match megabits {
        1_000.. if megabits.is_multiple_of(1_000) => format!("{} Gbit/s", megabits / 1_000),
        1_000.. => format!("{}.{} Gbit/s", megabits / 1_000, megabits % 1_000 / 100),
        _ => format!("{megabits} Mbit/s"),
    }
}
