//! The answering end of request/response traffic.

use units::{Span, Time, Transport};
use wire::message::{Echo, HEADER_LEN, Message};

use super::{Answer, Answered, Broken, RequestResponse, ask, tcp_info};
use crate::driver::trial_token::{DataPort, Token};
use os::clock;
use os::deadline::Permit;
use os::error::{Error, OperationContext, Result};
use os::socket::{
    Errno, MsgFlags, Socket, borrowed, receive, send, set_no_delay, set_timeout, stated_drops,
};

/// Buffer size: the largest datagram, or a large part of a stream's message.
const ROOM: usize = 1 << 16;

/// The longest wait of the answering end for the first message.
const FIRST: Span = Span::from_secs(40);

/// The answering end, waiting for messages.
pub struct Answerer {
    request_response: RequestResponse,
    data_port: DataPort,
    /// The port to which the asking end connects.
    pub port: u16,
}

/// The end of a connection.
enum End {
    /// The asking end announced the end.
    Farewell,
    /// The asking end closed or aborted the connection.
    Gone,
}

impl Answerer {
    /// Opens a port on the address of the requests only, for the asking end with `token`.
    ///
    /// # Errors
    /// If the kernel rejects the address or an option.
    pub fn open(request_response: RequestResponse, token: Token) -> Result<Self> {
        let RequestResponse {
            protocol, address, ..
        } = request_response;
        let options = request_response.options();
        // A stalled connection is followed by another one.
        let data_port = DataPort::open(protocol, address, options, token, usize::MAX)?;
        Ok(Self {
            port: data_port.port,
            request_response,
            data_port,
        })
    }

    /// Answers messages until the asking end announces the end.
    ///
    /// # Errors
    /// If no data arrive for longer than the deadline of a message, or the data are not
    /// ours.
    pub fn answer(mut self) -> Result<Answered> {
        let answered = match self.request_response.protocol {
            Transport::Tcp => self.answer_streams(),
            Transport::Udp => self.answer_datagrams(),
        }?;
        Ok(Answered {
            rejected_peers: self.data_port.close(),
            ..answered
        })
    }

    /// The longest wait for a connection, or for the first datagram.
    fn longest_wait(&self) -> Span {
        FIRST.max(ask::answer_timeout(&self.request_response))
    }

    fn answer_streams(&mut self) -> Result<Answered> {
        let mut answered = Answered::default();
        loop {
            let stream = self.data_port.admit(self.longest_wait())?;
            set_timeout(
                borrowed(&stream),
                ask::answer_timeout(&self.request_response),
            )?;
            if let Some(delay) = self.request_response.delayed_ack {
                tcp_info::delay_acknowledgements(&stream, delay)?;
            }
            if !self.request_response.nagle {
                set_no_delay(&stream)?;
            }
            let mut service = Service::new(stream, &self.request_response, &mut answered);
            if let End::Farewell = service.serve()? {
                return Ok(answered);
            }
        }
    }

    fn answer_datagrams(&mut self) -> Result<Answered> {
        let dropped = |socket: &Socket| stated_drops(socket).during(|| "reading what was dropped");
        let socket = self.data_port.admit(self.longest_wait())?;
        set_timeout(borrowed(&socket), self.longest_wait())?;
        let before = dropped(&socket)?;
        let mut answered = Answered::default();
        let mut room = vec![0; ROOM];
        let mut latest = clock::monotonic();
        loop {
            pause(self.request_response.pause);
            // Garbage may come all the time.
            if clock::monotonic() > latest + self.longest_wait() {
                return Err(Error::new("waiting for messages", "none arrived in time"));
            }
            let (flags, permit) = (MsgFlags::empty(), Permit::of_worker());
            let count = match receive(&socket, &mut room, flags, permit) {
                Ok(came) => came,
                // A response may reach the asking end after it has ended.
                Err(Errno::EINTR | Errno::ECONNREFUSED) => continue,
                Err(error) => return Err(error).during(|| "waiting for messages"),
            };
            // A repeated token is no message.
            let Ok(message) = Message::parse(&room[..count]) else {
                continue;
            };
            if message.echo == Echo::Unwanted {
                let drops = before.zip(dropped(&socket)?);
                answered.dropped = drops.map(|(before, now)| now.wrapping_sub(before).into());
                return Ok(answered);
            }
            let back = match self.request_response.answer {
                Answer::Acknowledgement => HEADER_LEN,
                Answer::Whole | Answer::Pieces => count,
            };
            reply(message, &mut room);
            // A response without room is lost, as on any link; the request is then
            // repeated.
            let _ = send(&socket, &room[..back], MsgFlags::MSG_NOSIGNAL);
            answered.messages += 1;
            latest = clock::monotonic();
        }
    }
}

