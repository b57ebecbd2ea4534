//! Round trips one by one, with all timestamps of both ends, from which
//! [`meter::latency_breakdown`] computes the stages.
//!
//! The program's and the kernel's timestamps are both of CLOCK_REALTIME. If the ends run on
//! different machines, those of the far end are corrected afterwards. The whole round trip is timed by
//! CLOCK_MONOTONIC, so a step of the wall clock becomes visible.

mod end;

use meter::clock_offset::ClockLine;
use meter::latency_breakdown::{ArrivalTimes, DepartureTimes};
use units::{Span, Transport};

use super::Transfer;
use crate::driver::trial_token::{DataPort, Token};
use end::End;
use os::clock::{self, Epoch};
use os::error::Result;
use os::kernel_clock;
use os::socket::{TcpState, receive_buffer, send_buffer, stalled, tcp_state};

/// The time after which a datagram or its echo counts as lost.
const LOST: Span = Span::from_secs(1);

/// The far end waits longer: for the message after a lost one.
const QUIET: Span = Span::from_secs(3);

/// The most losses tolerated.
const MOST_LOST: u64 = 10;

/// The longest wait for timestamps of the last message.
const LAST_STAMPS: Span = Span::from_millis(20);

/// The settings that both ends share.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Probe {
    /// Protocol, address, message size and socket options.
    pub transfer: Transfer,
    /// Round trips before the counted ones, without departure timestamps: the first
    /// half is warm-up, the second shows the cost of the instrument.
    pub plain: u64,
    /// Round trips after those, in which both ends poll instead of sleeping: they show
    /// the kernel's time from a packet's arrival until it is readable.
    pub sleepless: u64,
    /// Round trips that are counted.
    pub messages: u64,
    /// Whether programs copy received data out of the kernel. Without it they read only
    /// the header of a datagram, and nothing of a stream (MSG_TRUNC) [socket(7)]
    /// [tcp(7)].
    pub copy: bool,
    /// Whether datagrams have UDP checksums [socket(7)].
    pub checksum: bool,
    /// A delay to inject into the counted round trips.
    pub inject: Option<Inject>,
}

/// A known delay at a known point, spent as processor time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Inject {
    pub point: InjectionPoint,
    /// Minimum length of the delay.
    pub span: Span,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum InjectionPoint {
    /// At the near end, between the timestamp before the write and the write.
    Send,
    /// At the far end, between the wait and each read.
    Receive,
    /// At the far end, between the last read and the timestamp before the write.
    Echo,
}

/// The near end's timestamps of a round trip.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct NearStamps {
    /// Timestamps of the message.
    pub left: DepartureTimes,
    /// Timestamps of its echo.
    pub came: ArrivalTimes,
    /// Duration by CLOCK_MONOTONIC, in nanoseconds.
    pub took: u64,
}

/// The near end's results.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Asked {
    /// The timestamps of each message in order; `None` for lost ones.
    pub trips: Vec<Option<NearStamps>>,
    /// Durations of round trips without departure timestamps, in nanoseconds.
    pub plain: Vec<u64>,
    /// Time from the arrival of an echo until a polling reader finds it, in
    /// nanoseconds.
    pub softirq: Option<u64>,
    /// Time from the first write to the last read of counted messages, in nanoseconds.
    pub lasted: u64,
    /// TCP's statistics at the end.
    pub tcp: Option<TcpState>,
    /// SO_SNDBUF and SO_RCVBUF as granted by the kernel.
    pub buffers: [u64; 2],
}

/// The far end's timestamps of a round trip.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct FarStamps {
    /// Timestamps of the message.
    pub came: ArrivalTimes,
    /// Timestamps of its echo.
    pub left: DepartureTimes,
}

/// The far end's results.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Answered {
    /// The timestamps of each message in order; `None` for those that did not arrive.
    pub trips: Vec<Option<FarStamps>>,
    /// Time from the arrival of a message until a polling reader finds it, in
    /// nanoseconds.
    pub softirq: Option<u64>,
    /// Rejected connections of unauthenticated peers; over UDP, their datagrams before the near end's.
    pub rejected_peers: u64,
    /// This clock minus the near end's, by which the timestamps were corrected; `None`: both
    /// ends read one clock.
    pub clocks: Option<ClockLine>,
}

impl Answered {
    /// The timestamps on the near end's clock. They count from `epoch` of this clock, which
    /// differs from the near end's by the offset at the start of `line`.
    #[must_use]
    pub fn corrected(mut self, epoch: Epoch, line: ClockLine) -> Self {
        let at = |nanos: u64| {
            let drift = line.drift_until(epoch.unix_nanos().saturating_add(nanos));
            nanos.saturating_add_signed(drift.saturating_neg())
        };
        for FarStamps { came, left } in self.trips.iter_mut().flatten() {
            *came = ArrivalTimes {
                arrived: came.arrived.map(at),
                ready: at(came.ready),
                had: at(came.had),
            };
            *left = DepartureTimes {
                before: at(left.before),
                queued: left.queued.map(at),
                sent: left.sent.map(at),
            };
        }
        self.clocks = Some(line);
        self
    }
}

impl Probe {
    /// Number of messages before the counted ones.
    fn before(&self) -> u64 {
        self.plain + self.sleepless
    }

    /// Whether an end sleeps until this message arrives.
    fn sleeps(&self, sequence: u64) -> bool {
        !(self.plain..self.before()).contains(&sequence)
    }
}

