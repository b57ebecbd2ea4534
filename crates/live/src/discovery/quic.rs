//! QUIC of the library `quinn`, driven by a socket: a stream, and the size of its
//! packets.

use std::net::{IpAddr, SocketAddr};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::{Bytes as Octets, BytesMut};
use nix::errno::Errno;
use nix::poll::PollFlags;
use nix::sys::socket::{MsgFlags, SockaddrStorage, sendto};
use quinn_proto::{
    ClientConfig, Connection, ConnectionHandle, DatagramEvent, Dir, Endpoint, EndpointConfig,
    Event, IdleTimeout, Incoming, MtuDiscoveryConfig, ServerConfig, StreamId, TransportConfig,
    VarInt,
};
use units::{Bytes, Span, Time};

use super::unprotected::Unprotected;
use super::{SILENCE, Settled, SizeHistory, Task, ip_header, wait};
use crate::clock;
use crate::deadline::{Deadline, receive_from};
use crate::error::{During, Error, Result};
use crate::sys::option;

/// Octets of a UDP header [RFC768].
const UDP_HEADER: Bytes = Bytes::new(8);

/// The octets under way at most: 25 Mbit/s with a round trip of 20 ms.
const WINDOW: u32 = 1 << 16;

/// Octets of one write.
const WRITE: usize = 1 << 14;

/// Packets received or sent in a row.
const IN_A_ROW: usize = 64;

/// An end of a connection.
struct End {
    socket: OwnedFd,
    endpoint: Endpoint,
    connection: Option<(ConnectionHandle, Connection)>,
    deadline: Deadline,
    /// The streams that carry data: of the client one, of the server those opened to it.
    streams: Vec<StreamId>,
    is_over: bool,
    room: Vec<u8>,
    base: (Instant, Time),
}

impl End {
    fn new(
        socket: OwnedFd,
        task: &Task,
        server: Option<Arc<ServerConfig>>,
        deadline: Deadline,
    ) -> Result<Self> {
        send_whole(&socket, task.to)?;
        let mut config = EndpointConfig::new(Arc::new(Unprotected));
        let largest = config.max_udp_payload_size(payload(task.to, Bytes::new(u16::MAX.into())));
        largest.map_err(|error| Error::new("configuring QUIC", error.to_string()))?;
        Ok(Self {
            socket,
            endpoint: Endpoint::new(Arc::new(config), server, true, None),
            connection: None,
            deadline,
            streams: Vec::new(),
            is_over: false,
            room: vec![0; usize::from(u16::MAX)],
            base: (clock::instant(), clock::monotonic()),
        })
    }

    fn now(&self) -> Instant {
        let (instant, base) = self.base;
        instant + duration(clock::monotonic().since(base).unwrap_or_default())
    }

