//! Parsing of messages in a byte stream.

use wire::message::{Carrier, HEADER_LEN, Message, Short};
use wire::{Error, Field};

/// Finds the messages in a stream that is read in pieces of any length.
#[derive(Clone, Debug)]
pub struct MessageStream {
    header: [u8; HEADER_LEN],
    /// Bytes of the current header that have arrived.
    filled: usize,
    /// The message whose body is arriving, and the bytes missing.
    body: Option<(Message, u64)>,
}

/// A message of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Received {
    /// One with a header.
    Whole(Message),
    /// One that is shorter than a header.
    Short(Short),
}

impl Default for MessageStream {
    fn default() -> Self {
        Self {
            header: [0; HEADER_LEN],
            filled: 0,
            body: None,
        }
    }
}

impl MessageStream {
    /// A stream without any bytes yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes the next piece and calls `complete` for every message that it completes.
    ///
    /// # Errors
    /// If a header is invalid; the rest of the stream is unreadable.
    pub fn receive(
        &mut self,
        mut piece: &[u8],
        mut complete: impl FnMut(Message),
    ) -> Result<(), Error> {
        while let Some(message) = self.next(&mut piece)? {
            complete(message);
        }
        Ok(())
    }

    /// The next message that `piece` completes, whose bytes are taken off its front;
    /// `None` once all of it is taken.
    ///
    /// # Errors
    /// If a header is invalid; the rest of the stream is unreadable.
    #[inline]
    pub fn next(&mut self, piece: &mut &[u8]) -> Result<Option<Message>, Error> {
        let (message, missing) = match self.body.take() {
            Some(body) => body,
            None => match self.next_header(piece)? {
                Some(message) => (message, u64::from(message.length) - HEADER_LEN as u64),
                None => return Ok(None),
            },
        };
        let taken = usize::try_from(missing)
            .unwrap_or(usize::MAX)
            .min(piece.len());
        *piece = &piece[taken..];
        match missing - taken as u64 {
            0 => Ok(Some(message)),
            rest => {
                self.body = Some((message, rest));
                Ok(None)
            }
        }
    }

    /// As [`MessageStream::next`], also for messages that are shorter than a header.
    ///
    /// # Errors
    /// Likewise.
    #[inline]
    pub fn next_of_any_length(&mut self, piece: &mut &[u8]) -> Result<Option<Received>, Error> {
        let first = match self.filled {
            0 => piece.first(),
            _ => self.header.first(),
        };
        match first {
            Some(first) if self.body.is_none() && Short::begins(*first) => {
                let length = Short::length_of(*first);
                self.next_short(length, piece)
            }
            _ => Ok(self.next(piece)?.map(Received::Whole)),
        }
    }

    /// The next message of `length` bytes, once all of them have arrived.
    fn next_short(&mut self, length: usize, piece: &mut &[u8]) -> Result<Option<Received>, Error> {
        let missing = length.checked_sub(self.filled);
        let missing = missing.ok_or(Error::Malformed(Field::Length))?;
        let (head, rest) = piece.split_at(piece.len().min(missing));
        self.header[self.filled..self.filled + head.len()].copy_from_slice(head);
        self.filled += head.len();
        *piece = rest;
        if self.filled < length {
            return Ok(None);
        }
        self.filled = 0;
        let short = Short::parse(&self.header[..length], Carrier::Stream)?;
        Ok(Some(Received::Short(short)))
    }