/// A connection being served.
struct Service<'a> {
    stream: Socket,
    answer: Answer,
    pause: Span,
    answered: &'a mut Answered,
    /// Bytes read that belong to no answered message.
    room: Vec<u8>,
    filled: usize,
    /// The message at their start, once its header has arrived, and the bytes of it
    /// that have been answered.
    message: Option<Message>,
    written: usize,
    /// The end of the latest message, and the longest time until the next one.
    latest: Time,
    timeout: Span,
}

impl<'a> Service<'a> {
    fn new(stream: Socket, request_response: &RequestResponse, answered: &'a mut Answered) -> Self {
        Self {
            stream,
            answer: request_response.answer,
            pause: request_response.pause,
            answered,
            room: vec![0; 2 * request_response.longest().max(ROOM)],
            filled: 0,
            message: None,
            written: 0,
            latest: clock::monotonic(),
            timeout: ask::answer_timeout(request_response) * 2,
        }
    }

    fn serve(&mut self) -> Result<End> {
        loop {
            pause(self.pause);
            // A byte now and then is not enough.
            if clock::monotonic() > self.latest + self.timeout {
                return Ok(self.gone());
            }
            let (room, permit) = (&mut self.room[self.filled..], Permit::of_worker());
            match receive(&self.stream, room, MsgFlags::empty(), permit) {
                Ok(0) => return Ok(self.gone()),
                Ok(count) => self.filled += count,
                Err(Errno::EINTR) => continue,
                // Too late or aborted: the asking end knows the reason.
                Err(_) => return Ok(self.gone()),
            }
            loop {
                if self.message.is_none() && self.filled >= HEADER_LEN {
                    self.message = Some(parse(&self.room)?);
                }
                let Some(message) = self.message else { break };
                if message.echo == Echo::Unwanted {
                    return Ok(End::Farewell);
                }
                if length(&message) > self.room.len() {
                    return Err(Error::new(
                        "reading a message",
                        "it is longer than the largest message",
                    ));
                }
                if self.answer_what_is_there(message).is_err() {
                    return Ok(self.gone());
                }
                if self.message.is_some() {
                    break;
                }
            }
        }
    }

    /// Sends the responses due, and removes the message once it is complete.
    fn answer_what_is_there(&mut self, message: Message) -> std::result::Result<(), Errno> {
        let all = length(&message);
        let there = self.filled.min(all);
        let due = match self.answer {
            Answer::Pieces => there,
            _ if there < all => 0,
            Answer::Acknowledgement => HEADER_LEN,
            Answer::Whole => all,
        };
        if there == all && self.answer != Answer::Pieces {
            reply(message, &mut self.room);
        }
        while self.written < due {
            let bytes = &self.room[self.written..due];
            match send(&self.stream, bytes, MsgFlags::MSG_NOSIGNAL) {
                Ok(count) => self.written += count,
                Err(Errno::EINTR) => {}
                Err(error) => return Err(error),
            }
        }
        if there == all {
            self.room.copy_within(all..self.filled, 0);
            self.filled -= all;
            self.message = None;
            self.written = 0;
            self.latest = clock::monotonic();
            self.answered.messages += 1;
        }
        Ok(())
    }

    /// Records an incomplete message, if there is one.
    fn gone(&mut self) -> End {
        let bytes = |count: usize| u64::try_from(count).unwrap_or(u64::MAX);
        if self.filled > 0 {
            self.answered.broken.push(Broken {
                size: self.message.map_or(0, |message| message.length),
                read: bytes(self.filled),
                written: bytes(self.written),
            });
        }
        End::Gone
    }
}

/// Lets arriving data wait for `span`.
fn pause(span: Span) {
    if span > Span::ZERO {
        clock::sleep(span);
    }
}

fn parse(bytes: &[u8]) -> Result<Message> {
    Message::parse(bytes).map_err(|error| Error::new("reading a message", error.to_string()))
}

/// Turns the header at the start of `bytes` into that of the response.
fn reply(message: Message, bytes: &mut [u8]) {
    let answer = Message {
        echo: Echo::Reply,
        ..message
    };
    answer
        .emit(bytes)
        .expect("there is as much room as for the message");
}

fn length(message: &Message) -> usize {
    usize::try_from(message.length).unwrap_or(usize::MAX)
}
