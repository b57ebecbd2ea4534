//! Rules of the local host's packet filter that lower the MSS of TCP connections.

use units::{Bytes, IpVersion};

use super::super::kind::TCP_HEADER;
use super::{LocalFinding, LocalHost, LocalProblem};

/// A rule that lowers the MSS in SYNs to a fixed value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocalMssClamp {
    /// The address family and the name of its table, such as `inet filter`.
    pub table: String,
    pub chain: String,
    /// Its place in the chain, from 1.
    pub rule: u32,
    pub syns: Syns,
    /// The largest MSS that it lets pass.
    pub mss: Bytes,
    /// The version of IP that it is for; `None`: both.
    pub version: Option<IpVersion>,
    /// The interface of its SYNs; `None`: any.
    pub interface: Option<String>,
    /// Whether it has conditions that are not understood, such as addresses or ports.
    pub is_conditional: bool,
    /// The command that deletes it.
    pub deletion: String,
}

/// The SYNs that a rule changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Syns {
    /// Those that enter this host, which tell it how large its segments may be.
    Arriving,
    /// Those of other hosts, which this one forwards.
    Forwarded,
    /// Those that leave this host, which tell far ends how large their segments may be.
    Leaving,
}

impl LocalHost {
    /// A rule that keeps TCP from filling the packets of its interface, or of the largest one.
    pub(super) fn mss_clamp(&self, clamp: &LocalMssClamp) -> Option<LocalFinding> {
        let mtu = match clamp.interface.as_deref() {
            Some(name) => self.interface(name)?.mtu,
            None => {
                let used = self.interfaces.iter().filter(|one| one.is_up);
                used.map(|one| one.mtu).max()?
            }
        };
        let version = clamp.version.unwrap_or(IpVersion::V4);
        let packet = clamp.mss + TCP_HEADER + version.header();
        (packet < mtu).then(|| LocalFinding {
            command: clamp.deletion.clone(),
            problem: LocalProblem::MssClamp {
                table: clamp.table.clone(),
                chain: clamp.chain.clone(),
                rule: clamp.rule,
                syns: clamp.syns,
                mss: clamp.mss,
                packet,
                interface: clamp.interface.clone(),
                conditional: clamp.is_conditional,
            },
        })
    }
}
