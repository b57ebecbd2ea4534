//! The receiver of probes: each is stamped by the kernel on arrival.

use std::io::{IoSliceMut, Write as _};
use std::net::UdpSocket;
use std::os::fd::AsRawFd;

use nix::errno::Errno;
use nix::sys::socket::{
    ControlMessageOwned, MsgFlags, SockaddrStorage, recvmsg, setsockopt, sockopt,
};
use nix::sys::time::{TimeVal, TimeValLike as _};
use os::clock::monotonic;
use os::kernel_clock::{monotonic_nanos, wall_offset_nanos};

use crate::Result;

/// The port of probes.
pub(crate) const PORT: u16 = 7_000;

/// Milliseconds without a probe that end the sink.
const TIMEOUT: i64 = 400;

/// Receives probes until no more come; prints their one-way delays in nanoseconds.
pub(crate) fn run() -> Result<()> {
    #[expect(clippy::disallowed_methods, reason = "a socket of the benchmark")]
    let socket = UdpSocket::bind(("0.0.0.0", PORT))?;
    setsockopt(&socket, sockopt::ReceiveTimestampns, &true)?;
    setsockopt(
        &socket,
        sockopt::ReceiveTimeout,
        &TimeVal::milliseconds(TIMEOUT),
    )?;
    let _ = setsockopt(&socket, sockopt::RcvBufForce, &(8 << 20));
    println!("ready");
    let ahead = wall_ahead();
    let mut delays = Vec::new();
    loop {
        let (mut bytes, mut control) = ([0; 8], nix::cmsg_space!(nix::sys::time::TimeSpec));
        let mut pieces = [IoSliceMut::new(&mut bytes)];
        let flags = MsgFlags::empty();
        let message = match recvmsg::<SockaddrStorage>(
            socket.as_raw_fd(),
            &mut pieces,
            Some(&mut control),
            flags,
        ) {
            Ok(message) => message,
            Err(Errno::EINTR) => continue,
            Err(Errno::EAGAIN) => break,
            Err(error) => return Err(error.into()),
        };
        let stamp = message.cmsgs()?.find_map(|part| match part {
            ControlMessageOwned::ScmTimestampns(stamp) => Some(stamp.num_nanoseconds()),
            _ => None,
        });
        let sent = u64::from_be_bytes(bytes);
        let arrived = stamp.ok_or("the kernel stamps nothing")? - ahead;
        delays.push(arrived - i64::try_from(sent)?);
    }
    let mut text = String::new();
    for delay in delays {
        text += &format!("{delay} ");
    }
    Ok(std::io::stdout().write_all(text.as_bytes())?)
}

/// How far the wall clock is ahead of CLOCK_MONOTONIC, in nanoseconds.
fn wall_ahead() -> i64 {
    let between = |()| {
        let own = i64::try_from(monotonic().as_nanos()).unwrap_or(0);
        i64::try_from(monotonic_nanos()).unwrap_or(0) - own
    };
    // An interruption between two readings makes the difference larger.
    let zero = (0..20).map(|_| between(())).min().unwrap_or(0);
    wall_offset_nanos() - zero
}
