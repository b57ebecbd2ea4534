//! The worlds that this program implements.

pub mod hosts;
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
/// As [`Experiment::plan`].
pub fn plan(experiment: Experiment, world: World) -> Result<Plan> {
    experiment.plan(world, check(world))
}

fn check(world: World) -> Check {
    match world {
        World::Netns => segment_limit::check,
        World::Hosts => hosts::check,
        World::Sim => sim::check,
    }
}
