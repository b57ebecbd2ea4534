//! Reads `[traffic]` of `kind = "probe"`: the investigation of a path.

use anyhow::Result;
use keyfile::quantity::{size, switch};
use plan::setting::{Network, Probe, Protocol};
use units::{Bytes, Span};

use crate::reader::Reader;

const PROTOCOLS: [(&str, Protocol); 3] = [
    ("icmp", Protocol::Icmp),
    ("udp", Protocol::Udp),
    ("tcp", Protocol::Tcp),
];

/// The investigation of the path that `network` is, which takes `timeout` at most.
pub(super) fn read(reader: &mut Reader<'_>, network: &Network, timeout: Span) -> Result<Probe> {
    let up_to = reader.read("traffic.max_mtu", size)?;
    let least = Bytes::new(network.ip.smallest_mtu().into());
    // The length fields of IPv4 and IPv6 have 16 bits [RFC791 s3.1] [RFC8200 s3].
    let most = Bytes::new(u16::MAX.into());
    if !(least..=most).contains(&up_to.value) {
        return Err(up_to.reject(format!(
            "a packet of {} has from {} bytes, which every link supports, to {}; write a size between",
            network.ip,
            least.get(),
            most.get()
        )));
    }
    let reflector = reader.read("traffic.reflector", switch)?.value;
    let listens = reader.read("traffic.tcp_port_open", switch)?.value;
    Ok(Probe {
        up_to: up_to.value,
        protocols: protocols(reader)?,
        reflector,
        listens,
        timeout,
    })
}

/// The protocols, each once, in the order in which they are tried.
fn protocols(reader: &mut Reader<'_>) -> Result<Vec<Protocol>> {
    const PATH: &str = "traffic.protocols";
    let Some(words) = reader.words(PATH)? else {
        return Ok(PROTOCOLS.map(|(_, protocol)| protocol).to_vec());
    };
    let known = |word: &String| PROTOCOLS.iter().any(|(name, _)| name == word);
    if words.value.is_empty() || !words.value.iter().all(known) {
        return Err(words.reject("write a list of \"icmp\", \"udp\" and \"tcp\""));
    }
    let written = PROTOCOLS
        .iter()
        .filter(|(name, _)| words.value.iter().any(|word| word == name));
    Ok(written.map(|(_, protocol)| *protocol).collect())
}
