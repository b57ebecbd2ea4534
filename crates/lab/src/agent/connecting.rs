//! Connections among all hosts of a network.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use anyhow::Context as _;
use live::connections::{Outcome, Start, Task};
use live::{Worker, clock};
use units::Span;

use super::{Agents, Failure, Reply, Request, ask, hear};

/// How long a host may take to open its ports.
const OPENING: Span = Span::from_secs(10);

/// Time for replies after the end of the connections.
const MARGIN: Span = Span::from_secs(30);

impl Agents {
    /// Opens all ports of `tasks`, one for each host in the order of the test bed, and
    /// carries the connections from an instant in `lead` on. Each port takes the connection
    /// from the port that its sender reports. Returns the beginning, too.
    ///
    /// # Errors
    /// As [`Agents::transfer`].
    pub(crate) fn connections(
        &mut self,
        tasks: &[Task],
        lead: Span,
    ) -> Result<(u64, Vec<Outcome>), Failure> {
        let lasts = tasks.iter().map(|task| task.end).max().unwrap_or_default();
        let opened = self.all_answer(tasks.iter().cloned().map(Request::Connect), OPENING)?;
        let ports: Result<Vec<_>, _> = { opened.into_iter() }
            .map(|reply| match reply {
                Reply::SourcePorts(ports) => Ok(ports),
                other => Err(Failure::unexpected("host", other)),
            })
            .collect();
        let sources = match ports {
            Ok(ports) => sources_of(tasks, &ports)?,
            Err(failure) => {
                // Those that have opened theirs close them.
                self.all_answer(tasks.iter().map(|_| Request::Disconnect), OPENING)?;
                return Err(failure);
            }
        };
        let begin = clock::monotonic_nanos() + lead.as_nanos();
        let starts = sources.into_iter();
        let starts = starts.map(|sources| Request::Carry(Start { begin, sources }));
        let carried = self.all_answer(starts, lasts + MARGIN)?;
        let outcomes: Result<_, _> = { carried.into_iter() }
            .map(|reply| match reply {
                Reply::Carried(outcome) => Ok(outcome),
                other => Err(Failure::unexpected("host", other)),
            })
            .collect();
        Ok((begin, outcomes?))
    }

    /// The replies of all hosts, in the order of the test bed, to one request each.
    fn all_answer(
        &mut self,
        requests: impl Iterator<Item = Request>,
        timeout: Span,
    ) -> Result<Vec<Reply>, Failure> {
        let mut hosts: Vec<&mut Worker> = std::iter::once(&mut self.sender)
            .chain(&mut self.others)
            .chain([&mut self.receiver])
            .collect();
        for (host, request) in hosts.iter_mut().zip(requests) {
            ask(host, &request)?;
        }
        let replies = hosts.iter_mut().map(|host| hear(host, "host", timeout));
        Ok(replies.collect::<Result<_, _>>()?)
    }
}

/// The port from which each incoming connection of each task comes: that which the host that
/// connects there has among `ports`.
fn sources_of(tasks: &[Task], ports: &[Vec<u16>]) -> anyhow::Result<Vec<Vec<u16>>> {
    let ends = tasks.iter().zip(ports);
    let ends = ends.flat_map(|(task, ports)| task.outgoing.iter().zip(ports));
    let by_end: BTreeMap<SocketAddr, u16> = ends.map(|(one, port)| (one.to, *port)).collect();
    let of_task = |task: &Task| {
        let incoming = task.incoming.iter();
        let ports = incoming.map(|one| {
            let port = by_end.get(&one.at).copied();
            port.with_context(|| format!("no host has a port for the connection to {}", one.at))
        });
        ports.collect()
    };
    tasks.iter().map(of_task).collect()
}

#[cfg(test)]
mod tests {
    use std::net::{IpAddr, Ipv4Addr};

    use live::connections::{Incoming, Outgoing};

    use super::*;

    fn address(host: u8) -> IpAddr {
        IpAddr::V4(Ipv4Addr::new(10, 0, 0, host))
    }

    fn outgoing(from: u8, to: u8, port: u16) -> Outgoing {
        Outgoing {
            from: SocketAddr::new(address(from), 0),
            to: SocketAddr::new(address(to), port),
            start: Span::ZERO,
            stop: Span::from_secs(1),
            octets: None,
            congestion: "cubic".to_owned(),
            send_buffer: None,
        }
    }

    fn incoming(from: u8, to: u8, port: u16) -> Incoming {
        Incoming {
            at: SocketAddr::new(address(to), port),
            from: address(from),
            window: None,
            receive_buffer: None,
        }
    }

    #[test]
    fn each_port_is_told_the_port_of_the_flow_that_comes_there() {
        let tasks = [
            Task {
                outgoing: vec![outgoing(1, 2, 20_000), outgoing(1, 3, 20_001)],
                incoming: vec![incoming(3, 1, 20_003)],
                ..Task::default()
            },
            Task {
                incoming: vec![incoming(3, 2, 20_002), incoming(1, 2, 20_000)],
                ..Task::default()
            },
            Task {
                outgoing: vec![outgoing(3, 2, 20_002), outgoing(3, 1, 20_003)],
                incoming: vec![incoming(1, 3, 20_001)],
                ..Task::default()
            },
        ];
        let ports = [vec![501, 502], vec![], vec![503, 504]];
        let sources = sources_of(&tasks, &ports).unwrap();
        assert_eq!(sources, [vec![504], vec![503, 501], vec![502]]);
        // One has not reported its ports.
        let missing = [vec![501, 502], vec![], vec![503]];
        let error = sources_of(&tasks, &missing).unwrap_err();
        assert!(error.to_string().contains("10.0.0.1:20003"), "{error}");
    }
}
