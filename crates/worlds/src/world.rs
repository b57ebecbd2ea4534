//! The worlds that this program implements.

pub mod hosts;
pub mod model;
pub mod netns;
pub(crate) mod real_time;
mod segment_limit;
pub mod sim;

use anyhow::Result;
use experiment::{Check, Experiment};
use plan::{Plan, World};

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
        World::Netns => netns::check,
        World::Hosts => hosts::check,
        World::Sim => sim::check,
        World::Model => |_| Ok(()),
    }
}

#[cfg(test)]
mod tests;
