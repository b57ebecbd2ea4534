//! The output of tracepath.

use std::net::IpAddr;

use units::Bytes;

use super::{Answer, Limit, bytes};

/// The answer in the output of `tracepath -n`, from an interface of MTU `interface`.
///
/// It has a line for each answer: the hop limit, the router, the round trip, and `pmtu N`
/// where a router says that packets are too big. The last line has the path MTU.
pub(super) fn answer(text: &str, interface: Bytes) -> Answer {
    let mut router = None;
    let mut mtu = None;
    let mut has_reached = false;
    for line in text.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        if let Some(place) = words.iter().position(|word| *word == "pmtu") {
            mtu = words.get(place + 1).and_then(|word| bytes(word)).or(mtu);
            let address = words.get(1).and_then(|word| word.parse::<IpAddr>().ok());
            router = address.or(router);
        }
        has_reached |= words.last() == Some(&"reached");
    }
    // Without an answer of the far end the path MTU is that of the links so far.
    let limit = match (router, has_reached) {
        (Some(router), _) => Some(Limit::Router(router)),
        (None, true) if mtu == Some(interface) => Some(Limit::Nowhere),
        (None, _) => None,
    };
    Answer { mtu, limit }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// tracepath 20221126 of Debian 12: a router with a smaller link.
    const TOLD: &str = "\
 1?: [LOCALHOST\x5d                      pmtu 9000
 1:  10.0.1.2                                              0.046ms 
 1:  10.0.1.2                                              0.004ms 
 2:  10.0.1.2                                              0.006ms pmtu 1500
 2:  10.0.2.2                                              0.012ms 
 3:  10.0.3.2                                              0.011ms reached
     Resume: pmtu 1500 hops 3 back 3 
";

    const SILENT: &str = "\
 1?: [LOCALHOST\x5d                        0.023ms pmtu 9000
 1:  fd00:1::2                                             0.078ms 
 2:  no reply
 3:  no reply
     Too many hops: pmtu 9000
     Resume: pmtu 9000 
";

    const CLEAN: &str = "\
 1?: [LOCALHOST\x5d                      pmtu 9000
 1:  10.0.1.2                                              0.131ms asymm  2
 2:  10.0.3.2                                              0.013ms reached
     Resume: pmtu 9000 hops 2 back 2 
";

    fn answered(mtu: u64, limit: Option<Limit>) -> Answer {
        let mtu = Some(Bytes::new(mtu));
        Answer { mtu, limit }
    }

    #[test]
    fn a_router_that_answers_is_named_and_a_silent_link_is_not() {
        let of = |text| answer(text, Bytes::new(9_000));
        let told = answered(1_500, Some(Limit::Router("10.0.1.2".parse().unwrap())));
        assert_eq!(of(TOLD), told);
        assert_eq!(of(SILENT), answered(9_000, None));
        let clean = answered(9_000, Some(Limit::Nowhere));
        assert_eq!(of(CLEAN), clean);
        assert_eq!(of(""), Answer::default());
    }

    proptest! {
        #[test]
        fn any_text_has_an_answer(text in ".*", number in any::<u64>()) {
            answer(&text, Bytes::new(9_000));
            let line = format!(" 2: 10.0.0.1 pmtu {number}\n pmtu\n{text}");
            let mtu = answer(&line, Bytes::new(9_000)).mtu;
            prop_assert!(mtu.is_none_or(|mtu| mtu <= Bytes::new(u32::MAX.into())));
        }
    }
}
