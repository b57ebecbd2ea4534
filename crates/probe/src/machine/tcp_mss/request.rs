//! The requests of a test: small ones that a server answers, and the beginning of a long one.

/// The protocol of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Service {
    Http,
    Https,
}

/// A line of HTTP ends here, before the limit of servers for one line.
const LINE: usize = 4_000;

/// The content types of records and messages, and the versions in their headers
/// [RFC8446 s5.1] [RFC8446 s4].
const HANDSHAKE: u8 = 22;
const CLIENT_HELLO: u8 = 1;
const TLS_1_0: [u8; 2] = [3, 1];
const TLS_1_2: [u8; 2] = [3, 3];
const TLS_1_3: [u8; 2] = [3, 4];

/// The largest record [RFC8446 s5.1].
const RECORD: usize = 1 << 14;

/// The largest extension [RFC8446 s4.2], with room for the others next to it.
const LARGEST_EXTENSION: usize = 0xffff - 1_000;

/// Bytes in front of the data of an extension: its kind and length [RFC8446 s4.2].
const EXTENSION_HEADER: usize = 4;

/// AES-GCM and ChaCha20 of TLS 1.3 [RFC8446 sB.4], and of TLS 1.2 with ECDHE [RFC5289 s3.2]
/// [RFC7905 s2].
const CIPHERS: [u16; 9] = [
    0x1301, 0x1302, 0x1303, 0xc02b, 0xc02f, 0xc02c, 0xc030, 0xcca9, 0xcca8,
];

/// X25519, secp256r1 and secp384r1 [RFC8446 s4.2.7].
const GROUPS: [u16; 3] = [0x001d, 0x0017, 0x0018];

/// ECDSA, RSA-PSS and RSA with SHA-256, SHA-384 and SHA-512, and Ed25519 [RFC8446 s4.2.3].
const SIGNATURES: [u16; 9] = [
    0x0403, 0x0804, 0x0401, 0x0503, 0x0805, 0x0501, 0x0806, 0x0601, 0x0807,
];

/// Extensions: server name [RFC6066 s3], groups, point formats [RFC8422 s5.1], signatures,
/// padding [RFC7685 s3], versions and key shares [RFC8446 s4.2].
mod extension {
    pub(super) const SERVER_NAME: u16 = 0;
    pub(super) const GROUPS: u16 = 10;
    pub(super) const POINT_FORMATS: u16 = 11;
    pub(super) const SIGNATURES: u16 = 13;
    pub(super) const PADDING: u16 = 21;
    pub(super) const VERSIONS: u16 = 43;
    pub(super) const KEY_SHARES: u16 = 51;
}

/// Random bytes of a request: a nonce and a public key of X25519, which is any 32 bytes.
pub type Nonce = [u8; 64];

impl Service {
    /// A whole request. The far end of TLS answers with its handshake, that of HTTP with a
    /// page at `path`.
    pub fn request(self, host: &str, path: &str, nonce: &Nonce) -> Vec<u8> {
        match self {
            Self::Http => [http(host, path), b"\r\n".to_vec()].concat(),
            Self::Https => client_hello(host, nonce, 0),
        }
    }

    /// A whole request of `length` bytes. One that is longer without padding is left as it is, and
    /// the padding of TLS ends at [`LARGEST_EXTENSION`].
    pub fn whole(self, host: &str, path: &str, nonce: &Nonce, length: usize) -> Vec<u8> {
        match self {
            Self::Http => whole_http(host, path, length)
                .or_else(|| whole_http(host, "/", length))
                .unwrap_or_else(|| self.request(host, "/", nonce)),
            Self::Https => {
                let hello = |padding: usize| client_hello(host, nonce, padding);
                let without = length.saturating_sub(hello(0).len() + EXTENSION_HEADER);
                let padding = without.min(LARGEST_EXTENSION);
                // Further records have headers of their own.
                let more = hello(padding).len().saturating_sub(length);
                hello(padding.saturating_sub(more))
            }
        }
    }

