//! Systems other than Linux do not tell how this host changes the packets of a sender.

use std::net::SocketAddr;

use traffic::driver::sessions::{Flow, FlowOutcome, Outcome};

/// This host, of which nothing is known.
pub(in super::super) struct Host;

impl Host {
    /// Looks at nothing.
    pub(in super::super) fn look(_: SocketAddr, _: Option<&str>) -> Self {
        Self
    }

    /// No line: fragments are not counted.
    pub(in super::super) fn fragments(&self, _: &[Flow], _: &Outcome) -> String {
        String::new()
    }

    /// No warning: this end neither cuts nor merges datagrams.
    pub(super) fn warning(&self, _: &Flow, _: &FlowOutcome) -> String {
        String::new()
    }
}
