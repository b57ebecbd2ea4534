//! Drives a [`TcpTest`] with the connections of an ordinary user.
//!
//! Nothing is read from them: TCP_INFO counts what arrives, and the receive buffer bounds it.

use std::collections::VecDeque;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};

use crate::machine::tcp_mss::{
    Action, MOST_TIME, Nonce, Observation, SMALL_MSS, Service, State, TcpSettings, TcpTest,
};
use meter::departures::PathMtu;
use nix::errno::Errno;
use nix::sys::socket::{MsgFlags, getsockopt, send, sockopt};
use units::{Bytes, IpMtu, Span};

use super::error::version;
use super::outgoing::Outgoing;
use super::socket::zoned;
use super::{Investigated, SHOW};
use os::clock;
use os::error::{OperationContext, Result};
use os::interrupt;
use os::kernel_clock::sleep_until;
use os::random::random;
use os::socket::{Kind, Options, TCP_HEADER, begin_to_connect, open};
use os::sys::tcp_info::tcp_info;

/// The interval at which the kernel is asked for the state of connections.
const LOOK: Span = Span::from_millis(2);

/// Room for what is sent and not acknowledged, and for an answer that nobody reads: no server
/// sends more than this on a connection.
const SEND_BUFFER: Bytes = Bytes::new(192 << 10);
const RECEIVE_BUFFER: Bytes = Bytes::new(128 << 10);

/// The bytes of a request in one segment, which every path carries.
const REQUEST_SEGMENT: usize = 400;

/// States of TCP, and the flag of timestamps [LinuxUapi tcp.h].
const ESTABLISHED: u8 = 1;
const SYN_SENT: u8 = 2;
const CLOSE_WAIT: u8 = 8;
const HAS_TIMESTAMPS: u8 = 1;

/// The timestamps option with its padding [RFC7323 App A].
const TIMESTAMPS: u32 = 12;

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
    /// The source address; `None`: the kernel's choice.
    pub address: Option<IpAddr>,
}

/// Tests the path to a server by connections, until everything is found out or the user stops
/// the program. `show` gets the number of connections from time to time.
///
/// # Errors
/// There is no route, or the kernel's.
pub fn test_server(task: &TcpTask, mut show: impl FnMut(u32)) -> Result<Investigated> {
    let outgoing = Outgoing::toward(task.to, task.interface.as_deref(), task.address)?;
    let mut driver = Driver {
        task,
        to: zoned(task.to, outgoing.index),
        nonce: random()?,
        connections: Vec::new(),
    };
    let mut test = TcpTest::new(TcpSettings {
        far_end: task.to.ip(),
        asked: task.up_to,
        interface_mtu: outgoing.mtu.min(Bytes::new(IpMtu::LARGEST.into())),
        repeats: task.service == Service::Http,
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
    let report = test.report();
    Ok(Investigated { outgoing, report })
}

struct Driver<'a> {
    task: &'a TcpTask,
    to: SocketAddr,
    nonce: Nonce,
    connections: Vec<Connection>,
}

struct Connection {
    id: u32,
    socket: OwnedFd,
    /// How it ended, if it did.
    ended: Option<State>,
    /// Segments that the kernel has not taken yet.
    waiting: VecDeque<Vec<u8>>,
    /// The headers of packets with data.
    headers: u32,
    /// What was acknowledged before data were sent.
    acknowledged: Option<u64>,
    /// The largest segment that has arrived.
    largest: u32,
}

impl Driver<'_> {
    fn act(&mut self, action: Action) -> Result<()> {
        match action {
            Action::Open { id, mss } => {
                let connection = self.open(id, mss)?;
                self.connections.push(connection);
            }
            Action::SendLadder { id, packets } => {
                let Some(connection) = self.connection(id) else {
                    return Ok(());
                };
                let headers = Bytes::new(connection.headers.into());
                let sizes = packets.iter().map(|&size| (size - headers).get());
                let sizes: Vec<usize> = sizes.filter_map(|size| size.try_into().ok()).collect();
                let TcpTask { host, page, .. } = self.task;
                let length = sizes.iter().sum();
                let service = self.task.service;
                let mut bytes = service.beginning(host, page, &self.nonce, length);
                let segments = sizes.into_iter().map(|size| {
                    let rest = bytes.split_off(size.min(bytes.len()));
                    std::mem::replace(&mut bytes, rest)
                });
                let segments: VecDeque<Vec<u8>> = segments.collect();
                self.send(id, segments)?;
            }
            Action::SendRequests { id, count } => {
                let TcpTask { host, page, .. } = self.task;
                let request = self.task.service.request(host, page, &self.nonce);
                let count = usize::try_from(count).unwrap_or(1);
                let bytes = request.repeat(count);
                let segments = bytes.chunks(REQUEST_SEGMENT).map(<[u8]>::to_vec);
                self.send(id, segments.collect())?;
            }
            Action::Close { id } => self.connections.retain(|connection| connection.id != id),
        }
        Ok(())
    }

    fn connection(&mut self, id: u32) -> Option<&mut Connection> {
        let mut connections = self.connections.iter_mut();
        connections.find(|connection| connection.id == id)
    }

    fn send(&mut self, id: u32, segments: VecDeque<Vec<u8>>) -> Result<()> {
        match self.connection(id) {
            Some(connection) => {
                connection.waiting = segments;
                connection.flush()
            }
            None => Ok(()),
        }
    }

    /// Begins a connection. Its segments are not fragmented, and closing it drops what it has
    /// not sent.
    fn open(&self, id: u32, mss: Option<u16>) -> Result<Connection> {
        let options = Options {
            bind: self
                .task
                .address
                .map(|from| zoned(SocketAddr::new(from, 0), 0)),
            device: self.task.interface.clone(),
            path_mtu: PathMtu::Do,
            send_buffer: Some(SEND_BUFFER),
            receive_buffer: Some(RECEIVE_BUFFER),
            segment: mss,
            no_delay: true,
            non_blocking: true,
            reset_on_close: true,
            ..Options::default()
        };
        let socket = open(Kind::Stream, self.to.ip(), &options)?;
        let ended = begin_to_connect(&socket, self.to).err().map(state_after);
        Ok(Connection {
            id,
            socket,
            ended,
            waiting: VecDeque::new(),
            headers: 0,
            acknowledged: None,
            largest: 0,
        })
    }

    /// What the kernel knows of each connection.
    fn observe(&mut self) -> Result<Vec<(u32, Observation)>> {
        let to = self.to.ip();
        let connections = self.connections.iter_mut();
        let seen = connections.map(|connection| Ok((connection.id, connection.observe(to)?)));
        seen.collect()
    }
}

