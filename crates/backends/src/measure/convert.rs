//! Converts a setting to a transfer between two agents.

use std::net::IpAddr;

use os::clock::Epoch;
use plan::{Setting, setting as spec};
use traffic::driver::transfer::{self, Transfer};
use units::{Bytes, Framing, Span, Transport};

use crate::pace::{Paced, pace};

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
        warmup: traffic.warmup,
        warmup_message: traffic.message,
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

/// The silence after which nothing can be in flight: the time to drain all
/// buffers of the path, plus a margin for the hosts.
fn quiet(setting: &Setting, message: Bytes) -> Span {
    let drain = setting.network.links.iter().filter_map(|link| {
        let rate = link.rate?;
        Some(rate.serialise(link.buffer) + rate.serialise(Framing::Ethernet.wire_size(message)))
    });
    let travel = setting.network.links.iter();
    let travel = travel.map(|link| {
        link.impairments.delay
            + link
                .impairments
                .jitter_distribution
                .reach(link.impairments.jitter)
    });
    drain
        .chain(travel)
        .fold(Span::from_millis(300), |sum, span| sum + span)
}
