//! The STAMP reflector beside a receiver: UDP at its addresses and its port.

use std::io::Error;
use std::net::SocketAddr;

use probe::driver::stamp::Outcome;
pub(super) use probe::driver::stamp::{RunningReflector, StampReflector};
use probe::machine::stamp::Limits;

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
/// The kernel rejects one of them.
pub(super) fn open(addresses: &[SocketAddr]) -> os::Result<StampReflector> {
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
    let Outcome { counts, unsent } = outcome;
    let sent = counts.reflected.saturating_sub(unsent.total());
    let error = format!("not sent ({})", Error::from_raw_os_error(unsent.error));
    let unresolved = counts.unresolved + unsent.unresolved;
    let parts = [
        (sent, "reflected"),
        (unsent.too_large, "too large for this system to send"),
        (unresolved, "without an answer from the neighbour"),
        (unsent.others, &error),
        (counts.limited, "above the rate limit"),
        (counts.malformed, "malformed"),
    ];
    let parts = parts.iter().filter(|(count, _)| *count > 0);
    let parts: Vec<String> = parts
        .map(|(count, outcome)| format!("{count} {outcome}"))
        .collect();
    (!parts.is_empty()).then(|| format!("STAMP test packets: {}", parts.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use probe::driver::stamp::Unsent;
    use probe::machine::stamp::Counts;

    #[test]
    fn a_reflector_says_what_it_did_if_it_did_anything() {
        let outcome = |reflected, malformed, limited, unresolved, unsent| Outcome {
            counts: Counts {
                reflected,
                malformed,
                limited,
                unresolved,
                ..Counts::default()
            },
            unsent,
        };
        let unsent = |too_large, unresolved, others| Unsent {
            too_large,
            unresolved,
            others,
            error: 1,
        };
        assert_eq!(summary(&outcome(0, 0, 0, 0, Unsent::default())), None);
        let line = |outcome| summary(&outcome).unwrap();
        assert_eq!(
            line(outcome(1, 0, 0, 0, Unsent::default())),
            "STAMP test packets: 1 reflected"
        );
        assert_eq!(
            line(outcome(9, 1, 2, 7, unsent(3, 1, 0))),
            "STAMP test packets: 5 reflected, 3 too large for this system to send, \
             8 without an answer from the neighbour, 2 above the rate limit, 1 malformed"
        );
        assert_eq!(
            line(outcome(6, 0, 0, 0, unsent(0, 2, 3))),
            "STAMP test packets: 1 reflected, 2 without an answer from the neighbour, \
             3 not sent (Operation not permitted (os error 1))"
        );
    }
}
