//! From the neutral words of an experiment to those of this world.

use std::net::IpAddr;

use live::clock::Epoch;
use live::emulator::Cross;
use live::testbed::{Addresses, Link, Medium, Middle, Path};
use live::transfer::{self, Transfer};
use proto::traffic::{Law, mean_gap};
use units::Transport;
use units::{Bytes, Framing, Rate, Span};

use plan::Setting;
use plan::setting as spec;
use plan::setting::LinkKind;

/// Who paces the links of one test bed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Paced {
    /// The kernel's token buckets.
    Kernel,
    /// Our emulator.
    Emulator,
}

impl Paced {
    /// Whose links carry bulk, and whose single messages.
    pub(super) fn of(kind: LinkKind) -> [Self; 2] {
        match kind {
            LinkKind::Kernel => [Self::Kernel; 2],
            LinkKind::Emulated => [Self::Emulator; 2],
            LinkKind::Mixed => [Self::Kernel, Self::Emulator],
        }
    }
}

impl Paced {
    /// Who paces the links of each test bed that a setting needs, that for
    /// bulk first.
    pub(super) fn beds(kind: LinkKind) -> impl Iterator<Item = Self> {
        let [bulk, single] = Self::of(kind);
        std::iter::once(bulk).chain((single != bulk).then_some(single))
    }
}

/// A test bed that a setting asks for.
pub(super) fn path_of(setting: &Setting, paced: Paced) -> Path {
    let network = &setting.network;
    Path {
        middle: match network.shape {
            // What is no path is refused for this world when it is read.
            spec::Shape::Pair
            | spec::Shape::Routed
            | spec::Shape::Chain
            | spec::Shape::Dumbbell
            | spec::Shape::Explicit => Middle::Router,
            spec::Shape::Switched => Middle::Switch,
        },
        ip: network.ip,
        addresses: match network.addresses {
            spec::Addresses::Static => Addresses::Static,
            spec::Addresses::Router => Addresses::Router,
        },
        offloads: setting.host.offloads,
        links: network
            .links
            .iter()
            .enumerate()
            .map(|(number, link)| Link {
                mtu: link.mtu,
                medium: match paced {
                    Paced::Kernel => Medium::Kernel {
                        rate: link.rate,
                        burst: link.burst,
                        buffer: link.buffer,
                    },
                    Paced::Emulator => {
                        let back = network.emulated(link);
                        let mut there = back.clone();
                        if number == 0 {
                            there.delay += injected(setting);
                        }
                        Medium::Emulated(Box::new([there, back]))
                    }
                },
            })
            .collect(),
    }
}

/// What is injected on the way there.
fn injected(setting: &Setting) -> Span {
    match &setting.traffic {
        spec::Traffic::Mechanisms(trips) => trips.on_the_wire(),
        _ => Span::ZERO,
    }
}

/// The cross traffic that a setting asks for.
pub(super) fn cross_of(setting: &Setting) -> Vec<Cross> {
    let links = setting.network.links.iter().enumerate();
    links
        .flat_map(|(wire, link)| Some((wire, link.cross?)))
        .flat_map(|(wire, cross)| {
            let mean = mean_gap(Framing::Ethernet.wire_size(cross.packet), cross.rate);
            let gaps = match cross.gaps {
                spec::Gaps::Exponential => Law::Exponential(mean),
                spec::Gaps::Constant => Law::Constant(mean),
                spec::Gaps::Uniform => Law::Uniform(0.0, 2.0 * mean),
            };
            let frame = Framing::Ethernet.frame_size(cross.packet);
            #[expect(clippy::cast_precision_loss, reason = "octets of one frame")]
            let sizes = Law::Constant(frame.get() as f64);
            cross.heading.ways().iter().map(move |&way| Cross {
                wire,
                way,
                gaps: gaps.clone(),
                sizes: sizes.clone(),
            })
        })
        .collect()
}

/// The links whose packets are recorded: their numbers and their names.
pub(super) fn recorded_of(setting: &Setting) -> Vec<(usize, String)> {
    let links = setting.network.links.iter().enumerate();
    links
        .filter(|(_, link)| link.recorded)
        .map(|(number, link)| (number, link.name.clone()))
        .collect()
}

