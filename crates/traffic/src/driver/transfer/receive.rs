//! The receiving end of a transfer.

use meter::clock_offset::ClockLine;
use meter::time_series::TimeSeries;
use meter::{FlowRecorder, GoodputWindow, MessagePlan, MessageStream};
use units::{Bytes, Span, Time, Transport};
use wire::message::{HEADER_LEN, Message};

use super::{Echo, Received, Transfer};
use crate::driver::trial_token::{DataPort, Token};
use os::clock::{self, Epoch};
use os::cpu_time::Process;
use os::deadline::Permit;
use os::error::{Error, OperationContext, Result};
use os::processor::Pinned;
use os::socket::{
    Errno, MsgFlags, Socket, arrived_at_most, borrowed, receive_buffer, receive_stamped, send,
    stalled, wait_to_read, wait_to_read_or_write,
};
use os::{ProgramStamps, program_stamps};

/// Bytes per read. A shorter read has emptied the kernel's queue, and its timestamp is
/// that of the last byte. A full read may end within a packet, and then has an earlier
/// timestamp or none.
const READ: usize = 1 << 18;

/// A receiver that waits for its sender.
pub struct Receiver {
    transfer: Transfer,
    data_port: DataPort,
    stamps: Option<ProgramStamps>,
    /// The port to which the sender connects.
    pub port: u16,
}

impl Receiver {
    /// Opens a port on the transfer's address only, for the sender with `token`.
    ///
    /// # Errors
    /// If the kernel rejects the address or an option, or as [`program_stamps`].
    pub fn open(transfer: Transfer, token: Token) -> Result<Self> {
        // Before there is traffic, which would delay the stamps.
        let stamps = program_stamps()?;
        let data_port = transfer.data_port(token)?;
        Ok(Self {
            port: data_port.port,
            transfer,
            data_port,
            stamps,
        })
    }

    /// Receives a transfer between ends that read one clock.
    ///
    /// # Errors
    /// As [`Receiver::record`].
    pub fn receive(self) -> Result<Received> {
        Ok(self.record()?.finish(None))
    }

    /// Receives a transfer, and keeps the record until the clocks were compared again.
    ///
    /// # Errors
    /// If no data arrive within the timeout, or the data are not ours.
    pub fn record(mut self) -> Result<Recorded> {
        let _pinned = self.transfer.processor.map(Pinned::to).transpose()?;
        let before = Process::sample()?;
        let mut recorder = TransferRecorder::new(&self.transfer);
        let socket = self.data_port.admit(self.transfer.timeout)?;
        match self.transfer.protocol {
            Transport::Tcp => recorder.take_stream(&socket)?,
            Transport::Udp => recorder.take_datagrams(&socket)?,
        }
        let receive_buffer = receive_buffer(borrowed(&socket))?;
        // The evaluation is not part of the transfer's cost.
        let process = Process::sample()? - before;
        let expected = recorder.message_plan.counted_messages();
        Ok(Recorded {
            epoch: self.transfer.epoch,
            expected,
            received: Received {
                bytes: recorder.bytes,
                unstamped: recorder.unstamped,
                stamps: self.stamps,
                spread: recorder.spread(),
                goodput: recorder.goodput_window.goodput(),
                delays: FlowRecorder::new().finish(expected),
                clocks: None,
                arrivals: recorder.arrivals,
                receive_buffer,
                rejected_peers: self.data_port.close(),
                process,
            },
            delays: recorder.delays,
        })
    }
}

/// A transfer whose delays are not evaluated.
#[derive(Clone)]
pub struct Recorded {
    epoch: Epoch,
    expected: u64,
    delays: FlowRecorder,
    /// The results, without delays.
    received: Received,
}

impl Recorded {
    /// The results. If the ends read two clocks, `clocks` is this one minus the sender's;
    /// the epochs differ by the offset before the transfer.
    pub fn finish(mut self, clocks: Option<ClockLine>) -> Received {
        if let Some(line) = clocks {
            self.delays.correct(|received| {
                let drift = line.drift_until(self.epoch.unix_nanos_at(received));
                shifted_back(received, drift)
            });
        }
        Received {
            delays: self.delays.finish(self.expected),
            clocks,
            ..self.received
        }
    }
}

/// The time `nanos` nanoseconds before `time`; at least zero.
fn shifted_back(time: Time, nanos: i64) -> Time {
    let span = Span::from_nanos(nanos.unsigned_abs());
    match nanos {
        ..0 => time + span,
        _ => Time::ZERO + time.since(Time::ZERO + span).unwrap_or_default(),
    }
}

