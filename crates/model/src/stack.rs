//! Stacks of protocols, and the bytes that their layers add to a packet and to
//! its frame.

mod layer;
mod protocol;
mod protocols;
mod rdma;
#[cfg(test)]
mod tests;
mod text;

use std::fmt;
use std::str::FromStr;

use units::{Bytes, Framing, IpMtu, IpVersion};

pub use layer::Layer;
pub use protocol::{Choice, Protocol};
pub use protocols::PROTOCOLS;
pub use text::BadStack;

/// The layers of a packet, outermost first. Ethernet and its tags in front of it
/// are the framing, whose bytes the MTU does not count.
#[derive(Clone, Debug)]
pub struct Stack {
    layers: Vec<Layer>,
    /// The number of layers that are framing.
    framing: usize,
}

/// The bytes of one packet, layer by layer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// The unit of each layer: its headers with all that they carry. That of the
    /// first Ethernet is the frame with its check sequence.
    pub units: Vec<Bytes>,
    /// The payload of the innermost layer; of a bundle, in each of its packets.
    pub payload: Bytes,
    /// Packets of the innermost layer in one frame: more than one in a bundle.
    pub packets: u64,
    /// The packet whose size the MTU of the link limits.
    pub packet: Bytes,
    /// The frame, from destination address to check sequence; the packet where
    /// there is no Ethernet.
    pub frame: Bytes,
    /// The bytes of wire, with preamble and gap.
    pub wire: Bytes,
}

/// An MTU that a stack does not work with.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DoesNotFit {
    /// The headers leave no byte.
    #[error(
        "the headers of {stack} take {headers} bytes and leave no room for payload; write at least {least}"
    )]
    NoRoom {
        /// The stack as it was written.
        stack: String,
        /// The bytes of its headers in a packet.
        headers: u64,
        /// The smallest MTU with room.
        least: u64,
    },
    /// The Internet Protocol is left less than the smallest MTU that it works with
    /// [RFC791 s3.2] [RFC8200 s5].
    #[error("leaves an MTU of {left} to {word}, which needs {needed}; write at least {least}")]
    BelowSmallest {
        /// The layer.
        word: String,
        /// The MTU that it is left.
        left: u64,
        /// The smallest with which it works.
        needed: u64,
        /// The smallest MTU of the link that leaves as much.
        least: u64,
    },
    /// The length fields do not count as much.
    #[error("no length field of {stack} counts so many bytes; write at most {most}{jumbograms}")]
    TooLarge {
        /// The stack as it was written.
        stack: String,
        /// The largest MTU.
        most: u64,
        /// The end of the sentence: the stack of jumbograms, where there is one.
        jumbograms: String,
    },
}

impl FromStr for Stack {
    type Err = BadStack;
    fn from_str(text: &str) -> Result<Self, BadStack> {
        let layers = text::parse(text)?;
        let is_framing = |layer: &&Layer| matches!(layer.protocol.name, "eth" | "vlan" | "qinq");
        Ok(Self {
            framing: layers.iter().take_while(is_framing).count(),
            layers,
        })
    }
}

impl fmt::Display for Stack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words: Vec<&str> = self.layers.iter().map(Layer::word).collect();
        f.write_str(&words.join(","))
    }
}

impl Stack {
    /// The layers, outermost first.
    pub fn layers(&self) -> &[Layer] {
        &self.layers
    }

    /// The number of layers at the front whose bytes the MTU does not count:
    /// Ethernet and its tags.
    pub const fn framing(&self) -> usize {
        self.framing
    }

    /// The largest MTU: 65 535 bytes, and with the Jumbo Payload option in the
    /// outermost header 2^32 - 1 bytes behind the header [RFC2675 s2].
    pub fn largest_mtu(&self) -> Bytes {
        let outermost = self.layers.get(self.framing);
        match outermost.is_some_and(|layer| layer.word.contains("+jumbo")) {
            true => IpVersion::V6.header() + Bytes::new(u64::from(u32::MAX)),
            false => Bytes::new(u64::from(IpMtu::LARGEST)),
        }
    }

