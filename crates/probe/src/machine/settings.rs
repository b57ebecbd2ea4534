//! The settings of an investigation.

use core::net::IpAddr;

use units::{Bytes, IpVersion, Rate, Span};

use super::Protocol;
use link::pmtu;

/// The greatest rate of probes unless set: 50 Mb/s.
const RATE: Rate = match Rate::from_bits_per_second(50_000_000) {
    Some(rate) => rate,
    None => unreachable!(),
};

/// The subject of an investigation, its means, and its error rates.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// The far end. Its address says which Internet Protocol is used.
    pub far_end: IpAddr,
    /// The size that the path should carry.
    pub asked: Bytes,
    /// The MTU of the local interface towards the far end; `None` if unknown.
    pub interface_mtu: Option<Bytes>,
    /// Whether the local interface has IPv6, which an MTU below 1280 takes from it.
    pub interface_ipv6: bool,
    /// The protocols to probe with that were asked for.
    pub protocols: Vec<Protocol>,
    /// Whether the local system lets the driver send echo requests.
    pub can_echo: bool,
    /// Which TCP segments the driver can send.
    pub tcp: TcpProbes,
    /// Whether the driver can send fragments.
    pub can_fragment: bool,
    /// Of which probes with hop limits the driver sees where they ended.
    pub hop_probes: HopProbes,
    /// The STAMP reflector that UDP probes go to.
    pub reflector: Reflector,
    /// The accepted probability that an investigation takes ordinary loss for a problem.
    pub false_alarm: f64,
    /// The share of packets that are assumed to get lost in each direction whatever their
    /// size; more is assumed where more is seen.
    pub ordinary_loss: f64,
    /// The number of flows that are sent to meet the branches of a path.
    pub flows: u16,
    /// The largest hop limit of probes that look for routers.
    pub most_hops: u8,
    /// How often one system answers with time exceeded or port unreachable.
    pub answer_rate: AnswerRate,
    /// The least time between two probes.
    pub spacing: Span,
    /// The greatest rate of probes.
    pub rate: Rate,
    /// Bounds of the time after which a probe without an answer counts as lost.
    pub least_timeout: Span,
    /// The upper bound, which holds until the first round trip is measured.
    pub most_timeout: Span,
    /// The longest that an investigation takes.
    pub most_time: Span,
    /// The most probes that it sends.
    pub most_probes: u32,
    /// The most bytes of their IP packets.
    pub most_bytes: Bytes,
    /// How wide the 95 % interval of the loss of large packets may be, from 0 to 1. Where no
    /// packet is lost, it says how many are sent; where some are, `most_probes` and
    /// `most_bytes` may end the count before.
    pub loss_interval: f64,
}

/// Which TCP segments a driver can send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TcpProbes {
    None,
    /// The system's own connection attempts: small, with the default hop limit.
    Connect,
    /// Segments of any size and hop limit, which needs raw sockets.
    Any,
}

/// The probes of which a driver sees at which router their hop limit ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HopProbes {
    /// Those of each protocol.
    Any,
    /// Echo requests, which then stand for datagrams.
    Echo,
    None,
}

/// A STAMP reflector at the far end [RFC8762].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reflector {
    /// None: the port of UDP probes should be closed.
    None,
    /// One whose replies are as long as the probes.
    SameLength,
    /// One that gives short replies to those that ask for them [RFC10052 s3].
    ShortReplies,
}

impl Reflector {
    /// Whether there is one: its replies are not limited in rate, error messages are.
    pub(super) const fn is_there(self) -> bool {
        !matches!(self, Self::None)
    }

    /// Whether it gives short replies, which tell the directions apart.
    pub(super) const fn is_short(self) -> bool {
        matches!(self, Self::ShortReplies)
    }
}

/// How often one system sends error messages to one peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AnswerRate {
    /// Messages in a row.
    pub burst: u32,
    /// The time after which one more is sent.
    pub every: Span,
}

/// Settings that cannot be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadSettings {
    /// The size asked for.
    #[error(transparent)]
    Asked(#[from] pmtu::BadSettings),
    /// There is nothing to probe with.
    #[error(
        "this system lets the program send no protocol to probe with; use `sudo`, or name another --protocol"
    )]
    NoProtocol,
}

impl Settings {
    /// The longest investigation, unless set.
    pub const MOST_TIME: Span = Span::from_secs(60);

    /// Everything that a driver with all rights can send, without a reflector.
    pub fn new(far_end: IpAddr, asked: Bytes) -> Self {
        Self {
            far_end,
            asked,
            interface_mtu: None,
            interface_ipv6: true,
            protocols: vec![Protocol::Icmp, Protocol::Udp, Protocol::Tcp],
            can_echo: true,
            tcp: TcpProbes::Any,
            can_fragment: true,
            hop_probes: HopProbes::Any,
            reflector: Reflector::None,
            false_alarm: 0.01,
            ordinary_loss: 0.15,
            flows: 16,
            most_hops: 30,
            answer_rate: AnswerRate {
                burst: 6,
                every: Span::from_secs(1),
            },
            spacing: Span::from_micros(500),
            rate: RATE,
            least_timeout: Span::from_millis(100),
            most_timeout: Span::from_secs(1),
            most_time: Self::MOST_TIME,
            most_probes: 600,
            most_bytes: Bytes::new(1_000_000),
            loss_interval: 0.08,
        }
    }

    /// The same with probes and bytes for narrow intervals.
    #[must_use]
    pub fn thorough(self) -> Self {
        Self {
            most_probes: 10_000,
            most_bytes: Bytes::new(100_000_000),
            ..self
        }
    }

    /// The Internet Protocol of the path.
    pub const fn version(&self) -> IpVersion {
        match self.far_end {
            IpAddr::V4(_) => IpVersion::V4,
            IpAddr::V6(_) => IpVersion::V6,
        }
    }
}
