//! An HTTP endpoint on loopback from which a monitoring system reads metrics.

use std::iter;
use std::net::SocketAddr;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{Builder, JoinHandle};

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, poll};
use nix::sys::socket::{MsgFlags, send};
use units::Span;

use crate::clock;
use crate::deadline::Deadline;
use crate::error::{Error, OperationContext, Result};
use crate::socket::receive;
use crate::socket::{Kind, Options, accept, address_of, listen, open};

/// The most bytes of a request, and the longest time for one and its response.
const LONGEST_REQUEST: usize = 8 << 10;
const TIMEOUT: Span = Span::from_secs(2);

/// Readers that may wait to be accepted.
const WAITING: i32 = 128;

/// The most readers at a time.
const MOST_READERS: usize = 32;

/// Milliseconds between checks whether the endpoint is to end.
const LOOK: u8 = 100;

/// The media type of the text format [OpenMetrics].
const MEDIA_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// An endpoint, which closes when it is dropped.
#[derive(Debug)]
pub struct Endpoint {
    address: SocketAddr,
    text: Arc<Mutex<String>>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

const NO_PANIC: &str = "nobody panics with the text in hand";

impl Endpoint {
    /// Listens at an address of loopback.
    ///
    /// # Errors
    /// The address is not of loopback, or in use.
    pub fn open(address: SocketAddr) -> Result<Self> {
        if !address.ip().is_loopback() {
            let problem =
                "they are served to this machine only; write an address such as 127.0.0.1:9777";
            return Err(Error::new(format!("serving metrics at {address}"), problem));
        }
        let options = Options {
            bind: Some(address),
            non_blocking: true,
            reuse_address: true,
            ..Options::default()
        };
        let socket = open(Kind::Stream, address.ip(), &options)?;
        listen(&socket, WAITING)?;
        let address = address_of(socket.as_fd())?;
        let text = Arc::<Mutex<String>>::default();
        let stop = Arc::<AtomicBool>::default();
        let thread = {
            let (text, stop) = (Arc::clone(&text), Arc::clone(&stop));
            let serve = move || serve(&socket, &text, &stop);
            Builder::new().name("metrics".into()).spawn(serve)
        };
        Ok(Self {
            address,
            text,
            stop,
            thread: Some(thread.during(|| "starting a thread that serves metrics")?),
        })
    }

    /// The address with its port.
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Replaces the text that readers get.
    pub fn publish(&self, text: String) {
        *self.text.lock().expect(NO_PANIC) = text;
    }
}

impl Drop for Endpoint {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            // A thread that panicked has nothing left to close.
            let _ = thread.join();
        }
    }
}

/// Serves readers until `stop` is set.
fn serve(socket: &OwnedFd, text: &Mutex<String>, stop: &Arc<AtomicBool>) {
    let mut readers: Vec<Reader> = Vec::new();
    while !stop.load(Ordering::Relaxed) {
        let arrivals = PollFd::new(socket.as_fd(), PollFlags::POLLIN);
        let waiting = readers.iter().map(Reader::watched);
        let mut watched: Vec<PollFd<'_>> = iter::once(arrivals).chain(waiting).collect();
        if poll(&mut watched, LOOK).is_err() {
            // A signal came.
            continue;
        }
        let has_arrivals = watched[0].any().unwrap_or(false);
        readers.retain_mut(|reader| reader.advance(text) == Progress::Goes);
        for _ in 0..MOST_READERS * usize::from(has_arrivals) {
            let Ok(socket) = accept(socket, true) else {
                break;
            };
            if readers.len() == MOST_READERS {
                // A reader of this machine is served within milliseconds, so the oldest one
                // asks for nothing.
                readers.remove(0);
            }
            let deadline = Deadline::of_owner(clock::monotonic() + TIMEOUT, stop);
            readers.push(Reader {
                socket,
                deadline,
                request: Vec::new(),
                response: None,
            });
        }
    }
}

/// A connection with one request.
struct Reader {
    socket: OwnedFd,
    deadline: Deadline,
    request: Vec<u8>,
    /// What is still to be sent, once the request is whole.
    response: Option<Vec<u8>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Progress {
    Goes,
    Ended,
}

impl Reader {
    fn watched(&self) -> PollFd<'_> {
        let events = match &self.response {
            None => PollFlags::POLLIN,
            Some(_) => PollFlags::POLLOUT,
        };
        PollFd::new(self.socket.as_fd(), events)
    }

