//! The control connection of a receiver of the test's own, and a sender at its other
//! end.
#![expect(
    clippy::disallowed_methods,
    reason = "the receiver is one of the test's own"
)]

use std::io::{ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use traffic::machine::control::{Limits, Request, Server, Settings};
use units::Time;

use super::super::harness::Dir;

/// The interval at which [`Control::read`] returns although nothing has come.
const TICK: Duration = Duration::from_millis(100);

/// The receiver's end of a control connection.
pub(super) struct Control {
    begun: Instant,
    stream: TcpStream,
    server: Server,
}

impl Control {
    /// Starts a sender with the options of `line`, and takes its connection.
    pub(super) fn start(dir: &Dir, line: &str) -> (Child, Self) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port().to_string();
        let begun = Instant::now();
        let sender = dir
            .command()
            .args(["send", "127.0.0.1", "--port", &port])
            .args(line.split_whitespace())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let (stream, _) = listener.accept().unwrap();
        stream.set_read_timeout(Some(TICK)).unwrap();
        let settings = Settings {
            secret: None,
            limits: Limits::default(),
            nonce: [7; 16],
            clock: [7; 8],
        };
        let control = Self {
            begun,
            stream,
            server: Server::new(Time::ZERO, settings),
        };
        (sender, control)
    }

    /// The bytes received from the sender since the last call, which may be none; `None`: the sender has closed.
    pub(super) fn read(&mut self) -> Option<Vec<u8>> {
        let mut room = vec![0; 4096];
        match self.stream.read(&mut room) {
            Ok(0) => None,
            Ok(count) => {
                room.truncate(count);
                Some(room)
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => Some(Vec::new()),
            Err(_) => None,
        }
    }

    /// Answers the requests in `bytes`. `respond` sees each after the server
    /// has admitted the sender.
    pub(super) fn answer(&mut self, bytes: &[u8], mut respond: impl FnMut(&mut Server, Request)) {
        let clock = u64::try_from(self.begun.elapsed().as_nanos()).unwrap();
        for request in self.server.receive(clock, bytes).unwrap() {
            match request {
                Request::Admit => self.server.admit(Time::ZERO),
                request => respond(&mut self.server, request),
            }
        }
        // The sender may be gone.
        let _ = self.stream.write_all(self.server.output());
        self.server.output().clear();
    }
}
