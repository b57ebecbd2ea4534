//! From the neutral words of an experiment to those of this world.

use std::net::IpAddr;

use live::clock::Epoch;
use live::testbed::{Addresses, Link, Middle, Path};
use live::transfer::{self, Transfer};
use model::Transport;
use units::{Framing, Rate, Span};

use crate::experiment::{self as spec, Setting};

/// The test bed that a setting asks for.
pub(super) fn path_of(setting: &Setting) -> Path {
    let network = &setting.network;
    Path {
        middle: match network.shape {
            spec::Shape::Pair => Middle::Nothing,
            spec::Shape::Routed => Middle::Router,
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
            .map(|link| Link {
                mtu: link.mtu,
                rate: link.rate,
                burst: link.burst,
                buffer: link.buffer,
            })
            .collect(),
    }
}

/// The transfer that a setting asks for, one way.
pub(super) fn transfer_of(setting: &Setting, address: IpAddr, epoch: Epoch) -> Transfer {
    let traffic = &setting.traffic;
    Transfer {
        protocol: match traffic.protocol {
            spec::Protocol::Tcp => transfer::Protocol::Tcp,
            spec::Protocol::Udp => transfer::Protocol::Udp,
        },
        address,
        preroll: traffic.preroll,
        preroll_message: traffic.message,
        size: traffic.size,
        message: traffic.message,
        pace: pace(setting),
        delays: true,
        echo: false,
        congestion: setting.host.congestion.clone(),
        send_buffer: traffic.send_buffer,
        receive_buffer: traffic.receive_buffer,
        nagle: traffic.nagle,
        epoch,
        timeout: traffic.timeout,
        quiet: quiet(setting),
    }
}

/// The most goodput that the path carries: its slowest link with its smallest
/// packets. With offloads on the kernel's bucket sees super-packets and counts
/// framing once for each, so that only the rate itself bounds what TCP carries.
pub(super) fn pace(setting: &Setting) -> Option<Rate> {
    let network = &setting.network;
    let mtu = network.links.iter().map(|link| link.mtu).min()?;
    let bits = |rate: Rate| match (setting.traffic.protocol, setting.host.offloads) {
        (spec::Protocol::Tcp, true) => Some(rate),
        (spec::Protocol::Tcp, false) => whole(model::goodput_limit(
            rate,
            mtu,
            network.ip,
            Transport::Tcp,
            Framing::Ethernet,
        )?),
        (spec::Protocol::Udp, _) => {
            let message = setting.traffic.message;
            whole(model::datagram_goodput_limit(
                rate,
                message,
                mtu,
                network.ip,
                Framing::Ethernet,
            )?)
        }
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
fn quiet(setting: &Setting) -> Span {
    let drain = setting.network.links.iter().filter_map(|link| {
        let rate = link.rate?;
        Some(
            rate.serialise(link.buffer)
                + rate.serialise(Framing::Ethernet.wire_size(setting.traffic.message)),
        )
    });
    drain.fold(Span::from_millis(300), |sum, span| sum + span)
}
