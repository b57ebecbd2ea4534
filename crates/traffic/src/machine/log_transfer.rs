//! The transfer of a packet log to another host, over a sealed connection, without I/O.
//!
//! ```text
//!     sender                         taker
//!     offer: size and name     ->
//!                              <-    begin, or rejected
//!     pieces of the file       ->
//!     end: SHA-256 of it all   ->
//!                              <-    stored: the same SHA-256, or rejected
//! ```
//!
//! Each is a frame whose first byte is its kind. The sender keeps its file until it knows that
//! it is stored, so neither end loses a log if the other one ends at any point.

use secret::channel::LONGEST_CONTENT;

/// The most bytes of a file in a frame.
pub const PIECE: usize = LONGEST_CONTENT - 1;

/// Bytes of a SHA-256.
pub const DIGEST_LEN: usize = 32;

/// The start of an offer; it names the version of this protocol.
const GREETING: &[u8] = b"jumbolab log 1\n";

/// The ending of the names of packet logs.
const ENDING: &str = ".jlog";

/// The most bytes of a name.
const LONGEST_NAME: usize = 100;

/// The most bytes of a reason that is shown to the user.
const LONGEST_REASON: usize = 300;

/// A frame of the end that has the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FromSender<'a> {
    /// Nothing: it waits until its flows have ended.
    Alive,
    /// What will come.
    Offer { size: u64, name: LogName },
    /// The next bytes.
    Piece(&'a [u8]),
    /// All bytes were sent, and have this digest.
    End([u8; DIGEST_LEN]),
}

/// A frame of the end that takes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FromTaker {
    /// The log may come.
    Begin,
    /// The log with this digest is on the disk.
    Stored([u8; DIGEST_LEN]),
    /// Why it is not taken.
    Rejected(String),
}

/// The name of a packet log: letters, digits, dots, dashes and underscores, not beginning with
/// a dot and ending in `.jlog`. So it names nothing outside of a folder, on any system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogName(String);

impl LogName {
    /// The name `text`, or `None` if it is not allowed.
    pub fn new(text: &str) -> Option<Self> {
        let fine = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
        let is_name = text.len() <= LONGEST_NAME
            && text.bytes().all(fine)
            && text
                .strip_suffix(ENDING)
                .is_some_and(|stem| !stem.is_empty())
            && !text.starts_with(['.', '-']);
        is_name.then(|| Self(text.to_owned()))
    }

    /// It without its ending.
    pub fn stem(&self) -> &str {
        self.0.strip_suffix(ENDING).unwrap_or(&self.0)
    }
}

mod kind {
    pub(super) const ALIVE: u8 = 0;
    pub(super) const OFFER: u8 = 1;
    pub(super) const PIECE: u8 = 2;
    pub(super) const END: u8 = 3;
    pub(super) const BEGIN: u8 = 4;
    pub(super) const STORED: u8 = 5;
    pub(super) const REJECTED: u8 = 6;
}

impl<'a> FromSender<'a> {
    /// The frame with this content; `None` if there is no such frame.
    pub fn parse(content: &'a [u8]) -> Option<Self> {
        let (kind, rest) = content.split_first()?;
        match *kind {
            kind::ALIVE if rest.is_empty() => Some(Self::Alive),
            kind::OFFER => {
                let rest = rest.strip_prefix(GREETING)?;
                let (size, name) = rest.split_first_chunk()?;
                let name = LogName::new(str::from_utf8(name).ok()?)?;
                let size = u64::from_be_bytes(*size);
                Some(Self::Offer { size, name })
            }
            kind::PIECE if !rest.is_empty() => Some(Self::Piece(rest)),
            kind::END => Some(Self::End(rest.try_into().ok()?)),
            _ => None,
        }
    }

    /// The content of the frame.
    pub fn content(&self) -> Vec<u8> {
        match self {
            Self::Alive => vec![kind::ALIVE],
            Self::Offer { size, name } => {
                let size = size.to_be_bytes();
                [&[kind::OFFER], GREETING, &size, name.0.as_bytes()].concat()
            }
            Self::Piece(bytes) => [&[kind::PIECE], *bytes].concat(),
            Self::End(digest) => [&[kind::END], &digest[..]].concat(),
        }
    }
}

impl FromTaker {
    /// The frame with this content; `None` if there is no such frame.
    pub fn parse(content: &[u8]) -> Option<Self> {
        let (kind, rest) = content.split_first()?;
        match *kind {
            kind::BEGIN if rest.is_empty() => Some(Self::Begin),
            kind::STORED => Some(Self::Stored(rest.try_into().ok()?)),
            kind::REJECTED => {
                let why = String::from_utf8_lossy(&rest[..rest.len().min(LONGEST_REASON)]);
                let why = why.chars().filter(|letter| !letter.is_control());
                Some(Self::Rejected(why.collect()))
            }
            _ => None,
        }
    }

    /// The content of the frame.
    pub fn content(&self) -> Vec<u8> {
        match self {
            Self::Begin => vec![kind::BEGIN],
            Self::Stored(digest) => [&[kind::STORED], &digest[..]].concat(),
            Self::Rejected(why) => {
                let why = why.as_bytes();
                [&[kind::REJECTED], &why[..why.len().min(LONGEST_REASON)]].concat()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn frames_are_read_as_they_were_written() {
        let name = LogName::new("1-2-_1.jlog").unwrap();
        for frame in [
            FromSender::Alive,
            FromSender::Offer {
                size: u64::MAX,
                name,
            },
            FromSender::Piece(&[7; PIECE]),
            FromSender::End([9; DIGEST_LEN]),
        ] {
            assert!(frame.content().len() <= LONGEST_CONTENT);
            assert_eq!(FromSender::parse(&frame.content()), Some(frame.clone()));
            assert_eq!(FromTaker::parse(&frame.content()), None);
        }
        for frame in [
            FromTaker::Begin,
            FromTaker::Stored([9; DIGEST_LEN]),
            FromTaker::Rejected("the disk is full".to_owned()),
        ] {
            assert_eq!(FromTaker::parse(&frame.content()), Some(frame.clone()));
            assert_eq!(FromSender::parse(&frame.content()), None);
        }
    }

    #[test]
    fn a_name_leads_nowhere() {
        let long = format!("{}.jlog", "a".repeat(LONGEST_NAME));
        for name in [
            "",
            ".jlog",
            "a",
            "a.txt",
            "../a.jlog",
            "/a.jlog",
            "a/b.jlog",
            "a\\b.jlog",
            "C:a.jlog",
            ".a.jlog",
            "-a.jlog",
            "a\0.jlog",
            "a b.jlog",
            "\u{e4}.jlog",
            "..jlog",
            &long,
        ] {
            assert_eq!(LogName::new(name), None, "{name:?}");
        }
        assert_eq!(
            LogName::new("1-1-192.0.2.1.jlog").unwrap().stem(),
            "1-1-192.0.2.1"
        );
    }

    proptest! {
        #[test]
        fn hostile_contents_are_what_they_were_or_nothing(
            content in prop::collection::vec(any::<u8>(), 0..120), kind in 0_u8..8, greets: bool,
        ) {
            let greeting = if greets { GREETING } else { &[] };
            let content = [&[kind], greeting, &content].concat();
            if let Some(frame) = FromSender::parse(&content) {
                prop_assert_eq!(frame.content(), content.clone());
            }
            if let Some(FromTaker::Rejected(why)) = FromTaker::parse(&content) {
                prop_assert!(!why.contains(char::is_control));
            }
        }
    }
}
