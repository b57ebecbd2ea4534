//! Traffic of this process with itself, by the sockets of `send`, `recv` and `probe`.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::panic::resume_unwind;
use std::thread::{self, Builder};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use meter::departures::PathMtu;
use os::clock::{self, Epoch};
use os::deadline::Permit;
use os::error::OperationContext as _;
use os::socket::{
    Kind, MsgFlags, Options, Socket, UDP_RECEIVE_BUFFER, address_of, borrowed, connect, open,
    receive, receive_buffer, send, wait_to_read,
};
use traffic::driver::transfer::{self, Echo, Received, Receiver, Transfer};
use traffic::driver::trial_token::new_token;
use units::{Bytes, IpVersion, Span, Transport};

/// Datagrams of an exchange, each after the echo of the previous one.
const DATAGRAMS: u64 = 200;

/// Bytes of each.
const DATAGRAM: u64 = 1_000;

/// Bytes of a stream, and of each of its messages.
const STREAM: u64 = 20_000_000;
const MESSAGE: u64 = 64_000;

/// The longest time without progress, after which a datagram is lost: far more than a busy
/// machine takes.
const PATIENCE: Span = Span::from_secs(3);

/// The bytes of the largest UDP message over IPv4: a packet of 65535 bytes has headers of 20
/// and 8 bytes [RFC791 s3.1] [RFC768].
pub(super) const LARGEST: u64 = 65_535 - 20 - 8;

/// Datagrams over loopback, each with stamps of both ends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Exchange {
    pub sent: u64,
    pub arrived: u64,
    /// Arrivals without a stamp of the kernel.
    pub unstamped: u64,
    /// One-way delays: median and 99th percentile.
    pub delay: [Span; 2],
}

/// Exchanges datagrams with an echo each.
///
/// # Errors
/// Loopback has no such address, or a socket is rejected.
pub(super) fn exchange(ip: IpVersion) -> Result<Exchange> {
    let size = Bytes::new(DATAGRAM);
    let all = Bytes::new(DATAGRAM * DATAGRAMS);
    let received = carried(Transport::Udp, ip, all, size, Echo::Whole)?;
    let delays = &received.delays;
    let delay = [delays.delay_p50, delays.delay_p99].map(|seconds| {
        let seconds = seconds.context("no datagram arrived")?;
        Ok(span(seconds))
    });
    let [median, p99]: [Result<Span>; 2] = delay;
    Ok(Exchange {
        sent: delays.expected,
        arrived: delays.received,
        unstamped: received.unstamped,
        delay: [median?, p99?],
    })
}

/// The goodput of a stream in bit/s.
///
/// # Errors
/// As [`exchange`].
pub(super) fn stream(ip: IpVersion) -> Result<f64> {
    let (all, message) = (Bytes::new(STREAM), Bytes::new(MESSAGE));
    let received = carried(Transport::Tcp, ip, all, message, Echo::Off)?;
    let goodput = received.goodput.context("nothing was received")?;
    Ok(goodput.bits_per_second)
}

fn span(seconds: f64) -> Span {
    let time = Duration::try_from_secs_f64(seconds).unwrap_or_default();
    Span::from_nanos(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX))
}

/// Transfers `size` bytes after a warm-up of ten messages. The sender has a thread of its own.
fn carried(
    protocol: Transport,
    ip: IpVersion,
    size: Bytes,
    message: Bytes,
    echo: Echo,
) -> Result<Received> {
    let transfer = Transfer {
        protocol,
        address: address(ip),
        warmup: message * 10,
        warmup_message: message,
        size,
        message,
        pace: None,
        paced: false,
        delays: true,
        echo,
        // Every kernel of Linux has it; others keep their own.
        congestion: "reno".to_owned(),
        largest_segment: None,
        processor: None,
        send_buffer: None,
        receive_buffer: None,
        nagle: false,
        epoch: Epoch::now(),
        timeout: PATIENCE,
        quiet: PATIENCE,
    };
    let token = new_token()?;
    let receiver = Receiver::open(transfer.clone(), token.clone())?;
    let port = receiver.port;
    thread::scope(|scope| {
        let sending = Builder::new().name("loopback".to_owned());
        let sending = sending.spawn_scoped(scope, || transfer::send(&transfer, &token, port));
        let sending = sending.context("starting a thread")?;
        let received = receiver.receive();
        match sending.join() {
            // Its error is the cause of the other one.
            Ok(sent) => sent.map(drop)?,
            Err(panic) => resume_unwind(panic),
        }
        Ok(received?)
    })
}

/// Opens a socket whose packets no router may fragment.
///
/// # Errors
/// The system rejects that.
pub(super) fn leaves_whole(ip: IpVersion) -> Result<()> {
    let whole = Options {
        path_mtu: PathMtu::Do,
        ..Options::default()
    };
    open(Kind::Datagram, address(ip), &whole)?;
    Ok(())
}

/// The bytes of the largest UDP message that arrives over loopback.
///
/// # Errors
/// No message arrives, or a socket is rejected.
pub(super) fn largest_message() -> Result<Bytes> {
    let socket = bound(IpVersion::V4)?;
    let own = address_of(borrowed(&socket))?;
    connect(&socket, own).during(|| "connecting a socket to itself")?;
    let arrives = |size: u64| arrives(&socket, size);
    if arrives(LARGEST)? {
        return Ok(Bytes::new(LARGEST));
    }
    let (mut passes, mut fails) = (0, LARGEST);
    while fails - passes > 1 {
        let middle = passes.midpoint(fails);
        match arrives(middle)? {
            true => passes = middle,
            false => fails = middle,
        }
    }
    ensure!(passes > 0, "no datagram arrived");
    Ok(Bytes::new(passes))
}

/// Whether a message of `size` bytes that a socket sends to itself arrives.
fn arrives(socket: &Socket, size: u64) -> Result<bool> {
    let mut room = vec![0; 1 << 16];
    let size = usize::try_from(size)?;
    if send(socket, &room[..size], MsgFlags::empty()).is_err() {
        return Ok(false);
    }
    let deadline = clock::monotonic() + PATIENCE;
    if !wait_to_read(socket, deadline)? {
        return Ok(false);
    }
    let length = receive(
        socket,
        &mut room,
        MsgFlags::MSG_DONTWAIT,
        Permit::of_worker(),
    );
    Ok(length.is_ok_and(|length| length == size))
}

/// The receive buffer of a UDP receiver.
///
/// # Errors
/// A socket is rejected.
pub(super) fn buffer() -> Result<Bytes> {
    let socket = bound(IpVersion::V4)?;
    Ok(Bytes::new(receive_buffer(borrowed(&socket))?))
}

/// A UDP socket of loopback with the buffer of a receiver.
fn bound(ip: IpVersion) -> Result<Socket> {
    let address = address(ip);
    let options = Options {
        bind: Some(SocketAddr::new(address, 0)),
        receive_buffer: Some(UDP_RECEIVE_BUFFER),
        ..Options::default()
    };
    Ok(open(Kind::Datagram, address, &options)?)
}

pub(super) const fn address(ip: IpVersion) -> IpAddr {
    match ip {
        IpVersion::V4 => IpAddr::V4(Ipv4Addr::LOCALHOST),
        IpVersion::V6 => IpAddr::V6(Ipv6Addr::LOCALHOST),
    }
}
