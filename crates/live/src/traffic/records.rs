//! The records of messages, on their way from flows to whoever keeps a log.

use std::net::SocketAddr;
use std::sync::mpsc::SyncSender;

use proto::clock_offset::ClockOffset;
use units::Transport;
use wire::control::{Meter, Name};

/// One message, as the log of a sender or of a receiver has it. Instants are
/// nanoseconds since the session's beginning, on the sender's clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record {
    /// The number of its flow in the session.
    pub flow: u16,
    /// Octets of the message.
    pub size: u32,
    /// The place of the message in its flow, from 0.
    pub sequence: u64,
    /// When it left, as its header says.
    pub sent: u64,
    /// When it arrived, or was back.
    pub received: Option<u64>,
    /// Whether that is the kernel's stamp.
    pub stamped: bool,
    /// When the program had an arrival that goes one way.
    pub read: Option<u64>,
}

impl Record {
    /// When it came to be known.
    pub(super) fn at(&self) -> u64 {
        self.received.unwrap_or(self.sent)
    }
}

/// What a log is made of.
#[derive(Clone, Debug)]
pub enum Entry {
    /// A flow of which there will be records.
    Flow(Described),
    /// Records of one flow, in the order in which it wrote them down.
    Records(Vec<Record>),
    /// How the clocks of all flows' ends stand to each other, and when this
    /// was known, on the clock of whoever keeps the log.
    Clocks(u64, ClockOffset),
    /// What was sent of a flow.
    Sent {
        /// Its number.
        flow: u16,
        /// Messages.
        messages: u64,
        /// Their octets.
        octets: u64,
    },
}

/// What is to be known of a flow to read its records.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Described {
    /// Its number in the session.
    pub flow: u16,
    /// Its name.
    pub name: Name,
    /// How it travels; ICMP echoes where there is none.
    pub transport: Option<Transport>,
    /// What is measured.
    pub meter: Meter,
    /// Where it comes from; port 0 where that is not known yet.
    pub from: SocketAddr,
    /// Where it goes to.
    pub to: SocketAddr,
    /// Differentiated services code point.
    pub dscp: u8,
}

/// Where entries go, many records at a time. A full queue holds the flow back:
/// what waits to be written is bounded.
pub type Records = SyncSender<Entry>;

/// Records that are handed over together.
const BUNDLE: usize = 4096;

/// A record waits no longer than this for others, in nanoseconds: so much of a
/// slow flow is lost with a program that is killed.
const WAIT: u64 = 1_000_000_000;

/// The records of one flow on their way.
pub(super) struct LogSink {
    to: Option<Records>,
    bundle: Vec<Record>,
}

impl LogSink {
    pub(super) fn new(to: Option<Records>) -> Self {
        let room = if to.is_some() { BUNDLE } else { 0 };
        Self {
            to,
            bundle: Vec::with_capacity(room),
        }
    }

    /// Records of the same flow from another thread, for the same log.
    pub(super) fn another(&self) -> Self {
        Self::new(self.to.clone())
    }

    /// Whether anybody wants records.
    pub(super) fn wanted(&self) -> bool {
        self.to.is_some()
    }

    pub(super) fn keep(&mut self, record: Record) {
        if self.wanted() {
            self.bundle.push(record);
            if self.bundle.len() >= BUNDLE {
                self.flush();
            } else {
                self.flush_old(record.at());
            }
        }
    }

    /// Hands over what is here if the first of it has waited long at this instant.
    pub(super) fn flush_old(&mut self, now: u64) {
        if let Some(first) = self.bundle.first()
            && now.saturating_sub(first.at()) >= WAIT
        {
            self.flush();
        }
    }

    /// Hands over what is here.
    pub(super) fn flush(&mut self) {
        if let Some(to) = self.to.as_ref().filter(|_| !self.bundle.is_empty()) {
            let bundle = std::mem::replace(&mut self.bundle, Vec::with_capacity(BUNDLE));
            // Whoever writes has ended with an error of its own.
            let _ = to.send(Entry::Records(bundle));
        }
    }
}

impl Drop for LogSink {
    fn drop(&mut self) {
        self.flush();
    }
}