/// Records arriving messages.
struct TransferRecorder<'a> {
    transfer: &'a Transfer,
    message_plan: MessagePlan,
    bytes: Bytes,
    goodput_window: GoodputWindow,
    delays: FlowRecorder,
    /// The first write of the sender, in the header of the first message.
    began: Option<Time>,
    arrivals: TimeSeries,
    /// The datagrams that arrived, by sequence number, and their number without
    /// duplicates.
    known: Vec<bool>,
    seen: u64,
    /// Counted reads without the kernel's timestamp.
    unstamped: u64,
    /// The timestamp of the last read, and the sum over counted messages of the time by
    /// which the timestamp of their read may be too late.
    last_stamp: Time,
    later_by: Span,
    /// Echoes to send.
    echoes: Vec<u8>,
}

/// A piece of data, and the arrival of its last byte at this host.
struct Piece {
    length: usize,
    stamp: Time,
}

impl<'a> TransferRecorder<'a> {
    fn new(transfer: &'a Transfer) -> Self {
        let message_plan = transfer.message_plan();
        let counted = message_plan.bytes() - message_plan.warmup();
        Self {
            transfer,
            message_plan,
            bytes: Bytes::ZERO,
            goodput_window: GoodputWindow::new(message_plan.warmup(), counted, transfer.pace),
            delays: FlowRecorder::new(),
            began: None,
            arrivals: TimeSeries::default(),
            known: Vec::new(),
            seen: 0,
            unstamped: 0,
            last_stamp: Time::ZERO,
            later_by: Span::ZERO,
            echoes: Vec::new(),
        }
    }

    fn take_stream(&mut self, connection: &Socket) -> Result<()> {
        let mut stream = MessageStream::new();
        let mut buffer = vec![0; READ];
        while self.bytes < self.message_plan.bytes() || !self.echoes.is_empty() {
            match self.read(connection, &mut buffer)? {
                None => {
                    let deadline = clock::monotonic() + self.transfer.timeout;
                    let ready = match self.echoes.is_empty() {
                        true => wait_to_read(connection, deadline)?,
                        false => wait_to_read_or_write(connection, deadline)?,
                    };
                    if !ready {
                        return Err(stalled("receiving messages", self.transfer.timeout));
                    }
                }
                Some(Piece { length: 0, .. }) => {
                    let problem = format!(
                        "the sender closed after {} of {} bytes",
                        self.bytes.get(),
                        self.message_plan.bytes().get()
                    );
                    return Err(Error::new("receiving messages", problem));
                }
                Some(piece) => {
                    self.bytes += Bytes::new(piece.length as u64);
                    self.take_down(&buffer[..piece.length], piece.stamp);
                    self.count(connection, &piece)?;
                    stream
                        .receive(&buffer[..piece.length], |message| {
                            self.note(message, piece.stamp)
                        })
                        .map_err(|error| Error::new("reading a message", error.to_string()))?;
                    self.last_stamp = piece.stamp;
                }
            }
            self.send_echoes(connection)?;
        }
        Ok(())
    }

    /// Adds a piece of a stream to the arrival curve. Where the window may start or end
    /// after segments that arrived out of order, the curve has what had arrived, not
    /// what could be read, and the time at which the program asked: a read that follows
    /// a missing segment may have the earlier timestamp of a segment behind it.
    fn count(&mut self, connection: &Socket, piece: &Piece) -> Result<()> {
        let all = self.bytes >= self.message_plan.bytes();
        let mut point = (self.bytes, piece.stamp, piece.length < READ);
        if all || self.goodput_window.may_start(self.bytes, piece.stamp) {
            let now = self.transfer.epoch.elapsed();
            let arrived = arrived_at_most(connection);
            if let Some(arrived) = arrived.during(|| "asking what has arrived")? {
                let arrived = Bytes::new(arrived).min(self.message_plan.bytes());
                point = (arrived.max(self.bytes), now.max(piece.stamp), true);
            }
        }
        let (total, stamp, settled) = point;
        self.goodput_window.record(total, stamp, settled);
        Ok(())
    }

