//! The sealed connection between a run and a server of agents.
//!
//! After the handshake of [`secret::channel`] the run's first frame names the run
//! ([`RunId`]); each later one has bytes for the standard input of the agent. A frame of the
//! server begins with its [`FrameKind`].

use secret::channel::LONGEST_CONTENT;

/// The default port of a server of agents.
pub const PORT: u16 = 7771;

/// Names a run. A server starts agents for one run at a time.
pub(super) type RunId = [u8; 16];

/// The most bytes of the agent's output in a frame, behind its kind.
pub(super) const PIECE: usize = LONGEST_CONTENT - 1;

/// The kind of a frame of the server, its first byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FrameKind {
    /// Nothing: the server answers each frame, so that its silence is noticed.
    Alive,
    /// Bytes of the agent's standard output.
    Output,
    /// Bytes of its standard error.
    Complaint,
    /// One line: the reason why there is no agent.
    Rejected,
}

impl FrameKind {
    const ALL: [Self; 4] = [Self::Alive, Self::Output, Self::Complaint, Self::Rejected];

    /// The content of a frame.
    pub(super) fn with(self, bytes: &[u8]) -> Vec<u8> {
        let mut content = vec![self as u8];
        content.extend_from_slice(bytes);
        content
    }

    /// The kind of a frame with this content, and the rest; `None` if there is no such kind.
    pub(super) fn of(content: &[u8]) -> Option<(Self, &[u8])> {
        let (kind, rest) = content.split_first()?;
        Some((*Self::ALL.get(usize::from(*kind))?, rest))
    }
}
