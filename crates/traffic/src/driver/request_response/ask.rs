//! The asking end of request/response traffic.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream, UdpSocket};
use std::os::fd::{AsFd, BorrowedFd};

use units::{Span, Time, Transport};
use wire::message::{Echo, HEADER_LEN, Message};

use super::recorder::SizeRecorder;
use super::{Answer, Asked, ReadMode, RequestResponse, Stall, WriteMode, socket};
use crate::driver::trial_token::Token;
use os::error::{Error, Result};
use os::socket::{receive_buffer, send_buffer, set_timeout, tcp_state};
use os::sys::queued;
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
    Stream(TcpStream, [u64; 2]),
    Datagrams(UdpSocket),
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
        match &mut self.line {
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
        let fd = self.line.as_fd();
        self.asked.stalls.push(Stall {
            size,
            message,
            written: late.written,
            read: late.read,
            at: late.at.to_owned(),
            send_queue: whole(queued::unacknowledged(fd)),
            receive_queue: whole(queued::unread(fd)),
            tcp: match self.line {
                Line::Stream(..) => socket::tcp_stats(fd),
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
        let fd = self.line.as_fd();
        self.asked.send_buffer = send_buffer(fd)?;
        self.asked.receive_buffer = receive_buffer(fd)?;
        if let Line::Stream(_, of_token) = &self.line {
            let state = tcp_state(fd)?;
            let [sent, came] = socket::segments(fd).unwrap_or_default();
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
        match &mut self.line {
            Line::Stream(stream, _) => part(
                stream,
                bytes,
                &mut self.room,
                answer_timeout(self.request_response),
            ),
            Line::Datagrams(socket) => {
                for _ in 0..3 {
                    let _ = socket.send(bytes);
                }
            }
        }
        Ok(self.asked)
    }
}

impl AsFd for Line {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Stream(stream, _) => stream.as_fd(),
            Self::Datagrams(socket) => socket.as_fd(),
        }
    }
}

fn line(request_response: &RequestResponse, token: &Token, port: u16) -> Result<Line> {
    let (socket, of_token) = socket::connected(request_response, token, port)?;
    let (deadline, again) = (request_response.deadline, request_response.retransmit_after);
    Ok(match request_response.protocol {
        Transport::Tcp => {
            set_timeout(socket.as_fd(), deadline)?;
            Line::Stream(TcpStream::from(socket), of_token)
        }
        Transport::Udp => {
            set_timeout(socket.as_fd(), again.min(deadline))?;
            Line::Datagrams(UdpSocket::from(socket))
        }
    })
}

fn over_stream(
    stream: &mut TcpStream,
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
            match stream.write(left) {
                Ok(count) => {
                    left = &left[count..];
                    written += whole(Ok(count));
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if !socket::is_late(&error) => {
                    return Err(broken("sending a message", &error));
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
        match stream.read(&mut answer[read..]) {
            Ok(0) => {
                let error = io::Error::other("the other end closed early");
                return Err(broken("waiting for an answer", &error));
            }
            Ok(count) => read += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) if !socket::is_late(&error) => {
                return Err(broken("waiting for an answer", &error));
            }
            Err(_) => return Err(late("waiting for the answer", written, whole(Ok(read)))),
        }
        if request_response.read_mode == ReadMode::Once {
            return Ok(());
        }
        if read < answer.len() && clock::monotonic() > deadline {
            return Err(late("waiting for the answer", written, whole(Ok(read))));
        }
    }
    Ok(())
}

/// Repeats the datagram each time a response is overdue.
pub(super) fn over_datagrams(
    socket: &UdpSocket,
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
        match socket.send(message) {
            Ok(count) => written = whole(Ok(count)),
            // The queue of the interface is full: a later attempt finds room.
            Err(error) if socket::is_late(&error) || is_full(&error) => {}
            Err(error) => return Err(broken("sending a message", &error)),
        }
        loop {
            match socket.recv(room) {
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
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if socket::is_late(&error) => break,
                Err(error) => return Err(broken("waiting for an answer", &error)),
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
fn part(stream: &mut TcpStream, farewell: &[u8], room: &mut [u8], timeout: Span) {
    let deadline = clock::monotonic() + timeout;
    let mut left = farewell;
    let goes_on =
        |error: &io::Error| error.kind() == io::ErrorKind::Interrupted || socket::is_late(error);
    // If the farewell is lost, the other end times out.
    while clock::monotonic() < deadline {
        if !left.is_empty() {
            match stream.write(left) {
                Ok(count) => left = &left[count..],
                Err(error) if goes_on(&error) => {}
                Err(_) => return,
            }
            if left.is_empty() {
                let _ = stream.shutdown(Shutdown::Write);
            }
        }
        match stream.read(room) {
            Err(error) if goes_on(&error) => {}
            Ok(0) | Err(_) => return,
            Ok(_) => {}
        }
    }
}

fn is_full(error: &io::Error) -> bool {
    error.raw_os_error() == Some(libc::ENOBUFS)
}

fn late(at: &'static str, written: u64, read: u64) -> RequestError {
    RequestError::Late(Late { at, written, read })
}

fn broken(operation: &str, error: &io::Error) -> RequestError {
    RequestError::Broken(Error::new(operation, error.to_string()))
}

/// A byte count from the kernel; 0 on errors.
fn whole(count: io::Result<usize>) -> u64 {
    count.map_or(0, |count| u64::try_from(count).unwrap_or(u64::MAX))
}

/// The timeout of both ends for a message.
pub(super) fn answer_timeout(request_response: &RequestResponse) -> Span {
    request_response.deadline + request_response.deadline
}
