//! Parsing of the headers in front of the upper layer.

use core::net::Ipv6Addr;

use super::{Fault, IPV6, LARGEST_ORDINARY, Packet, UDP, at, place};
use crate::Error;
use crate::protocol::ip::number;
use crate::protocol::ipv6::option::{JUMBO_PAYLOAD, JUMBO_PAYLOAD_LEN, Tlv, Unknown, unknown};
use crate::protocol::ipv6::{self, extension};
use crate::protocol::udp;

/// Offset of the next-header field of the IPv6 header.
const NEXT_HEADER: u32 = place(at::NEXT);
/// Bytes of the fixed part of an extension header.
const START: u32 = place(extension::START);

/// The headers in front of the upper layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    /// Source and destination.
    pub addresses: [Ipv6Addr; 2],
    /// Bytes behind the IPv6 header.
    pub length: u32,
    /// Offset of the Jumbo Payload option, if there is one.
    pub option: Option<u32>,
    /// Protocol number of the upper layer.
    pub protocol: u8,
    /// Offset of the upper layer.
    pub upper: u32,
}

/// A UDP header behind a [`Head`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Udp {
    /// The packet, without extension headers that [`Packet::emit`] does not write.
    pub packet: Packet,
    /// The bytes of the UDP header.
    pub header: [u8; udp::HEADER_LEN],
    /// Offset of the payload.
    pub payload: u32,
}

impl Head {
    /// Reads the headers of a packet. `bytes` is its beginning, and `whole` the number
    /// of bytes that the link carried, padding included.
    ///
    /// # Errors
    /// The objection of a node that understands the option; [`Fault::Truncated`] if
    /// `bytes` end before the headers do.
    pub fn parse(bytes: &[u8], whole: u64) -> Result<Self, Fault> {
        let ip = ipv6::Fields::parse(bytes).map_err(fault)?;
        let mut head = Self {
            addresses: ip.addresses,
            length: ip.payload_length.into(),
            option: None,
            protocol: ip.next_header,
            upper: IPV6,
        };
        let truncated = Fault::Truncated {
            need: IPV6.into(),
            have: whole,
        };
        let have = whole.checked_sub(IPV6.into()).ok_or(truncated)?;
        if head.protocol == number::HOP_BY_HOP {
            // The header of a jumbogram does not state its length, so the options are
            // read before the length is known.
            head.hop_by_hop(bytes, have)?;
        }
        if u64::from(head.length) > have {
            return Err(Fault::TooFew {
                says: u64::from(head.length),
                have,
            });
        }
        head.skip_extensions(bytes)?;
        Ok(head)
    }

    /// Whether the packet has the Jumbo Payload option.
    pub const fn is_jumbogram(&self) -> bool {
        self.option.is_some()
    }

    /// Reads the UDP header behind the headers.
    ///
    /// # Errors
    /// If the upper layer is not UDP, or its length is wrong [RFC2675 s4].
    pub fn udp(&self, bytes: &[u8]) -> Result<Udp, Fault> {
        if self.protocol != number::UDP {
            return Err(Fault::NotUdp(self.protocol));
        }
        let found = piece(bytes, self.upper, udp::HEADER_LEN)?;
        let header = core::array::from_fn(|place| found[place]);
        let udp = udp::Fields::parse(found).map_err(fault)?;
        let says = udp.length;
        let have = (u64::from(self.length) + u64::from(IPV6)).saturating_sub(u64::from(self.upper));
        let wrong = Fault::UdpLength { says, have };
        // A jumbogram with few bytes of options may carry a datagram whose length fits
        // the field; a length that does not fit is written as 0.
        let length = match says {
            0 if self.is_jumbogram() => have,
            _ if u64::from(says) == have => have,
            _ => return Err(wrong),
        };
        let payload = u32::try_from(length)
            .ok()
            .and_then(|all| all.checked_sub(UDP));
        Ok(Udp {
            packet: Packet {
                addresses: self.addresses,
                ports: udp.ports,
                payload: payload.ok_or(wrong)?,
            },
            header,
            payload: self.upper + UDP,
        })
    }

    /// Reads the hop-by-hop options, and with them the length.
    fn hop_by_hop(&mut self, bytes: &[u8], have: u64) -> Result<(), Fault> {
        let written = self.length;
        // If the length is known, the options lie within it.
        let within = match written {
            0 => have,
            _ => have.min(written.into()),
        };
        let (next, end) = self.extension(bytes, within)?;
        let options = piece(bytes, 0, end as usize)?;
        let mut at = self.upper + START;
        while at < end {
            at = self.option(options, at, written)?;
        }
        if self.option.is_none() && written == 0 {
            return Err(Fault::NoOption);
        }
        self.protocol = next;
        self.upper = end;
        Ok(())
    }

