//! The simplest tunnel: a TUN interface and a UDP socket, a system call for each packet.

use std::io::ErrorKind;
use std::net::UdpSocket;
use std::os::fd::AsFd as _;

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::socket::{setsockopt, sockopt};
use os::tun::Tun;
use units::{IpMtu, IpVersion};

use crate::Result;

const PORT: u16 = 6_000;

/// Copies packets between `interface` and the peer until it is killed.
pub(crate) fn run(interface: &str, here: &str, there: &str) -> Result<()> {
    #[expect(clippy::disallowed_methods, reason = "a socket of the benchmark")]
    let socket = UdpSocket::bind((here, PORT))?;
    socket.connect((there.parse::<std::net::IpAddr>()?, PORT))?;
    socket.set_nonblocking(true)?;
    let _ = setsockopt(&socket, sockopt::RcvBufForce, &(8 << 20));
    let mut tun = Tun::create(interface, IpMtu::new(1_500, IpVersion::V4)?)?;
    let mut bytes = vec![0; 65_536];
    loop {
        let watch = PollFlags::POLLIN;
        let mut watched = [
            PollFd::new(socket.as_fd(), watch),
            PollFd::new(tun.as_fd(), watch),
        ];
        poll(&mut watched, PollTimeout::NONE)?;
        tun.receive(|packet| {
            // What the kernel has no room for is lost.
            let _ = socket.send(packet);
        })?;
        for _ in 0..64 {
            match socket.recv(&mut bytes) {
                Ok(length) => {
                    tun.send(&bytes[..length])?;
                    tun.flush()?;
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                // Of an earlier datagram, before the peer was there.
                Err(_) => {}
            }
        }
    }
}
