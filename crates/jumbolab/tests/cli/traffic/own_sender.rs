//! A sender of the test's own on 127.0.0.1, up to the comparison of the clocks.
#![expect(
    clippy::disallowed_methods,
    reason = "the sender is one of the test's own"
)]

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use traffic::machine::control::{Client, Fault, ReceiverMessage};
use wire::control::{Flow, Reverse};

use super::Receiver;

/// The cookie of all its flows.
pub(super) const COOKIE: [u8; 16] = *b"CCCCCCCCCCCCCCCC";

/// The longest wait for a message of the receiver.
const TIMEOUT: Duration = Duration::from_secs(15);

/// The sender's end of a control connection.
pub(super) struct OwnSender {
    pub(super) control: TcpStream,
    pub(super) client: Client,
}

impl OwnSender {
    pub(super) fn connect(receiver: &Receiver) -> Self {
        let control = TcpStream::connect(("127.0.0.1", receiver.port)).unwrap();
        control.set_read_timeout(Some(TIMEOUT)).unwrap();
        let client = Client::new(None, [7; 16], [7; 8]);
        let mut sender = Self { control, client };
        let welcome = sender.hear().unwrap();
        assert!(matches!(welcome, ReceiverMessage::Welcome { .. }));
        sender.client.clocks(0, 0, 0);
        sender
    }

    /// The next message of the receiver, or its rejection.
    pub(super) fn hear(&mut self) -> Result<ReceiverMessage, Fault> {
        let mut room = [0; 4096];
        loop {
            self.control.write_all(self.client.output()).unwrap();
            self.client.output().clear();
            let count = self.control.read(&mut room).unwrap();
            assert!(count > 0, "it closed the connection");
            if let Some(first) = self.client.receive(0, &room[..count])?.pop() {
                return Ok(first);
            }
        }
    }

    /// Opens a flow. Returns its port.
    pub(super) fn open(&mut self, flow: Flow) -> Result<u16, Fault> {
        self.client.open(flow);
        self.port()
    }

    /// Asks for a flow that the receiver sends. Returns its port.
    pub(super) fn reverse(&mut self, reverse: Reverse) -> Result<u16, Fault> {
        self.client.reverse(reverse);
        self.port()
    }

    fn port(&mut self) -> Result<u16, Fault> {
        match self.hear()? {
            ReceiverMessage::Ready { port, .. } => Ok(port),
            other => panic!("{other:?}"),
        }
    }
}
