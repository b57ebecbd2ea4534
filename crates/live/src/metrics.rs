//! An HTTP endpoint on loopback from which a monitoring system reads metrics.

use std::net::SocketAddr;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use nix::errno::Errno;
use nix::poll::PollFlags;
use nix::sys::socket::{
    AddressFamily, Backlog, MsgFlags, SockFlag, SockType, accept4, listen, send, setsockopt,
    socket, sockopt,
};
use units::Span;

use crate::clock;
use crate::deadline::{Deadline, receive};
use crate::error::{During, Error, Result};
use crate::sockets::{address_of, wait};
use crate::traffic::bind_to;

/// The most octets of a request, and the longest time for one and its response.
const LONGEST_REQUEST: usize = 8 << 10;
const TIMEOUT: Span = Span::from_secs(2);

/// Interval of checks whether the endpoint is to end.
const LOOK: Span = Span::from_millis(100);

/// The media type of the text format [OpenMetrics].
const MEDIA_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// An endpoint, which closes when it is dropped. It serves one reader at a time.
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
        let operation = || format!("serving metrics at {address}");
        if !address.ip().is_loopback() {
            let problem =
                "they are served to this machine only; write an address such as 127.0.0.1:9777";
            return Err(Error::new(operation(), problem));
        }
        let family = match address {
            SocketAddr::V4(_) => AddressFamily::Inet,
            SocketAddr::V6(_) => AddressFamily::Inet6,
        };
        let flags = SockFlag::SOCK_CLOEXEC | SockFlag::SOCK_NONBLOCK;
        let socket = socket(family, SockType::Stream, flags, None).during(operation)?;
        setsockopt(&socket, sockopt::ReuseAddr, &true).during(operation)?;
        bind_to(&socket, address)?;
        listen(&socket, Backlog::new(8).during(operation)?).during(operation)?;
        let address = address_of(socket.as_fd())?;
        let text = Arc::<Mutex<String>>::default();
        let stop = Arc::<AtomicBool>::default();
        let thread = {
            let (text, stop) = (Arc::clone(&text), Arc::clone(&stop));
            let serve = move || serve(&socket, &text, &stop);
            let thread = std::thread::Builder::new().spawn(serve);
            thread.during(|| "starting a thread that serves metrics")?
        };
        Ok(Self {
            address,
            text,
            stop,
            thread: Some(thread),
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
    while !stop.load(Ordering::Relaxed) {
        let look = clock::monotonic() + LOOK;
        let ready = wait(socket.as_fd(), PollFlags::POLLIN, look);
        if !ready.is_ok_and(|ready| ready.contains(PollFlags::POLLIN)) {
            continue;
        }
        let flags = SockFlag::SOCK_CLOEXEC | SockFlag::SOCK_NONBLOCK;
        let Ok(reader) = accept4(socket.as_raw_fd(), flags) else {
            continue;
        };
        #[expect(unsafe_code, reason = "nix returns accepted sockets as numbers")]
        // SAFETY: the kernel has just made this descriptor, which nobody else owns.
        let reader = unsafe { <OwnedFd as std::os::fd::FromRawFd>::from_raw_fd(reader) };
        let deadline = Deadline::of_owner(clock::monotonic() + TIMEOUT, stop);
        let request = read(&reader, &deadline);
        let response = response(&request, &text.lock().expect(NO_PANIC));
        write(&reader, response.as_bytes(), &deadline);
    }
}

/// The head of a request, as far as it came in time.
fn read(reader: &OwnedFd, deadline: &Deadline) -> Vec<u8> {
    let mut request = Vec::new();
    let mut room = [0; 1024];
    while request.len() < LONGEST_REQUEST && !is_whole(&request) {
        let Ok(permit) = deadline.permit() else { break };
        let look = clock::monotonic() + LOOK;
        if !wait(reader.as_fd(), PollFlags::POLLIN, look).is_ok_and(|ready| !ready.is_empty()) {
            continue;
        }
        match receive(reader, &mut room, MsgFlags::MSG_DONTWAIT, permit) {
            Ok(0) => break,
            Ok(count) => request.extend_from_slice(&room[..count]),
            Err(Errno::EAGAIN | Errno::EINTR) => {}
            Err(_) => break,
        }
    }
    request
}

fn is_whole(request: &[u8]) -> bool {
    request.windows(4).any(|octets| octets == b"\r\n\r\n")
}

fn write(reader: &OwnedFd, mut response: &[u8], deadline: &Deadline) {
    let flags = MsgFlags::MSG_DONTWAIT | MsgFlags::MSG_NOSIGNAL;
    while !response.is_empty() && deadline.permit().is_ok() {
        match send(reader.as_raw_fd(), response, flags) {
            Ok(count) => response = &response[count..],
            Err(Errno::EINTR) => {}
            Err(Errno::EAGAIN) => {
                let look = clock::monotonic() + LOOK;
                let _ = wait(reader.as_fd(), PollFlags::POLLOUT, look);
            }
            Err(_) => return,
        }
    }
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
        // The port is free again.
        Endpoint::open(address).unwrap();
    }

    #[test]
    fn only_this_machine_can_be_served() {
        let error = Endpoint::open(SocketAddr::from(([0, 0, 0, 0], 9777))).unwrap_err();
        assert!(error.to_string().contains("127.0.0.1"), "{error}");
    }
}
