//! The investigation of a path without I/O: which sizes it carries, in each direction and
//! for each protocol, where larger packets vanish, and who says so.
//!
//! A driver with sockets, or a virtual path, sends each [`Probe`], and passes on each
//! [`Answer`]; a [`PathReport`] is the result.

mod packet;
mod report;
mod settings;

pub use packet::{Answer, AnswerKind, Probe, Protocol, Reflected, ReplySize, Target};
pub use report::{
    Advice, Device, Direction, Evidence, Finding, FindingKind, Hop, Limit, Loss, NotSeen,
    PathReport, Place, ProtocolResult, Remedy, Tunnel, Verdict, Way,
};
pub use settings::{AnswerRate, BadSettings, Settings, TcpProbes};
