//! A third process that captures arriving frames with the kernel's stamps, so
//! that one clock judges the departures of all programs.

use std::io::{BufRead, IoSliceMut, stdin};
use std::os::fd::AsRawFd;

use nix::errno::Errno;
use nix::sys::socket::{
    AddressFamily, ControlMessageOwned, MsgFlags, SockFlag, SockProtocol, SockType, recvmsg,
    setsockopt, socket, sockopt,
};
use nix::sys::time::TimeValLike;
use os::clock::monotonic;
use os::worker::Command;
use os::{Namespace, Worker};
use units::Span;

use crate::Result;
use crate::processor::f64_of;
use crate::statistics::{median, sorted};

/// The role of the observing process.
pub(crate) const ROLE: &str = "observer";

/// Size of the capture buffer in bytes: the process sleeps while traffic runs.
const ROOM: usize = 512 << 20;

/// Bytes of an IPv4 header without options [RFC791 s3.1], and of one of UDP [RFC768].
const IP_HEADER: usize = 20;
const UDP_HEADER: usize = 8;

/// An observer in a namespace.
pub(crate) struct Observer(Worker);

/// The departures relative to a regular grid, in microseconds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Departures {
    /// The number of departures.
    pub(crate) count: usize,
    /// The 99th percentile of timing error relative to the grid through the
    /// earliest departure (relative to its position) of the first hundredth.
    pub(crate) p99: f64,
    /// The median timing error of the last hundredth minus that of the first.
    pub(crate) drift: f64,
}

impl Observer {
    /// Starts an observer of arrivals in `namespace`.
    pub(crate) fn post(namespace: &Namespace) -> Result<Self> {
        let mut worker = Worker::spawn(Command::local(Some(namespace), ROLE))?;
        hear(&mut worker)?;
        Ok(Self(worker))
    }

    /// The departures of UDP datagrams of `size` bytes that were scheduled
    /// every `gap`.
    pub(crate) fn departures(mut self, size: usize, gap: Span) -> Result<Departures> {
        self.0.send_line(&size.to_string())?;
        let said = hear(&mut self.0)?;
        let nanos = said
            .split_whitespace()
            .map(|word| Ok(f64_of(word.parse()?)))
            .collect::<Result<Vec<f64>>>()?;
        Departures::of(&nanos, gap).ok_or_else(|| "the observer saw too little".into())
    }
}

impl Departures {
    /// Computes the departures from times in nanoseconds.
    fn of(nanos: &[f64], gap: Span) -> Option<Self> {
        let step = gap.as_secs_f64() * 1e9;
        let places = std::iter::successors(Some(0.0), |due: &f64| Some(due + step));
        let late: Vec<f64> = nanos.iter().zip(places).map(|(at, due)| at - due).collect();
        let hundredth = late.len() / 100;
        let first = sorted(late.get(..hundredth)?.iter().copied());
        let last = sorted(late[late.len() - hundredth..].iter().copied());
        let base = first.first()?;
        let all = sorted(late.iter().map(|late| late - base));
        Some(Self {
            count: late.len(),
            p99: all[all.len() - 1 - all.len() / 100] / 1e3,
            drift: (median(&last) - median(&first)) / 1e3,
        })
    }
}

fn hear(worker: &mut Worker) -> Result<String> {
    let deadline = monotonic() + Span::from_secs(20);
    Ok(worker
        .receive_line(deadline)?
        .ok_or("the observer says nothing")?)
}

/// The main function of the observer: starts capturing, reports that it has,
/// and once it receives a size, prints the arrival times of datagrams of that
/// size in nanoseconds after the first.
pub(crate) fn run() -> Result<()> {
    let socket = socket(
        AddressFamily::Packet,
        SockType::Datagram,
        SockFlag::SOCK_CLOEXEC | SockFlag::SOCK_NONBLOCK,
        SockProtocol::EthAll,
    )?;
    setsockopt(&socket, sockopt::RcvBufForce, &ROOM)?;
    setsockopt(&socket, sockopt::ReceiveTimestampns, &true)?;
    println!("ready");
    let mut size = String::new();
    stdin().lock().read_line(&mut size)?;
    let length = size.trim().parse::<usize>()? + IP_HEADER + UDP_HEADER;
    let mut instants = Vec::new();
    let mut packet = [0; 128];
    let mut space = nix::cmsg_space!(nix::sys::time::TimeSpec);
    loop {
        let mut pieces = [IoSliceMut::new(&mut packet)];
        let (flags, socket) = (MsgFlags::MSG_DONTWAIT, socket.as_raw_fd());
        let taken = match recvmsg::<()>(socket, &mut pieces, Some(&mut space), flags) {
            Ok(taken) => taken,
            Err(Errno::EAGAIN) => break,
            Err(error) => return Err(error.into()),
        };
        let bytes = taken.bytes;
        let stamp = taken.cmsgs()?.find_map(|message| match message {
            ControlMessageOwned::ScmTimestampns(stamp) => Some(stamp),
            _ => None,
        });
        // IPv4 without options; byte 9 is the protocol, and 17 is UDP.
        if bytes == length && packet[0] == 0x45 && packet[9] == 17 {
            instants.push(stamp.ok_or("a frame has no stamp")?.num_nanoseconds());
        }
    }
    let first = instants.first().copied().unwrap_or_default();
    let words: Vec<String> = instants.iter().map(|at| (at - first).to_string()).collect();
    println!("{}", words.join(" "));
    Ok(())
}
