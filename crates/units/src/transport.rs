//! The transport protocols that carry traffic here.

use crate::Bytes;

/// A transport protocol over IP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Transport {
    /// TCP [RFC9293].
    Tcp,
    /// UDP [RFC768].
    Udp,
}

impl Transport {
    /// Bytes of header: 20 [RFC9293 s3.1] and 12 of padded timestamp option
    /// [RFC7323 s3.2] [RFC7323 A], which all common systems send on every
    /// segment of TCP; 8 of UDP [RFC768].
    pub const fn header(self) -> Bytes {
        match self {
            Self::Tcp => Bytes::new(20 + 12),
            Self::Udp => Bytes::new(8),
        }
    }
}
