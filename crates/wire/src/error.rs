//! Errors of parsers and emitters.

use core::fmt;

/// Bytes that the format does not allow, or values that it cannot express.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// Too few bytes.
    #[error("{need} bytes are needed, {have} are there")]
    Truncated {
        /// Bytes the format needs.
        need: usize,
        /// Bytes present.
        have: usize,
    },
    /// A field has a value that the format forbids.
    #[error("the {0} is malformed")]
    Malformed(Field),
}

/// The field with the forbidden value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Field {
    /// The magic bytes that identify a format.
    Magic,
    /// The version of the format.
    Version,
    /// The flags.
    Flags,
    /// Bytes that must be zero.
    Reserved,
    /// The total length.
    Length,
    /// The time of sending.
    Sent,
    /// A time of day.
    Time,
    /// An address.
    Address,
    /// The type of an ICMP message.
    Type,
    /// The code of an ICMP message.
    Code,
    /// A whole message.
    Message,
    /// The length of a header.
    HeaderLength,
    /// The length of an option.
    OptionLength,
    /// The length of an address prefix.
    PrefixLength,
    /// A checksum.
    Checksum,
    /// The kind of a clock.
    Clock,
    /// A number of items.
    Count,
    /// The Differentiated Services codepoint.
    Dscp,
    /// The number of a flow.
    Flow,
    /// A name.
    Name,
    /// A number of variable length.
    Number,
    /// The bits per value of a column.
    Width,
    /// The protocol number of the payload.
    Protocol,
    /// A port.
    Port,
    /// The place of a fragment in its packet.
    Fragment,
    /// A label or its class.
    Label,
    /// A sequence number.
    Sequence,
    /// The error estimate of a timestamp.
    ErrorEstimate,
}

impl fmt::Display for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Magic => "magic number",
            Self::Version => "version",
            Self::Flags => "set of flags",
            Self::Reserved => "reserved field",
            Self::Length => "length",
            Self::Sent => "time of sending",
            Self::Type => "type",
            Self::Code => "code",
            Self::Message => "message",
            Self::HeaderLength => "header length",
            Self::OptionLength => "option length",
            Self::PrefixLength => "prefix length",
            Self::Checksum => "checksum",
            Self::Clock => "clock",
            Self::Count => "count",
            Self::Dscp => "DSCP",
            Self::Flow => "flow",
            Self::Name => "name",
            Self::Number => "number",
            Self::Width => "width",
            Self::Protocol => "protocol",
            Self::Port => "port",
            Self::Time => "time of day",
            Self::Address => "address",
            Self::Fragment => "place of a fragment",
            Self::Label => "label",
            Self::Sequence => "sequence number",
            Self::ErrorEstimate => "error estimate",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::ToString;

    #[test]
    fn an_error_says_what_is_wrong_in_words() {
        for (error, text) in [
            (
                Error::Truncated { need: 28, have: 3 },
                "28 bytes are needed, 3 are there",
            ),
            (
                Error::Malformed(Field::OptionLength),
                "the option length is malformed",
            ),
        ] {
            assert_eq!(error.to_string(), text);
        }
    }
}
