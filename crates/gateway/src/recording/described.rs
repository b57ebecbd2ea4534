//! The settings of a recorded gateway, as far as its decisions depend on them.

use std::net::{Ipv4Addr, Ipv6Addr};

use queue::Spec;
use serde::{Deserialize, Serialize};
use units::{Framing, IpMtu, IpVersion, Rate, Seed};
use wire::bundle::PORT;
use wire::protocol::ip::Addresses;

use crate::machine::{
    Aggregation, Encapsulation, Identity, Output, Padding, Peer, Sealing, Settings,
    SinglePacketMode, Uplink,
};

/// Settings in a recording. Addresses, labels and keys are not among them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Described {
    /// How packets are aggregated.
    pub aggregate: Aggregation,
    /// How a packet without company travels.
    pub alone: SinglePacketMode,
    /// The queue toward the core.
    pub uplink: Option<DescribedUplink>,
    /// The other gateways, by their numbers.
    pub peers: Vec<DescribedPeer>,
}

/// A queue toward the core, on a link that frames as Ethernet.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DescribedUplink {
    /// The rate at which packets leave.
    pub rate: Rate,
    /// The queue in front of it.
    pub queue: Spec,
    /// The seed of the queue's chance.
    pub seed: u64,
}

/// Another gateway.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DescribedPeer {
    /// The headers in front of bundles.
    pub encapsulation: Headers,
    /// The largest packet toward it, as configured.
    pub mtu: u32,
    /// How bundles are padded, if they are sealed.
    pub sealed: Option<Padding>,
}

/// The headers in front of bundles, by their lengths.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Headers {
    /// IPv4 alone.
    Ip4,
    /// IPv6 alone.
    Ip6,
    /// UDP over IPv4.
    Udp4,
    /// UDP over IPv6.
    Udp6,
    /// A label stack.
    Mpls,
}

impl Described {
    /// The settings of a gateway that runs.
    pub fn of(settings: &Settings) -> Self {
        Self {
            aggregate: settings.aggregate,
            alone: settings.alone,
            uplink: settings.uplink.as_ref().map(|uplink| DescribedUplink {
                rate: uplink.rate,
                queue: uplink.queue.clone(),
                seed: uplink.seed.get(),
            }),
            peers: settings.peers.iter().map(DescribedPeer::of).collect(),
        }
    }

    /// Settings under which a gateway decides the same. `None` if an MTU cannot be.
    pub fn settings(&self) -> Option<Settings> {
        let peers = (1..).zip(&self.peers);
        let peers: Option<Vec<Peer>> = peers.map(|(number, peer)| peer.peer(number)).collect();
        let mut settings = Settings::new(peers?);
        settings.aggregate = self.aggregate;
        settings.alone = self.alone;
        settings.output = Output::Payloads;
        settings.uplink = self.uplink.as_ref().map(|uplink| Uplink {
            rate: uplink.rate,
            queue: uplink.queue.clone(),
            framing: Framing::Ethernet,
            seed: Seed::new(uplink.seed),
        });
        // Nothing is sealed; see `crate::machine::replay`.
        settings.entropy = [1; 32];
        Some(settings)
    }
}

impl DescribedPeer {
    fn of(peer: &Peer) -> Self {
        let encapsulation = match peer.encapsulation {
            Encapsulation::Label { .. } => Headers::Mpls,
            Encapsulation::Ip { addresses } => match addresses {
                Addresses::V4(_) => Headers::Ip4,
                Addresses::V6(_) => Headers::Ip6,
            },
            Encapsulation::Udp { addresses, .. } => match addresses {
                Addresses::V4(_) => Headers::Udp4,
                Addresses::V6(_) => Headers::Udp6,
            },
        };
        Self {
            encapsulation,
            mtu: peer.mtu.get(),
            sealed: peer.sealing.as_ref().map(|sealing| sealing.padding),
        }
    }

    /// A peer with addresses or labels that are its number.
    fn peer(&self, number: u32) -> Option<Peer> {
        let four = Addresses::V4([Ipv4Addr::UNSPECIFIED, Ipv4Addr::from_bits(number)]);
        let there = Ipv6Addr::from_bits(number.into());
        let six = Addresses::V6([Ipv6Addr::UNSPECIFIED, there]);
        let udp = |addresses| Encapsulation::Udp {
            addresses,
            port: PORT,
        };
        let label = 16 + number;
        Some(Peer {
            encapsulation: match self.encapsulation {
                Headers::Ip4 => Encapsulation::Ip { addresses: four },
                Headers::Ip6 => Encapsulation::Ip { addresses: six },
                Headers::Udp4 => udp(four),
                Headers::Udp6 => udp(six),
                Headers::Mpls => Encapsulation::Label {
                    to: label,
                    from: label,
                },
            },
            mtu: IpMtu::new(self.mtu.into(), IpVersion::V6).ok()?,
            dscp: None,
            // Only the room of its headers and the padding count.
            sealing: self.sealed.map(|padding| {
                let [here, there] = [1, 2].map(|byte| Identity::new([byte; 32].into()));
                let sealing = Sealing::new(here, *there.public());
                Sealing { padding, ..sealing }
            }),
        })
    }
}
