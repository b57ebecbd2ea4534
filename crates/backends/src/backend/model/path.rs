//! A path as stations in a row: the sender's processor, the links, and the
//! receiver's processor.

use model::tandem;
use plan::Setting;
use plan::setting::{Link, Network};
use units::{Bytes, Framing, IpMtu, Span, Transport};

/// The header of a segment without options [RFC9293 s3.1].
pub(super) const TCP_HEADER: Bytes = Bytes::new(20);

/// The path of a setting.
pub(super) struct Path<'a> {
    pub(super) setting: &'a Setting,
    pub(super) network: &'a Network,
    /// The largest packet that passes all links.
    pub(super) mtu: IpMtu,
}

/// A direction on a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PathDirection {
    /// From the sender to the receiver.
    Forth,
    /// From the receiver to the sender.
    Back,
}

/// A station of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// The processor of the host that sends.
    Sending,
    /// This link of the path.
    Link(usize),
    /// The processor of the host that receives.
    Receiving,
}

impl<'a> Path<'a> {
    /// The path of `setting`.
    ///
    /// # Errors
    /// Its network is no path with closed forms.
    pub(super) fn of(setting: &'a Setting) -> Result<Self, String> {
        let network = &setting.network;
        let Some(mtu) = network.path_mtu().filter(|_| network.graph.is_none()) else {
            return Err("the network is no path".to_owned());
        };
        if network
            .links
            .iter()
            .any(|link| link.impairments.narrow.is_some())
        {
            return Err("packets that are too big for a wire have no closed form".to_owned());
        }
        Ok(Self {
            setting,
            network,
            mtu,
        })
    }

    /// The stations in the order in which packets pass them.
    pub(super) fn places(&self, way: PathDirection) -> Vec<Place> {
        let mut links: Vec<Place> = (0..self.network.links.len()).map(Place::Link).collect();
        if way == PathDirection::Back {
            links.reverse();
        }
        let ends = [[Place::Sending], [Place::Receiving]];
        [&ends[0][..], &links, &ends[1]].concat()
    }

    /// How long a station is busy with an IP packet of this size.
    pub(super) fn busy(&self, place: Place, packet: Bytes) -> Span {
        let costs = &self.setting.host.costs;
        match place {
            Place::Sending => costs.send_per_packet + costs.send_per_byte * packet.get(),
            Place::Receiving => costs.receive_per_packet + costs.receive_per_byte * packet.get(),
            Place::Link(link) => {
                let link = &self.network.links[link];
                let serialise = |rate: units::Rate| rate.serialise(link.framing.wire_size(packet));
                link.rate.map_or(Span::ZERO, serialise)
            }
        }
    }

    /// The station that is busy the longest with a packet, the first of equals, and
    /// its time; `None` if no station takes any.
    pub(super) fn slowest(&self, packet: Bytes) -> Option<(Place, Span)> {
        let mut slowest: Option<(Place, Span)> = None;
        for place in self.places(PathDirection::Forth) {
            let time = self.busy(place, packet);
            if time > slowest.map_or(Span::ZERO, |(_, time)| time) {
                slowest = Some((place, time));
            }
        }
        slowest
    }

    /// The time from the first byte of `packets` at the sender until the last one has
    /// arrived. Nothing else is on the path.
    pub(super) fn crossing(&self, packets: &[Bytes], way: PathDirection) -> Span {
        let at_once: Vec<_> = packets.iter().map(|size| (Span::ZERO, *size)).collect();
        self.crossing_from(&at_once, way)
    }

    /// The same of packets that come one after the other, each at its time.
    pub(super) fn crossing_from(&self, packets: &[(Span, Bytes)], way: PathDirection) -> Span {
        let places = self.places(way);
        let links = self.network.links.len();
        // A switch that cuts through passes a frame on after its header; all links have
        // one rate there, so that the last of them stands for the frames.
        let is_passed = |hop: usize| self.network.cut_through && (1..links).contains(&hop);
        let stored = || {
            let places = places.iter().enumerate();
            places
                .filter(|(hop, _)| !is_passed(*hop))
                .map(|(_, place)| *place)
        };
        let busy = |(comes, packet): &(Span, Bytes)| {
            let busy = stored().map(|place| self.busy(place, *packet));
            (*comes, busy.collect())
        };
        let time = tandem(packets.iter().map(busy));
        let passed = places.iter().enumerate().filter(|(hop, _)| is_passed(*hop));
        passed.fold(time + self.delay(), |sum, (_, place)| match place {
            Place::Link(link) => sum + header_time(&self.network.links[*link]),
            Place::Sending | Place::Receiving => sum,
        })
    }

    /// The sum of propagation delays, one way.
    pub(super) fn delay(&self) -> Span {
        let delays = self.network.links.iter().map(|link| link.impairments.delay);
        delays.fold(Span::ZERO, |sum, delay| sum + delay)
    }

    /// The probability that an IP packet of this size is lost on the path.
    pub(super) fn loss(&self, packet: Bytes) -> f64 {
        let losses = self.network.links.iter().map(|link| &link.impairments);
        let losses = losses.map(|link| (link.loss, link.bit_error_rate));
        model::path_loss(losses, Framing::Ethernet.frame_size(packet))
    }

    /// Whether frames are lost at random.
    pub(super) fn loses(&self) -> bool {
        let mut links = self.network.links.iter();
        links.any(|link| link.impairments.loss > 0.0 || link.impairments.bit_error_rate > 0.0)
    }

    /// Whether others use a link.
    pub(super) fn is_shared(&self) -> bool {
        self.network.links.iter().any(|link| link.cross.is_some())
    }

    /// The packets of a datagram with this payload.
    ///
    /// # Errors
    /// A link behind the first is too narrow for them: what becomes of them depends
    /// on addresses, versions and what hosts remember.
    pub(super) fn datagram(
        &self,
        payload: Bytes,
        way: PathDirection,
    ) -> Result<Vec<Bytes>, String> {
        let links = &self.network.links;
        let first = match way {
            PathDirection::Forth => links.first(),
            PathDirection::Back => links.last(),
        };
        let first = first.map_or(self.mtu, Link::carries);
        let packets = model::packets(payload, first, self.network.ip, Transport::Udp);
        match packets.iter().all(|packet| *packet <= self.mtu.bytes()) {
            true => Ok(packets),
            false => Err(format!(
                "packets of {} bytes do not fit the path, and who cuts them has no closed form",
                packets.iter().max().copied().unwrap_or_default().get()
            )),
        }
    }

    /// The name of a station in evidence.
    pub(super) fn name(&self, place: Place) -> String {
        match place {
            Place::Sending => "the sender's processor".to_owned(),
            Place::Receiving => "the receiver's processor".to_owned(),
            Place::Link(link) => format!("link {}", self.network.links[link].name),
        }
    }
}

/// The time of a frame's preamble and header on a link.
fn header_time(link: &Link) -> Span {
    let header = Framing::PREAMBLE + Framing::MAC_HEADER;
    link.rate.map_or(Span::ZERO, |rate| rate.serialise(header))
}
