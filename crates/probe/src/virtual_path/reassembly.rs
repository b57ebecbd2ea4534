//! Reassembly of fragments [RFC791 s3.2] [RFC8200 s4.5].

use std::collections::BTreeMap;

use core::net::IpAddr;

use wire::ip_packet::IpPacket;
use wire::probe::reassemble;

use super::bytes::{Received, length};

/// The fields that the fragments of one packet share.
type Key = ([IpAddr; 2], u32, u8);

/// The most packets under reassembly; the one begun first gives way.
const MOST: usize = 64;

/// Packets of which fragments are missing.
#[derive(Debug)]
pub(super) struct Reassembly {
    packets: BTreeMap<Key, Parts>,
    begun: u64,
}

#[derive(Debug, Default)]
struct Parts {
    /// By offset.
    fragments: BTreeMap<u16, Vec<u8>>,
    number: u64,
}

impl Reassembly {
    pub(super) const fn new() -> Self {
        Self {
            packets: BTreeMap::new(),
            begun: 0,
        }
    }

    /// Takes a whole packet or a fragment. Returns the packet once it is complete.
    pub(super) fn receive(&mut self, bytes: Vec<u8>) -> Option<Received> {
        let packet = IpPacket::parse_whole(&bytes).ok()?;
        let Some(place) = packet.fragment else {
            return Some(bytes.into());
        };
        let key = (
            packet.addresses.ends(),
            place.identification,
            packet.protocol,
        );
        if !self.packets.contains_key(&key) && self.packets.len() == MOST {
            let first = self.packets.iter().min_by_key(|(_, parts)| parts.number);
            let first = first.map(|(key, _)| *key)?;
            self.packets.remove(&first);
        }
        self.begun += 1;
        let number = self.begun;
        let parts = self.packets.entry(key).or_insert_with(|| Parts {
            number,
            ..Parts::default()
        });
        parts.fragments.insert(place.offset, bytes);
        let whole = parts.whole()?;
        self.packets.remove(&key);
        Some(whole)
    }
}

impl Parts {
    /// The packet, if all fragments are there.
    fn whole(&self) -> Option<Received> {
        let mut payload = Vec::new();
        let mut complete = false;
        for (offset, bytes) in &self.fragments {
            let fragment = IpPacket::parse_whole(bytes).ok()?;
            if usize::from(*offset) != payload.len() {
                return None;
            }
            payload.extend(fragment.payload);
            complete = !fragment.fragment?.more;
        }
        let first = self.fragments.get(&0).filter(|_| complete)?;
        let mut bytes = vec![0; payload.len() + first.len()];
        let whole = reassemble(first, &payload, &mut bytes).ok()?;
        bytes.truncate(whole);
        let largest = self.fragments.values().map(|bytes| length(bytes)).max();
        Some(Received {
            bytes,
            fragment: largest,
        })
    }
}
