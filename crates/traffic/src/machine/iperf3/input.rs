//! What arrives over the control connection, in pieces of any size.

use thiserror::Error;

use super::State;

/// Bytes of a cookie.
pub const COOKIE_LEN: usize = 37;

/// The name of a test: 36 characters and a zero byte. Each stream of TCP begins with it.
pub type Cookie = [u8; COOKIE_LEN];

/// Input that is no message of iperf3.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Malformed {
    /// A byte that is no state.
    #[error("{0} is no state of iperf3")]
    State(i8),
    /// JSON that is too long.
    #[error("announces {length} bytes of JSON, and at most {most} are read")]
    Length { length: u32, most: usize },
    /// JSON that cannot be read.
    #[error("sends JSON that iperf3 does not")]
    Json,
}

/// The bytes that have arrived and were not taken.
#[derive(Debug, Default)]
pub struct Input {
    bytes: Vec<u8>,
}

impl Input {
    /// Adds what was read.
    pub fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// The bytes that wait.
    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Whether none waits.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Takes the next state, if it has arrived.
    ///
    /// # Errors
    /// It is none.
    pub fn state(&mut self) -> Result<Option<State>, Malformed> {
        let Some([byte]) = self.take::<1>() else {
            return Ok(None);
        };
        let malformed = Malformed::State(byte.cast_signed());
        State::of(byte).map(Some).ok_or(malformed)
    }

    /// Takes the two numbers of an error: iperf3's, and that of its system.
    pub fn error(&mut self) -> Option<(u32, u32)> {
        let bytes = self.take::<8>()?;
        let [a, b, c, d, e, f, g, h] = bytes;
        Some((
            u32::from_be_bytes([a, b, c, d]),
            u32::from_be_bytes([e, f, g, h]),
        ))
    }

    /// Takes the next JSON of `most` bytes at most, if it has arrived.
    ///
    /// # Errors
    /// It is longer.
    pub fn json(&mut self, most: usize) -> Result<Option<Vec<u8>>, Malformed> {
        let Some(head) = self.bytes.first_chunk::<4>() else {
            return Ok(None);
        };
        let length = u32::from_be_bytes(*head);
        let size = usize::try_from(length).unwrap_or(usize::MAX);
        if size > most {
            return Err(Malformed::Length { length, most });
        }
        if self.bytes.len() < 4 + size {
            return Ok(None);
        }
        let json = self.bytes[4..4 + size].to_vec();
        self.bytes.drain(..4 + size);
        Ok(Some(json))
    }

    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let taken = *self.bytes.first_chunk::<N>()?;
        self.bytes.drain(..N);
        Some(taken)
    }
}

/// JSON behind its length.
pub fn framed(json: &[u8]) -> Vec<u8> {
    let length = u32::try_from(json.len()).expect("results and parameters are short");
    let mut bytes = length.to_be_bytes().to_vec();
    bytes.extend_from_slice(json);
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn an_error_has_the_numbers_that_a_server_without_sctp_sent() {
        let mut input = Input::default();
        for byte in [0xfe, 0, 0, 0, 0xca, 0, 0, 0] {
            input.push(&[byte]);
        }
        assert_eq!(input.state(), Ok(Some(State::ServerError)));
        assert_eq!(input.error(), None);
        input.push(&[93]);
        assert_eq!(input.error(), Some((202, 93)));
        assert!(input.is_empty());
    }

    proptest! {
        #[test]
        fn messages_are_read_in_pieces_of_any_size(
            json in prop::collection::vec(any::<u8>(), 0..300),
            size in 1_usize..40,
        ) {
            let mut sent = vec![State::ExchangeResults.byte()];
            sent.extend(framed(&json));
            sent.push(State::Done.byte());
            let mut input = Input::default();
            let (mut first, mut read, mut last) = (None, None, None);
            for piece in sent.chunks(size) {
                input.push(piece);
                if first.is_none() {
                    first = input.state().unwrap();
                }
                if first.is_some() && read.is_none() {
                    read = input.json(300).unwrap();
                }
                if read.is_some() && last.is_none() {
                    last = input.state().unwrap();
                }
            }
            prop_assert_eq!(first, Some(State::ExchangeResults));
            prop_assert_eq!(read, Some(json));
            prop_assert_eq!((last, input.len()), (Some(State::Done), 0));
        }
    }
}
