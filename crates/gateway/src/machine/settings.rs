//! The settings of a gateway.

use std::collections::BTreeMap;
use std::net::IpAddr;

use queue::{AggregatorSettings, Spec, Tick, Trigger};
use units::{Bytes, Framing, IpMtu, IpVersion, Rate, Seed, Span};
use wire::bundle::{self, ENTRY_LEN, HEADER_LEN, SEALED_HEADER_LEN, TAG_LEN};
use wire::protocol::ip::Addresses;

use super::order::Reorder;
use super::seal::Sealing;

/// The settings of a gateway. [`Gateway::new`](super::Gateway::new) checks them.
#[derive(Clone, Debug)]
pub struct Settings {
    /// How packets are aggregated.
    pub aggregate: Aggregation,
    /// The other gateways; their places are their numbers in tables and counts.
    pub peers: Vec<Peer>,
    /// How a packet without company travels.
    pub alone: SinglePacketMode,
    /// Whether packets leave with the gaps that they had at the ingress
    /// [Mulahuwaish s2.B].
    pub shaping: bool,
    /// Whether the hop limit of packets from inside is lowered. A driver whose packets
    /// the kernel has forwarded already says no.
    pub counts_hops: bool,
    /// This gateway's addresses toward the inside, from which it sends ICMP errors: of
    /// IPv4 and IPv6. Without one no error is sent; the driver replaces unspecified ones.
    pub inside: [Option<IpAddr>; 2],
    /// The queue toward the core; `None`: what is due is sent at once.
    pub uplink: Option<Uplink>,
    /// The part of bundles that a driver needs.
    pub output: Output,
    /// The most packets that wait to be let out toward the inside.
    pub most_waiting: usize,
    /// How long bundles that overtook others wait for them.
    pub reorder: Reorder,
    /// How often the path MTU to each peer is confirmed by a probe; searches for a larger
    /// one are ten times as rare. `None`: this gateway does not probe. It answers probes
    /// either way.
    pub probe: Option<Span>,
    /// Bytes that nobody can foresee, different for each gateway, even of one process:
    /// keys of sessions and probes are drawn from them. Of no use without a sealed peer, and
    /// without probes.
    pub entropy: [u8; 32],
    /// The wall clock at the time 0 of the driver's clock, in nanoseconds since 1970. It
    /// orders the handshakes of a gateway over its restarts.
    pub unix_nanos: u64,
}

/// How packets are aggregated.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Aggregation {
    /// When a bundle goes.
    pub trigger: Trigger,
    /// The unit of waiting times.
    pub tick: Tick,
    /// See [`AggregatorSettings::share`].
    pub share: f64,
}

/// Another gateway.
#[derive(Clone, Debug)]
pub struct Peer {
    /// The headers in front of bundles.
    pub encapsulation: Encapsulation,
    /// The largest packet toward it, as configured. A path MTU found later may be lower.
    pub mtu: IpMtu,
    /// The DSCP of bundles; `None`: that of their first packet.
    pub dscp: Option<u8>,
    /// How bundles are sealed; `None`: they are not.
    pub sealing: Option<Sealing>,
}

/// The headers in front of bundles to and from a peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encapsulation {
    /// IP with the protocol number of bundles.
    Ip {
        /// The address of this gateway, and that of the peer.
        addresses: Addresses,
    },
    /// UDP to the port of bundles.
    Udp {
        /// The address of this gateway, and that of the peer.
        addresses: Addresses,
        /// The source port.
        port: u16,
    },
    /// MPLS labels.
    Label {
        /// The label of bundles to the peer.
        to: u32,
        /// The label of bundles from the peer, which no other peer uses.
        from: u32,
    },
}

/// How a packet without company travels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum SinglePacketMode {
    /// In a bundle of its own: the core need not know the networks inside.
    #[default]
    Bundled,
    /// Unchanged, as a router forwards it. Packets of any sender that arrive so are
    /// forwarded to the inside.
    Plain,
}

/// The queue and the rate toward the core.
#[derive(Clone, Debug)]
pub struct Uplink {
    /// The rate at which packets leave.
    pub rate: Rate,
    /// The queue in front of it.
    pub queue: Spec,
    /// The bytes that the link adds.
    pub framing: Framing,
    /// The seed of the queue's chance.
    pub seed: Seed,
}

/// The part of a bundle that a driver needs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Output {
    /// IP packets, or label stacks, with all headers.
    #[default]
    Packets,
    /// The payload of UDP or IP, for a socket whose kernel adds the headers. The room
    /// of the headers in front of it stays. Labels are written, because no socket adds them.
    Payloads,
}

