//! Flows that the receiver of a session sends: the end that asked for one opens its
//! connection and shows the cookie, as for any other.

use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use units::{Span, Time};
use wire::control::{self, Protocol};

use super::{ReceiveRecorder, Signal, Waiting};
use crate::driver::sessions::Flow;
use crate::driver::sessions::counters::SentCounters;
use crate::driver::sessions::records::LogSink;
use crate::driver::sessions::send::{Ready, Sent};
use crate::driver::timeline::Timeline;
use os::clock;
use os::deadline::Deadline;
use os::error::Result;
use os::socket::{MsgFlags, Socket};
use os::socket::{peer_of, receive, receive_buffer, set_timeout};

/// The longest time from the cookie to the start.
const PREPARATION: Span = Span::from_secs(120);

/// The longest wait before the start is looked for again.
const SOON: Span = Span::from_millis(2);

impl Waiting {
    /// A flow that the other end sends to `socket`, which is connected to it. It is
    /// received until `deadline`; its session began when this clock showed `zero`.
    pub(in super::super) fn connected(
        flow: control::Flow,
        socket: Socket,
        peer: IpAddr,
        zero: u64,
        signal: Arc<Signal>,
        deadline: Deadline,
    ) -> Result<Self> {
        let buffer = receive_buffer(&socket)?;
        let log_sink = LogSink::new(None);
        Ok(Self {
            recorder: ReceiveRecorder::new(flow.flow, Timeline::new(zero), log_sink),
            flow,
            socket,
            peer,
            is_apart: false,
            connected: true,
            signal,
            deadline,
            dropped_before: None,
            port: 0,
            buffer,
        })
    }

    /// Sends `flow` to the end that asked for it, after it has shown the cookie from its
    /// address and started the flow. Times in headers count from `epoch`. `None` if
    /// it did not.
    ///
    /// # Errors
    /// If the kernel rejects a call, or the other end closes a stream early.
    pub(in super::super) fn send(
        mut self,
        flow: Flow,
        epoch: Time,
        counters: Arc<SentCounters>,
    ) -> Result<Option<Sent>> {
        let stream = match self.flow.transport {
            Protocol::Udp | Protocol::UdpLite { .. } => match self.meet()? {
                true => None,
                false => return Ok(None),
            },
            Protocol::Tcp => match self.accept()? {
                Some(stream) => Some(stream),
                None => return Ok(None),
            },
            Protocol::Sctp { .. } => match self.accept_association()? {
                Some(association) => Some(association),
                None => return Ok(None),
            },
        };
        if !self.is_begun()? {
            return Ok(None);
        }
        let socket = stream.unwrap_or(self.socket);
        let to = peer_of(&socket)?;
        let ready = Ready::met(flow, self.flow.flow, to, socket, counters)?;
        let begin = clock::monotonic();
        ready.run(epoch, begin, &self.signal.stop).map(Some)
    }

    /// Waits for the start of the flow. Cookies that are repeated meanwhile are
    /// answered, because an answer may be lost.
    fn is_begun(&self) -> Result<bool> {
        let deadline = self.deadline.within(PREPARATION);
        set_timeout(&self.socket, SOON)?;
        let mut room = [0; 64];
        while let Ok(permit) = deadline.permit() {
            if self.signal.begun.load(Ordering::Acquire) {
                return Ok(true);
            }
            match self.flow.transport {
                Protocol::Tcp | Protocol::Sctp { .. } => clock::sleep(SOON),
                Protocol::Udp | Protocol::UdpLite { .. } => {
                    let read = receive(&self.socket, &mut room, MsgFlags::empty(), permit);
                    if read.is_ok_and(|length| room[..length] == self.flow.cookie) {
                        self.show_cookie();
                    }
                }
            }
        }
        Ok(false)
    }
}
