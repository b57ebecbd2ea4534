//! Facts about the program and the machine that ran a plan.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::World;

/// The program, the world and, if results depend on it, the machine of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunFacts {
    /// The program's version.
    pub version: String,
    /// A build id or a hash that identifies this build.
    pub binary: String,
    /// The world of the run.
    #[serde(default)]
    pub world: World,
    /// The machine, if results depend on it; simulated results do not.
    #[serde(flatten)]
    pub host: Option<HostFacts>,
    /// Other programs and kernels that continued the run with `--force`.
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
    /// The number of CPUs that the process may use.
    pub cpus: u32,
    /// Whether the program ran as real root, not in a user namespace.
    pub root: bool,
    /// Other facts about the machine, by name.
    #[serde(default)]
    pub machine: BTreeMap<String, serde_json::Value>,
}

impl RunFacts {
    /// The kernel's name and release, if results depend on the machine.
    pub fn kernel(&self) -> Option<&str> {
        self.host.as_ref().map(|host| host.kernel.as_str())
    }
}

/// A program or kernel that continued a run which another one had started.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Resumed {
    /// The program's version.
    pub version: String,
    /// The build id or hash of the program.
    pub binary: String,
    /// The kernel's name and release, if results depend on the machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kernel: Option<String>,
}