/// Settings that cannot be.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadSettings {
    /// The packets cannot be aggregated so.
    #[error("peer {peer}: {source}")]
    Aggregator {
        /// The number of the peer, from 0.
        peer: usize,
        /// The reason.
        source: queue::BadAggregator,
    },
    /// Two peers that could not be told apart.
    #[error(
        "peers {one} and {other} have the same addresses or labels; bundles from them look alike"
    )]
    SamePeer {
        /// The number of one.
        one: usize,
        /// The number of the other.
        other: usize,
    },
    /// A label that there is not.
    #[error("peer {peer}: {label} is no label; write one from 16 to 1048575")]
    Label {
        /// The number of the peer.
        peer: usize,
        label: u32,
    },
    /// A code point that there is not.
    #[error("peer {peer}: {dscp} is no DSCP; write one from 0 to 63")]
    Dscp {
        /// The number of the peer.
        peer: usize,
        /// The code point.
        dscp: u8,
    },
    /// A path for bundles that carries less than each path of IPv6 does.
    #[error(
        "peer {peer}: an MTU of {mtu} is below the 1280 bytes that each path of IPv6 supports; \
         give it 1280 at least"
    )]
    Mtu {
        /// The number of the peer.
        peer: usize,
        /// The MTU.
        mtu: u32,
    },
    /// A queue that cannot be.
    #[error(transparent)]
    Uplink(#[from] link::BadSettings),
    /// A sealed peer, beside packets that anybody may have sent.
    #[error(
        "peer {peer} has a public_key, but packets alone travel plain, and anybody could send such; \
         let them travel in bundles"
    )]
    PlainSealed {
        /// The number of the peer.
        peer: usize,
    },
    /// Keys that would change without end.
    #[error("peer {peer}: keys change after a second and 1000 bundles at the earliest")]
    Rekey {
        /// The number of the peer.
        peer: usize,
    },
    /// Sealed peers or probes without entropy.
    #[error("handshakes and probes need entropy from the system; 32 zeros are none")]
    Entropy,
    /// Addresses for errors that are not one of each version.
    #[error("of the addresses toward the inside, the first is of IPv4 and the second of IPv6")]
    Inside,
}

impl Settings {
    /// Usual settings: a timer of a millisecond, no queue, shaping, each packet in a
    /// bundle.
    pub fn new(peers: Vec<Peer>) -> Self {
        Self {
            aggregate: Aggregation {
                trigger: Trigger::Timer(Span::from_millis(1)),
                tick: Tick::Micro,
                share: 1.0,
            },
            peers,
            alone: SinglePacketMode::Bundled,
            shaping: true,
            counts_hops: true,
            inside: [None; 2],
            uplink: None,
            output: Output::Packets,
            most_waiting: 1 << 16,
            reorder: Reorder::default(),
            probe: None,
            entropy: [0; 32],
            unix_nanos: 0,
        }
    }

    /// The bytes of IP in front of the packets of a bundle to `peer`, without entries.
    pub(super) fn overhead(&self, peer: &Peer) -> Bytes {
        let sealed = peer
            .sealing
            .as_ref()
            .map_or(0, |_| SEALED_HEADER_LEN + TAG_LEN);
        Bytes::new((peer.encapsulation.emitted(0).header_len() + sealed + HEADER_LEN) as u64)
    }

    /// The largest packet to `peer` that stays whole where packets of `mtu` bytes pass.
    fn room(&self, peer: &Peer, mtu: Bytes) -> Bytes {
        match self.alone {
            SinglePacketMode::Plain => mtu,
            SinglePacketMode::Bundled => mtu - self.overhead(peer) - Bytes::new(ENTRY_LEN as u64),
        }
    }

    /// The settings for aggregation packets to `peer` where packets of `mtu` bytes pass.
    pub(super) fn aggregation(&self, peer: &Peer, mtu: Bytes) -> AggregatorSettings {
        let Aggregation {
            trigger,
            tick,
            share,
        } = self.aggregate;
        AggregatorSettings {
            mtu,
            whole: self.room(peer, mtu),
            trigger,
            encapsulation: queue::Encapsulation {
                header: self.overhead(peer),
                entry: Bytes::new(ENTRY_LEN as u64),
                framing: Bytes::ZERO,
            },
            tick,
            share,
        }
    }

    /// Whether the headers of `encapsulation` are written: no socket adds labels.
    pub(super) fn encloses(&self, encapsulation: &bundle::Encapsulation) -> bool {
        self.output == Output::Packets
            || matches!(encapsulation, bundle::Encapsulation::Label { .. })
    }

