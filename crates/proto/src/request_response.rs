//! How the two ends of request-response traffic behave: what is answered, and
//! how messages are written and answers read.

/// What comes back of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Answer {
    /// Its header, once all of it is there, as the listing of the study has it [Egan s4].
    Acknowledgement,
    /// All its octets, once all of them are there, as the study's text has it [Egan s4].
    Whole,
    /// Each piece of it as soon as it was read, as a simple echo server does;
    /// over UDP the same as [`Answer::Whole`].
    Pieces,
}

/// How the asking end takes an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum ReadMode {
    /// It reads until all of the answer is there.
    Whole,
    /// It reads once and takes what came for all of it, as a program does that
    /// forgets that a stream has no messages. What is left over it never
    /// waits for.
    Once,
}

/// How a message is handed to a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum WriteMode {
    /// In one piece.
    Whole,
    /// Its header first and the rest after it, two writes as of a program that
    /// keeps them apart.
    Parts,
}
