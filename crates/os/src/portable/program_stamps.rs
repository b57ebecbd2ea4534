//! The precision of the times of arrivals where no kernel stamps them.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::panic::resume_unwind;
use std::sync::OnceLock;
use std::sync::mpsc::{Sender, channel};
use std::thread::{self, Builder};

use serde::{Deserialize, Serialize};
use units::{Span, Time};

use super::precision::{TimingError, reading};
use crate::clock::{self, monotonic};
use crate::deadline::Permit;
use crate::error::{OperationContext, Result};
use crate::kernel_clock;
use crate::socket::{
    Kind, MsgFlags, Options, STAMPS_ARRIVALS, Socket, address_of, borrowed, connect, open, receive,
    send, wait_to_read,
};

/// Datagrams by which the delay of stamps is measured.
const DATAGRAMS: u64 = 100;

/// The time between them, in which the receiver falls asleep as it does between messages.
const GAP: Span = Span::from_micros(500);

/// A datagram that has not arrived by then counts as so late.
const PATIENCE: Span = Span::from_millis(200);

/// The precision of stamps that this program gives to arrivals.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProgramStamps {
    /// The smallest difference between two readings of the clock.
    pub resolution: Span,
    /// The 99th percentile of the time from the write of a datagram until the receiving
    /// thread has it, over loopback and without other traffic: a stamp there is at most so
    /// late. While the machine is busy, stamps are later.
    pub late: Span,
}

/// The precision of this program's stamps; `None` where the kernel stamps arrivals. The first
/// call measures it, which takes a second at most.
///
/// # Errors
/// Loopback rejects a socket.
pub fn program_stamps() -> Result<Option<ProgramStamps>> {
    static MEASURED: OnceLock<ProgramStamps> = OnceLock::new();
    if STAMPS_ARRIVALS {
        return Ok(None);
    }
    if let Some(known) = MEASURED.get() {
        return Ok(Some(*known));
    }
    let measured = measure()?;
    Ok(Some(*MEASURED.get_or_init(|| measured)))
}

/// Measures the precision of stamps of the program.
fn measure() -> Result<ProgramStamps> {
    let here = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let receiving = bound(here)?;
    let sending = bound(here)?;
    let to = address_of(borrowed(&receiving))?;
    connect(&sending, to).during(|| "connecting a socket of loopback")?;
    thread::scope(|scope| {
        let (stamps, stamped) = channel();
        let receiver = Builder::new().name("stamps".to_owned());
        let receiver = receiver.spawn_scoped(scope, move || stamp_all(&receiving, &stamps));
        let receiver = receiver.during(|| "starting a thread")?;
        let mut late = Vec::new();
        for number in 0..DATAGRAMS {
            clock::sleep(GAP);
            let written = monotonic();
            let sent = send(&sending, &number.to_be_bytes(), MsgFlags::empty());
            sent.during(|| "sending over loopback")?;
            // The receiver reports each datagram, or that none arrived in time.
            let stamp = stamped.recv().ok().flatten();
            let own = stamp.filter(|(of, _)| *of == number);
            let after = own.and_then(|(_, stamp)| stamp.since(written));
            late.push(after.unwrap_or(PATIENCE));
        }
        drop(stamped);
        receiver.join().unwrap_or_else(|panic| resume_unwind(panic));
        precision(&late)
    })
}

fn bound(address: SocketAddr) -> Result<Socket> {
    let options = Options {
        bind: Some(address),
        ..Options::default()
    };
    open(Kind::Datagram, IpAddr::V4(Ipv4Addr::LOCALHOST), &options)
}

/// Stamps datagrams as the program's receivers do: behind the read. Each is reported by its
/// number, and that one is missing, too.
fn stamp_all(socket: &Socket, stamps: &Sender<Option<(u64, Time)>>) {
    let mut room = [0; 8];
    for _ in 0..DATAGRAMS {
        let arrives = wait_to_read(socket, monotonic() + PATIENCE).unwrap_or(false);
        let (flags, permit) = (MsgFlags::MSG_DONTWAIT, Permit::of_worker());
        let read = arrives && receive(socket, &mut room, flags, permit).is_ok();
        let stamp = read.then(|| (u64::from_be_bytes(room), monotonic()));
        if stamps.send(stamp).is_err() {
            return;
        }
    }
}

/// The precision by the delays of the datagrams.
fn precision(late: &[Span]) -> Result<ProgramStamps> {
    Ok(ProgramStamps {
        resolution: reading().step.max(kernel_clock::resolution()?),
        late: TimingError::of(late).p99,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stamps_of_the_program_are_later_than_their_resolution() {
        let measured = measure().unwrap();
        assert!(measured.resolution > Span::ZERO, "{measured:?}");
        assert!(measured.late > measured.resolution, "{measured:?}");
        let text = serde_json::to_string(&measured).unwrap();
        let again: ProgramStamps = serde_json::from_str(&text).unwrap();
        assert_eq!(again, measured);
    }

    #[test]
    fn the_precision_is_the_99th_percentile_and_lost_datagrams_are_late() {
        let late: Vec<Span> = (1..=DATAGRAMS).map(Span::from_micros).collect();
        let p99 = precision(&late).unwrap().late.as_secs_f64() * 1e6;
        assert!((p99 / 99.0 - 1.0).abs() < 0.01, "{p99}");
        let mut lost = late;
        lost[..2].fill(PATIENCE);
        let p99 = precision(&lost).unwrap().late.as_secs_f64();
        assert!((p99 / PATIENCE.as_secs_f64() - 1.0).abs() < 0.01, "{p99}");
    }

    #[test]
    fn a_kernel_that_stamps_arrivals_needs_none_of_the_program() {
        assert_eq!(program_stamps().unwrap().is_none(), STAMPS_ARRIVALS);
    }
}
