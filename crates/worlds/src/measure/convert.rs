//! Converts a setting to a transfer between two agents.

use std::net::IpAddr;

use os::clock::Epoch;
use plan::{Setting, setting as spec};
use traffic::driver::transfer::{self, Transfer};
use units::{Bytes, Framing, Rate, Span, Transport};

use super::Paced;

/// The one-way transfer of a setting over links of the kind `paced`.
pub(crate) fn transfer_of(
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
        paced: paced == Paced::Emulator && traffic.protocol == Transport::Udp,
        delays: true,
        echo: transfer::Echo::Off,
        congestion: setting.host.congestion.clone(),
        largest_segment: setting.network.largest_segment(),
        processor: setting.host.processor,
        send_buffer: traffic.send_buffer,
        receive_buffer: traffic.receive_buffer,
        nagle: traffic.nagle,
        epoch,
        timeout: traffic.timeout,
        quiet: quiet(setting, traffic.message),
    }
}

/// The maximum goodput of the path: its slowest link with its smallest packets.
/// With offloads the kernel's bucket counts framing once per super-packet, so
/// that only the rate itself limits TCP. The transport of the user's programs
/// is unknown, so they get the limit of the leanest one.
pub(crate) fn pace(setting: &Setting, paced: Paced) -> Option<Rate> {
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
        (None | Some(Transport::Tcp), true) => Some(rate),
        (Some(Transport::Tcp), false) => whole(model::goodput_limit(
            rate,
            mtu,
            network.ip,
            Transport::Tcp,
            Framing::Ethernet,
        )?),
        (Some(Transport::Udp), _) => of_datagrams(rate, transfer?.message),
        // UDP has the shortest header of the possible transports, and datagrams
        // carry most if they fill a packet or have the maximum size.
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
pub(crate) fn whole(bits_per_second: f64) -> Option<Rate> {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "limits lie between 0 and the link's rate"
    )]
    let bits = bits_per_second.ceil() as u64;
    Rate::from_bits_per_second(bits)
}

/// The silence after which nothing can be in flight: the time to drain all
/// buffers of the path, plus a margin for the hosts.
fn quiet(setting: &Setting, message: Bytes) -> Span {
    let drain = setting.network.links.iter().filter_map(|link| {
        let rate = link.rate?;
        Some(rate.serialise(link.buffer) + rate.serialise(Framing::Ethernet.wire_size(message)))
    });
    let travel = setting.network.links.iter();
    let travel = travel.map(|link| {
        link.impairments.delay + link.impairments.jitter_law.reach(link.impairments.jitter)
    });
    drain
        .chain(travel)
        .fold(Span::from_millis(300), |sum, span| sum + span)
}
