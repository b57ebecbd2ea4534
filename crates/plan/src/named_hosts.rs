//! The machines between which a backend without a network of its own measures.

use std::collections::BTreeSet;
use std::net::IpAddr;
use std::path::PathBuf;

use crate::SideEffect;

/// The machines of a run, as the user names them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedHosts {
    /// The machine that sends.
    pub sender: NamedHost,
    /// The machine that receives.
    pub receiver: NamedHost,
    /// A machine on the path between them, which is metered.
    pub router: Option<NamedHost>,
    /// Whether the interfaces may be changed through which the machines are
    /// reached.
    pub allow_management_interface: bool,
    /// What it takes to reach and use them.
    pub side_effects: BTreeSet<SideEffect>,
}

/// A machine as the user names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedHost {
    /// How it is reached: what `ssh` takes, or `tcp://HOST[:PORT]` of a server of agents.
    pub destination: String,
    /// Its address in the measured network.
    pub address: Option<IpAddr>,
    /// Its interface in the measured network.
    pub interface: Option<String>,
    /// The command that gives privileges there, with its options.
    pub privilege: Option<String>,
    /// The file with the secret of a server of agents.
    pub secret_file: Option<PathBuf>,
}

/// The role of a machine in a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HostRole {
    /// It sends.
    Sender,
    /// It receives.
    Receiver,
    /// It is on the path between them.
    Router,
}

impl HostRole {
    /// All roles, the necessary ones first.
    pub const ALL: [Self; 3] = [Self::Sender, Self::Receiver, Self::Router];

    /// The name in experiments, options and results.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sender => "sender",
            Self::Receiver => "receiver",
            Self::Router => "router",
        }
    }
}
