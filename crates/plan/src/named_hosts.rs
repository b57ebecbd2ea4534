//! The machines between which a world without a network of its own measures.

use std::net::IpAddr;

/// The machines of a run, as the user names them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedHosts {
    /// The machine that sends.
    pub sender: NamedHost,
    /// The machine that receives.
    pub receiver: NamedHost,
    /// Whether the interfaces may be changed through which the machines are
    /// reached.
    pub allow_management_interface: bool,
}

/// A machine as the user names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedHost {
    /// How `ssh` reaches it.
    pub ssh: String,
    /// Its address in the measured network.
    pub address: Option<IpAddr>,
    /// Its interface in the measured network.
    pub interface: Option<String>,
    /// The command that gives privileges there, with its options.
    pub privilege: Option<String>,
}

impl NamedHosts {
    /// Both machines, each with its role.
    pub fn roles(&self) -> [(&'static str, &NamedHost); 2] {
        [("sender", &self.sender), ("receiver", &self.receiver)]
    }
}
