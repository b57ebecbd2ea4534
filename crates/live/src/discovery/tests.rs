use std::io::{Read as _, Write as _};
use std::thread;

use super::*;
use crate::trial_token::new_token;

const V4: IpAddr = IpAddr::V4(std::net::Ipv4Addr::LOCALHOST);
const V6: IpAddr = IpAddr::V6(std::net::Ipv6Addr::LOCALHOST);

fn task(by: Implementation, to: IpAddr) -> Task {
    Task {
        by,
        to,
        up_to: Bytes::new(9000),
        timeout: Span::from_secs(20),
    }
}

/// Both ends on loopback.
fn settled(task: &Task) -> Settled {
    let token = new_token().unwrap();
    let far_end = FarEnd::open(task.clone(), token.clone()).unwrap();
    let to = SocketAddr::new(task.to, far_end.port);
    strange(task.by, to);
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
fn strange(by: Implementation, to: SocketAddr) {
    match by {
        Implementation::Tcp => {
            let mut stranger = std::net::TcpStream::connect(to).unwrap();
            stranger.write_all(&[b'?'; 100]).unwrap();
            let error = stranger.read(&mut [0; 8]).unwrap_err();
            assert_eq!(error.kind(), std::io::ErrorKind::ConnectionReset);
        }
        Implementation::Quic => {
            let stranger = std::net::UdpSocket::bind((to.ip(), 0)).unwrap();
            stranger.send_to(&[b'?'; 100], to).unwrap();
        }
    }
}

#[test]
fn quic_settles_near_the_largest_size_that_it_tries() {
    let Settled {
        mtu,
        black_holes,
        is_late,
        ..
    } = settled(&task(Implementation::Quic, V6));
    let missing = Bytes::new(9000) - mtu.unwrap();
    assert!(missing < QUIC_STEP, "{mtu:?}");
    assert_eq!((black_holes, is_late), (0, false));
}

#[test]
fn tcp_uses_the_whole_mtu_of_loopback() {
    let Settled { mtu, is_late, .. } = settled(&task(Implementation::Tcp, V4));
    assert_eq!((mtu, is_late), (Some(Bytes::new(65_535)), false));
}

#[test]
fn a_connection_without_far_end_has_no_size_and_ends() {
    for by in [Implementation::Tcp, Implementation::Quic] {
        let task = Task {
            timeout: Span::from_millis(300),
            ..task(by, V4)
        };
        // A port that is bound but nobody reads.
        let token = new_token().unwrap();
        let other = Task {
            by: Implementation::Quic,
            ..task.clone()
        };
        let far_end = FarEnd::open(other, token.clone()).unwrap();
        let settled = settle(&task, &token, far_end.port).unwrap();
        assert_eq!((settled.mtu, settled.is_late), (None, true));
    }
}

#[test]
fn a_far_end_without_connection_ends() {
    for by in [Implementation::Tcp, Implementation::Quic] {
        let task = Task {
            timeout: Span::from_millis(200),
            ..task(by, V4)
        };
        let far_end = FarEnd::open(task, new_token().unwrap()).unwrap();
        assert_eq!(far_end.serve().unwrap(), 0);
    }
}