    /// Reads once, and sends as much as the socket takes.
    fn advance(&mut self, text: &Mutex<String>) -> Progress {
        let Ok(permit) = self.deadline.permit() else {
            return Progress::Ended;
        };
        if self.response.is_none() {
            let mut room = [0; 1024];
            let is_over = match receive(&self.socket, &mut room, MsgFlags::MSG_DONTWAIT, permit) {
                Ok(0) => true,
                Ok(count) => {
                    self.request.extend_from_slice(&room[..count]);
                    self.request.len() >= LONGEST_REQUEST || is_whole(&self.request)
                }
                Err(Errno::EAGAIN | Errno::EINTR) => false,
                Err(_) => return Progress::Ended,
            };
            if !is_over {
                return Progress::Goes;
            }
            let response = response(&self.request, &text.lock().expect(NO_PANIC));
            self.response = Some(response.into_bytes());
        }
        let Some(response) = &mut self.response else {
            return Progress::Goes;
        };
        let flags = MsgFlags::MSG_DONTWAIT | MsgFlags::MSG_NOSIGNAL;
        match send(self.socket.as_raw_fd(), response, flags) {
            Ok(count) => drop(response.drain(..count)),
            Err(Errno::EAGAIN | Errno::EINTR) => return Progress::Goes,
            Err(_) => return Progress::Ended,
        }
        match response.is_empty() {
            true => Progress::Ended,
            false => Progress::Goes,
        }
    }
}

fn is_whole(request: &[u8]) -> bool {
    request.windows(4).any(|bytes| bytes == b"\r\n\r\n")
}

/// The response to a request [RFC9112 s3, s4].
fn response(request: &[u8], text: &str) -> String {
    let request = String::from_utf8_lossy(request);
    let mut words = request.lines().next().unwrap_or_default().split(' ');
    let (status, body) = match (words.next(), words.next()) {
        (Some("GET"), Some("/metrics" | "/")) => ("200 OK", text),
        (Some("GET"), Some(_)) => ("404 Not Found", ""),
        (Some(method), Some(_)) if !method.is_empty() => ("405 Method Not Allowed", ""),
        _ => ("400 Bad Request", ""),
    };
    format!(
        "HTTP/1.1 {status}\r\nContent-Type: {MEDIA_TYPE}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read as _, Write as _};
    use std::net::TcpStream;

    #[expect(clippy::disallowed_methods, reason = "the test is the reader")]
    fn ask(address: SocketAddr, request: &str) -> String {
        let mut reader = TcpStream::connect(address).unwrap();
        reader.write_all(request.as_bytes()).unwrap();
        let mut response = String::new();
        reader.read_to_string(&mut response).unwrap();
        response
    }

    #[test]
    fn a_reader_gets_the_latest_text_and_nothing_else() {
        let endpoint = Endpoint::open(SocketAddr::from(([127, 0, 0, 1], 0))).unwrap();
        let address = endpoint.address();
        endpoint.publish("up 1\n# EOF\n".to_owned());
        let got = ask(address, "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n");
        assert!(got.starts_with("HTTP/1.1 200 OK\r\n"), "{got}");
        assert!(got.ends_with("\r\n\r\nup 1\n# EOF\n"), "{got}");
        for (request, status) in [
            ("GET /secret HTTP/1.1\r\n\r\n", "404"),
            ("POST /metrics HTTP/1.1\r\n\r\n", "405"),
            ("\r\n\r\n", "400"),
        ] {
            let got = ask(address, request);
            assert!(got.starts_with(&format!("HTTP/1.1 {status} ")), "{got}");
        }
        drop(endpoint);
        // The port is free again, once a process that another test starts has done its exec.
        let by = clock::monotonic() + Span::from_secs(20);
        while let Err(error) = Endpoint::open(address) {
            assert!(clock::monotonic() < by, "{error}");
            clock::sleep(Span::from_millis(1));
        }
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "the test is the reader")]
    fn readers_that_never_finish_their_requests_delay_nobody() {
        let endpoint = Endpoint::open(SocketAddr::from(([127, 0, 0, 1], 0))).unwrap();
        let address = endpoint.address();
        // More than text that a socket takes at once.
        endpoint.publish("x".repeat(8 << 20));
        let begun = clock::monotonic();
        let slow: Vec<TcpStream> = (0..MOST_READERS + 7)
            .map(|number| {
                let mut reader = TcpStream::connect(address).unwrap();
                let half = if number % 2 == 0 { "GET /met" } else { "" };
                reader.write_all(half.as_bytes()).unwrap();
                reader
            })
            .collect();
        for _ in 0..5 {
            let got = ask(address, "GET /metrics HTTP/1.1\r\n\r\n");
            assert!(got.len() > 8 << 20);
        }
        // One slow reader after the other would take two seconds for each.
        let took = clock::monotonic().since(begun).unwrap();
        assert!(took < TIMEOUT * 10, "{took}");
        drop(slow);
    }

    #[test]
    fn only_this_machine_can_be_served() {
        let error = Endpoint::open(SocketAddr::from(([0, 0, 0, 0], 9777))).unwrap_err();
        assert!(error.to_string().contains("127.0.0.1"), "{error}");
    }
}