    /// Receives what has arrived, sends what is due, and waits for more.
    fn step(&mut self) -> Result<()> {
        self.receive()?;
        let now = self.now();
        self.take_events();
        let Some((handle, connection)) = &mut self.connection else {
            return wait(
                &self.socket,
                PollFlags::POLLIN,
                clock::monotonic() + SILENCE,
            );
        };
        if connection.poll_timeout().is_some_and(|due| due <= now) {
            connection.handle_timeout(now);
        }
        while let Some(event) = connection.poll_endpoint_events() {
            if let Some(event) = self.endpoint.handle_event(*handle, event) {
                connection.handle_event(event);
            }
        }
        let mut octets = Vec::new();
        let mut sent = 0;
        while sent < IN_A_ROW
            && let Some(transmit) = connection.poll_transmit(now, 1, &mut octets)
        {
            send(&self.socket, transmit.destination, &octets[..transmit.size])?;
            octets.clear();
            sent += 1;
        }
        let (instant, base) = self.base;
        let due = connection.poll_timeout();
        let until = match due.map(|due| due.saturating_duration_since(instant).as_nanos()) {
            _ if sent == IN_A_ROW => clock::monotonic(),
            Some(nanos) => base + Span::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX)),
            None => clock::monotonic() + SILENCE,
        };
        wait(&self.socket, PollFlags::POLLIN, until)
    }

    fn receive(&mut self) -> Result<()> {
        let mut answer = Vec::new();
        for _ in 0..IN_A_ROW {
            let Ok(permit) = self.deadline.permit() else {
                self.is_over = true;
                return Ok(());
            };
            let (length, from) = match receive_from(&self.socket, &mut self.room, permit) {
                Ok((length, Some(from))) => (length, from),
                // Refusals of earlier packets, which are losses.
                Ok((_, None)) | Err(Errno::EINTR | Errno::ECONNREFUSED | Errno::EMSGSIZE) => {
                    continue;
                }
                Err(Errno::EAGAIN) => return Ok(()),
                Err(error) => return Err(error).during(|| "receiving a datagram"),
            };
            let Some(from) = address(&from) else { continue };
            let now = self.now();
            let datagram = BytesMut::from(&self.room[..length]);
            let event = self
                .endpoint
                .handle(now, from, None, None, datagram, &mut answer);
            match event {
                Some(DatagramEvent::ConnectionEvent(handle, event)) => {
                    if let Some((own, connection)) = &mut self.connection
                        && *own == handle
                    {
                        connection.handle_event(event);
                    }
                }
                Some(DatagramEvent::NewConnection(incoming)) => {
                    self.take_connection(incoming, now, &mut answer);
                }
                Some(DatagramEvent::Response(transmit)) => {
                    send(&self.socket, transmit.destination, &answer[..transmit.size])?;
                }
                None => {}
            }
            answer.clear();
        }
        Ok(())
    }

    /// Accepts the first connection only.
    fn take_connection(&mut self, incoming: Incoming, now: Instant, answer: &mut Vec<u8>) {
        match &self.connection {
            Some(_) => self.endpoint.ignore(incoming),
            None => self.connection = self.endpoint.accept(incoming, now, answer, None).ok(),
        }
    }

    fn take_events(&mut self) {
        let Some((_, connection)) = &mut self.connection else {
            return;
        };
        while let Some(event) = connection.poll() {
            match event {
                Event::Connected if connection.side().is_client() => {
                    self.streams.extend(connection.streams().open(Dir::Uni));
                }
                Event::ConnectionLost { .. } => self.is_over = true,
                _ => {}
            }
        }
        while let Some(stream) = connection.streams().accept(Dir::Uni) {
            self.streams.push(stream);
        }
        for stream in &self.streams {
            match connection.side().is_client() {
                true => write(connection, *stream),
                false => read(connection, *stream),
            }
        }
    }
}

/// Writes until the window is full.
fn write(connection: &mut Connection, stream: StreamId) {
    const DATA: [u8; WRITE] = [0; WRITE];
    while connection
        .send_stream(stream)
        .write(&DATA)
        .is_ok_and(|octets| octets > 0)
    {}
}

/// Reads and discards everything that has arrived.
fn read(connection: &mut Connection, stream: StreamId) {
    let mut received = connection.recv_stream(stream);
    if let Ok(mut chunks) = received.read(true) {
        while let Ok(Some(_)) = chunks.next(usize::MAX) {}
        // What it changes is sent with the next packets.
        let _ = chunks.finalize();
    }
}

/// Connects and writes until the size of packets has settled.
pub(super) fn settle(socket: OwnedFd, task: &Task, port: u16) -> Result<Settled> {
    let began = clock::monotonic();
    let deadline = Deadline::new(began + task.timeout, &Arc::default());
    let mut end = End::new(socket, task, None, deadline)?;
    let mut config = ClientConfig::new(Arc::new(Unprotected));
    config.transport_config(Arc::new(transport(task)?));
    let to = SocketAddr::new(task.to, port);
    let now = end.now();
    let connected = end.endpoint.connect(now, config, to, "far-end");
    end.connection = Some(
        connected.map_err(|error| Error::new(format!("connecting to {to}"), error.to_string()))?,
    );
    let mut sizes = SizeHistory::new(began);
    let mut black_holes = 0;
    let mut is_late = true;
    while !end.is_over {
        end.step()?;
        let now = end.now();
        let Some((_, connection)) = &mut end.connection else {
            break;
        };
        if end.streams.is_empty() {
            continue;
        }
        let path = connection.stats().path;
        black_holes = path.black_holes_detected;
        let size = Bytes::new(path.current_mtu.into()) + UDP_HEADER + ip_header(task.to);
        if sizes.take(clock::monotonic(), size) {
            is_late = false;
            connection.close(now, VarInt::from_u32(0), Octets::new());
            end.step()?;
            break;
        }
    }
    Ok(sizes.settled(black_holes, is_late))
}

