//! The one-byte messages of the control connection.

/// A message of one signed byte [iperf3].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i8)]
pub enum State {
    /// The server is ready; [`State::TestRunning`] follows.
    TestStart = 1,
    /// Data may be sent.
    TestRunning = 2,
    /// The client ends the test.
    TestEnd = 4,
    /// The server asks for the parameters.
    ExchangeParameters = 9,
    /// The server waits for the streams.
    CreateStreams = 10,
    /// The server gives up.
    ServerTerminated = 11,
    /// The client gives up.
    ClientTerminated = 12,
    /// The server asks for the client's results, and answers with its own.
    ExchangeResults = 13,
    /// The server has no more to send.
    DisplayResults = 14,
    /// The client closes the connection.
    Done = 16,
    /// The server runs another test.
    Busy = -1,
    /// The server rejects; two numbers follow.
    ServerError = -2,
}

impl State {
    const ALL: [Self; 12] = [
        Self::TestStart,
        Self::TestRunning,
        Self::TestEnd,
        Self::ExchangeParameters,
        Self::CreateStreams,
        Self::ServerTerminated,
        Self::ClientTerminated,
        Self::ExchangeResults,
        Self::DisplayResults,
        Self::Done,
        Self::Busy,
        Self::ServerError,
    ];

    /// The byte of the message.
    pub const fn byte(self) -> u8 {
        (self as i8).cast_unsigned()
    }

    /// The message of a byte, if it is one.
    pub fn of(byte: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.byte() == byte)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_byte_is_the_message_that_iperf3_sends() {
        for (byte, state) in [
            (1, State::TestStart),
            (2, State::TestRunning),
            (4, State::TestEnd),
            (9, State::ExchangeParameters),
            (10, State::CreateStreams),
            (13, State::ExchangeResults),
            (14, State::DisplayResults),
            (16, State::Done),
            (0xff, State::Busy),
            (0xfe, State::ServerError),
        ] {
            assert_eq!((State::of(byte), state.byte()), (Some(state), byte));
        }
        let known = (0..=u8::MAX).filter(|byte| State::of(*byte).is_some());
        assert_eq!(known.count(), State::ALL.len());
    }
}
