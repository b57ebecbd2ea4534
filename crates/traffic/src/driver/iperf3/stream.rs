//! The thread of a stream: it sends blocks or receives.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::{self, JoinHandle};

use os::clock;
use os::deadline::Deadline;
use os::error::{OperationContext, Result};
use os::socket::{Errno, MsgFlags, Socket};
use os::socket::{receive, receive_stamped, send, wait_to_read, wait_to_write};
use units::{Span, Time, Transport};

use super::counters::Counters;
use crate::machine::iperf3::{Arrivals, Header, Request, whole};

/// The longest wait until a thread sees that it is to end.
const LOOK: Span = Span::from_millis(20);

/// The longest time for the rest of the last block. iperf3 reads whole blocks, and hears of
/// nothing else while it waits for the rest of one [iperf3].
const REST: Span = Span::from_secs(5);

/// Bytes per read: the largest datagram fits.
const READ: usize = 1 << 18;

/// What all streams of a direction may send together.
#[derive(Debug)]
pub(super) struct Quota {
    most: u64,
    taken: AtomicU64,
}

impl Quota {
    pub(super) fn new(most: u64) -> Self {
        Self {
            most,
            taken: AtomicU64::new(0),
        }
    }

    /// Takes a share, if any is left.
    fn take(&self, share: u64) -> bool {
        self.taken.fetch_add(share, Ordering::Relaxed) < self.most
    }
}

/// The task of a thread.
pub(super) struct Job {
    pub(super) socket: Socket,
    pub(super) request: Arc<Request>,
    pub(super) counters: Arc<Counters>,
    pub(super) quota: Option<Arc<Quota>>,
    /// The end of the thread, at the latest.
    pub(super) deadline: Deadline,
    pub(super) begin: Time,
}

/// Starts the thread of a stream.
///
/// # Errors
/// The system has no thread left.
pub(super) fn start(job: Job, sends: bool) -> Result<JoinHandle<Result<()>>> {
    let body = move || match (job.request.transport, sends) {
        (Transport::Tcp, true) => job.send_stream(),
        (Transport::Udp, true) => job.send_datagrams(),
        (Transport::Tcp, false) => job.receive_stream(),
        (Transport::Udp, false) => job.receive_datagrams(),
    };
    let thread = thread::Builder::new().name("iperf3 stream".to_owned());
    thread.spawn(body).during(|| "starting a thread")
}

impl Job {
    fn send_stream(&self) -> Result<()> {
        let payload = payload(self.request.block);
        let (mut number, mut last) = (0, None);
        while self.next_block(number) {
            number += 1;
            let mut rest = &payload[..];
            while !rest.is_empty() {
                match self.try_send(rest) {
                    Ok(count) => {
                        add(&self.counters.bytes, count as u64);
                        rest = &rest[count..];
                    }
                    Err(Errno::EAGAIN | Errno::EINTR) => {
                        if !self.wait_for_room()? {
                            let now = clock::monotonic();
                            if now >= *last.get_or_insert(now + REST) {
                                return Ok(());
                            }
                        }
                    }
                    Err(error) => return Err(error).during(|| "sending a stream"),
                }
            }
            add(&self.counters.packets, 1);
        }
        Ok(())
    }

    fn send_datagrams(&self) -> Result<()> {
        let mut datagram = payload(self.request.block);
        let (mut number, mut sent) = (0, 0);
        while self.next_block(number) {
            number += 1;
            loop {
                let header = Header {
                    sent_micros: clock::monotonic().as_nanos() / 1_000,
                    number: sent + 1,
                };
                header.emit(&mut datagram, self.request.wide);
                match self.try_send(&datagram) {
                    Ok(count) => {
                        sent += 1;
                        add(&self.counters.bytes, count as u64);
                        add(&self.counters.packets, 1);
                        break;
                    }
                    // An ICMP error of an earlier datagram: this one was not sent.
                    Err(Errno::EAGAIN | Errno::EINTR | Errno::ECONNREFUSED) => {
                        if !self.wait_for_room()? {
                            return Ok(());
                        }
                    }
                    Err(Errno::ENOBUFS) => {
                        add(&self.counters.unsent, 1);
                        break;
                    }
                    Err(error) => return Err(error).during(|| "sending datagrams"),
                }
            }
        }
        Ok(())
    }

