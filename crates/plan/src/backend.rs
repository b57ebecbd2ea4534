//! The backends that run plans, and the properties of each.

use std::fmt;
use std::str::FromStr;

use anyhow::{Error, bail};
use serde::{Deserialize, Serialize};

/// Names that others use for what a backend is, and the name of the backend.
const OTHER_NAMES: [(&str, &str); 17] = [
    ("closed-forms", "model"),
    ("emulated", "netns"),
    ("emulation", "netns"),
    ("host", "hosts"),
    ("kernel", "netns"),
    ("linux", "netns"),
    ("live", "netns"),
    ("modelled", "model"),
    ("namespace", "netns"),
    ("namespaces", "netns"),
    ("ns", "netns"),
    ("machines", "hosts"),
    ("predicted", "model"),
    ("real", "netns"),
    ("simulated", "sim"),
    ("simulation", "sim"),
    ("simulator", "sim"),
];

/// The properties of a backend.
///
/// Code outside the dispatch of backends asks for a property, never for a
/// specific backend. A new backend therefore has to state each property.
#[derive(Debug)]
pub struct BackendProfile {
    /// The name in `--on` and in journals.
    pub name: &'static str,
    /// The kind of hosts.
    pub hosts: Hosts,
    /// Whether the backend builds the network that an experiment describes.
    /// Otherwise the hosts are machines that the user names, and what lies
    /// between them is as it is.
    pub builds_network: bool,
    /// Whether only link rates take time, so that experiments must set one.
    pub needs_a_rate: bool,
    /// Whether the backend serialises every frame of every link itself, as
    /// emulated links do, whatever `network.link` says.
    pub paces_every_link: bool,
    /// Whether a trial takes as long as the traffic that it measures.
    pub runs_in_real_time: bool,
    /// Whether trials are independent, so that several may run at once or on
    /// other machines. The journal lists them in the order in which they
    /// finish.
    pub runs_side_by_side: bool,
    /// Whether each trial is written to disk before the next one begins.
    pub syncs_every_trial: bool,
    /// Whether results depend on the machine, so that its facts belong to a
    /// run.
    pub depends_on_machine: bool,
    /// Whether figures follow from closed forms. All trials of a cell would be
    /// equal, so there is one, and no spread tells how far off it is.
    pub predicts: bool,
    /// The phrases by which a report refers to the backend.
    pub words: ReportWording,
}

/// The kind of hosts in a backend. The type has no equality, so that code must
/// match on it and the compiler lists every place to change for a new kind.
#[derive(Clone, Copy, Debug)]
pub enum Hosts {
    /// Kernels of machines: they have their own sockets and TCP, run programs,
    /// use measurable CPU time, and keep state such as cached metrics from one
    /// trial to the next.
    Kernels,
    /// Hosts that an experiment describes: with Jumbolab's TCP and the processing
    /// times that it gives, whether packets are simulated or figures computed.
    Simulated,
}

/// Phrases of reports for a backend.
#[derive(Debug)]
pub struct ReportWording {
    /// The medium of the traffic: "over ...".
    pub links: &'static str,
    /// The head of a column of its figures: predicted, simulated or measured.
    pub figures: &'static str,
    /// The start of a sentence about the only setting of a run.
    pub alone: &'static str,
    /// The start of a sentence about several settings: "... 3 of 4 settings".
    pub among: &'static str,
}

/// Real kernels on this machine, one trial at a time.
const NETNS: BackendProfile = BackendProfile {
    name: "netns",
    hosts: Hosts::Kernels,
    builds_network: true,
    needs_a_rate: false,
    paces_every_link: false,
    runs_in_real_time: true,
    runs_side_by_side: false,
    syncs_every_trial: true,
    depends_on_machine: true,
    predicts: false,
    words: ReportWording {
        links: "links between network namespaces of one machine",
        figures: "measured",
        alone: "On this machine and",
        among: "On this machine, in",
    },
};