    /// Reads the option at `at` of `header`. Returns the offset of the next one.
    fn option(&mut self, header: &[u8], at: u32, written: u32) -> Result<u32, Fault> {
        let option = at;
        let found = Tlv::of(from(header, at));
        let kind = found.kind().map_err(fault)?;
        if kind == JUMBO_PAYLOAD {
            let length = found.length().unwrap_or(0);
            if length != JUMBO_PAYLOAD_LEN {
                return Err(Fault::OptionLength { option, length });
            }
            if at % 4 != 2 {
                return Err(Fault::Misaligned { option });
            }
        }
        let next = behind(header, at)?;
        match (kind, found.data().map(<[u8]>::first_chunk)) {
            (JUMBO_PAYLOAD, Ok(Some(&says))) => {
                let says = u32::from_be_bytes(says);
                if says <= LARGEST_ORDINARY {
                    return Err(Fault::NeedsNone { option, says });
                }
                if written != 0 {
                    return Err(Fault::BothLengths { option });
                }
                if self.option.is_some() {
                    return Err(Fault::Twice { option });
                }
                self.option = Some(option);
                self.length = says;
            }
            _ => pass_over(kind, option)?,
        }
        Ok(next)
    }

    /// Skips the headers between the hop-by-hop options and the upper layer.
    fn skip_extensions(&mut self, bytes: &[u8]) -> Result<(), Fault> {
        let have = u64::from(self.length);
        // The offset of the next-header field that announces the current header.
        let mut field = match self.upper {
            IPV6 => NEXT_HEADER,
            _ => IPV6,
        };
        loop {
            match self.protocol {
                number::ROUTING | number::DESTINATION_OPTIONS => {
                    let (next, end) = self.extension(bytes, have)?;
                    if self.protocol == number::DESTINATION_OPTIONS {
                        let options = piece(bytes, 0, end as usize)?;
                        let mut at = self.upper + START;
                        while at < end {
                            // The Jumbo Payload option counts as unknown in this
                            // header.
                            let kind = Tlv::of(from(options, at)).kind().map_err(fault)?;
                            pass_over(kind, at)?;
                            at = behind(options, at)?;
                        }
                    }
                    field = self.upper;
                    self.protocol = next;
                    self.upper = end;
                }
                number::FRAGMENT if self.is_jumbogram() => {
                    piece(bytes, self.upper, 1)?;
                    return Err(Fault::Fragment { header: self.upper });
                }
                number::HOP_BY_HOP => {
                    return Err(Fault::LateHopByHop { field });
                }
                _ => return Ok(()),
            }
        }
    }

    /// The next header of the current header, and the offset of its end, which lies
    /// within the packet.
    fn extension(&self, bytes: &[u8], have: u64) -> Result<(u8, u32), Fault> {
        let start = piece(bytes, self.upper, extension::START)?;
        let (next, length) = extension::next_and_length(start).map_err(fault)?;
        let end = self.upper + place(length);
        let have = have + u64::from(IPV6);
        match u64::from(end) > have {
            true => Err(Fault::Truncated {
                need: end.into(),
                have,
            }),
            false => Ok((next, end)),
        }
    }
}

/// The offset of the option behind the one at `at` of `header`.
fn behind(header: &[u8], at: u32) -> Result<u32, Fault> {
    let option = Tlv::of(from(header, at)).bytes();
    let bytes = option.map_err(|_| Fault::Overrun { option: at })?;
    Ok(at + place(bytes.len()))
}

/// Checks that an unknown option may be skipped.
const fn pass_over(kind: u8, option: u32) -> Result<(), Fault> {
    match unknown(kind) {
        Unknown::Skip => Ok(()),
        _ => Err(Fault::UnknownOption { option, kind }),
    }
}

/// The fault of a packet with a header that could not be read.
const fn fault(error: Error) -> Fault {
    match error {
        Error::Truncated { need, have } => Fault::Truncated {
            need: need as u64,
            have: have as u64,
        },
        Error::Malformed(_) => Fault::Version,
    }
}

/// All bytes from `at` on; an empty slice if there are fewer.
fn from(bytes: &[u8], at: u32) -> &[u8] {
    bytes.get(at as usize..).unwrap_or_default()
}

/// `length` bytes from `at` on.
fn piece(bytes: &[u8], at: u32, length: usize) -> Result<&[u8], Fault> {
    let at = at as usize;
    bytes
        .get(at..at.saturating_add(length))
        .ok_or_else(|| Fault::Truncated {
            need: (at as u64).saturating_add(length as u64),
            have: bytes.len() as u64,
        })
}
