//! Scenarios that cannot be run, and why.

use proto::link::BadSettings;
use proto::traffic::BadLaw;
use units::{Bytes, IpVersion};

use crate::BadDomain;

/// What is wrong with a scenario, in words for whoever wrote it.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum BadScenario {
    /// Two elements of a kind with one name.
    #[error("two {kind}s are called `{name}`; give each a name of its own")]
    Twice {
        /// `node`, `link` or `flow`.
        kind: &'static str,
        /// The name.
        name: String,
    },
    /// An end of a link or flow that is no node.
    #[error("{kind} `{name}` names node number {index}, but there are {nodes}, from 0 on")]
    NoSuchNode {
        /// `link` or `flow`.
        kind: &'static str,
        /// Its name.
        name: String,
        /// The number it gives.
        index: usize,
        /// How many nodes there are.
        nodes: usize,
    },
    /// Both ends of a link at one node.
    #[error("link `{link}` leads from node `{node}` to itself; name two nodes")]
    ToItself {
        /// The link.
        link: String,
        /// The node.
        node: String,
    },
    /// A domain that there cannot be.
    #[error(transparent)]
    Domain(#[from] BadDomain),
    /// Two links between the same nodes.
    #[error("links `{one}` and `{other}` connect the same nodes; keep one of them")]
    Parallel {
        /// A link.
        one: String,
        /// The other.
        other: String,
    },
    /// A loop of switches, in which a frame has two paths.
    #[error("link `{link}` closes a loop of switches; take it away, or make one of them a router")]
    SwitchLoop {
        /// The link that closes it.
        link: String,
    },
    /// A link that cannot be like that.
    #[error("link `{link}`: {why}")]
    Link {
        /// The link.
        link: String,
        /// What is wrong.
        why: BadSettings,
    },
    /// A link with an MTU that a protocol on its way cannot have.
    #[error(
        "link `{link}` carries packets of {mtu} octets at most, {ip} of flow `{flow}` needs {smallest}; raise its MTU"
    )]
    SmallMtu {
        /// The link.
        link: String,
        /// Its MTU.
        mtu: u64,
        /// The flow.
        flow: String,
        /// Its protocol.
        ip: IpVersion,
        /// The smallest MTU that carries it.
        smallest: u32,
    },
    /// A queue that could not hold the largest packet that its link carries.
    #[error(
        "link `{link}`: its queue holds {room} octets and a packet of flow `{flow}` takes {frame}; give it room for one"
    )]
    SmallQueue {
        /// The link.
        link: String,
        /// The flow.
        flow: String,
        /// What the queue holds.
        room: u64,
        /// What a packet takes.
        frame: u64,
    },
    /// A host's buffer that could not hold the largest packet it is sent.
    #[error(
        "node `{node}`: its receive buffer holds {room} octets and a packet of flow `{flow}` takes {frame}; give it room for one"
    )]
    SmallBuffer {
        /// The host.
        node: String,
        /// The flow.
        flow: String,
        /// What the buffer holds.
        room: u64,
        /// What a packet takes.
        frame: u64,
    },
    /// A flow with an end at a router or switch.
    #[error("flow `{flow}` {end} at node `{node}`, which is no host; flows are from host to host")]
    NoHost {
        /// The flow.
        flow: String,
        /// `begins` or `ends`.
        end: &'static str,
        /// The node.
        node: String,
    },
    /// A flow from a host to itself.
    #[error("flow `{flow}` is from node `{node}` to itself; name two hosts")]
    FlowToItself {
        /// The flow.
        flow: String,
        /// The host.
        node: String,
    },
    /// No path from one host to the other.
    #[error(
        "flow `{flow}` finds no path from `{from}` to `{to}`; connect them by links over routers and switches"
    )]
    Unreachable {
        /// The flow.
        flow: String,
        /// The host that sends.
        from: String,
        /// The host that would receive.
        to: String,
    },
    /// A law that a schedule cannot follow.
    #[error("flow `{flow}`: its {law} {why}")]
    Law {
        /// The flow.
        flow: String,
        /// `gaps`, `payloads` or `bursts`.
        law: &'static str,
        /// What is wrong, and what would be right.
        why: BadLaw,
    },
    /// A connection that nothing would hold back, or that could not begin.
    #[error("flow `{flow}` {why}")]
    Tcp {
        /// The flow.
        flow: String,
        /// What is wrong, and what would be right.
        why: &'static str,
    },
    /// A run longer than instants count.
    #[error(
        "with all that waits and travels the run could last {days} days, and may last {most}; make it shorter, or links and hosts faster"
    )]
    TooLong {
        /// How long it could last.
        days: u64,
        /// How long it may last.
        most: u64,
    },
    /// A run that would need more memory than it may.
    #[error("the run would need about {needed} octets of memory, above all for {what}, and may use {budget}; make that smaller, or raise the budget", needed = .needed.get(), budget = .budget.get())]
    Memory {
        /// What it would need.
        needed: Bytes,
        /// What it may use.
        budget: Bytes,
        /// What needs most of it.
        what: String,
    },
}
