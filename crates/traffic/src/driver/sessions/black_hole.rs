//! The suspicion that a path drops large packets and sends no error.

use std::net::SocketAddr;

use wire::control::Meter;

use super::connect::FlowOutcome;
use super::send::Stall;

/// The least bytes of a message whose loss may be due to its size: every host takes IPv4
/// packets of 576 bytes [RFC791 s3.2].
const LARGE: u64 = 576 - 28;

/// Names the suspicion, and the command that finds out. `what` was not delivered although
/// small packets to the control port `peer` are; `size` is that of its messages. `None`
/// if they are small themselves.
pub fn black_hole(what: &str, size: u64, peer: SocketAddr) -> Option<String> {
    let (host, port) = (peer.ip(), peer.port());
    let zone = match peer {
        SocketAddr::V6(six) if six.scope_id() > 0 => format!("%{}", six.scope_id()),
        _ => String::new(),
    };
    (size >= LARGE).then(|| {
        format!("{what}, small ones are: an MTU black hole? type: jumbolab probe {host}{zone} --port {port}")
    })
}

/// The reason why messages did not arrive, or did not come back, as far as it shows.
/// `lives` says that the control connection, with its small packets, still works.
pub(super) fn why(
    outcome: &FlowOutcome,
    meter: Meter,
    peer: SocketAddr,
    lives: bool,
) -> Option<String> {
    let sent = outcome.sent.as_ref()?;
    if let Some(stall) = sent.stall {
        let hole = match stall {
            Stall::Segments(size) if lives => black_hole(&stall.to_string(), size, peer),
            _ => None,
        };
        return Some(hole.unwrap_or_else(|| stall.to_string()));
    }
    let messages = sent.messages;
    let size = sent.bytes.get().checked_div(messages).filter(|_| lives)?;
    let arrived = outcome.report?.messages;
    let what = match arrived {
        0 => "messages",
        _ if meter == Meter::RoundTrip && sent.echoes == 0 => "answers",
        _ => return None,
    };
    black_hole(
        &format!("none of {messages} {what} of {size} bytes was delivered"),
        size,
        peer,
    )
}
