//! The output of scamper.

use units::Bytes;

use super::{PeerAnswer, PeerLimit, PeerVerdict, octets};

/// The answer in the output of `scamper -c "trace -M"`, from an interface of MTU
/// `interface`.
///
/// It has a line for each hop: its number, the router, the round trip, and `[mtu: N]` for
/// the path up to there. `[*mtu: N]` says that no router told it.
pub(super) fn answer(text: &str, interface: Bytes) -> PeerAnswer {
    let mut mtu = None;
    let mut limit = PeerLimit::Nowhere;
    let mut verdict = PeerVerdict::Clean;
    for (hop, size, is_told) in text.lines().filter_map(hop) {
        if size < mtu.unwrap_or(interface) {
            limit = PeerLimit::Hop(hop.saturating_sub(1));
            verdict = match is_told {
                true => PeerVerdict::Refused,
                false => PeerVerdict::Vanish,
            };
        }
        mtu = Some(size);
    }
    PeerAnswer {
        mtu,
        limit: mtu.map(|_| limit),
        verdict: mtu.map(|_| verdict),
        ..PeerAnswer::default()
    }
}

/// The number of a hop, the path MTU up to there, and whether a router told it.
fn hop(line: &str) -> Option<(usize, Bytes, bool)> {
    let number = line.split_whitespace().next()?.parse().ok()?;
    let (before, after) = line.split_once("mtu: ")?;
    let size = octets(after.split(']').next()?)?;
    Some((number, size, !before.ends_with('*')))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// scamper 20211212 of Debian 12.
    const TOLD: &str = "\
traceroute from 10.0.1.1 to 10.0.3.2
 1  10.0.1.2  0.008 ms [mtu: 9000]
 2  10.0.2.2  0.025 ms [mtu: 1500]
 3  10.0.3.2  0.022 ms [mtu: 1500]
";

    fn answered(mtu: u64, limit: PeerLimit, verdict: PeerVerdict) -> PeerAnswer {
        PeerAnswer {
            mtu: Some(Bytes::new(mtu)),
            limit: Some(limit),
            verdict: Some(verdict),
            ..PeerAnswer::default()
        }
    }

    #[test]
    fn the_hop_with_the_limit_is_read_and_whether_a_router_told_it() {
        let of = |text: &str| answer(text, Bytes::new(9_000));
        let told = answered(1_500, PeerLimit::Hop(1), PeerVerdict::Refused);
        assert_eq!(of(TOLD), told);
        let silent = TOLD.replace("[mtu: 1500]", "[*mtu: 1500]");
        let vanish = answered(1_500, PeerLimit::Hop(1), PeerVerdict::Vanish);
        assert_eq!(of(&silent), vanish);
        let clean = answered(9_000, PeerLimit::Nowhere, PeerVerdict::Clean);
        assert_eq!(of(&TOLD.replace("1500", "9000")), clean);
        let first = answered(1_500, PeerLimit::Hop(0), PeerVerdict::Vanish);
        assert_eq!(of("t\n 1  10.0.1.2  4294967.265 ms [*mtu: 1500]\n"), first);
        // A trace without discovery, and one without answers.
        assert_eq!(of(" 1  10.0.1.2  0.008 ms\n 2  *\n"), PeerAnswer::default());
    }

    proptest! {
        #[test]
        fn any_text_has_an_answer(text in ".*", number in any::<u64>()) {
            answer(&text, Bytes::new(9_000));
            answer(&format!(" {number} a [mtu: {number}]{text}"), Bytes::new(9_000));
        }
    }
}
