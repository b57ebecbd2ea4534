//! The asking end of request/response traffic.

use units::{Span, Time, Transport};
use wire::message::{Echo, HEADER_LEN, Message};

use super::recorder::SizeRecorder;
use super::{Answer, Asked, ReadMode, RequestResponse, Stall, WriteMode, socket, tcp_info};
use crate::driver::trial_token::Token;
use os::deadline::Permit;
use os::error::{Error, Result};
use os::socket::{
    Errno, MsgFlags, Socket, borrowed, end_stream, receive, receive_buffer, send, send_buffer,
    set_timeout, stated_tcp_state, stated_unacknowledged, stated_unread,
};
use os::{clock, kernel_clock};

/// Number of consecutive stalls after which the remaining sizes are skipped.
const HOPELESS: usize = 8;

/// Goes through all sizes of `request_response` with the answering end at `port`, after
/// `token`.
///
/// # Errors
/// If the kernel rejects a socket, the other end has gone, or the total time is
/// exceeded. An unanswered message is not an error.
pub fn ask(request_response: &RequestResponse, token: &Token, port: u16) -> Result<Asked> {
    let mut desk = Requester::new(request_response, token, port)?;
    let begun = clock::monotonic();
    let mut in_a_row = 0;
    for &size in &request_response.sizes {
        let took = clock::monotonic().since(begun).unwrap_or_default();
        if took > request_response.timeout {
            return Err(Error::new(
                "exchanging messages",
                format!(
                    "not done within {}; a larger traffic.timeout gives it longer, a larger traffic.size_step asks for less",
                    request_response.timeout
                ),
            ));
        }
        match desk.go_through(size)? {
            true => in_a_row = 0,
            false => in_a_row += 1,
        }
        if in_a_row == HOPELESS {
            break;
        }
    }
    desk.finish()
}

/// The connection, or the socket for datagrams.
enum Line {
    /// The connection, and the segments that its token took.
    Stream(Socket, [u64; 2]),
    Datagrams(Socket),
}

/// The state of the asking end.
struct Requester<'a> {
    request_response: &'a RequestResponse,
    token: &'a Token,
    port: u16,
    line: Line,
    /// The message and the buffer for its response.
    bytes: Vec<u8>,
    room: Vec<u8>,
    sequence: u64,
    asked: Asked,
}

/// The state of a request and its response at the deadline.
pub(super) struct Late {
    at: &'static str,
    written: u64,
    read: u64,
}

/// The reason for which a message failed.
pub(super) enum RequestError {
    Late(Late),
    Broken(Error),
}

impl<'a> Requester<'a> {
    fn new(request_response: &'a RequestResponse, token: &'a Token, port: u16) -> Result<Self> {
        let longest = request_response.longest().max(HEADER_LEN);
        Ok(Self {
            request_response,
            token,
            port,
            line: line(request_response, token, port)?,
            bytes: vec![0; longest],
            room: vec![0; longest.max(1 << 16)],
            sequence: 0,
            asked: Asked::default(),
        })
    }

    /// Sends all bytes of one size. Returns whether all were answered in time.
    fn go_through(&mut self, size: u32) -> Result<bool> {
        let mut left = self.request_response.bytes;
        let mut number = 0;
        let mut recorder = SizeRecorder::open(size);
        while left > 0 {
            number += 1;
            let length = u64::from(size).min(left);
            // A message includes its header.
            let length = u32::try_from(length).unwrap_or(size).max(28);
            let from = kernel_clock::monotonic_nanos();
            match self.exchange_one(length) {
                Ok(()) => {}
                Err(RequestError::Broken(error)) => return Err(error),
                Err(RequestError::Late(late)) => {
                    self.give_up(length, number, &late)?;
                    return Ok(false);
                }
            }
            if length == size {
                recorder.record(from, kernel_clock::monotonic_nanos());
            }
            left = left.saturating_sub(u64::from(length));
        }
        self.asked
            .sizes
            .push(recorder.close(self.request_response.bytes));
        Ok(true)
    }

    fn exchange_one(&mut self, length: u32) -> std::result::Result<(), RequestError> {
        let message = Message {
            echo: Echo::Wanted,
            warmup: false,
            tag: 0,
            length,
            sequence: self.sequence,
            sent: Time::ZERO,
        };
        self.sequence += 1;
        message
            .emit(&mut self.bytes)
            .expect("every message has room for its header");
        let length = usize::try_from(length).expect("a message fits into memory");
        let back = match self.request_response.answer {
            Answer::Acknowledgement => HEADER_LEN,
            Answer::Whole | Answer::Pieces => length,
        };
        let (message, room) = (&self.bytes[..length], &mut self.room[..]);
        match &self.line {
            Line::Stream(stream, _) => {
                over_stream(stream, self.request_response, message, &mut room[..back])
            }
            Line::Datagrams(socket) => {
                let repeats = &mut self.asked.repeats;
                let sequence = self.sequence - 1;
                over_datagrams(
                    socket,
                    self.request_response,
                    message,
                    room,
                    sequence,
                    repeats,
                )
            }
        }
    }

