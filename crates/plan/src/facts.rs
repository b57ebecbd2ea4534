//! Facts about the program and the machine that ran a plan.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::setting::System;
use crate::{Backend, HostRole, Plan, Trial};

/// The program, the backend and, if results depend on it, the machine of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunFacts {
    /// The program's version.
    pub version: String,
    /// A build id or a hash that identifies this build.
    pub binary: String,
    /// The backend of the run.
    #[serde(default)]
    pub backend: Backend,
    /// The machine, if results depend on it; simulated results do not.
    #[serde(flatten)]
    pub host: Option<HostFacts>,
    /// The rate of links with `rate = "auto"`, if there are such links.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub auto_rate: Option<AutoRate>,
    /// The machines between which it measured, if the user named them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<RoleFacts>,
    /// Cells that could not be measured there, with the reason.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<LeftOut>,
    /// Other programs and kernels that continued the run with `--force`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub resumed: Vec<Resumed>,
}

/// The rate of links with `rate = "auto"`, and how it was chosen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AutoRate {
    /// The rate, as an experiment writes it.
    pub rate: String,
    /// Whether the machine sustained it; absent where no machine was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sustained: Option<bool>,
    /// What was tried, in one line.
    pub tried: String,
}

/// The machine that ran a plan.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HostFacts {
    /// The kernel's name and release.
    pub kernel: String,
    pub cpu_model: String,
    /// The number of CPUs that the process may use.
    pub cpus: u32,
    /// Whether the program ran as real root, not in a user namespace.
    pub root: bool,
    /// Other facts about the machine, by name.
    #[serde(default)]
    pub machine: BTreeMap<String, serde_json::Value>,
}

/// A machine of a run, with its role.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RoleFacts {
    /// `sender`, `receiver` or `router`.
    pub role: String,
    /// The name that the machine has for itself.
    pub name: String,
    /// Its interface in the measured network; a router's are joined by "and".
    pub interface: String,
    /// Its operating system as the agent there found it: by `uname -s`, else by its name.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub system: String,
    /// Facts about each of its interfaces there, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub interfaces: BTreeMap<String, BTreeMap<String, serde_json::Value>>,
    /// The machine.
    #[serde(flatten)]
    pub host: HostFacts,
}

/// A cell that could not be measured in a run, although its backend could have.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftOut {
    /// The factors of the cell, as text.
    pub cell: String,
    /// The reason, in words that follow "not measured".
    pub why: String,
}

impl RunFacts {
    /// The kernels' names and releases, if results depend on the machine; those of named
    /// machines with their roles and names.
    pub fn kernel(&self) -> Option<String> {
        let named = self.hosts.iter();
        let named = named.map(|end| format!("{} of {} {}", end.host.kernel, end.role, end.name));
        let named: Vec<String> = named.collect();
        match named.is_empty() {
            true => self.host.as_ref().map(|host| host.kernel.clone()),
            false => Some(named.join(", ")),
        }
    }

    /// The systems of sender and receiver as `host.scenario` writes them, if the user named
    /// machines: `LU` Linux, `WS` Windows, `Wine`, another by its own name.
    pub fn scenario(&self) -> Option<String> {
        let system = |role: HostRole| {
            let host = self.hosts.iter().find(|host| host.role == role.name())?;
            Some(match System::called(&host.system) {
                _ if host.system.is_empty() => return None,
                _ if is_wine(&host.system) => "Wine",
                Some(System::Linux) => "LU",
                Some(System::Windows) => "WS",
                None => &host.system,
            })
        };
        let (sender, receiver) = (system(HostRole::Sender)?, system(HostRole::Receiver)?);
        Some(format!("{sender}-{receiver}"))
    }

    /// Why no claim is judged by the run, if that is so: under Wine, Windows programs run on
    /// another system, whose network it is.
    pub fn judges_nothing(&self) -> Option<&'static str> {
        let mut hosts = self.hosts.iter();
        hosts
            .any(|host| is_wine(&host.system))
            .then_some("Wine, not Windows")
    }

    /// The machines on which results depend. The first of each is empty, or the role and
    /// the name of a machine that the user named, with its interface.
    pub fn machines(&self) -> impl Iterator<Item = (String, &HostFacts)> {
        let own = self.host.iter().map(|host| (String::new(), host));
        let named = self.hosts.iter().map(|end| {
            let RoleFacts {
                role,
                name,
                interface,
                host,
                ..
            } = end;
            (format!("{role} {name}, {interface}"), host)
        });
        own.chain(named)
    }

    /// Leaves the cells of `plan` unmeasured that the run left out and that no trial
    /// measured.
    pub fn leave_out(&self, plan: &mut Plan, trials: &[Trial]) {
        for LeftOut { cell, why } in &self.left_out {
            let is_measured = trials
                .iter()
                .any(|trial| trial.factors.to_string() == *cell);
            let mut cells = plan.cells.iter_mut();
            let named = cells.find(|named| named.factors.to_string() == *cell);
            if let Some(named) = named.filter(|_| !is_measured) {
                named.setting = Err(why.clone());
            }
        }
    }
}

/// Whether a host with a system of this name has Wine.
pub fn is_wine(system: &str) -> bool {
    system.contains("Wine")
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
