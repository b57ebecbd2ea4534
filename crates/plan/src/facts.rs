//! What ran a plan: the program, and the machine where it matters.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::World;

/// What ran a plan: program, world and, where it matters, machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunFacts {
    /// The program's version.
    pub version: String,
    /// What tells this build from any other: a build id or a hash.
    pub binary: String,
    /// The world that the plan was run in.
    #[serde(default)]
    pub world: World,
    /// The machine, if the figures depend on it: simulated ones do not.
    #[serde(flatten)]
    pub host: Option<HostFacts>,
    /// Programs and kernels that went on with the run by force.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub resumed: Vec<Resumed>,
}

/// The machine that ran a plan.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HostFacts {
    /// The kernel's name and release.
    pub kernel: String,
    /// The model of the CPU.
    pub cpu_model: String,
    /// How many CPUs the process may use.
    pub cpus: u32,
    /// Whether it ran as a real root rather than in a user namespace.
    pub root: bool,
    /// What else is known of the machine, by name.
    #[serde(default)]
    pub machine: BTreeMap<String, serde_json::Value>,
}

impl RunFacts {
    /// The kernel's name and release, where they matter.
    pub fn kernel(&self) -> Option<&str> {
        self.host.as_ref().map(|host| host.kernel.as_str())
    }
}

/// What went on with a run that another program or kernel had begun.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Resumed {
    /// The program's version.
    pub version: String,
    /// Its build.
    pub binary: String,
    /// The kernel, where it matters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kernel: Option<String>,
}
