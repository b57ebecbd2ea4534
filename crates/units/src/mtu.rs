//! The IP MTU: the largest IP packet, header included, that a link carries.

use core::fmt;

use crate::Bytes;

/// Which Internet Protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum IpVersion {
    /// IPv4 [RFC791].
    V4,
    /// IPv6 [RFC8200].
    V6,
}

impl IpVersion {
    /// The smallest MTU a link must have to carry this protocol: 68 bytes for
    /// IPv4 [RFC791 s3.2], 1280 for IPv6 [RFC8200 s5].
    pub const fn smallest_mtu(self) -> u32 {
        match self {
            Self::V4 => 68,
            Self::V6 => 1280,
        }
    }

    /// The header without options or extensions: 20 or 40 bytes
    /// [RFC791 s3.1] [RFC8200 s3].
    pub const fn header(self) -> Bytes {
        match self {
            Self::V4 => Bytes::new(20),
            Self::V6 => Bytes::new(40),
        }
    }

    /// 4 or 6.
    pub const fn number(self) -> u8 {
        match self {
            Self::V4 => 4,
            Self::V6 => 6,
        }
    }
}

impl fmt::Display for IpVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "IPv{}", self.number())
    }
}

/// The largest IP packet that a link carries, in bytes. Ethernet's own
/// headers are not part of it; that layer's sizes are called `frame_size`
/// and `wire_size`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct IpMtu(u32);

/// An MTU that the protocol or the link cannot have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("write an MTU of {version} from {smallest} to {largest}", smallest = version.smallest_mtu(), largest = IpMtu::LARGEST)]
pub struct BadMtu {
    /// The protocol whose bounds were missed.
    pub version: IpVersion,
}

impl IpMtu {
    /// The largest MTU of a virtual Ethernet link on Linux, and the largest
    /// packet without the Jumbo Payload option [RFC2675].
    pub const LARGEST: u32 = 65_535;

    /// An MTU on which `version` works.
    ///
    /// # Errors
    /// [`BadMtu`] below the protocol's minimum or above [`IpMtu::LARGEST`].
    pub fn new(bytes: u64, version: IpVersion) -> Result<Self, BadMtu> {
        u32::try_from(bytes)
            .ok()
            .filter(|bytes| (version.smallest_mtu()..=Self::LARGEST).contains(bytes))
            .map(Self)
            .ok_or(BadMtu { version })
    }

    /// The MTU in bytes, as the kernel takes it.
    pub const fn get(self) -> u32 {
        self.0
    }

    /// The MTU as a size.
    pub const fn bytes(self) -> Bytes {
        Bytes::new(self.0 as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_protocol_has_its_own_smallest_mtu() {
        for (version, bytes, fine) in [
            (IpVersion::V4, 67, false),
            (IpVersion::V4, 68, true),
            (IpVersion::V6, 68, false),
            (IpVersion::V6, 1279, false),
            (IpVersion::V6, 1280, true),
            (IpVersion::V6, 65_535, true),
            (IpVersion::V6, 65_536, false),
            (IpVersion::V4, u64::MAX, false),
            (IpVersion::V4, 0, false),
        ] {
            assert_eq!(
                IpMtu::new(bytes, version).is_ok(),
                fine,
                "{version} {bytes}"
            );
        }
    }
}
