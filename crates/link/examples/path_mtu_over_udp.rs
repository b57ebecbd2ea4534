//! Path MTU discovery over UDP: the state machine of `link::pmtu` driven by a real socket.
//!
//!     cargo run -p jumbolab-link --example path_mtu_over_udp -- 1500 1400
//!
//! A sender discovers what a path to a receiver delivers. The path is a relay on loopback that
//! drops packets above the first size silently. Once the sender has found it, the path shrinks
//! to the second size. Data is lost, the sender doubts the size, and finds the smaller one.
//!
//! A path of routers needs packets that nobody fragments: set `IP_MTU_DISCOVER` to
//! `IP_PMTUDISC_PROBE` on the socket (`IPV6_MTU_DISCOVER` over IPv6). The standard library has
//! no call for it, and loopback fragments nothing of these sizes. A packet that the socket then
//! rejects with `EMSGSIZE` counts as lost, and messages in the socket's error queue are for
//! `Discovery::too_big`.
#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "the example of another program, which has its own clock, sockets and output"
)]

use std::env;
use std::error::Error;
use std::io::{self, ErrorKind};
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use jumbolab_link::pmtu::{Discovery, Probe, ProbeTimer, Settings, State};
use units::{IpVersion, Seed, Span, Time};

/// The bytes of the headers of IPv4 and UDP, which sizes of packets include.
const HEADERS: usize = 20 + 8;

/// The bytes of the number that begins each datagram. The receiver returns it.
const NUMBER: usize = 8;

/// The largest packet to search for, as the MTU of an Ethernet interface with jumbo frames.
const INTERFACE_MTU: u64 = 9000;

/// The longest wait for data that is acknowledged: less than a second on loopback.
const LONGEST_WAIT: Span = Span::from_millis(200);

/// The number of packets of data that are sent before the path shrinks, and after it.
const PACKETS: u64 = 20;

fn main() -> Result<(), Box<dyn Error>> {
    let mut sizes = env::args().skip(1);
    let mut next = |default| sizes.next().map_or(Ok(default), |size| size.parse());
    let (before, after) = (next(1500)?, next(1400)?);
    let path = Path::open(before)?;
    let mut sender = Sender::open(path.entry)?;
    println!("The path delivers packets of {} bytes.", sender.discover()?);
    path.limit.store(after, Ordering::Relaxed);
    println!("The path shrinks to {after} bytes.");
    println!(
        "{} of {PACKETS} packets of data were lost.",
        sender.send_data()?
    );
    println!("The path delivers packets of {} bytes.", sender.discover()?);
    Ok(())
}

/// A sender: the state machine, a socket, and a clock.
struct Sender {
    discovery: Discovery,
    socket: UdpSocket,
    begin: Instant,
}

impl Sender {
    fn open(to: SocketAddr) -> Result<Self, Box<dyn Error>> {
        let settings = Settings {
            probe_timer: ProbeTimer::FromRoundTrips {
                least: LONGEST_WAIT,
                most: Span::from_secs(2),
            },
            ..Settings::new(IpVersion::V4, INTERFACE_MTU)?
        };
        let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?;
        socket.connect(to)?;
        // Whoever guesses the numbers of probes can forge their acknowledgements.
        let secret = Seed::new(std::hash::BuildHasher::hash_one(
            &std::hash::RandomState::new(),
            socket.local_addr()?,
        ));
        let mut sender = Self {
            discovery: Discovery::new(settings, secret),
            socket,
            begin: Instant::now(),
        };
        sender.discovery.connected(sender.now());
        Ok(sender)
    }

    /// Drives the state machine until a search ends. The largest packet that the path delivers.
    fn discover(&mut self) -> Result<u32, Box<dyn Error>> {
        loop {
            let now = self.now();
            if let Some(probe) = self.discovery.poll_probe(now) {
                self.send(probe)?;
            }
            if self.discovery.state() == State::Disabled {
                return Err("the receiver does not answer".into());
            }
            let due = self.discovery.poll_timeout().unwrap_or(now);
            let is_idle = due > now + LONGEST_WAIT;
            if self.discovery.state() == State::SearchComplete && is_idle {
                let found = self.discovery.path_mtu().ok_or("no size was found")?;
                return Ok(found.get());
            }
            let wait = due.since(now).unwrap_or_default();
            if let Some(number) = self.receive(wait)? {
                // A number that is not one of a probe does no harm.
                self.discovery.acknowledged(number, self.now());
            }
        }
    }

