//! A connection of a test, as Linux states it.
//!
//! Nothing is read from it: TCP_INFO counts what arrives, and the receive buffer bounds it.

use std::collections::VecDeque;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};

use crate::machine::tcp_mss::{Observation, SMALL_MSS, Sending, State};
use meter::departures::PathMtu;
use nix::errno::Errno;
use nix::sys::socket::{MsgFlags, getsockopt, send, sockopt};
use units::{Bytes, Span};

use super::TcpTask;
use crate::driver::error::version;
use crate::driver::outgoing::Outgoing;
use os::error::{OperationContext, Result};
use os::socket::{Kind, Options, TCP_HEADER, begin_to_connect, open};
use os::sys::tcp_info::tcp_info;

/// Whether the sizes of segments that arrived are stated.
pub(super) const STATES_ARRIVALS: bool = true;

/// States of TCP, and the flag of timestamps [LinuxUapi tcp.h].
const ESTABLISHED: u8 = 1;
const SYN_SENT: u8 = 2;
const CLOSE_WAIT: u8 = 8;
const HAS_TIMESTAMPS: u8 = 1;

/// The timestamps option with its padding [RFC7323 App A].
const TIMESTAMPS: u32 = 12;

/// A connection.
pub(super) struct Connection {
    to: IpAddr,
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

impl Connection {
    /// Begins a connection, whose segments are not fragmented.
    ///
    /// # Errors
    /// The kernel's, other than those about the path.
    pub(super) fn open(to: SocketAddr, options: Options, _: Bytes) -> Result<Self> {
        let options = Options {
            path_mtu: PathMtu::Do,
            ..options
        };
        let socket = open(Kind::Stream, to.ip(), &options)?;
        let ended = begin_to_connect(&socket, to).err().map(state_after);
        Ok(Self {
            to: to.ip(),
            socket,
            ended,
            waiting: VecDeque::new(),
            headers: 0,
            acknowledged: None,
            largest: 0,
        })
    }

    /// The headers of packets with data.
    pub(super) fn headers(&self) -> Bytes {
        Bytes::new(self.headers.into())
    }

    /// Sends each of these as one segment.
    ///
    /// # Errors
    /// None: how the connection ended is in its state.
    pub(super) fn send(&mut self, segments: VecDeque<Vec<u8>>) -> Result<()> {
        self.waiting = segments;
        self.flush()
    }

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

    /// What the kernel knows of it.
    ///
    /// # Errors
    /// The kernel's.
    pub(super) fn observe(&mut self) -> Result<Observation> {
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
        let headers = u32::try_from(version(self.to).header().get()).unwrap_or(0) + TCP_HEADER;
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
            unstated_options: Bytes::ZERO,
            sends: Some(bytes(info.tcpi_snd_mss + self.headers)),
            known_mtu: bytes(info.tcpi_pmtu),
            accepts: bytes(info.tcpi_advmss + headers),
            sending: Some(Sending {
                acknowledged: info.tcpi_bytes_acked.saturating_sub(before),
                behind: Some(info.tcpi_sacked),
                retransmitted: info.tcpi_total_retrans,
                window: bytes(info.tcpi_snd_wnd),
            }),
            received: info.tcpi_bytes_received,
            out_of_order: Some(info.tcpi_rcv_ooopack),
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

/// The path MTU that the kernel knows: each connection states it.
///
/// # Errors
/// None.
pub(super) const fn known_mtu(_: &TcpTask, _: &Outgoing) -> Result<Option<Bytes>> {
    Ok(None)
}
