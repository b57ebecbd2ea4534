//! The choice: a worker fills links and says which rate they had.

use anyhow::{Context, Result, bail};
use os::worker::Command;
use os::{Worker, clock};
use plan::{AutoRate, Setting};
use units::Span;

use super::ladder::{Chosen, Rung};
use super::{calibration, packets};
use crate::doctor::attempt::FilledLinks;
use crate::pace::Paced;

/// The time for the answer of the worker. It takes a second, and more if it gets no
/// processor.
const TIMEOUT: Span = Span::from_secs(20);

/// The largest rate that this machine sustains now over the links of `settings`. Where it
/// sustains none, or nothing can be tried, the smallest.
pub(super) fn measured(settings: &[&Setting]) -> AutoRate {
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
pub(super) fn described(loads: &[FilledLinks], rung: &Rung) -> String {
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
pub(super) fn loads(settings: &[&Setting]) -> Vec<FilledLinks> {
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