/// Real kernels on machines that the user names, one trial at a time.
const HOSTS: BackendProfile = BackendProfile {
    name: "hosts",
    hosts: Hosts::Kernels,
    builds_network: false,
    needs_a_rate: false,
    paces_every_link: false,
    runs_in_real_time: true,
    runs_side_by_side: false,
    syncs_every_trial: true,
    depends_on_machine: true,
    predicts: false,
    words: ReportWording {
        links: "the network between two hosts",
        figures: "measured",
        alone: "Between these hosts and over",
        among: "Between these hosts, in",
    },
};

/// Discrete-event simulation in virtual time.
const SIM: BackendProfile = BackendProfile {
    name: "sim",
    hosts: Hosts::Simulated,
    builds_network: true,
    needs_a_rate: true,
    paces_every_link: true,
    runs_in_real_time: false,
    runs_side_by_side: true,
    syncs_every_trial: false,
    depends_on_machine: false,
    predicts: false,
    words: ReportWording {
        links: "simulated links",
        figures: "measured",
        alone: "Simulated:",
        among: "Simulated, in",
    },
};

/// Closed forms: nothing is sent, and no packet simulated.
const MODEL: BackendProfile = BackendProfile {
    name: "model",
    hosts: Hosts::Simulated,
    builds_network: true,
    needs_a_rate: false,
    paces_every_link: true,
    runs_in_real_time: false,
    runs_side_by_side: true,
    syncs_every_trial: false,
    depends_on_machine: false,
    predicts: true,
    words: ReportWording {
        links: "computed links",
        figures: "predicted",
        alone: "Predicted:",
        among: "Predicted, in",
    },
};

/// Declares the backends with their profiles, so that a backend without a profile
/// does not compile and [`Backend::ALL`] is complete.
macro_rules! backends {
    ($($(#[$about:meta])* $backend:ident: $profile:expr,)+) => {
        /// The backend that runs a plan.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(rename_all = "lowercase")]
        pub enum Backend {
            $($(#[$about])* $backend,)+
        }

        impl Backend {
            /// All backends, in the order in which they are listed to users.
            pub const ALL: &[Self] = &[$(Self::$backend,)+];

            /// The properties of this backend.
            pub const fn profile(self) -> &'static BackendProfile {
                match self {
                    $(Self::$backend => &$profile,)+
                }
            }
        }
    };
}

backends! {
    /// Real kernels in network namespaces of this machine.
    #[default]
    Netns: NETNS,
    /// Real kernels of machines that the user names.
    Hosts: HOSTS,
    /// A virtual network: its results are a pure function of setting and seed.
    Sim: SIM,
    /// Closed forms with the costs of hosts.
    Model: MODEL,
}

impl FromStr for Backend {
    type Err = Error;
    fn from_str(name: &str) -> Result<Self, Error> {
        let named = |backend: &&Self| backend.profile().name == name;
        if let Some(backend) = Self::ALL.iter().find(named) {
            return Ok(*backend);
        }
        let names: Vec<&str> = Self::ALL
            .iter()
            .map(|backend| backend.profile().name)
            .collect();
        let meant = OTHER_NAMES.iter().find(|(other, _)| *other == name);
        let meant = meant.map_or_else(String::new, |(_, meant)| format!("; write `{meant}`"));
        bail!(
            "there is no backend `{}`{meant}; choose one of {}",
            name.escape_debug(),
            names.join(", "),
        )
    }
}

impl fmt::Display for Backend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.profile().name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_others_use_are_answered_with_those_of_backends() {
        for (name, meant) in OTHER_NAMES {
            let error = name.parse::<Backend>().unwrap_err().to_string();
            assert!(error.contains(&format!("write `{meant}`")), "{error}");
            assert!(meant.parse::<Backend>().is_ok(), "{meant}");
        }
    }

    #[test]
    fn a_backend_is_called_alike_by_users_and_in_files() {
        for backend in Backend::ALL {
            let name = backend.to_string();
            assert_eq!(name.parse::<Backend>().unwrap(), *backend);
            assert_eq!(serde_json::json!(backend), name);
        }
    }
}
