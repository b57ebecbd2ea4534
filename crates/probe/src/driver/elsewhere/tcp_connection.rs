//! A connection of a test, as systems other than Linux state it: TCP_INFO or its like where there
//! is one, and otherwise the data that arrive.

use std::collections::VecDeque;
use std::net::{IpAddr, SocketAddr};

use crate::machine::tcp_mss::{Observation, Sending, State};
use units::{Bytes, Span, Time};

use super::TcpTask;
use super::acknowledged::Acknowledged;
use crate::driver::error::version;
use crate::driver::outgoing::Outgoing;
use crate::driver::socket::{Ends, largest_sent, zoned};
use os::clock;
use os::deadline::Deadline;
use os::error::Result;
use os::socket::{
    Errno, Kind, MsgFlags, Options, SegmentState, Socket, begin_to_connect, borrowed, open,
    ready_to_write, receive, segment_state, send, take_error,
};

/// Whether the sizes of segments that arrived are stated.
pub(super) const STATES_ARRIVALS: bool = false;

/// The most bytes of an answer that are read.
const MOST_READ: u64 = 128 << 10;

/// The longest time of the reads of one look.
const READS: Span = Span::from_millis(100);

/// TCP's header without options, and the timestamps option with its padding [RFC9293 s3.1]
/// [RFC7323 App A].
const TCP_HEADER: Bytes = Bytes::new(20);
const TIMESTAMPS: Bytes = Bytes::new(12);

/// The port of the discard service, to which nothing is sent here [RFC863].
const DISCARD: u16 = 9;

/// A connection.
pub(super) struct Connection {
    to: IpAddr,
    socket: Socket,
    begun: Time,
    interface_mtu: Bytes,
    /// The time until it was established.
    round_trip: Option<Span>,
    /// How it ended, if it did.
    ended: Option<State>,
    /// Segments that the system has not taken yet.
    waiting: VecDeque<Vec<u8>>,
    /// The bytes that it has taken, and in how many calls.
    written: u64,
    writes: u64,
    received: u64,
    acknowledged: Acknowledged,
    /// What the system stated at the latest look.
    stated: Option<SegmentState>,
    /// The first largest packet that the system stated.
    first_sends: Option<Bytes>,
}

impl Connection {
    /// Begins a connection.
    ///
    /// # Errors
    /// The system's, other than those about the path.
    pub(super) fn open(to: SocketAddr, options: Options, interface_mtu: Bytes) -> Result<Self> {
        let socket = open(Kind::Stream, to.ip(), &options)?;
        let begun = clock::monotonic();
        let ended = begin_to_connect(&socket, to).err().map(state_after);
        Ok(Self {
            to: to.ip(),
            socket,
            begun,
            interface_mtu,
            round_trip: None,
            ended,
            waiting: VecDeque::new(),
            written: 0,
            writes: 0,
            received: 0,
            acknowledged: Acknowledged::default(),
            stated: None,
            first_sends: None,
        })
    }

    /// The headers of packets with data, without options that the system does not state.
    pub(super) fn headers(&self) -> Bytes {
        let has_timestamps = self.stated.is_some_and(|stated| stated.has_timestamps);
        let options = if has_timestamps {
            TIMESTAMPS
        } else {
            Bytes::ZERO
        };
        version(self.to).header() + TCP_HEADER + options
    }

    /// Sends each of these by one call.
    ///
    /// # Errors
    /// None: how the connection ended is in its state.
    pub(super) fn send(&mut self, segments: VecDeque<Vec<u8>>) -> Result<()> {
        self.waiting = segments;
        self.flush();
        Ok(())
    }