    /// Sends packets of the size that was found. How many of them were lost.
    fn send_data(&mut self) -> Result<u64, Box<dyn Error>> {
        let found = self.discovery.path_mtu().ok_or("no size was found")?;
        for number in 0..PACKETS {
            let size = found.bytes();
            self.send(Probe { id: number, size })?;
        }
        let mut lost = PACKETS;
        while self.receive(LONGEST_WAIT)?.is_some() {
            lost -= 1;
        }
        if lost > 0 {
            // The reason may be congestion as well: probes decide.
            self.discovery.doubt(self.now());
        }
        Ok(lost)
    }

    /// Sends a packet of a size that begins with a number.
    fn send(&self, probe: Probe) -> io::Result<()> {
        let size = usize::try_from(probe.size.get()).map_err(io::Error::other)?;
        let mut payload = vec![0; size - HEADERS];
        payload[..NUMBER].copy_from_slice(&probe.id.to_be_bytes());
        self.socket.send(&payload).map(drop)
    }

    /// The number of a packet that arrived; `None` if none does in this time.
    fn receive(&self, wait: Span) -> io::Result<Option<u64>> {
        // A wait of zero would be one without end.
        let wait = Duration::from_nanos(wait.as_nanos()).max(Duration::from_micros(1));
        self.socket.set_read_timeout(Some(wait))?;
        let mut number = [0; NUMBER];
        match self.socket.recv(&mut number) {
            Ok(NUMBER) => Ok(Some(u64::from_be_bytes(number))),
            Ok(_) => Ok(None),
            Err(error) if is_timeout(&error) => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn now(&self) -> Time {
        let nanos = self.begin.elapsed().as_nanos();
        Time::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
    }
}

fn is_timeout(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut)
}

/// A path on loopback with the receiver at its end.
struct Path {
    /// The address to which the sender sends.
    entry: SocketAddr,
    /// The largest packet that is not dropped.
    limit: Arc<AtomicUsize>,
}

impl Path {
    fn open(limit: usize) -> io::Result<Self> {
        let receiver = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?;
        let relay = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?;
        let (entry, exit) = (relay.local_addr()?, receiver.local_addr()?);
        let limit = Arc::new(AtomicUsize::new(limit));
        let of_relay = Arc::clone(&limit);
        thread::Builder::new().spawn(move || relay_packets(&relay, exit, &of_relay))?;
        thread::Builder::new().spawn(move || acknowledge(&receiver))?;
        Ok(Self { entry, limit })
    }
}

/// Forwards packets up to the limit to the receiver, and its answers to the sender.
fn relay_packets(socket: &UdpSocket, receiver: SocketAddr, limit: &AtomicUsize) -> io::Result<()> {
    let mut payload = [0; 1 << 16];
    let mut sender = None;
    loop {
        let (size, from) = socket.recv_from(&mut payload)?;
        let to = match from == receiver {
            true => sender,
            false => {
                sender = Some(from);
                Some(receiver)
            }
        };
        if let Some(to) = to
            && size + HEADERS <= limit.load(Ordering::Relaxed)
        {
            socket.send_to(&payload[..size], to)?;
        }
    }
}

/// Returns the number of each packet.
fn acknowledge(socket: &UdpSocket) -> io::Result<()> {
    let mut payload = [0; 1 << 16];
    loop {
        let (_, from) = socket.recv_from(&mut payload)?;
        socket.send_to(&payload[..NUMBER], from)?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sender_finds_what_the_path_delivers_and_notices_that_it_shrinks() {
        let path = Path::open(1473).unwrap();
        let mut sender = Sender::open(path.entry).unwrap();
        assert_eq!(sender.discover().unwrap(), 1473);
        path.limit.store(1400, Ordering::Relaxed);
        assert_eq!(sender.send_data().unwrap(), PACKETS);
        assert_eq!(sender.discover().unwrap(), 1400);
    }
}
