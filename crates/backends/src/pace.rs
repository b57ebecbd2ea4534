//! The rate at which a path takes what is sent.

use plan::Setting;
use serde::{Deserialize, Serialize};
use units::{Bytes, Framing, Rate, Transport};

/// The mechanism that limits the rate of the links.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Paced {
    /// The kernel's token buckets.
    Kernel,
    Emulator,
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
