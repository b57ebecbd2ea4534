//! What an experiment does outside of its results folder and of networks that a run builds.

use std::fmt;

/// Something that an experiment does outside. The user sees it before the start, and must
/// consent to it if somebody else wrote it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SideEffect {
    /// What it does.
    pub action: Action,
    /// The value that it does it with.
    pub value: String,
    /// The dotted key of the value.
    pub key: String,
    /// Whether the user stated the value as an option.
    pub is_option: bool,
}

/// A kind of side effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Action {
    /// It reads a file.
    Read,
    /// It connects to a host.
    Connect,
    /// It starts a program.
    Run,
    /// It starts a program on a host.
    RunOnHost,
    /// It sends packets to an address.
    SendTo,
    /// It sends and receives through an interface of a host.
    MeasureThrough,
    /// It changes interfaces of hosts.
    Change,
}

impl fmt::Display for SideEffect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { value, key, .. } = self;
        match self.action {
            Action::Read => write!(f, "read {value} ({key})"),
            Action::Connect if value.starts_with("tcp://") => {
                write!(f, "connect to {value} ({key})")
            }
            Action::Connect => write!(f, "connect to {value} by ssh ({key})"),
            Action::Run => write!(f, "run `{value}` ({key})"),
            Action::RunOnHost => write!(f, "run `{value}` on the host ({key})"),
            Action::SendTo => write!(f, "send to {value} ({key})"),
            Action::MeasureThrough => write!(f, "measure through {value} ({key})"),
            Action::Change => write!(f, "change interfaces of the hosts ({key} = {value})"),
        }
    }
}
