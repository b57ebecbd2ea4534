//! A bisection of the path MTU by ping, and the output of ping.

use std::net::IpAddr;

use units::Bytes;

use super::{Answer, Limit};

/// Bytes of the header of an echo request [RFC792].
const ECHO_HEADER: Bytes = Bytes::new(8);

/// The echoes of one size.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Echoes {
    /// Whether one was answered.
    is_answered: bool,
    /// The router that said that they are too big.
    router: Option<IpAddr>,
}

/// The command line for three echoes with `bytes` behind the IP header; the last one is
/// waited for one second.
pub(super) fn line(version: &str, bytes: Bytes) -> String {
    let payload = bytes.get().saturating_sub(ECHO_HEADER.get());
    format!("ping {version} -n -M do -c 3 -i 0.2 -W 1 -s {payload} {{receiver}}")
}

/// The echoes in the output of `ping -n`.
pub(super) fn echoes(text: &str) -> Echoes {
    let mut echoes = Echoes::default();
    for line in text.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        if let ["From", from, ..] = words[..]
            && (line.contains("Frag needed") || line.contains("Packet too big"))
        {
            echoes.router = from.trim_end_matches(':').parse().ok();
        }
        let received = words.iter().position(|word| *word == "received,");
        let count = received.and_then(|place| words.get(place.checked_sub(1)?));
        echoes.is_answered |= count.is_some_and(|count| *count != "0");
    }
    echoes
}

/// A search for the largest size that is answered: the size asked for first, and then
/// halves of what is left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Bisection {
    /// The largest size that was answered, or one that every path carries.
    low: Bytes,
    /// The smallest size that was not answered, or one more than the size asked for.
    high: Bytes,
    is_first: bool,
    any_answered: bool,
    any_unanswered: bool,
    /// The router that said that packets are too big.
    router: Option<IpAddr>,
}

impl Bisection {
    pub(super) fn new(least: Bytes, up_to: Bytes) -> Self {
        Self {
            low: least,
            high: up_to + Bytes::new(1),
            is_first: true,
            any_answered: false,
            any_unanswered: false,
            router: None,
        }
    }

    /// The next size; `None` at the end.
    pub(super) fn next_size(&self) -> Option<Bytes> {
        let apart = self.high - self.low;
        match self.is_first {
            true => Some(self.high - Bytes::new(1)),
            false => (apart > Bytes::new(1)).then(|| self.low + Bytes::new(apart.get() / 2)),
        }
    }

    /// Takes in the echoes of the size of [`Bisection::next_size`].
    pub(super) fn take(&mut self, echoes: Echoes) {
        let Some(size) = self.next_size() else { return };
        self.is_first = false;
        self.router = echoes.router.or(self.router);
        if echoes.is_answered {
            self.any_answered = true;
            self.low = size;
        } else {
            self.any_unanswered = true;
            self.high = size;
        }
    }

    /// The answer, as far as the search has come.
    pub(super) fn answer(&self) -> Answer {
        if self.next_size().is_some() || !self.any_answered {
            return Answer::default();
        }
        let limit = match (self.any_unanswered, self.router) {
            (false, _) => Some(Limit::Nowhere),
            (true, router) => router.map(Limit::Router),
        };
        let mtu = Some(self.low);
        Answer { mtu, limit }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// ping 20221126 of Debian 12.
    const TOLD: &str = "\
PING 10.0.3.2 (10.0.3.2) 8972(9000) bytes of data.
From 10.0.1.2 icmp_seq=1 Frag needed and DF set (mtu = 1500)

--- 10.0.3.2 ping statistics ---
3 packets transmitted, 0 received, +3 errors, 100% packet loss, time 463ms
";

    const TOLD_V6: &str = "\
PING fd00:3::2(fd00:3::2) 8952 data bytes
From fd00:1::2 icmp_seq=1 Packet too big: mtu=1500

--- fd00:3::2 ping statistics ---
3 packets transmitted, 0 received, +3 errors, 100% packet loss, time 407ms
";

    const ANSWERED: &str = "\
PING 10.0.3.2 (10.0.3.2) 1472(1500) bytes of data.
1480 bytes from 10.0.3.2: icmp_seq=2 ttl=62 time=0.073 ms

--- 10.0.3.2 ping statistics ---
3 packets transmitted, 1 received, 66.6667% packet loss, time 407ms
rtt min/avg/max/mdev = 0.073/0.073/0.073/0.000 ms
";

    fn of(is_answered: bool, router: Option<&str>) -> Echoes {
        Echoes {
            is_answered,
            router: router.map(|router| router.parse().unwrap()),
        }
    }

    /// The answer about a path that carries `mtu`, and the echoes that it takes.
    fn searched(mtu: u64, router: Option<&str>) -> (Answer, u32) {
        let mut bisection = Bisection::new(Bytes::new(68), Bytes::new(9_000));
        let mut sizes = 0;
        while let Some(size) = bisection.next_size() {
            let is_answered = size <= Bytes::new(mtu);
            bisection.take(of(is_answered, router.filter(|_| !is_answered)));
            sizes += 1;
        }
        (bisection.answer(), sizes)
    }

    #[test]
    fn the_output_says_what_was_answered_and_which_router_complained() {
        assert_eq!(echoes(TOLD), of(false, Some("10.0.1.2")));
        assert_eq!(echoes(TOLD_V6), of(false, Some("fd00:1::2")));
        assert_eq!(echoes(ANSWERED), of(true, None));
        assert_eq!(echoes(""), of(false, None));
    }

    #[test]
    fn a_bisection_finds_every_size() {
        let vanish = |mtu| Answer {
            mtu: Some(Bytes::new(mtu)),
            limit: None,
        };
        for mtu in [69, 1_500, 4_000, 8_999] {
            let (answer, sizes) = searched(mtu, None);
            assert_eq!(answer, vanish(mtu));
            assert!(sizes <= 15, "{sizes}");
        }
        let (clean, sizes) = searched(9_000, None);
        assert_eq!((clean.limit, sizes), (Some(Limit::Nowhere), 1));
        let (told, _) = searched(1_500, Some("10.0.1.2"));
        assert_eq!(told.limit, Some(Limit::Router("10.0.1.2".parse().unwrap())));
        // Nothing was answered: the smallest size is not known to pass, either.
        assert_eq!(searched(0, None).0, Answer::default());
    }

    #[test]
    fn a_command_line_states_the_payload() {
        let line = line("-4", Bytes::new(1_480));
        assert_eq!(line, "ping -4 -n -M do -c 3 -i 0.2 -W 1 -s 1472 {receiver}");
    }

    proptest! {
        #[test]
        fn any_text_is_read(text in ".*") {
            echoes(&text);
            echoes(&format!("From {text} Frag needed\n{text} received,"));
        }
    }
}
