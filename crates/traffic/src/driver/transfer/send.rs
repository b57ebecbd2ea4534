//! The sending end of a transfer.

use meter::{FlowRecorder, MessagePlan, MessageStream};
use units::{Bytes, Span, Time, Transport};
use wire::message::{Echo, Message};

use super::{Echo as Answer, Sent, Transfer, acknowledged};
use crate::driver::trial_token::Token;
use os::clock;
use os::cpu_time::Process;
use os::deadline::Permit;
use os::error::{Error, OperationContext, Result};
use os::pacing::Pacer;
use os::processor::Pinned;
use os::socket::{
    self, Errno, MsgFlags, SmoothedRtt, Socket, borrowed, receive, send_buffer, stalled,
    stated_tcp_state, wait_to_read, wait_to_read_or_write, wait_to_write,
};

/// Sends all messages of `transfer` to `port` of its address, after `token`.
///
/// # Errors
/// If the kernel rejects an option, or the receiver makes no progress within the
/// transfer's timeout.
pub fn send(transfer: &Transfer, token: &Token, port: u16) -> Result<Sent> {
    let _pinned = transfer.processor.map(Pinned::to).transpose()?;
    let before = Process::sample()?;
    let mut sender = Sender::connect(transfer, token, port)?;
    sender.send_messages()?;
    let last_acknowledged = match transfer.protocol {
        Transport::Tcp => {
            acknowledged::wait_for_last(&sender.socket, transfer.epoch, transfer.timeout)?
        }
        Transport::Udp => None,
    };
    sender.await_echoes(sender.message_plan.messages())?;
    Ok(Sent {
        messages: sender.message_plan.messages(),
        first_write: sender.first_write.unwrap_or_default(),
        last_acknowledged,
        echoes_took: sender.echoes_took(),
        round_trips: sender
            .echoes
            .map(|echoes| echoes.delays.finish(sender.message_plan.counted_messages())),
        tcp: match transfer.protocol {
            Transport::Tcp => stated_tcp_state(&sender.socket)?,
            Transport::Udp => None,
        },
        smoothed_rtt: sender.smoothed_rtt.finish(),
        send_buffer: send_buffer(borrowed(&sender.socket))?,
        process: Process::sample()? - before,
    })
}

struct Sender<'a> {
    transfer: &'a Transfer,
    token: &'a Token,
    message_plan: MessagePlan,
    socket: Socket,
    /// The first write of all.
    began: Option<Time>,
    /// The first write that counts.
    first_write: Option<Time>,
    smoothed_rtt: SmoothedRtt,
    echoes: Option<Echoes>,
}

/// The echoes of the receiver.
struct Echoes {
    stream: MessageStream,
    delays: FlowRecorder,
    /// Echoes received, warm-up included.
    taken: u64,
    /// Arrival of the last echo.
    last: Time,
    /// Buffer for one read, large enough for any datagram.
    room: Vec<u8>,
}

impl<'a> Sender<'a> {
    fn connect(transfer: &'a Transfer, token: &'a Token, port: u16) -> Result<Self> {
        let socket = transfer.connected(token, port)?;
        let echoes = (transfer.echo != Answer::Off).then(|| Echoes {
            stream: MessageStream::new(),
            delays: FlowRecorder::new(),
            taken: 0,
            last: Time::ZERO,
            room: vec![0; 1 << 16],
        });
        Ok(Self {
            transfer,
            token,
            message_plan: transfer.message_plan(),
            socket,
            began: None,
            first_write: None,
            smoothed_rtt: SmoothedRtt::default(),
            echoes,
        })
    }

    fn send_messages(&mut self) -> Result<()> {
        let lengths =
            (0..self.message_plan.messages()).map(|sequence| self.message_plan.length(sequence));
        let longest = usize::try_from(lengths.max().unwrap_or_default().get())
            .map_err(|_| Error::new("sending messages", "they do not fit into memory"))?;
        let mut bytes = vec![0; longest];
        let one_by_one = self.transfer.echo == Answer::Whole;
        let paced = self.transfer.paced && !one_by_one;
        let grid = match self.transfer.pace.filter(|_| paced) {
            Some(pace) => Some((Pacer::new()?, pace, clock::monotonic())),
            None => None,
        };
        let mut before = Bytes::ZERO;
        for sequence in 0..self.message_plan.messages() {
            let length = self.message_plan.length(sequence);
            let warmup = self.message_plan.is_warmup(sequence);
            if sequence + 1 == self.message_plan.messages()
                && self.transfer.protocol == Transport::Tcp
            {
                acknowledged::stamp_from_here(&self.socket)?;
            }
            if let Some((pacer, pace, begun)) = &grid {
                pacer.wait_until(*begun + pace.serialise(before));
            }
            before += length;
            let sent = self.transfer.epoch.elapsed();
            if !warmup {
                self.first_write.get_or_insert(sent);
            }
            let began = *self.began.get_or_insert(sent);
            if self.transfer.protocol == Transport::Tcp {
                let at = Time::ZERO + sent.since(began).unwrap_or_default();
                self.smoothed_rtt.sample(at, borrowed(&self.socket));
            }
            let length = usize::try_from(length.get())
                .unwrap_or(longest)
                .min(longest);
            Message {
                echo: match self.transfer.echo {
                    Answer::Off => Echo::Unwanted,
                    Answer::Headers | Answer::Whole => Echo::Wanted,
                },
                warmup,
                tag: 0,
                length: u32::try_from(length).unwrap_or(u32::MAX),
                sequence,
                sent,
            }
            .emit(&mut bytes)
            .expect("every message has room for its header");
            let echoed = self.echoes.as_ref().map_or(0, |echoes| echoes.taken);
            self.write(&bytes[..length])?;
            if one_by_one {
                self.await_echoes(echoed + 1)?;
            }
        }
        Ok(())
    }