    fn receive_stream(&self) -> Result<()> {
        let mut room = vec![0; READ];
        while let Ok(permit) = self.deadline.permit() {
            match receive(&self.socket, &mut room, MsgFlags::MSG_DONTWAIT, permit) {
                Ok(0) | Err(Errno::ECONNRESET) => break,
                Ok(count) => {
                    self.counters.arrived(clock::monotonic());
                    add(&self.counters.bytes, count as u64);
                }
                Err(Errno::EAGAIN | Errno::EINTR) => self.wait_for_arrival()?,
                Err(error) => return Err(error).during(|| "receiving a stream"),
            }
        }
        Ok(())
    }

    fn receive_datagrams(&self) -> Result<()> {
        let mut room = vec![0; READ];
        let mut arrivals = Arrivals::new(self.request.wide);
        let counters = &self.counters;
        while let Ok(permit) = self.deadline.permit() {
            match receive_stamped(&self.socket, &mut room, MsgFlags::MSG_DONTWAIT, permit) {
                Ok(entry) => {
                    let at = entry.stamp.unwrap_or_else(clock::wall_nanos);
                    let length = entry.length.min(room.len());
                    let header = Header::parse(&room[..length], self.request.wide);
                    if header.is_some_and(|header| arrivals.record(header, at)) {
                        counters.arrived(clock::monotonic());
                        add(&counters.bytes, length as u64);
                    }
                    let store = |counter: &AtomicU64, value| {
                        counter.store(value, Ordering::Relaxed);
                    };
                    store(&counters.highest, arrivals.highest());
                    store(&counters.duplicates, arrivals.duplicates());
                    store(&counters.reordered, arrivals.reordered());
                    store(&counters.jitter, whole(arrivals.jitter()));
                    let received = arrivals.received();
                    counters.packets.store(received, Ordering::Release);
                }
                // An ICMP error says that the other end has closed its socket.
                Err(Errno::EAGAIN | Errno::EINTR | Errno::ECONNREFUSED) => {
                    self.wait_for_arrival()?;
                }
                Err(error) => return Err(error).during(|| "receiving datagrams"),
            }
        }
        Ok(())
    }

    /// Waits until the block `number` is due. Returns whether it is to be sent.
    fn next_block(&self, number: u64) -> bool {
        if self.request.rate > 0 {
            let burst = number - number % self.request.burst;
            let bits = u128::from(burst) * 8 * self.request.block as u128;
            let picos = bits * 1_000_000_000_000 / u128::from(self.request.rate);
            let picos = u64::try_from(picos).unwrap_or(u64::MAX);
            let due = Time::from_picos(self.begin.as_picos().saturating_add(picos));
            while let Some(left) = due.since(clock::monotonic()) {
                if left == Span::ZERO || self.deadline.permit().is_err() {
                    break;
                }
                clock::sleep(left.min(LOOK));
            }
        }
        let share = match self.request.bytes {
            Some(_) => self.request.block as u64,
            None => 1,
        };
        self.deadline.permit().is_ok() && self.quota.as_ref().is_none_or(|quota| quota.take(share))
    }

    fn try_send(&self, bytes: &[u8]) -> std::result::Result<usize, Errno> {
        let flags = MsgFlags::MSG_NOSIGNAL | MsgFlags::MSG_DONTWAIT;
        send(&self.socket, bytes, flags)
    }

    /// Waits until the socket takes more. Returns whether the thread is to go on.
    fn wait_for_room(&self) -> Result<bool> {
        wait_to_write(&self.socket, clock::monotonic() + LOOK)?;
        Ok(self.deadline.permit().is_ok())
    }

    fn wait_for_arrival(&self) -> Result<()> {
        wait_to_read(&self.socket, clock::monotonic() + LOOK)?;
        Ok(())
    }
}

/// The bytes of a block, which no link can compress much.
fn payload(size: usize) -> Vec<u8> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let byte = |_| {
        // A xorshift generator [Marsaglia2003].
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()[0]
    };
    (0..size).map(byte).collect()
}

/// Adds to a counter that one thread writes.
fn add(counter: &AtomicU64, number: u64) {
    let value = counter.load(Ordering::Relaxed).wrapping_add(number);
    counter.store(value, Ordering::Relaxed);
}
