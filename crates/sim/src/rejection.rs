//! Errors of scenarios that cannot be run.

use link::BadSettings;
use meter::departures::BadDistribution;
use units::{Bytes, IpVersion};

use crate::BadDomain;

/// The fault in a scenario.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum BadScenario {
    /// Two elements of a kind with the same name.
    #[error("two {kind}s are called `{name}`; give each a name of its own")]
    Twice {
        /// `node`, `link` or `flow`.
        kind: &'static str,
        /// The common name.
        name: String,
    },
    /// An end of a link or flow that does not exist.
    #[error(
        "{kind} `{name}` refers to node number {index}, but there are only {nodes}, counted from 0"
    )]
    NoSuchNode {
        /// `link` or `flow`.
        kind: &'static str,
        /// Name of the link or flow.
        name: String,
        /// The index of the missing node.
        index: usize,
        /// Number of nodes.
        nodes: usize,
    },
    /// A link with both ends at one node.
    #[error("link `{link}` leads from node `{node}` to itself; name two nodes")]
    ToItself {
        /// Name of the link.
        link: String,
        /// Name of the node.
        node: String,
    },
    /// An invalid domain.
    #[error(transparent)]
    Domain(#[from] BadDomain),
    /// Two links between the same nodes.
    #[error("links `{one}` and `{other}` connect the same nodes; keep one of them")]
    Parallel {
        /// Name of one link.
        one: String,
        /// Name of the other link.
        other: String,
    },
    /// A loop of switches, in which a frame has two paths.
    #[error("link `{link}` closes a loop of switches; remove it, or make one of them a router")]
    SwitchLoop {
        /// Name of the link that closes it.
        link: String,
    },
    /// A link with invalid settings.
    #[error("link `{link}`: {why}")]
    Link {
        /// Name of the link.
        link: String,
        /// The fault in the settings.
        why: BadSettings,
    },
    /// A link whose MTU is too small for a protocol on its path.
    #[error(
        "link `{link}` supports packets of {mtu} bytes at most, {ip} of flow `{flow}` needs {smallest}; raise its MTU"
    )]
    SmallMtu {
        /// Name of the link.
        link: String,
        /// MTU of the link, in bytes.
        mtu: u64,
        /// Name of the flow.
        flow: String,
        /// The flow's version of IP.
        ip: IpVersion,
        /// The smallest MTU that this version allows, in bytes.
        smallest: u32,
    },
    /// A queue smaller than the largest packet that its link carries.
    #[error(
        "link `{link}`: its queue holds {room} bytes and a packet of flow `{flow}` takes {frame}; give it room for one"
    )]
    SmallQueue {
        /// Name of the link.
        link: String,
        /// Name of the flow.
        flow: String,
        /// Size of the queue, in bytes.
        room: u64,
        /// Size of the packet's frame, in bytes.
        frame: u64,
    },
    /// A host whose receive buffer is smaller than the largest packet sent to it.
    #[error(
        "node `{node}`: its receive buffer holds {room} bytes and a packet of flow `{flow}` takes {frame}; give it room for one"
    )]
    SmallBuffer {
        /// Name of the host.
        node: String,
        /// Name of the flow.
        flow: String,
        /// Size of the buffer, in bytes.
        room: u64,
        /// Size of the packet's frame, in bytes.
        frame: u64,
    },
    /// A flow that begins or ends at a router or switch.
    #[error(
        "flow `{flow}` {end} at node `{node}`, which is not a host; flows lead from host to host"
    )]
    NoHost {
        /// Name of the flow.
        flow: String,
        /// `begins` or `ends`.
        end: &'static str,
        /// Name of the node.
        node: String,
    },
    /// A flow from a host to itself.
    #[error("flow `{flow}` leads from node `{node}` to itself; name two hosts")]
    FlowToItself {
        /// Name of the flow.
        flow: String,
        /// Name of the host.
        node: String,
    },
    /// Two hosts without a path between them.
    #[error(
        "flow `{flow}` finds no path from `{from}` to `{to}`; connect them by links over routers and switches"
    )]
    Unreachable {
        /// Name of the flow.
        flow: String,
        /// The sending host.
        from: String,
        /// The receiving host.
        to: String,
    },
    /// A distribution that a schedule cannot use.
    #[error("flow `{flow}`: its {distribution} {why}")]
    Distribution {
        /// Name of the flow.
        flow: String,
        /// `gaps`, `payloads` or `bursts`.
        distribution: &'static str,
        /// The fault and its remedy.
        why: BadDistribution,
    },
    /// A connection that has no limit, or cannot begin.
    #[error("flow `{flow}` {why}")]
    Tcp {
        /// Name of the flow.
        flow: String,
        /// The fault and its remedy.
        why: &'static str,
    },
    /// A run that may last longer than times reach.
    #[error(
        "with the packets queued and in flight the run could last {days} days, and may last {most}; make it shorter, or links and hosts faster"
    )]
    TooLong {
        /// Upper bound of its duration, in days.
        days: u64,
        /// The longest duration allowed, in days.
        most: u64,
    },
    /// A run that needs more memory than allowed.
    #[error("the run would need about {needed} bytes of memory, mostly for {what}, and may use {budget}; reduce that, or raise the budget", needed = .needed.get(), budget = .budget.get())]
    Memory {
        /// Memory needed.
        needed: Bytes,
        /// Memory allowed.
        budget: Bytes,
        /// The largest item of the memory needed.
        what: String,
    },
}
