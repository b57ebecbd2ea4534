//! The worlds that run plans, and what holds of each.

use std::fmt;
use std::str::FromStr;

use anyhow::{Error, bail};
use serde::{Deserialize, Serialize};

/// Worlds of the design that are not built yet.
const NOT_BUILT: [&str; 2] = ["model", "hosts"];

/// What holds of a world, whatever it runs.
///
/// Code outside the dispatch of worlds asks for a property and never for a
/// world, so that a new world has to state each of them.
#[derive(Debug)]
pub struct WorldProfile {
    /// The name, as `--on` and journals have it.
    pub name: &'static str,
    /// What sends and receives packets.
    pub hosts: Hosts,
    /// Nothing but the rates of links takes time, so that one must be written.
    pub needs_a_rate: bool,
    /// The world serialises every frame of every link itself, as emulated links
    /// do, whatever `network.link` says.
    pub paces_every_link: bool,
    /// A trial takes as long as what it measures.
    pub runs_in_real_time: bool,
    /// Trials do not disturb each other: several may run at once, and a part
    /// of them on another machine. The journal has them in the order in which
    /// they end.
    pub runs_side_by_side: bool,
    /// Each trial is on the disk before the next one begins.
    pub syncs_every_trial: bool,
    /// Results depend on the machine, so that its facts belong to a run.
    pub depends_on_machine: bool,
    /// The words by which a report refers to the world.
    pub words: ReportWording,
}

/// What the hosts of a world are. Not comparable, so that code matches and the
/// compiler lists every place that must decide when there is another kind.
#[derive(Clone, Copy, Debug)]
pub enum Hosts {
    /// Kernels of machines: they have sockets and a TCP of their own, run
    /// programs, cost processor time that can be metered, and remember from one
    /// trial to the next what they learnt.
    Kernels,
    /// Simulated ones: every packet is simulated, with our TCP, at the cost in
    /// time that the experiment gives.
    Simulated,
}

/// Phrases of reports for a world.
#[derive(Debug)]
pub struct ReportWording {
    /// What carries the traffic: "over ...".
    pub links: &'static str,
    /// The beginning of a sentence about the one setting of a run.
    pub alone: &'static str,
    /// The beginning of a sentence about several settings: "... 3 of 4 settings".
    pub among: &'static str,
}

/// Real kernels, one after the other on this machine.
const NETNS: WorldProfile = WorldProfile {
    name: "netns",
    hosts: Hosts::Kernels,
    needs_a_rate: false,
    paces_every_link: false,
    runs_in_real_time: true,
    runs_side_by_side: false,
    syncs_every_trial: true,
    depends_on_machine: true,
    words: ReportWording {
        links: "links between network namespaces of one machine",
        alone: "On this machine and",
        among: "On this machine, in",
    },
};

/// Discrete events in virtual time.
const SIM: WorldProfile = WorldProfile {
    name: "sim",
    hosts: Hosts::Simulated,
    needs_a_rate: true,
    paces_every_link: true,
    runs_in_real_time: false,
    runs_side_by_side: true,
    syncs_every_trial: false,
    depends_on_machine: false,
    words: ReportWording {
        links: "simulated links",
        alone: "Simulated:",
        among: "Simulated, in",
    },
};

/// Declares the worlds together with their profiles: a world without one does
/// not compile, and none can be left out of the list of all.
macro_rules! worlds {
    ($($(#[$about:meta])* $world:ident: $profile:expr,)+) => {
        /// Which world runs a plan.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(rename_all = "lowercase")]
        pub enum World {
            $($(#[$about])* $world,)+
        }

        impl World {
            /// All worlds, in the order in which they are listed to users.
            pub const ALL: &[Self] = &[$(Self::$world,)+];

            /// What holds of this world.
            pub const fn profile(self) -> &'static WorldProfile {
                match self {
                    $(Self::$world => &$profile,)+
                }
            }
        }
    };
}

worlds! {
    /// Real kernels in network namespaces of this machine.
    #[default]
    Netns: NETNS,
    /// A virtual network: a pure function of setting and seed.
    Sim: SIM,
}

impl FromStr for World {
    type Err = Error;
    fn from_str(name: &str) -> Result<Self, Error> {
        let named = |world: &&Self| world.profile().name == name;
        if let Some(world) = Self::ALL.iter().find(named) {
            return Ok(*world);
        }
        let names: Vec<&str> = Self::ALL.iter().map(|world| world.profile().name).collect();
        if NOT_BUILT.contains(&name) {
            let built: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
            let built = built.join(" and ");
            bail!("world `{name}` is not built yet (docs/roadmap.md); {built} are");
        }
        bail!(
            "there is no world `{}`; there are: {}; {} are not built yet (docs/roadmap.md)",
            name.escape_debug(),
            names.join(", "),
            NOT_BUILT.join(" and ")
        )
    }
}

impl fmt::Display for World {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.profile().name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn worlds_that_are_not_built_are_none_that_are() {
        for name in NOT_BUILT {
            let error = name.parse::<World>().unwrap_err().to_string();
            assert!(error.contains("not built yet"), "{error}");
        }
    }

    #[test]
    fn a_world_is_called_alike_by_users_and_in_files() {
        for world in World::ALL {
            let name = world.to_string();
            assert_eq!(name.parse::<World>().unwrap(), *world);
            assert_eq!(serde_json::json!(world), name);
        }
    }
}
