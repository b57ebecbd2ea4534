//! Drives a [`TcpTest`] with the connections of an ordinary user.

#[cfg(any(test, not(target_os = "linux")))]
mod acknowledged;
#[cfg_attr(not(target_os = "linux"), path = "elsewhere/tcp_connection.rs")]
mod connection;

use std::collections::{BTreeMap, VecDeque};
use std::net::{IpAddr, SocketAddr};

use crate::machine::tcp_mss::{
    Action, MOST_TIME, Nonce, Observation, Service, TcpSettings, TcpTest,
};
use units::{Bytes, IpMtu, Span};

use super::outgoing::Outgoing;
use super::socket::zoned;
use super::{Investigated, SHOW};
use connection::Connection;
use os::clock;
use os::error::Result;
use os::interrupt;
use os::kernel_clock::sleep_until;
use os::random::random;
use os::socket::{LIMITS_SEGMENTS, Options};

/// The interval at which the system is asked for the state of connections.
const LOOK: Span = Span::from_millis(2);

/// Room for what is sent and not acknowledged, and for an answer that nobody reads: no server
/// sends more than this on a connection.
const SEND_BUFFER: Bytes = Bytes::new(192 << 10);
const RECEIVE_BUFFER: Bytes = Bytes::new(128 << 10);

/// The bytes of a request in one segment, which every path carries.
const REQUEST_SEGMENT: usize = 400;

/// A server to test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TcpTask {
    /// Its address and port.
    pub to: SocketAddr,
    /// What it is asked for: the protocol, the name of the host with a port that is not the
    /// usual one, and the page.
    pub service: Service,
    pub host: String,
    pub page: String,
    /// The size that the path should carry; `None`: the largest that connections have.
    pub up_to: Option<Bytes>,
    /// The interface to which the sockets are bound.
    pub interface: Option<String>,
    /// The source address; `None`: the system's choice.
    pub address: Option<IpAddr>,
}

/// Tests the path to a server by connections, until everything is found out or the user stops
/// the program. `show` gets the number of connections from time to time.
///
/// # Errors
/// There is no route, or the system's.
pub fn test_server(task: &TcpTask, mut show: impl FnMut(u32)) -> Result<Investigated> {
    let outgoing = Outgoing::toward(task.to, task.interface.as_deref(), task.address)?;
    let mut driver = Driver {
        task,
        outgoing: &outgoing,
        nonce: random()?,
        connections: BTreeMap::new(),
    };
    let mut test = TcpTest::new(TcpSettings {
        far_end: task.to.ip(),
        asked: task.up_to,
        interface_mtu: outgoing.mtu.min(Bytes::new(IpMtu::LARGEST.into())),
        repeats: task.service == Service::Http,
        chooses_mss: LIMITS_SEGMENTS,
        states_arrivals: connection::STATES_ARRIVALS,
    });
    let mut show_at = clock::monotonic();
    let end = show_at + MOST_TIME + MOST_TIME;
    while !test.is_done() && clock::monotonic() < end {
        while let Some(action) = test.poll_action(clock::monotonic()) {
            driver.act(action)?;
        }
        if clock::monotonic() >= show_at {
            show(test.connections());
            show_at = clock::monotonic() + SHOW;
        }
        if interrupt::asked() {
            test.stop();
        }
        sleep_until(clock::monotonic() + LOOK);
        for (id, observation) in driver.observe()? {
            test.observed(clock::monotonic(), id, observation);
        }
    }
    if let Some(mtu) = connection::known_mtu(task, &outgoing)? {
        test.knows_mtu(mtu);
    }
    let report = test.report();
    Ok(Investigated { outgoing, report })
}

struct Driver<'a> {
    task: &'a TcpTask,
    outgoing: &'a Outgoing,
    nonce: Nonce,
    connections: BTreeMap<u32, Connection>,
}

impl Driver<'_> {
    fn act(&mut self, action: Action) -> Result<()> {
        let TcpTask {
            service,
            host,
            page,
            ..
        } = self.task;
        match action {
            Action::Open { id, mss } => {
                let connection = self.open(mss)?;
                self.connections.insert(id, connection);
            }
            Action::SendLadder { id, packets } => {
                let Some(connection) = self.connections.get_mut(&id) else {
                    return Ok(());
                };
                let headers = connection.headers();
                let sizes = packets.iter().map(|&size| data(size, headers));
                let sizes: Vec<usize> = sizes.collect();
                let length = sizes.iter().sum();
                let mut bytes = service.beginning(host, page, &self.nonce, length);
                let segments = sizes.into_iter().map(|size| {
                    let rest = bytes.split_off(size.min(bytes.len()));
                    std::mem::replace(&mut bytes, rest)
                });
                connection.send(segments.collect())?;
            }
            Action::SendWhole { id, packet } => {
                if let Some(connection) = self.connections.get_mut(&id) {
                    let length = data(packet, connection.headers());
                    let request = service.whole(host, page, &self.nonce, length);
                    connection.send(VecDeque::from([request]))?;
                }
            }
            Action::SendRequests { id, count } => {
                let request = service.request(host, page, &self.nonce);
                let count = usize::try_from(count).unwrap_or(1);
                let bytes = request.repeat(count);
                let segments = bytes.chunks(REQUEST_SEGMENT).map(<[u8]>::to_vec);
                if let Some(connection) = self.connections.get_mut(&id) {
                    connection.send(segments.collect())?;
                }
            }
            Action::Close { id } => {
                self.connections.remove(&id);
            }
        }
        Ok(())
    }

    /// Begins a connection. Closing it drops what it has not sent.
    fn open(&self, mss: Option<u16>) -> Result<Connection> {
        let here = |from| zoned(SocketAddr::new(from, 0), 0);
        // Without a choice of the MSS, no segment is larger than the window.
        let window = mss.filter(|_| !LIMITS_SEGMENTS);
        let options = Options {
            bind: self.task.address.map(here),
            device: self.task.interface.clone(),
            send_buffer: Some(SEND_BUFFER),
            receive_buffer: Some(window.map_or(RECEIVE_BUFFER, |mss| Bytes::new(mss.into()))),
            segment: mss.filter(|_| LIMITS_SEGMENTS),
            no_delay: true,
            non_blocking: true,
            reset_on_close: true,
            ..Options::default()
        };
        let to = zoned(self.task.to, self.outgoing.index);
        Connection::open(to, options, self.outgoing.mtu)
    }

    /// What the system states of each connection.
    fn observe(&mut self) -> Result<Vec<(u32, Observation)>> {
        let connections = self.connections.iter_mut();
        let seen = connections.map(|(&id, connection)| Ok((id, connection.observe()?)));
        seen.collect()
    }
}

/// The bytes of data in a packet of this size.
fn data(packet: Bytes, headers: Bytes) -> usize {
    let data = packet.get().saturating_sub(headers.get());
    usize::try_from(data).unwrap_or(usize::MAX)
}
