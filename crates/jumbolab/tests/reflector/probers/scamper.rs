//! The output of scamper.

use units::Bytes;

use super::{Answer, Limit, bytes};

/// The answer in the output of `scamper -c "trace -M"`, from an interface of MTU
/// `interface`.
///
/// It has a line for each hop: its number, the router, the round trip, and `[mtu: N]` for
/// the path up to there. `[*mtu: N]` says that no router told it.
pub(super) fn answer(text: &str, interface: Bytes) -> Answer {
    let mut mtu = None;
    let mut limit = Limit::Nowhere;
    for (hop, size) in text.lines().filter_map(hop) {
        if size < mtu.unwrap_or(interface) {
            limit = Limit::Hop(hop.saturating_sub(1));
        }
        mtu = Some(size);
    }
    let limit = mtu.map(|_| limit);
    Answer { mtu, limit }
}

/// The number of a hop, and the path MTU up to there.
fn hop(line: &str) -> Option<(usize, Bytes)> {
    let number = line.split_whitespace().next()?.parse().ok()?;
    let (_, after) = line.split_once("mtu: ")?;
    Some((number, bytes(after.split(']').next()?)?))
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

    fn answered(mtu: u64, limit: Limit) -> Answer {
        let mtu = Some(Bytes::new(mtu));
        let limit = Some(limit);
        Answer { mtu, limit }
    }

    #[test]
    fn the_hop_with_the_limit_is_read_whether_or_not_a_router_told_it() {
        let of = |text: &str| answer(text, Bytes::new(9_000));
        let second = answered(1_500, Limit::Hop(1));
        assert_eq!(of(TOLD), second);
        let silent = TOLD.replace("[mtu: 1500]", "[*mtu: 1500]");
        assert_eq!(of(&silent), second);
        let clean = answered(9_000, Limit::Nowhere);
        assert_eq!(of(&TOLD.replace("1500", "9000")), clean);
        let first = answered(1_500, Limit::Hop(0));
        assert_eq!(of("t\n 1  10.0.1.2  4294967.265 ms [*mtu: 1500]\n"), first);
        // A trace without discovery, and one without answers.
        assert_eq!(of(" 1  10.0.1.2  0.008 ms\n 2  *\n"), Answer::default());
    }

    proptest! {
        #[test]
        fn any_text_has_an_answer(text in ".*", number in any::<u64>()) {
            answer(&text, Bytes::new(9_000));
            answer(&format!(" {number} a [mtu: {number}]{text}"), Bytes::new(9_000));
        }
    }
}
