//! Connections between two addresses of this host.

use std::net::IpAddr;

use super::*;
use os::socket::default_congestion_control;

const BYTES: u64 = 100_000;

#[test]
fn a_connection_carries_its_bytes_also_where_another_one_has_just_ended() {
    // Far longer than the bytes take, for a machine that is busy.
    let length = Span::from_secs(2);
    let [from, to] = [1, 2].map(|host| IpAddr::from([127, 2, 1, host]));
    let to = SocketAddr::new(to, 20_000);
    for _ in 0..2 {
        let receiving = Host::open(Task {
            end: length,
            incoming: vec![Incoming {
                at: to,
                window: None,
                receive_buffer: None,
            }],
            ..Task::default()
        });
        let sending = Host::open(Task {
            end: length,
            outgoing: vec![Outgoing {
                from: SocketAddr::new(from, 0),
                to,
                start: Span::from_millis(50),
                stop: length,
                bytes: Some(BYTES),
                congestion: default_congestion_control().unwrap(),
                send_buffer: None,
            }],
            ..Task::default()
        });
        let begin = kernel_clock::monotonic_nanos();
        #[expect(
            clippy::disallowed_methods,
            reason = "a test panics where it has no thread"
        )]
        let [sent, received] = thread::scope(|scope| {
            let running = [sending, receiving]
                .map(|host| scope.spawn(move || host.unwrap().run(begin).unwrap()));
            running.map(|one| one.join().unwrap())
        });
        assert_eq!(sent.sent[0].failure, None);
        assert_eq!(sent.sent[0].bytes, BYTES);
        assert_eq!(received.received[0].bytes, BYTES);
    }
}