impl Connection {
    /// Gives the kernel the segments that it takes.
    fn flush(&mut self) -> Result<()> {
        while let Some(segment) = self.waiting.front() {
            // The end of a record keeps the kernel from joining it with the next one, whenever
            // it is sent.
            let flags = MsgFlags::MSG_EOR | MsgFlags::MSG_NOSIGNAL;
            match send(self.socket.as_raw_fd(), segment, flags) {
                Ok(sent) if sent < segment.len() => {
                    let rest = segment[sent..].to_vec();
                    self.waiting[0] = rest;
                }
                Ok(_) => {
                    self.waiting.pop_front();
                }
                Err(Errno::EAGAIN | Errno::EINTR) => return Ok(()),
                // The connection ended; its state says how.
                Err(_) => self.waiting.clear(),
            }
        }
        Ok(())
    }

    fn observe(&mut self, to: IpAddr) -> Result<Observation> {
        self.flush()?;
        let info = tcp_info(self.socket.as_fd()).during(|| "reading TCP_INFO")?;
        let error = getsockopt(&self.socket, sockopt::SocketError)
            .during(|| "reading how a connection ended")?;
        if error != 0 {
            self.ended = Some(state_after(Errno::from_raw(error)));
        }
        let state = self.ended.unwrap_or(match info.tcpi_state {
            ESTABLISHED => State::Open,
            SYN_SENT => State::Connecting,
            CLOSE_WAIT => State::Ended,
            _ => State::Failed,
        });
        let headers = u32::try_from(version(to).header().get()).unwrap_or(0) + TCP_HEADER;
        self.headers = match info.tcpi_options & HAS_TIMESTAMPS {
            0 => headers,
            _ => headers + TIMESTAMPS,
        };
        if state == State::Open {
            self.acknowledged = self.acknowledged.or(Some(info.tcpi_bytes_acked));
        }
        let before = self.acknowledged.unwrap_or(info.tcpi_bytes_acked);
        self.largest = self.largest.max(info.tcpi_rcv_mss);
        // The kernel's first estimate is no larger than this.
        let is_known = self.largest > SMALL_MSS.into();
        let bytes = |size: u32| Bytes::new(size.into());
        // The SYN has no data.
        let segments = 1 + u64::from(info.tcpi_data_segs_out);
        Ok(Observation {
            state,
            headers: bytes(self.headers),
            sends: bytes(info.tcpi_snd_mss + self.headers),
            known_mtu: bytes(info.tcpi_pmtu),
            accepts: bytes(info.tcpi_advmss + headers),
            window: bytes(info.tcpi_snd_wnd),
            acknowledged: info.tcpi_bytes_acked.saturating_sub(before),
            behind: info.tcpi_sacked,
            retransmitted: info.tcpi_total_retrans,
            received: info.tcpi_bytes_received,
            out_of_order: info.tcpi_rcv_ooopack,
            largest_received: is_known.then(|| bytes(self.largest + self.headers)),
            round_trip: (info.tcpi_rtt > 0).then(|| Span::from_micros(info.tcpi_rtt.into())),
            segments,
            sent: Bytes::new(info.tcpi_bytes_sent) + bytes(self.headers) * segments,
        })
    }
}

/// The state of a connection that ended with an error.
fn state_after(error: Errno) -> State {
    match error {
        Errno::ECONNREFUSED | Errno::ECONNRESET | Errno::EPIPE => State::Reset,
        _ => State::Failed,
    }
}