    fn take_datagrams(&mut self, socket: &Socket) -> Result<()> {
        let mut buffer = vec![0; 1 << 16];
        let mut timeout = self.transfer.timeout;
        // The last number can arrive before one that it overtook, so the transfer is
        // over only when all have arrived, or none has arrived for long enough.
        while self.seen < self.message_plan.messages() {
            let Some(piece) = self.read(socket, &mut buffer)? else {
                let deadline = clock::monotonic() + timeout;
                if !wait_to_read(socket, deadline)? {
                    break;
                }
                continue;
            };
            // A repeated token is not part of the transfer and gets no echo.
            let Ok(message) = Message::parse(&buffer[..piece.length]) else {
                continue;
            };
            timeout = self.transfer.quiet;
            if self.is_new(message.sequence) {
                self.bytes += Bytes::new(piece.length as u64);
                self.take_down(&buffer[..piece.length], piece.stamp);
                self.goodput_window.record(self.bytes, piece.stamp, true);
            }
            self.note(message, piece.stamp);
            self.last_stamp = piece.stamp;
            if !self.echoes.is_empty() {
                // An echo without room is lost, as datagrams are.
                let _ = send(socket, &self.echoes, MsgFlags::empty());
                self.echoes.clear();
            }
        }
        Ok(())
    }

    /// Adds data that arrived at `stamp` to the series of arrivals.
    fn take_down(&mut self, data: &[u8], stamp: Time) {
        let began = *self.began.get_or_insert_with(|| {
            // All data begin with a header, unless the first read is shorter.
            Message::parse(data).map_or(stamp, |message| message.sent)
        });
        let at = Time::ZERO + stamp.since(began).unwrap_or_default();
        self.arrivals.carried(at, Bytes::new(data.len() as u64));
    }

    /// Whether no datagram with this number arrived before.
    fn is_new(&mut self, sequence: u64) -> bool {
        let place = usize::try_from(sequence).ok();
        let Some(place) = place.filter(|_| sequence < self.message_plan.messages()) else {
            return false;
        };
        if self.known.len() <= place {
            self.known.resize(place + 1, false);
        }
        let new = !std::mem::replace(&mut self.known[place], true);
        self.seen += u64::from(new);
        new
    }

    /// Records a complete message.
    fn note(&mut self, message: Message, stamp: Time) {
        let position = self.message_plan.counted_position(message.sequence);
        if let Some(position) = position.filter(|_| self.transfer.delays) {
            self.delays
                .record(position, message.sent, stamp, message.size());
            self.later_by += stamp.since(self.last_stamp).unwrap_or_default();
        }
        let (reply, length) = match self.transfer.echo {
            Echo::Off | Echo::Headers => (message.reply(), HEADER_LEN),
            Echo::Whole => {
                let length = usize::try_from(message.length).unwrap_or(HEADER_LEN);
                (message.reply_in_full(), length)
            }
        };
        if let Some(echo) = reply {
            let start = self.echoes.len();
            self.echoes.resize(start + length, 0);
            echo.emit(&mut self.echoes[start..])
                .expect("room for a header was just made");
        }
    }

    /// The mean time by which the timestamp of a read may be later than that of a
    /// message in it: several messages can end in one read.
    fn spread(&self) -> Span {
        let messages = self.message_plan.counted_messages().max(1);
        Span::from_picos(self.later_by.as_picos() / messages)
    }

    /// Sends the echoes due, while there is room.
    fn send_echoes(&mut self, connection: &Socket) -> Result<()> {
        while !self.echoes.is_empty() {
            match send(connection, &self.echoes, MsgFlags::MSG_NOSIGNAL) {
                Ok(count) => drop(self.echoes.drain(..count)),
                Err(Errno::EAGAIN) => return Ok(()),
                Err(Errno::EINTR) => {}
                Err(error) => return Err(error).during(|| "sending echoes"),
            }
        }
        Ok(())
    }

    /// Reads the available data; `None` if there are none.
    fn read(&mut self, socket: &Socket, buffer: &mut [u8]) -> Result<Option<Piece>> {
        let (flags, permit) = (MsgFlags::empty(), Permit::of_worker());
        let taken = match receive_stamped(borrowed(socket), buffer, flags, permit) {
            Ok(taken) => taken,
            Err(Errno::EAGAIN | Errno::EINTR) => return Ok(None),
            // An echo reached the sender after it had ended.
            Err(Errno::ECONNREFUSED) if self.transfer.protocol == Transport::Udp => {
                return Ok(None);
            }
            Err(error) => return Err(error).during(|| "receiving messages"),
        };
        let epoch = self.transfer.epoch;
        let stamp = taken.stamp.map(|stamp| epoch.time_of_stamp(stamp));
        // A whole packet without a timestamp is timed by the program's clock, and
        // counted.
        let whole = taken.length > 0 && taken.length < READ;
        let counted = self.bytes >= self.message_plan.warmup();
        self.unstamped += u64::from(stamp.is_none() && whole && counted);
        Ok(Some(Piece {
            length: taken.length,
            stamp: stamp.unwrap_or_else(|| epoch.elapsed()),
        }))
    }
}