    /// Time from the first write to the last echo of whole messages, if all have
    /// arrived.
    fn echoes_took(&self) -> Option<Span> {
        let whole = self.transfer.echo == Answer::Whole;
        let echoes = self.echoes.as_ref().filter(|_| whole)?;
        let all = echoes.taken >= self.message_plan.messages();
        echoes.last.since(self.first_write?).filter(|_| all)
    }

    /// Writes one message, and receives echoes while the kernel's buffer is full.
    fn write(&mut self, mut message: &[u8]) -> Result<()> {
        loop {
            match socket::send(&self.socket, message, MsgFlags::MSG_NOSIGNAL) {
                Ok(count) if count == message.len() => break,
                Ok(count) => message = &message[count..],
                // The queue of the interface or of the socket is full: wait for room.
                Err(Errno::EAGAIN | Errno::ENOBUFS) => {
                    self.wait_for_room()?;
                }
                Err(Errno::EINTR) => {}
                Err(error) => return Err(error).during(|| "sending a message"),
            }
        }
        self.take_echoes()
    }

    /// Waits for room or for echoes.
    fn wait_for_room(&mut self) -> Result<()> {
        let deadline = clock::monotonic() + self.transfer.timeout;
        let ready = match self.echoes {
            Some(_) => wait_to_read_or_write(&self.socket, deadline)?,
            None => wait_to_write(&self.socket, deadline)?,
        };
        if !ready {
            return Err(stalled("sending messages", self.transfer.timeout));
        }
        self.take_echoes()
    }

    /// Receives the available echoes.
    fn take_echoes(&mut self) -> Result<()> {
        let Some(echoes) = &mut self.echoes else {
            return Ok(());
        };
        while echoes.taken < self.message_plan.messages() {
            let (flags, permit) = (MsgFlags::empty(), Permit::of_worker());
            let count = match receive(&self.socket, &mut echoes.room, flags, permit) {
                Ok(0) => return Err(Error::new("taking echoes", "the receiver closed early")),
                // Another answer to a repeated token.
                Ok(count)
                    if self.transfer.protocol == Transport::Udp
                        && self.token.is(&echoes.room[..count]) =>
                {
                    continue;
                }
                Ok(count) => count,
                Err(Errno::EAGAIN) => return Ok(()),
                Err(Errno::EINTR) => continue,
                // A duplicate reached the receiver after it had all datagrams and
                // ended.
                Err(Errno::ECONNREFUSED) if self.transfer.protocol == Transport::Udp => continue,
                Err(error) => return Err(error).during(|| "taking echoes"),
            };
            let (now, message_plan) = (self.transfer.epoch.elapsed(), &self.message_plan);
            let (delays, taken, last) = (&mut echoes.delays, &mut echoes.taken, &mut echoes.last);
            echoes
                .stream
                .receive(&echoes.room[..count], |message| {
                    *taken += 1;
                    *last = now;
                    if let Some(position) = message_plan.counted_position(message.sequence) {
                        delays.record(position, message.sent, now, message.size());
                    }
                })
                .map_err(|error| Error::new("reading an echo", error.to_string()))?;
        }
        Ok(())
    }

    /// Waits for `wanted` echoes: for all over TCP, over UDP until none has arrived for
    /// long enough.
    fn await_echoes(&mut self, wanted: u64) -> Result<()> {
        while let Some(echoes) = &self.echoes
            && echoes.taken < wanted
        {
            let timeout = match self.transfer.protocol {
                Transport::Tcp => self.transfer.timeout,
                Transport::Udp => self.transfer.quiet,
            };
            let deadline = clock::monotonic() + timeout;
            let ready = wait_to_read(&self.socket, deadline)?;
            match (ready, self.transfer.protocol) {
                (true, _) => self.take_echoes()?,
                (false, Transport::Tcp) => return Err(stalled("waiting for echoes", timeout)),
                (false, Transport::Udp) => return Ok(()),
            }
        }
        Ok(())
    }
}