    /// Records the kernel's state, and opens a new connection over TCP.
    fn give_up(&mut self, size: u32, message: u64, late: &Late) -> Result<()> {
        let socket = self.line.socket();
        self.asked.stalls.push(Stall {
            size,
            message,
            written: late.written,
            read: late.read,
            at: late.at.to_owned(),
            send_queue: queued(stated_unacknowledged(socket)),
            receive_queue: queued(stated_unread(socket)),
            tcp: match self.line {
                Line::Stream(..) => tcp_info::tcp_stats(socket),
                Line::Datagrams(_) => None,
            },
        });
        self.keep_account()?;
        match &self.line {
            Line::Stream(..) => {
                self.line = line(self.request_response, self.token, self.port)?;
            }
            // The other end answers this socket alone. Late responses are skipped by their
            // numbers.
            Line::Datagrams(_) => {}
        }
        Ok(())
    }

    fn keep_account(&mut self) -> Result<()> {
        let socket = self.line.socket();
        self.asked.send_buffer = send_buffer(borrowed(socket))?;
        self.asked.receive_buffer = receive_buffer(borrowed(socket))?;
        if let Line::Stream(_, of_token) = &self.line
            && let Some(state) = stated_tcp_state(socket)?
        {
            let [sent, came] = tcp_info::segments(socket).unwrap_or_default();
            self.asked.segments += sent.saturating_sub(of_token[0]);
            self.asked.acknowledgements += came.saturating_sub(of_token[1]);
            self.asked.retransmitted += state.retransmitted;
            self.asked.congestion = Some(state.congestion);
        }
        Ok(())
    }

    /// Announces the end to the other end.
    fn finish(mut self) -> Result<Asked> {
        self.keep_account()?;
        let farewell = Message {
            echo: Echo::Unwanted,
            warmup: false,
            tag: 0,
            length: u32::try_from(HEADER_LEN).unwrap_or(u32::MAX),
            sequence: self.sequence,
            sent: Time::ZERO,
        };
        farewell
            .emit(&mut self.bytes)
            .expect("every message has room for its header");
        let bytes = &self.bytes[..HEADER_LEN];
        match &self.line {
            Line::Stream(stream, _) => part(
                stream,
                bytes,
                &mut self.room,
                answer_timeout(self.request_response),
            ),
            Line::Datagrams(socket) => {
                for _ in 0..3 {
                    let _ = send(socket, bytes, MsgFlags::MSG_NOSIGNAL);
                }
            }
        }
        Ok(self.asked)
    }
}

impl Line {
    const fn socket(&self) -> &Socket {
        match self {
            Self::Stream(socket, _) | Self::Datagrams(socket) => socket,
        }
    }
}

fn line(request_response: &RequestResponse, token: &Token, port: u16) -> Result<Line> {
    let (socket, of_token) = socket::connected(request_response, token, port)?;
    let (deadline, again) = (request_response.deadline, request_response.retransmit_after);
    Ok(match request_response.protocol {
        Transport::Tcp => {
            set_timeout(borrowed(&socket), deadline)?;
            Line::Stream(socket, of_token)
        }
        Transport::Udp => {
            set_timeout(borrowed(&socket), again.min(deadline))?;
            Line::Datagrams(socket)
        }
    })
}

