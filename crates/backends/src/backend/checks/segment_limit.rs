//! Settings whose packets only the segments of TCP limit to the MTU, or that have packets
//! of several segments.

use experiment::Rejection;
use meter::departures::Distribution;
use plan::Setting;
use plan::setting::{LinkKind, MtuMethod, Sends, Traffic};
use units::{Bytes, Transport};

/// Rejects traffic between kernels that segments of TCP do not limit, and packets of
/// several segments on links that would cut or pace them.
pub(super) fn check(setting: &Setting) -> Result<(), Rejection> {
    packets_of_segments(setting)?;
    limited_packets(setting)
}

/// A token bucket and an emulator count and carry packets of the MTU.
fn packets_of_segments(setting: &Setting) -> Result<(), Rejection> {
    let Some(segments) = setting.host.segments_per_packet else {
        return Ok(());
    };
    let links = &setting.network.links;
    let paced =
        setting.network.link != LinkKind::Kernel || links.iter().any(|link| link.rate.is_some());
    let why = if setting.host.offloads {
        "offloads join segments by themselves; write host.offloads = \"off\""
    } else if paced {
        "a paced link sends one segment in a packet; write network.link = \"kernel\" and network.rate = \"none\""
    } else {
        return Ok(());
    };
    let key = "segments_per_packet";
    Err(Rejection {
        places: vec![("host", Some(key.to_owned())), ("host", None)],
        why: format!("host.{key} = {segments}: {why}"),
    })
}

fn limited_packets(setting: &Setting) -> Result<(), Rejection> {
    let reject = |why: String| {
        let table = "network";
        Err(Rejection {
            places: vec![(table, Some("mtu_method".to_owned())), (table, None)],
            why,
        })
    };
    match setting.network.mtu_method {
        MtuMethod::Interface => return Ok(()),
        MtuMethod::Segment => {}
    }
    let other = match setting.traffic {
        Traffic::Command(_) => Some("sockets of your programs"),
        Traffic::LatencyBreakdown(_) => Some("sockets of a latency breakdown"),
        Traffic::Transfer(_)
        | Traffic::Flows(_)
        | Traffic::RequestResponse(_)
        | Traffic::Probe(_) => None,
    };
    if let Some(other) = other {
        return reject(format!(
            "network.mtu_method = \"mss\": it reaches no {other}; write \"interface\""
        ));
    }
    let (network, largest) = (&setting.network, largest_datagram(&setting.traffic));
    let room = network.path_mtu().and_then(|mtu| {
        let payload = model::payload_per_packet(mtu, network.ip, Transport::Udp);
        Some((mtu, payload?))
    });
    match room {
        Some((mtu, room)) if largest.is_some_and(|bytes| bytes > room) => reject(format!(
            "network.mtu_method = \"mss\": nothing cuts datagrams of {} bytes to packets of {}; write shorter messages, for instance \"mtu-72\"",
            largest.unwrap_or_default().get(),
            mtu.get()
        )),
        _ => Ok(()),
    }
}

/// The largest value of a distribution, of those without a limit the largest datagram.
fn largest(payloads: &Distribution) -> Bytes {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "payloads are at most those of the largest datagram"
    )]
    match payloads {
        Distribution::Constant(bytes) | Distribution::Uniform(_, bytes) => {
            Bytes::new(bytes.ceil() as u64)
        }
        _ => Bytes::new(65_507),
    }
}

/// The largest datagram of some traffic, if it has any.
fn largest_datagram(traffic: &Traffic) -> Option<Bytes> {
    let bytes = |size: u32| Bytes::new(size.into());
    match traffic {
        Traffic::Transfer(transfer) => {
            (transfer.protocol == Transport::Udp).then_some(transfer.message)
        }
        Traffic::RequestResponse(wanted) if wanted.protocol == Transport::Udp => {
            wanted.sizes.all().into_iter().max().map(bytes)
        }
        Traffic::Flows(flows) => {
            let sizes = flows.flows.iter().filter_map(|flow| match &flow.sends {
                Sends::Datagrams { payloads, .. } => Some(largest(payloads)),
                Sends::Messages { .. } | Sends::Bytes { .. } => None,
            });
            sizes.max()
        }
        _ => None,
    }
}
