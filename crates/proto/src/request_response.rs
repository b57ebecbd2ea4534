//! Modes of request/response traffic: the content of responses, and how messages are
//! written and read.

/// The response to a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Answer {
    /// Its header, once the whole message has arrived, as in the listing of the study
    /// [Egan s4].
    Acknowledgement,
    /// All its octets, once the whole message has arrived, as in the text of the study
    /// [Egan s4].
    Whole,
    /// Each piece as soon as it is read, like a simple echo server; over UDP the same
    /// as [`Answer::Whole`].
    Pieces,
}

/// How the requesting end reads a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum ReadMode {
    /// Reads until the whole response has arrived.
    Whole,
    /// Reads once and takes the result for the whole response, like a program that
    /// ignores that a stream has no message boundaries. It never waits for the rest.
    Once,
}

/// How a message is written to a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum WriteMode {
    /// In one write.
    Whole,
    /// The header first and then the rest: two writes, as in a program that keeps them
    /// in separate buffers.
    Parts,
}