fn over_stream(
    stream: &Socket,
    request_response: &RequestResponse,
    message: &[u8],
    answer: &mut [u8],
) -> std::result::Result<(), RequestError> {
    let deadline = clock::monotonic() + request_response.deadline;
    let parts = match request_response.write_mode {
        WriteMode::Whole => [message, &[]],
        WriteMode::Parts => [&message[..HEADER_LEN], &message[HEADER_LEN..]],
    };
    let mut written = 0;
    for part in parts {
        let mut left = part;
        while !left.is_empty() {
            match send(stream, left, MsgFlags::MSG_NOSIGNAL) {
                Ok(count) => {
                    left = &left[count..];
                    written += whole(count);
                }
                Err(Errno::EINTR) => {}
                Err(error) if !is_late(error) => {
                    return Err(broken("sending a message", error));
                }
                Err(_) => return Err(late("writing the message", written, 0)),
            }
            if clock::monotonic() > deadline {
                return Err(late("writing the message", written, 0));
            }
        }
    }
    let mut read = 0;
    while read < answer.len() {
        let permit = Permit::of_worker();
        match receive(stream, &mut answer[read..], MsgFlags::empty(), permit) {
            Ok(0) => {
                let closed = Error::new("waiting for an answer", "the other end closed early");
                return Err(RequestError::Broken(closed));
            }
            Ok(count) => read += count,
            Err(Errno::EINTR) => {}
            Err(error) if !is_late(error) => {
                return Err(broken("waiting for an answer", error));
            }
            Err(_) => return Err(late("waiting for the answer", written, whole(read))),
        }
        if request_response.read_mode == ReadMode::Once {
            return Ok(());
        }
        if read < answer.len() && clock::monotonic() > deadline {
            return Err(late("waiting for the answer", written, whole(read)));
        }
    }
    Ok(())
}

/// Repeats the datagram each time a response is overdue.
pub(super) fn over_datagrams(
    socket: &Socket,
    request_response: &RequestResponse,
    message: &[u8],
    room: &mut [u8],
    sequence: u64,
    repeats: &mut u64,
) -> std::result::Result<(), RequestError> {
    let deadline = clock::monotonic() + request_response.deadline;
    let mut first = true;
    let mut written = 0;
    loop {
        *repeats += u64::from(!first);
        first = false;
        match send(socket, message, MsgFlags::MSG_NOSIGNAL) {
            Ok(count) => written = whole(count),
            // The queue of the interface is full: a later attempt finds room.
            Err(error) if is_late(error) || error == Errno::ENOBUFS => {}
            Err(error) => return Err(broken("sending a message", error)),
        }
        loop {
            match receive(socket, room, MsgFlags::empty(), Permit::of_worker()) {
                Ok(count) => {
                    let answered = Message::parse(&room[..count]);
                    if answered.is_ok_and(|answer| answer.sequence == sequence) {
                        return Ok(());
                    }
                    // Other datagrams may come all the time.
                    if clock::monotonic() > deadline {
                        break;
                    }
                }
                Err(Errno::EINTR) => {}
                Err(error) if is_late(error) => break,
                Err(error) => return Err(broken("waiting for an answer", error)),
            }
        }
        if clock::monotonic() > deadline {
            return Err(late("waiting for the answer", written, 0));
        }
    }
}

/// Sends `farewell`, and then reads the remaining data for at most `timeout`: closing a
/// connection with unread data resets it [RFC9293 s3.6.1], and the reset overtakes the
/// last message. Responses are left over if one read was taken for the whole response.
fn part(stream: &Socket, farewell: &[u8], room: &mut [u8], timeout: Span) {
    let deadline = clock::monotonic() + timeout;
    let mut left = farewell;
    let goes_on = |error| error == Errno::EINTR || is_late(error);
    // If the farewell is lost, the other end times out.
    while clock::monotonic() < deadline {
        if !left.is_empty() {
            match send(stream, left, MsgFlags::MSG_NOSIGNAL) {
                Ok(count) => left = &left[count..],
                Err(error) if goes_on(error) => {}
                Err(_) => return,
            }
            if left.is_empty() {
                let _ = end_stream(stream);
            }
        }
        match receive(stream, room, MsgFlags::empty(), Permit::of_worker()) {
            Err(error) if goes_on(error) => {}
            Ok(0) | Err(_) => return,
            Ok(_) => {}
        }
    }
}

/// Whether a call timed out.
fn is_late(error: Errno) -> bool {
    matches!(error, Errno::EAGAIN | Errno::ETIMEDOUT)
}

fn late(at: &'static str, written: u64, read: u64) -> RequestError {
    RequestError::Late(Late { at, written, read })
}

fn broken(operation: &str, error: Errno) -> RequestError {
    let error = std::io::Error::from(error);
    RequestError::Broken(Error::new(operation, error.to_string()))
}

/// A byte count from the kernel.
fn whole(count: usize) -> u64 {
    u64::try_from(count).unwrap_or(u64::MAX)
}

/// The bytes in a queue; 0 if the system does not tell.
fn queued(bytes: std::io::Result<Option<usize>>) -> u64 {
    bytes.ok().flatten().map_or(0, whole)
}

/// The timeout of both ends for a message.
pub(super) fn answer_timeout(request_response: &RequestResponse) -> Span {
    request_response.deadline + request_response.deadline
}
