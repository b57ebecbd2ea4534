//! The investigation of a path without I/O: which sizes it carries, in each direction and
//! for each protocol, where larger packets vanish, and who says so.
//!
//! A driver with sockets, or a virtual path, runs an [`Investigation`]: it sends each
//! [`Probe`], and passes on each [`Answer`]; a [`PathReport`] is the result.

mod asker;
mod findings;
mod history;
mod investigation;
mod kind;
mod local;
mod loss_by_size;
mod mesh;
mod mesh_change;
mod mesh_outcome;
mod packet;
mod phase;
mod report;
mod search;
mod settings;
pub mod stamp;
pub mod tcp_mss;
#[cfg(test)]
mod tests;

use link::{Direction, Protocol};

pub use investigation::{Investigation, Phase, Progress};
pub use local::{
    LocalFinding, LocalHost, LocalInterface, LocalMssClamp, LocalProblem, LocalRoute,
    LocalSettings, LowerInterface, Syns,
};
pub use mesh::{HostWay, Mesh, MeshEntry, MeshFault, MeshFindings, MeshPlace};
pub use mesh_change::{ChangeKind, MeshComparison, MeshState, PathChange, PathState};
pub use mesh_outcome::{MeshHost, MeshOutcome, MeshPath};
pub use packet::{Answer, AnswerKind, Probe, QuotedHeader, Reflected, ReplySize, Target};
pub(crate) use report::VLAN_TAG;
pub use report::{
    Advice, Device, DirectionResult, Evidence, Finding, FindingKind, Hop, Limit, Loss, NotSeen,
    PathReport, Place, ProtocolResult, Remedy, SizeLoss, Tunnel, Verdict,
};
pub use settings::{AnswerRate, BadSettings, HopProbes, Reflector, Settings, TcpProbes};
