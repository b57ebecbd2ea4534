//! `jumbolab probe https://HOST`: the path to a server, by its TCP connections.

use std::net::SocketAddr;

use anyhow::{Result, bail, ensure};
use probe::driver::Investigated;
use probe::driver::tcp_mss::{TcpTask, test_server};
use probe::machine::tcp_mss::Service;
use units::Bytes;

use super::Progress;
use crate::args::Probe;

/// The ports of HTTP and HTTPS [RFC9110 s4.2].
const HTTP_PORT: u16 = 80;
const HTTPS_PORT: u16 = 443;

/// The longest page: with the name of the host it fits into a few small segments.
const LONGEST_PAGE: usize = 500;

/// A server as users write it: `https://HOST`, `http://HOST/PAGE` or `HOST:PORT`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Server {
    service: Service,
    /// The host, without a port.
    pub(super) host: String,
    port: u16,
    page: String,
}

impl Server {
    /// The server that `text` names; `None` if it names a host alone.
    ///
    /// # Errors
    /// It is a URL of another kind, or its port is no number.
    pub(super) fn parse(text: &str) -> Result<Option<Self>> {
        let (scheme, rest) = match text.split_once("://") {
            Some((scheme, rest)) => (Some(scheme), rest),
            None => (None, text),
        };
        let by_scheme = match scheme {
            None => None,
            Some("http") => Some((Service::Http, HTTP_PORT)),
            Some("https") => Some((Service::Https, HTTPS_PORT)),
            Some(_) => bail!(
                "{text}: there is no test of this protocol; write https://HOST, http://HOST or HOST:PORT"
            ),
        };
        let (place, page) = match rest.find('/') {
            Some(slash) if by_scheme.is_some() => rest.split_at(slash),
            _ => (rest, "/"),
        };
        let (host, port) = match split_port(place) {
            Some((host, port)) => (host, Some(port)),
            None => (place, None),
        };
        let port = match port.map(str::parse::<u16>) {
            None => None,
            Some(Ok(port)) if port > 0 => Some(port),
            Some(_) => bail!("{text}: this is no port; write one from 1 to 65535 behind the colon"),
        };
        let (service, port) = match (by_scheme, port) {
            (None, None) => return Ok(None),
            (Some((service, usual)), port) => (service, port.unwrap_or(usual)),
            (None, Some(HTTPS_PORT)) => (Service::Https, HTTPS_PORT),
            (None, Some(port)) => (Service::Http, port),
        };
        ensure!(
            !host.is_empty(),
            "{text}: a host is missing; write its name or address"
        );
        let is_plain =
            page.len() <= LONGEST_PAGE && page.bytes().all(|byte| byte.is_ascii_graphic());
        ensure!(
            is_plain,
            "{text}: this page cannot be requested; write at most {LONGEST_PAGE} letters, digits and signs of ASCII"
        );
        Ok(Some(Self {
            service,
            host: host.to_owned(),
            port,
            page: page.to_owned(),
        }))
    }

    /// Rejects options that a test of connections has no use for.
    ///
    /// # Errors
    /// There is one.
    pub(super) fn check(args: &Probe) -> Result<()> {
        let unused = [
            (
                args.port.is_some(),
                "--port",
                "write the port behind the host",
            ),
            (
                args.watch.is_some(),
                "--watch",
                "watch the host without a port",
            ),
            (args.capture.is_some(), "--capture", "capture by tcpdump"),
            (
                args.protocol != Probe::PROTOCOLS,
                "--protocol",
                "leave it out",
            ),
        ];
        for (is_given, option, remedy) in unused {
            let host = args.host();
            ensure!(
                !is_given,
                "{host}: a server is tested by its TCP connections, without {option}; {remedy}"
            );
        }
        Ok(())
    }

    /// Tests the path to an address of the server.
    ///
    /// # Errors
    /// There is no route, or the kernel's.
    pub(super) fn test(
        &self,
        args: &Probe,
        address: SocketAddr,
        up_to: Option<Bytes>,
    ) -> Result<Investigated> {
        let mut to = address;
        to.set_port(self.port);
        let task = TcpTask {
            to,
            service: self.service,
            host: self.named(),
            page: self.page.clone(),
            up_to,
            interface: args.interface.clone(),
            address: args.source,
        };
        let mut progress = Progress::new();
        let found = test_server(&task, |connections| {
            progress.show(|| format!("testing {to}: {connections} connections"));
        });
        progress.end();
        Ok(found?)
    }

    /// The name by which the server knows itself: for TLS a host, for HTTP with the port if it
    /// is not the usual one [RFC9110 s7.2].
    fn named(&self) -> String {
        match (self.service, self.port) {
            (Service::Http, HTTP_PORT) | (Service::Https, _) => self.host.clone(),
            (Service::Http, port) => format!("{}:{port}", self.host),
        }
    }
}

/// The host and the port of `HOST:PORT` and `[ADDRESS]:PORT`. An address of IPv6 without brackets
/// has no port.
fn split_port(place: &str) -> Option<(&str, &str)> {
    let (host, port) = place.rsplit_once(':')?;
    let is_whole = match host.strip_prefix('[') {
        Some(_) => host.ends_with(']'),
        None => !host.contains(':'),
    };
    is_whole.then_some((host, port))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_are_told_from_hosts() {
        let parse = |text| {
            let server = Server::parse(text).unwrap()?;
            Some((server.service, server.host, server.port, server.page))
        };
        let is = |service, host: &str, port, page: &str| {
            Some((service, host.to_owned(), port, page.to_owned()))
        };
        let (http, https) = (Service::Http, Service::Https);
        for (text, expected) in [
            ("https://host.example", is(https, "host.example", 443, "/")),
            ("http://host.example/", is(http, "host.example", 80, "/")),
            ("http://a:8080/b:9/c", is(http, "a", 8080, "/b:9/c")),
            ("https://[fd00::2]:8443", is(https, "[fd00::2]", 8443, "/")),
            ("https://[fd00::2]", is(https, "[fd00::2]", 443, "/")),
            ("host.example:443", is(https, "host.example", 443, "/")),
            ("192.0.2.1:22", is(http, "192.0.2.1", 22, "/")),
            ("[fd00::2]:80", is(http, "[fd00::2]", 80, "/")),
        ] {
            assert_eq!(parse(text), expected, "{text}");
        }
        for host in [
            "host.example",
            "192.0.2.1",
            "fd00::2",
            "[fd00::2]",
            "fe80::1%eth0",
        ] {
            assert_eq!(Server::parse(host).unwrap(), None, "{host}");
        }
        for wrong in [
            "ftp://host",
            "http://",
            "host:0",
            "host:http",
            "http://host/ä",
            "a:99999",
        ] {
            assert!(Server::parse(wrong).is_err(), "{wrong}");
        }
    }
}