    /// What the system states of it.
    ///
    /// # Errors
    /// The system's.
    pub(super) fn observe(&mut self) -> Result<Observation> {
        self.look_whether_open()?;
        if self.round_trip.is_some() {
            self.flush();
            self.read();
        }
        let state = self.ended.unwrap_or(match self.round_trip {
            Some(_) => State::Open,
            None => State::Connecting,
        });
        if matches!(state, State::Open | State::Ended) {
            // Of a connection that was reset, the latest state remains.
            self.stated = segment_state(&self.socket, self.written).or(self.stated);
        }
        let stated = self.stated;
        let headers = self.headers();
        let sends = stated.map(|stated| self.largest_packet(&stated));
        self.first_sends = self.first_sends.or(sends);
        // The MSS of a connection falls when the system learns a smaller path MTU.
        let known = sends.filter(|sends| Some(*sends) < self.first_sends);
        let sending = stated.map(|stated| Sending {
            acknowledged: self.acknowledged.after(&stated, self.written),
            behind: None,
            retransmitted: self.acknowledged.retransmissions(),
            window: stated.window,
        });
        // The SYN has no data.
        let segments = 1 + self.writes;
        Ok(Observation {
            state,
            headers,
            unstated_options: match stated {
                Some(_) => Bytes::ZERO,
                None => TIMESTAMPS,
            },
            sends,
            known_mtu: known.unwrap_or(self.interface_mtu),
            accepts: self.interface_mtu,
            sending,
            received: self.received,
            out_of_order: None,
            largest_received: None,
            round_trip: stated
                .and_then(|stated| stated.round_trip)
                .or(self.round_trip),
            segments,
            sent: Bytes::new(self.written) + headers * segments,
        })
    }

    /// The largest packet that the system sends.
    fn largest_packet(&self, stated: &SegmentState) -> Bytes {
        version(self.to).header() + TCP_HEADER + stated.segment
    }

    fn look_whether_open(&mut self) -> Result<()> {
        if self.round_trip.is_some() || self.ended.is_some() {
            return Ok(());
        }
        let is_ready = ready_to_write(&[borrowed(&self.socket)])?.contains(&true);
        match take_error(&self.socket) {
            Err(error) => self.ended = Some(state_after(error.into())),
            Ok(()) if is_ready => {
                let took = clock::monotonic().since(self.begun);
                self.round_trip = Some(took.unwrap_or_default());
            }
            Ok(()) => {}
        }
        Ok(())
    }

    /// Gives the system the segments that it takes.
    fn flush(&mut self) {
        while let Some(segment) = self.waiting.front() {
            match send(&self.socket, segment, MsgFlags::MSG_DONTWAIT) {
                Ok(sent) => {
                    let rest = segment[sent..].to_vec();
                    self.waiting.pop_front();
                    if !rest.is_empty() {
                        self.waiting.push_front(rest);
                    }
                    self.written += sent as u64;
                    self.writes += 1;
                }
                Err(Errno::EAGAIN | Errno::EINTR) => return,
                // The connection ended; its state says how.
                Err(_) => self.waiting.clear(),
            }
        }
    }

    /// Reads what has arrived.
    fn read(&mut self) {
        let mut room = [0; 16 << 10];
        let deadline = Deadline::fixed(READS);
        while self.ended.is_none() && self.received < MOST_READ {
            let Ok(permit) = deadline.permit() else {
                return;
            };
            match receive(&self.socket, &mut room, MsgFlags::MSG_DONTWAIT, permit) {
                Ok(0) => self.ended = Some(State::Ended),
                Ok(length) => self.received += length as u64,
                Err(Errno::EAGAIN | Errno::EINTR) => return,
                Err(error) => self.ended = Some(state_after(error)),
            }
        }
    }
}

/// The path MTU that the system knows, if it is smaller than the interface's: it may have learned
/// it from the connections.
///
/// # Errors
/// The system's.
pub(super) fn known_mtu(task: &TcpTask, outgoing: &Outgoing) -> Result<Option<Bytes>> {
    let mut to = zoned(task.to, outgoing.index);
    to.set_port(DISCARD);
    let ends = Ends {
        to,
        from: task.address,
        zone: outgoing.index,
    };
    let known = largest_sent(&ends)?;
    let known = known.map(|size| Bytes::new(size.into()));
    Ok(known.filter(|known| *known < outgoing.mtu))
}

/// The state of a connection that ended with an error.
fn state_after(error: Errno) -> State {
    match error {
        Errno::ECONNREFUSED | Errno::ECONNRESET | Errno::ECONNABORTED | Errno::EPIPE => {
            State::Reset
        }
        _ => State::Failed,
    }
}