    /// The first `length` bytes of a request that is longer.
    pub fn beginning(self, host: &str, path: &str, nonce: &Nonce, length: usize) -> Vec<u8> {
        let mut bytes = match self {
            Self::Http => http(host, path),
            Self::Https => client_hello(host, nonce, length.min(LARGEST_EXTENSION)),
        };
        while bytes.len() <= length {
            match self {
                Self::Http => {
                    bytes.extend(b"X-Padding: ");
                    bytes.resize(bytes.len() + LINE.min(length + 1), b'x');
                    bytes.extend(b"\r\n");
                }
                Self::Https => bytes.resize(length + 1, 0),
            }
        }
        bytes.truncate(length);
        bytes
    }
}

/// A whole request with lines of padding, and spaces where there is no room for a line
/// [RFC9112 s5]; `None` if it is longer.
fn whole_http(host: &str, path: &str, length: usize) -> Option<Vec<u8>> {
    const NAME: &[u8] = b"X-Padding: ";
    const END: &[u8] = b"\r\n";
    let mut bytes = http(host, path);
    let least = NAME.len() + END.len();
    let mut left = length.checked_sub(bytes.len() + END.len())?;
    while left >= least {
        // What is left has room for another line, or is none.
        let line = match left {
            ..=LINE => left,
            left => LINE.min(left - least),
        };
        bytes.extend(NAME);
        bytes.resize(bytes.len() + line - least, b'x');
        bytes.extend(END);
        left -= line;
    }
    let last = bytes.len() - END.len();
    bytes.splice(last..last, std::iter::repeat_n(b' ', left));
    bytes.extend(END);
    Some(bytes)
}