/// Accepts a connection and reads it to its end.
pub(super) fn serve(socket: OwnedFd, task: &Task) -> Result<()> {
    let deadline = Deadline::new(clock::monotonic() + task.timeout, &Arc::default());
    let mut config = ServerConfig::new(Arc::new(Unprotected), Arc::new(Unprotected));
    config.transport_config(Arc::new(transport(task)?));
    let mut end = End::new(socket, task, Some(Arc::new(config)), deadline)?;
    while !end.is_over {
        end.step()?;
    }
    Ok(())
}

/// The library's settings, but for the size that is tried and a window that keeps the
/// load small.
fn transport(task: &Task) -> Result<TransportConfig> {
    let mut discovery = MtuDiscoveryConfig::default();
    discovery.upper_bound(payload(task.to, task.up_to));
    let idle = IdleTimeout::try_from(duration(SILENCE))
        .map_err(|error| Error::new("configuring QUIC", error.to_string()))?;
    let mut config = TransportConfig::default();
    config
        .mtu_discovery_config(Some(discovery))
        .max_idle_timeout(Some(idle))
        .send_window(WINDOW.into())
        .stream_receive_window(VarInt::from_u32(WINDOW));
    Ok(config)
}

/// The UDP payload of an IP packet.
fn payload(to: IpAddr, packet: Bytes) -> u16 {
    let headers = UDP_HEADER + ip_header(to);
    u16::try_from(packet.get().saturating_sub(headers.get())).unwrap_or(u16::MAX)
}

/// Makes a socket send datagrams whole, whatever the kernel knows of the path
/// [ip(7)] [ipv6(7)], as the library's own sockets do.
fn send_whole(socket: &OwnedFd, to: IpAddr) -> Result<()> {
    let (level, name) = match to {
        IpAddr::V4(_) => (libc::IPPROTO_IP, libc::IP_MTU_DISCOVER),
        IpAddr::V6(_) => (libc::IPPROTO_IPV6, libc::IPV6_MTU_DISCOVER),
    };
    option::set(socket.as_fd(), level, name, libc::IP_PMTUDISC_PROBE)
        .during(|| "choosing what is done about the path's MTU")
}

/// Sends a datagram; one for which there is no room is lost, as on a link. A connected
/// socket may report the refusal of an earlier one first, without sending.
fn send(socket: &OwnedFd, to: SocketAddr, octets: &[u8]) -> Result<()> {
    let to: SockaddrStorage = to.into();
    let send = || sendto(socket.as_raw_fd(), octets, &to, MsgFlags::empty());
    let sent = match send() {
        Err(Errno::EMSGSIZE | Errno::ECONNREFUSED) => send(),
        sent => sent,
    };
    match sent {
        Ok(_)
        | Err(
            Errno::EAGAIN
            | Errno::EMSGSIZE
            | Errno::ENOBUFS
            | Errno::ECONNREFUSED
            | Errno::EINTR
            | Errno::EHOSTUNREACH
            | Errno::ENETUNREACH,
        ) => Ok(()),
        Err(error) => Err(error).during(|| "sending a datagram"),
    }
}

fn address(from: &SockaddrStorage) -> Option<SocketAddr> {
    let four = from
        .as_sockaddr_in()
        .map(|from| SocketAddr::V4((*from).into()));
    four.or_else(|| {
        from.as_sockaddr_in6()
            .map(|from| SocketAddr::V6((*from).into()))
    })
}

const fn duration(span: Span) -> Duration {
    Duration::from_nanos(span.as_nanos())
}