/// Sends the messages of `probe` to `port`, each after the echo of the previous one,
/// after `token`.
///
/// # Errors
/// If the kernel rejects an option, or the far end does not answer.
pub fn ask(probe: &Probe, token: &Token, port: u16) -> Result<Asked> {
    let mut end = End::new(probe, probe.transfer.connected(token, port)?)?;
    let (mut plain, mut sleepless, mut trips) = (Vec::new(), Vec::new(), Vec::new());
    let mut lost = 0;
    let mut first = 0;
    for sequence in 0..probe.before() + probe.messages {
        if sequence == probe.before() {
            end.stamp_departures()?;
            first = kernel_clock::monotonic_nanos();
        }
        let began = kernel_clock::monotonic_nanos();
        end.write(sequence, InjectionPoint::Send)?;
        let came = end.read_echo(sequence, clock::monotonic() + echo_timeout(probe))?;
        let took = kernel_clock::monotonic_nanos() - began;
        lost += u64::from(came.is_none());
        if lost > MOST_LOST || (came.is_none() && probe.transfer.protocol == Transport::Tcp) {
            return Err(stalled("waiting for an echo", echo_timeout(probe)));
        }
        if sequence >= probe.before() {
            trips.push(came.map(|came| (came, took)));
            end.take_stamps()?;
        } else if !probe.sleeps(sequence) {
            sleepless.extend(came.and_then(found_after));
        } else if sequence >= probe.plain / 2 {
            plain.extend(came.map(|_| took));
        }
    }
    let lasted = kernel_clock::monotonic_nanos() - first;
    end.take_last_stamps(LAST_STAMPS)?;
    let trips = (0..).zip(trips).map(|(place, trip)| {
        let left = end.left(place);
        trip.map(|(came, took)| NearStamps { left, came, took })
    });
    Ok(Asked {
        trips: trips.collect(),
        plain,
        softirq: lower_decile(sleepless),
        lasted,
        tcp: match probe.transfer.protocol {
            Transport::Tcp => Some(tcp_state(end.as_fd())?),
            Transport::Udp => None,
        },
        buffers: [send_buffer(end.as_fd())?, receive_buffer(end.as_fd())?],
    })
}

/// The far end, waiting for messages.
pub struct Answerer {
    probe: Probe,
    data_port: DataPort,
    /// The port to which the near end connects.
    pub port: u16,
}

impl Answerer {
    /// Opens a port on the address of `probe` only, for the near end with `token`.
    ///
    /// # Errors
    /// If the kernel rejects the address or an option.
    pub fn open(probe: Probe, token: Token) -> Result<Self> {
        let data_port = probe.transfer.data_port(token)?;
        Ok(Self {
            port: data_port.port,
            probe,
            data_port,
        })
    }

    /// Answers all messages, each with one of the same length. Returns the timestamps
    /// of counted messages; `None` for those that never arrived.
    ///
    /// # Errors
    /// If no data arrive within the timeout, or the data are not ours.
    pub fn answer(self) -> Result<Answered> {
        let Self {
            probe,
            mut data_port,
            ..
        } = self;
        let timeout = probe.transfer.timeout;
        let mut end = End::new(&probe, data_port.admit(timeout)?)?;
        let all = probe.before() + probe.messages;
        let messages = usize::try_from(probe.messages).unwrap_or(usize::MAX);
        let (mut came, mut sleepless) = (vec![None; messages], Vec::new());
        let mut next = 0;
        while next < all {
            let deadline = clock::monotonic() + timeout.min(QUIET).max(echo_timeout(&probe));
            let Some((sequence, arrival)) = end.read(next, deadline, InjectionPoint::Receive)?
            else {
                break;
            };
            end.inject(sequence, InjectionPoint::Echo);
            end.write(sequence, InjectionPoint::Echo)?;
            next = sequence + 1;
            if next >= probe.before() {
                end.stamp_departures()?;
            }
            if !probe.sleeps(sequence) {
                sleepless.extend(found_after(arrival));
            }
            let place = sequence.checked_sub(probe.before());
            let place = place.and_then(|place| came.get_mut(usize::try_from(place).ok()?));
            if let Some(place) = place {
                *place = Some(arrival);
                end.take_stamps()?;
            }
        }
        if next == 0 {
            return Err(stalled("waiting for messages", timeout));
        }
        end.take_last_stamps(LAST_STAMPS)?;
        let trips = (0..).zip(came).map(|(place, came)| {
            let left = end.left(place);
            came.map(|came| FarStamps { came, left })
        });
        Ok(Answered {
            trips: trips.collect(),
            softirq: lower_decile(sleepless),
            rejected_peers: data_port.close(),
            clocks: None,
        })
    }
}

/// The time after the arrival of its last packet at which a message was found, if the
/// kernel timestamped the arrival.
fn found_after(came: ArrivalTimes) -> Option<u64> {
    Some(came.ready.saturating_sub(came.arrived?))
}

/// The lower decile of the values: other load only makes them longer.
fn lower_decile(mut values: Vec<u64>) -> Option<u64> {
    values.sort_unstable();
    values.get(values.len() / 10).copied()
}

/// The longest wait of the near end for an echo.
fn echo_timeout(probe: &Probe) -> Span {
    match probe.transfer.protocol {
        Transport::Tcp => probe.transfer.timeout,
        Transport::Udp => LOST,
    }
}