    /// Whether a gateway can work so, given entropy.
    ///
    /// # Errors
    /// The first thing that is wrong.
    pub fn check(&self) -> Result<(), BadSettings> {
        for (number, peer) in self.peers.iter().enumerate() {
            self.check_peer(number, peer)?;
        }
        let mut origins = BTreeMap::new();
        for (other, peer) in self.peers.iter().enumerate() {
            if let Some(one) = origins.insert(peer.encapsulation.origin(), other) {
                return Err(BadSettings::SamePeer { one, other });
            }
        }
        let [four, six] = self.inside;
        if four.is_some_and(|address| address.is_ipv6())
            || six.is_some_and(|address| address.is_ipv4())
        {
            return Err(BadSettings::Inside);
        }
        Ok(())
    }

    /// Whether there is entropy, if it is needed.
    pub(super) fn check_entropy(&self) -> Result<(), BadSettings> {
        let sealed = self.peers.iter().any(|peer| peer.sealing.is_some());
        let needed = sealed || self.probe.is_some();
        match needed && self.entropy == [0; 32] {
            true => Err(BadSettings::Entropy),
            false => Ok(()),
        }
    }

    fn check_peer(&self, number: usize, peer: &Peer) -> Result<(), BadSettings> {
        let mtu = peer.mtu.bytes();
        let aggregate = self.aggregation(peer, mtu);
        aggregate
            .check()
            .map_err(|source| BadSettings::Aggregator {
                peer: number,
                source,
            })?;
        if mtu < LEAST_MTU {
            return Err(BadSettings::Mtu {
                peer: number,
                mtu: peer.mtu.get(),
            });
        }
        if let Encapsulation::Label { to, from } = peer.encapsulation
            && let Some(label) = [to, from].into_iter().find(|label| !LABELS.contains(label))
        {
            return Err(BadSettings::Label {
                peer: number,
                label,
            });
        }
        if let Some(sealing) = &peer.sealing {
            if self.alone == SinglePacketMode::Plain {
                return Err(BadSettings::PlainSealed { peer: number });
            }
            if sealing.rekey_after < Span::from_secs(1) || sealing.rekey_bundles < 1_000 {
                return Err(BadSettings::Rekey { peer: number });
            }
        }
        match peer.dscp {
            Some(dscp) if dscp > wire::dscp::LARGEST => {
                Err(BadSettings::Dscp { peer: number, dscp })
            }
            _ => Ok(()),
        }
    }
}

/// The smallest path MTU that is believed: each path of IPv6 supports it [RFC8200 s5].
pub(super) const LEAST_MTU: Bytes = Bytes::new(IpVersion::V6.smallest_mtu() as u64);

/// The labels that are not reserved [RFC3032 s2.1].
const LABELS: std::ops::Range<u32> = 16..1 << 20;

impl Encapsulation {
    /// The encapsulation of a bundle with this service byte.
    pub(super) const fn emitted(&self, service: u8) -> bundle::Encapsulation {
        match *self {
            Self::Ip { addresses } => bundle::Encapsulation::Ip { addresses, service },
            Self::Udp { addresses, port } => bundle::Encapsulation::Udp {
                addresses,
                service,
                port,
            },
            Self::Label { to, .. } => bundle::Encapsulation::Label {
                label: to,
                // The class selector of the DSCP [RFC2474 s4.2.2], in the field by which
                // routers infer the class of a packet on such a path [RFC3270 s1.2].
                class: wire::dscp::class_of(service),
            },
        }
    }

    /// The mark by which bundles from the peer are known.
    pub(super) fn origin(&self) -> Origin {
        match *self {
            Self::Ip { addresses } | Self::Udp { addresses, .. } => {
                let [here, there] = addresses.ends();
                Origin::Addresses { there, here }
            }
            Self::Label { from, .. } => Origin::Label(from),
        }
    }
}

/// The mark by which bundles from a peer are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Origin {
    /// Source and destination.
    Addresses {
        there: IpAddr,
        here: IpAddr,
    },
    Label(u32),
}

impl Origin {
    /// The origin of a bundle with these addresses.
    pub(super) fn of(addresses: Addresses) -> Self {
        let [there, here] = addresses.ends();
        Self::Addresses { there, here }
    }

    /// The origin of a bundle from `there`, if it is from any of these versions.
    pub(super) const fn here(&self) -> Option<IpAddr> {
        match self {
            Self::Addresses { here, .. } => Some(*here),
            Self::Label(_) => None,
        }
    }
}