/// The first lines of a request [RFC9112 s3].
fn http(host: &str, path: &str) -> Vec<u8> {
    format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nUser-Agent: jumbolab\r\nAccept: */*\r\n")
        .into_bytes()
}

/// A ClientHello [RFC8446 s4.1.2] with so many bytes of padding, in records.
fn client_hello(host: &str, nonce: &Nonce, padding: usize) -> Vec<u8> {
    let (random, key) = nonce.split_at(32);
    let mut hello = TLS_1_2.to_vec();
    hello.extend(random);
    // No session, and no compression.
    hello.push(0);
    hello.extend(sized(&pairs(&CIPHERS)));
    hello.extend([1, 0]);
    hello.extend(sized(&extensions(host, key, padding)));
    let [_, high, middle, low] = u32::try_from(hello.len()).unwrap_or(0).to_be_bytes();
    let mut message = vec![CLIENT_HELLO, high, middle, low];
    message.extend(hello);
    let records = message.chunks(RECORD).map(|part| {
        let head = [HANDSHAKE, TLS_1_0[0], TLS_1_0[1]];
        [head.to_vec(), sized(part)].concat()
    });
    records.collect::<Vec<_>>().concat()
}

fn extensions(host: &str, key: &[u8], padding: usize) -> Vec<u8> {
    let mut all = Vec::new();
    let mut add = |kind: u16, data: &[u8]| {
        all.extend(kind.to_be_bytes());
        all.extend(sized(data));
    };
    // An address is no name [RFC6066 s3].
    if host.parse::<core::net::IpAddr>().is_err() {
        let name = [vec![0], sized(host.as_bytes())].concat();
        add(extension::SERVER_NAME, &sized(&name));
    }
    add(extension::GROUPS, &sized(&pairs(&GROUPS)));
    add(extension::POINT_FORMATS, &[1, 0]);
    add(extension::SIGNATURES, &sized(&pairs(&SIGNATURES)));
    add(
        extension::VERSIONS,
        &[&[4][..], &TLS_1_3, &TLS_1_2].concat(),
    );
    let share = [GROUPS[0].to_be_bytes().to_vec(), sized(key)].concat();
    add(extension::KEY_SHARES, &sized(&share));
    if padding > 0 {
        add(extension::PADDING, &vec![0; padding]);
    }
    all
}

/// The bytes behind their number, of two bytes.
fn sized(bytes: &[u8]) -> Vec<u8> {
    let length = u16::try_from(bytes.len()).unwrap_or(u16::MAX);
    [&length.to_be_bytes(), bytes].concat()
}

fn pairs(numbers: &[u16]) -> Vec<u8> {
    numbers
        .iter()
        .flat_map(|number| number.to_be_bytes())
        .collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Takes bytes behind their number of `width` bytes from the front.
    fn take<'a>(bytes: &mut &'a [u8], width: usize) -> &'a [u8] {
        let (length, rest) = bytes.split_at(width);
        let length = length
            .iter()
            .fold(0, |sum, &byte| sum << 8 | usize::from(byte));
        let (taken, rest) = rest.split_at(length);
        *bytes = rest;
        taken
    }

    /// The extensions of a ClientHello, whose lengths must all fit.
    fn read_hello(mut bytes: &[u8]) -> Vec<(u16, Vec<u8>)> {
        let mut message = Vec::new();
        while !bytes.is_empty() {
            assert_eq!(bytes[..3], [HANDSHAKE, 3, 1]);
            bytes = &bytes[3..];
            let record = take(&mut bytes, 2);
            assert!(!record.is_empty() && record.len() <= RECORD);
            message.extend(record);
        }
        let mut rest = &message[1..];
        assert_eq!(message[0], CLIENT_HELLO);
        let mut hello = take(&mut rest, 3);
        assert!(rest.is_empty());
        hello = &hello[2 + 32..];
        assert!(take(&mut hello, 1).is_empty());
        assert_eq!(take(&mut hello, 2).len(), 2 * CIPHERS.len());
        assert_eq!(take(&mut hello, 1), [0]);
        let mut extensions = take(&mut hello, 2);
        assert!(hello.is_empty());
        let mut all = Vec::new();
        while let Some((kind, rest)) = extensions.split_first_chunk::<2>() {
            extensions = rest;
            all.push((u16::from_be_bytes(*kind), take(&mut extensions, 2).to_vec()));
        }
        all
    }

    #[test]
    fn a_hello_names_the_server_unless_it_is_an_address() {
        let hello = |host| read_hello(&Service::Https.request(host, "/", &[7; 64]));
        let named = hello("host.example");
        assert_eq!(named[0].0, extension::SERVER_NAME);
        assert!(named[0].1.ends_with(b"\0\0\x0chost.example"));
        assert!(
            hello("192.0.2.1")
                .iter()
                .all(|(kind, _)| *kind != extension::SERVER_NAME)
        );
        let size = Service::Https.request("host.example", "/", &[7; 64]).len();
        assert!(size < 300, "it fits into a small segment: {size}");
    }

    proptest! {
        #[test]
        fn padding_makes_a_hello_of_any_length(padding in 1_usize..=LARGEST_EXTENSION) {
            let all = read_hello(&client_hello("host.example", &[7; 64], padding));
            let last = all.last().unwrap();
            prop_assert_eq!((last.0, last.1.len()), (extension::PADDING, padding));
        }

        #[test]
        fn a_whole_request_has_the_length_asked_for_and_an_end(length in 536_usize..=64_000, tls: bool) {
            let service = if tls { Service::Https } else { Service::Http };
            let long = "/".repeat(500);
            for path in ["/", &long] {
                let bytes = service.whole("host.example", path, &[7; 64], length);
                prop_assert_eq!(bytes.len(), length);
                if tls {
                    prop_assert_eq!(read_hello(&bytes).last().map(|last| last.0), Some(extension::PADDING));
                    continue;
                }
                let text = String::from_utf8(bytes).unwrap();
                let lines: Vec<&str> = text.split("\r\n").collect();
                prop_assert!(lines[0].starts_with("GET /") && lines[0].ends_with(" HTTP/1.1"));
                let (head, ends) = lines[1..].split_at(lines.len() - 3);
                prop_assert_eq!(ends, ["", ""]);
                for line in head {
                    prop_assert!(line.split_once(": ").is_some_and(|(name, _)| !name.is_empty()), "{}", line);
                    prop_assert!(line.len() <= LINE);
                }
            }
        }

        #[test]
        fn a_beginning_has_the_length_asked_for_and_no_end(length in 0_usize..200_000, tls: bool) {
            let service = if tls { Service::Https } else { Service::Http };
            let bytes = service.beginning("host.example", "/", &[7; 64], length);
            prop_assert_eq!(bytes.len(), length);
            let end = b"\r\n\r\n";
            prop_assert!(tls || !bytes.windows(end.len()).any(|window| window == end));
            let lines = bytes.split(|&byte| byte == b'\n');
            prop_assert!(tls || lines.map(<[u8]>::len).max() < Some(LINE + 20));
        }
    }
}
