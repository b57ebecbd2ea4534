use std::net::Ipv4Addr;
use std::thread;

use units::{Bytes, Rate};

use super::*;
use crate::driver::transfer::{Echo, Received, Receiver, Transfer, send};
use crate::driver::trial_token::new_token;
use os::clock::skew::skew;

const HERE: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

/// The other clock in these tests: an hour ahead, and faster than any crystal.
const AHEAD: i64 = 3_600_000_000_000;
const FASTER: i64 = 2_000;

/// Runs `near` while the thread of the other clock does `far`.
fn beside<T, U: Send + 'static>(
    far: impl FnOnce() -> U + Send + 'static,
    near: impl FnOnce() -> T,
) -> (T, U) {
    #[expect(
        clippy::disallowed_methods,
        reason = "a test panics where it has no thread"
    )]
    let other = thread::spawn(far);
    let result = near();
    (result, other.join().unwrap())
}

/// The offset of a clock that leads by `ahead` nanoseconds.
fn compared(ahead: i64) -> Compared {
    let token = new_token().unwrap();
    let answerer = ClockAnswerer::open(HERE, token.clone()).unwrap();
    let port = answerer.port;
    let far = move || {
        skew(ahead, 0);
        answerer.answer().unwrap();
    };
    beside(far, || compare(HERE, &token, port).unwrap()).0
}

#[test]
fn a_planted_offset_is_found_within_the_bound() {
    for ahead in [0, AHEAD, -AHEAD, 1_000_000] {
        let offset = compared(ahead).estimate.offset;
        assert!(offset.holds(ahead), "{offset:?} for {ahead}");
        assert!(offset.bound < 50_000_000, "{offset:?}");
    }
}

#[test]
fn an_asking_end_without_an_answer_fails_in_time() {
    let token = new_token().unwrap();
    let answerer = ClockAnswerer::open(HERE, token.clone()).unwrap();
    let port = answerer.port;
    drop(answerer);
    let error = compare(HERE, &token, port).unwrap_err().to_string();
    assert!(error.contains("Connection refused"), "{error}");
}

fn transfer(epoch: Epoch) -> Transfer {
    Transfer {
        protocol: Transport::Udp,
        address: HERE,
        warmup: Bytes::ZERO,
        warmup_message: Bytes::new(1_000),
        size: Bytes::new(300_000),
        message: Bytes::new(1_000),
        // 300 messages in a fifth of a second.
        pace: Rate::from_bits_per_second(12_000_000),
        paced: true,
        delays: true,
        echo: Echo::Off,
        congestion: "reno".to_owned(),
        largest_segment: None,
        processor: None,
        send_buffer: None,
        receive_buffer: None,
        nagle: true,
        epoch,
        timeout: Span::from_secs(20),
        quiet: Span::from_millis(300),
    }
}

/// The thread of the other clock: it answers, receives, answers, and finishes with the
/// line that `line` gets.
struct FarEnd {
    answerers: [ClockAnswerer; 2],
    epoch: std::sync::mpsc::Receiver<Epoch>,
    ports: std::sync::mpsc::Sender<u16>,
    line: std::sync::mpsc::Receiver<ClockLine>,
}

impl FarEnd {
    fn run(self, token: Token) -> (Received, Received) {
        skew(AHEAD, FASTER);
        let [before, after] = self.answerers;
        before.answer().unwrap();
        let receiver = Receiver::open(transfer(self.epoch.recv().unwrap()), token).unwrap();
        self.ports.send(receiver.port).unwrap();
        let recorded = receiver.record().unwrap();
        after.answer().unwrap();
        let uncorrected = recorded.clone().finish(None);
        let line = self.line.recv().unwrap();
        (recorded.finish(Some(line)), uncorrected)
    }
}

#[test]
fn delays_between_clocks_apart_come_out_as_those_of_one_clock() {
    let token = new_token().unwrap();
    let answerers = [0, 1].map(|_| ClockAnswerer::open(HERE, token.clone()).unwrap());
    let ports = [0, 1].map(|which: usize| answerers[which].port);
    let (to_epoch, epoch) = std::sync::mpsc::channel();
    let (to_line, line) = std::sync::mpsc::channel();
    let (to_port, port) = std::sync::mpsc::channel();
    let far = FarEnd {
        answerers,
        epoch,
        ports: to_port,
        line,
    };
    let far_token = token.clone();
    let (line, (received, uncorrected)) = beside(
        move || far.run(far_token),
        || {
            let before = compare(HERE, &token, ports[0]).unwrap();
            let [near, far] = before.epochs();
            to_epoch.send(far).unwrap();
            send(&transfer(near), &token, port.recv().unwrap()).unwrap();
            let after = compare(HERE, &token, ports[1]).unwrap();
            let line = before.until(after);
            to_line.send(line).unwrap();
            line
        },
    );
    // The clocks drift by 2 ms in a second: 0.4 ms at least during the transfer.
    assert!(line.drift() > 400_000, "{line:?}");
    let bound = line.bound() as f64 / 1e9;
    let least = |received: &Received| received.delays.delay_min.unwrap();
    let mean = |received: &Received| received.delays.delay_mean.unwrap();
    assert_eq!((received.delays.lost, received.clocks), (0, Some(line)));
    // A delay over loopback is some microseconds or more, never less than zero; a late
    // thread only makes it longer.
    assert!(least(&received) < 0.000_3 + bound, "{received:?}");
    let gained = mean(&uncorrected) - mean(&received);
    assert!(gained > 0.000_15, "{gained}: the drift is taken out");
    assert!(uncorrected.clocks.is_none());
}
