//! The rate of links with `rate = "auto"`: the largest of a few that this machine sustains
//! at the moment.
//!
//! It is chosen before a run, once for all such links, by a worker that fills links of the
//! smallest packets that the plan sends. Header overhead does not depend on the rate, so a
//! slower link answers the same question.

pub(crate) mod calibration;
mod ladder;
mod packets;

use anyhow::{Context, Result, bail};
use experiment::{AUTO_RATES, Experiment};
use os::worker::Command;
use os::{Worker, clock};
use plan::{AutoRate, Plan, Setting};
use units::{Rate, Span};

use crate::doctor::attempt::FilledLinks;
use crate::measure::Paced;
use crate::world;
use ladder::{Chosen, Rung};

/// The time for the answer of the worker. It takes a second, and more if it gets no
/// processor.
const TIMEOUT: Span = Span::from_secs(20);

/// The settings of `plan`, which was made of `experiment`, whose rates are left to the
/// machine: those that another rate changes.
pub fn settings<'a>(experiment: &Experiment, plan: &'a Plan) -> Vec<&'a Setting> {
    // A network that is there has the rate that it has.
    let builds = plan.world.profile().builds_network;
    if !builds || !experiment.has_auto_rate() {
        return Vec::new();
    }
    let [.., smallest] = AUTO_RATES;
    let slower = world::plan(experiment.clone().with_auto_rate(smallest), plan.world);
    let is_same = |position: usize, setting: &Setting| {
        let other = slower.as_ref().map(|other| &other.cells[position].setting);
        other.is_ok_and(|other| other.as_ref() == Ok(setting))
    };
    let cells = plan.cells.iter().enumerate();
    cells
        .filter_map(|(position, cell)| Some((position, cell.setting.as_ref().ok()?)))
        .filter(|(position, setting)| !is_same(*position, setting))
        .map(|(_, setting)| setting)
        .collect()
}

/// The rate of links where no machine limits it: the largest.
pub fn unmeasured() -> AutoRate {
    AutoRate {
        rate: AUTO_RATES[0].to_string(),
        sustained: None,
        tried: "nothing: no machine limits these links".to_owned(),
    }
}

/// The largest rate that this machine sustains now over the links of `settings`. Where it
/// sustains none, or nothing can be tried, the smallest.
pub fn choose(settings: &[&Setting]) -> AutoRate {
    let loads = loads(settings);
    let asked = ask(&loads);
    let Chosen {
        rate,
        is_sustained,
        rungs,
        problem,
    } = asked.unwrap_or_else(|error| Chosen::nothing(format!("{error:#}")));
    let tried = rungs.iter().map(|rung| described(&loads, rung));
    let tried = tried.chain(problem.map(|why| why.replace('\n', " ")));
    AutoRate {
        rate: rate.to_string(),
        sustained: Some(is_sustained),
        tried: tried.collect::<Vec<_>>().join("; "),
    }
}

/// The outcome of the worker.
fn ask(loads: &[FilledLinks]) -> Result<Chosen> {
    let mut worker = Worker::spawn(Command::local(None, calibration::ROLE))?;
    worker.send_line(&serde_json::to_string(loads)?)?;
    match worker.receive_line(clock::monotonic() + TIMEOUT)? {
        Some(line) => serde_json::from_str(&line).context("reading the reply of the worker"),
        None => bail!("nothing was measured within {TIMEOUT}"),
    }
}

/// One step of the search in words: `500mbit over emulated links of MTU 1500: 2 of 3 transfers`.
fn described(loads: &[FilledLinks], rung: &Rung) -> String {
    let Rung {
        rate,
        load,
        filled,
        of,
    } = rung;
    let links = loads.get(*load).map_or_else(String::new, |load| {
        let kind = match load.paced {
            Paced::Kernel => "kernel",
            Paced::Emulator => "emulated",
        };
        format!(" over {kind} links, packets of {} bytes", load.mtu)
    });
    format!("{rate}{links}: filled by {filled} of {of} transfers")
}

/// The links to fill, one row of each kind: as many as the longest path has, with the
/// smallest packets.
fn loads(settings: &[&Setting]) -> Vec<FilledLinks> {
    let of = |setting: &&Setting| {
        let own = packets::loads(setting);
        own.into_iter()
    };
    let mut loads: Vec<FilledLinks> = Vec::new();
    for load in settings.iter().flat_map(of) {
        match loads.iter_mut().find(|other| other.paced == load.paced) {
            None => loads.push(load),
            Some(other) => {
                if load.mtu < other.mtu {
                    (other.mtu, other.ip) = (load.mtu, load.ip);
                }
                other.count = other.count.max(load.count);
                other.offloads &= load.offloads;
            }
        }
    }
    loads
}

/// The rate of a recorded choice.
///
/// # Errors
/// It is no rate that `auto` stands for.
pub fn rate(chosen: &AutoRate) -> Result<Rate> {
    let known = AUTO_RATES
        .iter()
        .find(|rate| rate.to_string() == chosen.rate);
    known
        .copied()
        .with_context(|| format!("run.auto_rate.rate = {}: no rate of \"auto\"", chosen.rate))
}

#[cfg(test)]
mod tests;