/// The links that have a window over what is counted of a transfer, and its
/// name.
pub(super) fn counted_of(setting: &Setting) -> impl Iterator<Item = (usize, &str)> {
    let links = setting.network.links.iter().enumerate();
    links.filter_map(|(number, link)| Some((number, link.counted.transfer.as_deref()?)))
}

/// The transfer that a setting asks for, one way, over links that are `paced` so.
pub(super) fn transfer_of(
    setting: &Setting,
    paced: Paced,
    traffic: &spec::Transfer,
    address: IpAddr,
    epoch: Epoch,
) -> Transfer {
    Transfer {
        protocol: traffic.protocol,
        address,
        preroll: traffic.preroll,
        preroll_message: traffic.message,
        size: traffic.size,
        message: traffic.message,
        pace: pace(setting, paced),
        paced: paced == Paced::Emulator && traffic.protocol == spec::Protocol::Udp,
        delays: true,
        echo: transfer::Echo::Off,
        congestion: setting.host.congestion.clone(),
        send_buffer: traffic.send_buffer,
        receive_buffer: traffic.receive_buffer,
        nagle: traffic.nagle,
        epoch,
        timeout: traffic.timeout,
        quiet: quiet(setting, traffic.message),
    }
}

/// The most goodput that the path carries: its slowest link with its smallest
/// packets. With offloads on the kernel's bucket sees super-packets and counts
/// framing once for each, so that only the rate itself bounds what TCP carries.
/// What a program of the user's speaks is not known, so that it gets the limit
/// of the leanest transport.
pub(super) fn pace(setting: &Setting, paced: Paced) -> Option<Rate> {
    let network = &setting.network;
    let mtu = network.path_mtu()?;
    let of_datagrams = |rate: Rate, message: Bytes| {
        let (ip, framing) = (network.ip, Framing::Ethernet);
        whole(model::datagram_goodput_limit(
            rate, message, mtu, ip, framing,
        )?)
    };
    let transfer = setting.traffic.transfer();
    let protocol = transfer.map(|transfer| transfer.protocol);
    let super_packets = setting.host.offloads && paced == Paced::Kernel;
    let bits = |rate: Rate| match (protocol, super_packets) {
        (None | Some(spec::Protocol::Tcp), true) => Some(rate),
        (Some(spec::Protocol::Tcp), false) => whole(model::goodput_limit(
            rate,
            mtu,
            network.ip,
            Transport::Tcp,
            Framing::Ethernet,
        )?),
        (Some(spec::Protocol::Udp), _) => of_datagrams(rate, transfer?.message),
        // UDP has the shortest header that a program may use, and datagrams
        // carry most where they fill a packet or are as long as they can be.
        (None, false) => [
            model::payload_per_packet(mtu, network.ip, Transport::Udp)?,
            model::largest_message(network.ip),
        ]
        .into_iter()
        .filter_map(|message| of_datagrams(rate, message))
        .max(),
    };
    network
        .links
        .iter()
        .filter_map(|link| bits(link.rate?))
        .min()
}

/// A limit in whole bits per second, rounded up: a limit must not be too low.
fn whole(bits_per_second: f64) -> Option<Rate> {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "limits lie between 0 and the link's rate"
    )]
    let bits = bits_per_second.ceil() as u64;
    Rate::from_bits_per_second(bits)
}

/// After how long a silence nothing more can be on its way: every buffer of
/// the path drained, and some time for the hosts.
fn quiet(setting: &Setting, message: Bytes) -> Span {
    let drain = setting.network.links.iter().filter_map(|link| {
        let rate = link.rate?;
        Some(rate.serialise(link.buffer) + rate.serialise(Framing::Ethernet.wire_size(message)))
    });
    let travel = setting.network.links.iter();
    let travel = travel.map(|link| link.wire.delay + link.wire.jitter_law.reach(link.wire.jitter));
    drain
        .chain(travel)
        .fold(Span::from_millis(300), |sum, span| sum + span)
}
