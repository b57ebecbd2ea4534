//! The STAMP reflector beside a receiver: UDP at its addresses and its port.

use std::net::SocketAddr;

use live::stamp::{Outcome, RunningReflector, StampReflector};
use proto::stamp::Limits;

/// Ends a reflector. Returns a line about what it did, if anything.
pub(super) fn end(reflector: RunningReflector) -> Option<String> {
    match reflector.end() {
        Ok(outcome) => summary(&outcome),
        Err(error) => Some(format!("the STAMP reflector failed: {error}")),
    }
}

/// A reflector at the addresses of a receiver.
///
/// # Errors
/// The kernel refuses one of them.
pub(super) fn open(addresses: &[SocketAddr]) -> live::Result<StampReflector> {
    StampReflector::open(addresses, Limits::default())
}

/// The line about the addresses.
pub(super) fn describe(reflector: &StampReflector) -> String {
    let addresses = reflector.addresses();
    let hosts: Vec<String> = addresses.iter().map(|at| at.ip().to_string()).collect();
    let port = addresses.first().map_or(0, SocketAddr::port);
    let hosts = hosts.join(" and ");
    format!("reflecting STAMP test packets on {hosts} port {port} (UDP)")
}

/// A line on the packets that a reflector received; `None` if there were none.
fn summary(outcome: &Outcome) -> Option<String> {
    let counts = outcome.counts;
    let sent = counts.reflected - outcome.unsent;
    let parts = [
        (sent, "reflected"),
        (outcome.unsent, "too large for this system to send"),
        (counts.limited, "above the rate limit"),
        (counts.malformed, "malformed"),
    ];
    let parts = parts.iter().filter(|(count, _)| *count > 0);
    let parts: Vec<String> = parts
        .map(|(count, fate)| format!("{count} {fate}"))
        .collect();
    (!parts.is_empty()).then(|| format!("STAMP test packets: {}", parts.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proto::stamp::Counts;

    #[test]
    fn a_reflector_says_what_it_did_if_it_did_anything() {
        let outcome = |reflected, malformed, limited, unsent| Outcome {
            counts: Counts {
                reflected,
                malformed,
                limited,
                ..Counts::default()
            },
            unsent,
        };
        assert_eq!(summary(&outcome(0, 0, 0, 0)), None);
        let line = |outcome| summary(&outcome).unwrap();
        assert_eq!(line(outcome(1, 0, 0, 0)), "STAMP test packets: 1 reflected");
        assert_eq!(
            line(outcome(9, 1, 2, 3)),
            "STAMP test packets: 6 reflected, 3 too large for this system to send, \
             2 above the rate limit, 1 malformed"
        );
    }
}