    /// The packet that fills a link's MTU.
    ///
    /// # Errors
    /// [`DoesNotFit`], with an MTU that does.
    pub fn largest(&self, mtu: Bytes) -> Result<Sizes, DoesNotFit> {
        if mtu > self.largest_mtu() {
            return Err(DoesNotFit::TooLarge {
                stack: self.to_string(),
                most: self.largest_mtu().get(),
                jumbograms: self.jumbograms(),
            });
        }
        let Some((limits, payload)) = self.limits(mtu) else {
            return Err(self.no_room());
        };
        let inner = self.layers.iter().zip(&limits).skip(self.framing);
        for (layer, &left) in inner {
            let needed = layer.ip().map_or(0, |ip| ip.smallest_mtu().into());
            if left.get() < needed {
                return Err(DoesNotFit::BelowSmallest {
                    word: layer.word.clone(),
                    left: left.get(),
                    needed,
                    least: self.least_mtu(),
                });
            }
        }
        match payload == Bytes::ZERO {
            true => Err(self.no_room()),
            false => Ok(self.sizes(payload, &limits)),
        }
    }

    /// A packet with `payload` bytes behind the innermost header, or with as many
    /// as the MTU leaves.
    ///
    /// # Errors
    /// As [`Self::largest`].
    pub fn with_payload(&self, payload: Bytes, mtu: Bytes) -> Result<Sizes, DoesNotFit> {
        let largest = self.largest(mtu)?;
        let (limits, _) = self.limits(mtu).ok_or_else(|| self.no_room())?;
        Ok(self.sizes(payload.min(largest.payload), &limits))
    }

    /// The largest unit of each layer, and the largest payload.
    pub(crate) fn limits(&self, mtu: Bytes) -> Option<(Vec<Bytes>, Bytes)> {
        let mut room = mtu;
        let mut limits = Vec::new();
        for (place, layer) in self.layers.iter().enumerate() {
            limits.push(room);
            if place >= self.framing {
                room = layer.bytes.room(room)?;
            }
        }
        Some((limits, room))
    }

    /// A packet with this payload where layers have these largest units.
    pub(crate) fn sizes(&self, payload: Bytes, limits: &[Bytes]) -> Sizes {
        let mut units = vec![Bytes::ZERO; self.layers.len()];
        let mut unit = payload;
        let mut packets = 1_u64;
        let mut packet = payload;
        for (place, layer) in self.layers.iter().enumerate().rev() {
            unit = layer.bytes.around(unit, limits[place]);
            packets = packets.saturating_mul(layer.bytes.units);
            if place >= self.framing {
                packet = unit;
            }
            units[place] = unit;
        }
        let has_frame = self.framing > 0;
        let frame = match has_frame {
            // The tags are between the addresses and the type, so that they count
            // in the smallest frame.
            true => Framing::Ethernet.frame_size(unit - Framing::MAC_HEADER),
            false => packet,
        };
        if has_frame {
            units[0] = frame;
        }
        let beside = match has_frame {
            true => Framing::PREAMBLE + Framing::GAP,
            false => Bytes::ZERO,
        };
        Sizes {
            units,
            payload,
            packets,
            packet,
            frame,
            wire: frame + beside,
        }
    }

    /// What to write for jumbograms [RFC2675 s2], where the outermost header is that of
    /// IPv6 without their option.
    fn jumbograms(&self) -> String {
        let outermost = self.layers.get(self.framing).map_or("", Layer::word);
        if !outermost.starts_with("ipv6") || outermost.contains("+jumbo") {
            return String::new();
        }
        let words = self.layers.iter().enumerate().map(|(place, layer)| {
            let option = if place == self.framing { "+jumbo" } else { "" };
            format!("{}{option}", layer.word())
        });
        let words: Vec<String> = words.collect();
        format!(", or jumbograms: --headers {}", words.join(","))
    }

    fn no_room(&self) -> DoesNotFit {
        let least = self.least_mtu();
        let one = self.layers.iter().skip(self.framing).rev();
        let headers = one.fold(Bytes::ZERO, |inner, layer| {
            layer.bytes.around(inner, Bytes::ZERO)
        });
        DoesNotFit::NoRoom {
            stack: self.to_string(),
            headers: headers.get(),
            least,
        }
    }

    /// The smallest MTU with which all layers work.
    fn least_mtu(&self) -> u64 {
        let inner = self.layers.iter().skip(self.framing).rev();
        let least = inner.fold(Bytes::new(1), |inner, layer| {
            let needed = layer.ip().map_or(0, |ip| ip.smallest_mtu().into());
            let unit = layer.bytes.around(inner, Bytes::ZERO);
            unit.max(Bytes::new(needed))
        });
        least.get()
    }
}

impl Sizes {
    /// All payload of a frame: of a bundle that of all its packets.
    pub fn carried(&self) -> Bytes {
        self.payload * self.packets
    }

    /// The share of the wire that is payload.
    pub fn efficiency(&self) -> f64 {
        self.carried().get() as f64 / self.wire.get() as f64
    }
}
