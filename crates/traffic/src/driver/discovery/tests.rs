use std::io::{Read as _, Write as _};
use std::thread;

use super::*;
use crate::driver::trial_token::new_token;

const V4: IpAddr = IpAddr::V4(std::net::Ipv4Addr::LOCALHOST);
const V6: IpAddr = IpAddr::V6(std::net::Ipv6Addr::LOCALHOST);

const fn task(to: IpAddr, timeout: Span) -> Task {
    Task { to, timeout }
}

/// Both ends on loopback.
fn settled(task: &Task) -> Settled {
    let token = new_token().unwrap();
    let far_end = FarEnd::open(task.clone(), token.clone()).unwrap();
    let to = SocketAddr::new(task.to, far_end.port);
    strange(to);
    #[expect(
        clippy::disallowed_methods,
        reason = "a test panics where it has no thread"
    )]
    let serving = thread::spawn(|| far_end.serve().unwrap());
    let settled = settle(task, &token, to.port()).unwrap();
    assert_eq!(serving.join().unwrap(), 1, "the stranger is counted");
    settled
}

/// Comes to the far end without its token.
#[expect(
    clippy::disallowed_methods,
    reason = "the stranger is of the test's own"
)]
fn strange(to: SocketAddr) {
    let mut stranger = std::net::TcpStream::connect(to).unwrap();
    stranger.write_all(&[b'?'; 100]).unwrap();
    let error = stranger.read(&mut [0; 8]).unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::ConnectionReset);
}

#[test]
fn tcp_uses_the_whole_mtu_of_loopback() {
    let Settled { mtu, is_late, .. } = settled(&task(V4, Span::from_secs(20)));
    assert_eq!((mtu, is_late), (Some(Bytes::new(65_535)), false));
}

#[test]
#[expect(clippy::disallowed_methods, reason = "the port is of the test's own")]
fn a_connection_without_far_end_has_no_size_and_ends() {
    // A port on which nobody listens.
    let bound = std::net::UdpSocket::bind((V6, 0)).unwrap();
    let port = bound.local_addr().unwrap().port();
    let task = task(V6, Span::from_millis(300));
    let settled = settle(&task, &new_token().unwrap(), port).unwrap();
    assert_eq!((settled.mtu, settled.is_late), (None, true));
}

#[test]
fn a_far_end_without_connection_ends() {
    let task = task(V4, Span::from_millis(200));
    let far_end = FarEnd::open(task, new_token().unwrap()).unwrap();
    assert_eq!(far_end.serve().unwrap(), 0);
}