    /// The next header, once all its bytes have arrived.
    #[inline]
    fn next_header(&mut self, piece: &mut &[u8]) -> Result<Option<Message>, Error> {
        if self.filled == 0
            && let Some((header, rest)) = piece.split_first_chunk::<HEADER_LEN>()
        {
            *piece = rest;
            return Message::parse(header).map(Some);
        }
        let (head, rest) = piece.split_at(piece.len().min(HEADER_LEN - self.filled));
        self.header[self.filled..self.filled + head.len()].copy_from_slice(head);
        self.filled += head.len();
        *piece = rest;
        if self.filled < HEADER_LEN {
            return Ok(None);
        }
        self.filled = 0;
        Message::parse(&self.header).map(Some)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use units::Time;
    use wire::message::Echo;

    fn stream_of(lengths: &[u32]) -> Vec<u8> {
        let mut bytes = Vec::new();
        for (sequence, &length) in (0u64..).zip(lengths) {
            let message = Message {
                echo: Echo::Unwanted,
                warmup: false,
                tag: 0,
                length,
                sequence,
                sent: Time::from_nanos(sequence),
            };
            let start = bytes.len();
            bytes.resize(start + length as usize, 0);
            message.emit(&mut bytes[start..]).unwrap();
        }
        bytes
    }

    proptest! {
        #[test]
        fn messages_come_out_whole_however_the_stream_is_cut(
            lengths in prop::collection::vec(28u32..400, 1..20),
            cuts in prop::collection::vec(1usize..300, 1..60),
        ) {
            let bytes = stream_of(&lengths);
            let mut stream = MessageStream::new();
            let mut seen = Vec::new();
            let mut rest = bytes.as_slice();
            for &cut in cuts.iter().cycle() {
                if rest.is_empty() {
                    break;
                }
                let (piece, after) = rest.split_at(cut.min(rest.len()));
                stream.receive(piece, |message| seen.push((message.sequence, message.length))).unwrap();
                rest = after;
            }
            let expected: Vec<_> = (0u64..).zip(lengths.iter().copied()).collect();
            prop_assert_eq!(seen, expected);
        }
    }

    /// A stream of messages of these lengths, short ones among them.
    fn stream_of_any(lengths: &[u32]) -> Vec<u8> {
        let mut bytes = Vec::new();
        for (sequence, &length) in (0u64..).zip(lengths) {
            let message = Message {
                echo: Echo::Unwanted,
                warmup: false,
                tag: 0,
                length,
                sequence,
                sent: Time::from_nanos(sequence),
            };
            let start = bytes.len();
            bytes.resize(start + length as usize, 0);
            let place = &mut bytes[start..];
            match place.len() < HEADER_LEN {
                true => message.emit_short(place, Carrier::Stream).unwrap(),
                false => message.emit(place).unwrap(),
            }
        }
        bytes
    }

    proptest! {
        #[test]
        fn messages_of_any_length_come_out_whole_however_the_stream_is_cut(
            lengths in prop::collection::vec(prop_oneof![1u32..28, 28u32..90], 1..40),
            cuts in prop::collection::vec(1usize..50, 1..60),
        ) {
            let bytes = stream_of_any(&lengths);
            let mut stream = MessageStream::new();
            let (mut seen, mut rest) = (Vec::new(), bytes.as_slice());
            for &cut in cuts.iter().cycle() {
                if rest.is_empty() {
                    break;
                }
                let (mut piece, after) = rest.split_at(cut.min(rest.len()));
                rest = after;
                while let Some(message) = stream.next_of_any_length(&mut piece).unwrap() {
                    let next = seen.len() as u64;
                    seen.push(match message {
                        Received::Whole(message) => (message.sequence, message.length),
                        Received::Short(short) => (short.sequence(next), short.length.into()),
                    });
                }
            }
            let expected: Vec<_> = (0u64..).zip(lengths.iter().copied()).collect();
            prop_assert_eq!(seen, expected);
        }
    }

    mod fuzz {
        use super::*;

        proptest! {
            #[test]
            fn hostile_streams_of_any_length_are_rejected_or_read_without_panic(
                lengths in prop::collection::vec(1u32..60, 1..20),
                damages in prop::collection::vec((any::<u16>(), any::<u8>()), 0..4),
                cuts in prop::collection::vec(1usize..90, 1..9),
            ) {
                let mut bytes = stream_of_any(&lengths);
                for (place, value) in damages {
                    let place = usize::from(place) % bytes.len();
                    bytes[place] = value;
                }
                let (mut stream, mut read, mut rest) = (MessageStream::new(), 0, bytes.as_slice());
                'stream: for &cut in cuts.iter().cycle() {
                    if rest.is_empty() {
                        break;
                    }
                    let (mut piece, after) = rest.split_at(cut.min(rest.len()));
                    rest = after;
                    loop {
                        match stream.next_of_any_length(&mut piece) {
                            Ok(Some(Received::Whole(message))) => read += u64::from(message.length),
                            Ok(Some(Received::Short(short))) => read += u64::from(short.length),
                            Ok(None) => break,
                            Err(_) => break 'stream,
                        }
                        // No more than came is taken for read.
                        prop_assert!(read <= bytes.len() as u64);
                    }
                }
            }
        }

        proptest! {
            #[test]
            fn hostile_streams_are_rejected_or_read_without_panic(
                lengths in prop::collection::vec(28u32..200, 1..8),
                damages in prop::collection::vec((any::<u16>(), any::<u8>()), 0..3),
                extreme in prop::option::of(prop::sample::select(vec![0, 27, 28, u32::MAX])),
                cuts in prop::collection::vec(1usize..90, 1..9),
            ) {
                let mut bytes = stream_of(&lengths);
                for (place, value) in damages {
                    let place = usize::from(place) % bytes.len();
                    bytes[place] = value;
                }
                if let Some(length) = extreme {
                    bytes[8..12].copy_from_slice(&length.to_be_bytes());
                }
                let (mut stream, mut read, mut rest) = (MessageStream::new(), 0, bytes.as_slice());
                for &cut in cuts.iter().cycle() {
                    if rest.is_empty() {
                        break;
                    }
                    let (piece, after) = rest.split_at(cut.min(rest.len()));
                    rest = after;
                    let taken = stream.receive(piece, |message| read += u64::from(message.length));
                    // No more than came is taken for read.
                    prop_assert!(read <= bytes.len() as u64);
                    if taken.is_err() {
                        break;
                    }
                }
            }
        }
    }
}
