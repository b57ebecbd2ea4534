//! The worlds that this program implements.

mod checks;
#[cfg(target_os = "linux")]
pub mod hosts;
pub mod model;
#[cfg(target_os = "linux")]
pub mod netns;
#[cfg(target_os = "linux")]
pub(crate) mod real_time;
pub mod sim;

use anyhow::{Error, Result, anyhow};
use experiment::{Check, Experiment};
use plan::{Plan, World};

/// Whether this build is for Linux.
const IS_LINUX: bool = cfg!(target_os = "linux");

/// Checks that this build runs `world`: those between kernels need Linux.
///
/// # Errors
/// It does not: one line with the worlds that it runs.
pub fn require(world: World) -> Result<()> {
    match runs(world, IS_LINUX) {
        true => Ok(()),
        false => Err(absent(world)),
    }
}

/// The error that a build without Linux does not run `world`.
pub(crate) fn absent(world: World) -> Error {
    let others = World::ALL.iter().filter(|other| runs(**other, false));
    let others: Vec<String> = others.map(ToString::to_string).collect();
    anyhow!(
        "--on {world}: this world needs Linux; here there are: {}",
        others.join(", ")
    )
}

fn runs(world: World, is_linux: bool) -> bool {
    is_linux || !world.profile().depends_on_machine
}

/// Resolves the experiment for `world`; the world's engine can run every cell.
///
/// # Errors
/// As [`Experiment::plan`], or closed forms predict none of the cells.
pub fn plan(experiment: Experiment, world: World) -> Result<Plan> {
    let mut plan = experiment.plan(world, check(world))?;
    match world {
        World::Netns | World::Hosts | World::Sim => {}
        World::Model => model::leave_out(&mut plan)?,
    }
    Ok(plan)
}

fn check(world: World) -> Check {
    match world {
        World::Netns => checks::netns::check,
        World::Hosts => checks::hosts::check,
        World::Sim => sim::check,
        World::Model => |_| Ok(()),
    }
}

#[cfg(test)]
mod tests;
