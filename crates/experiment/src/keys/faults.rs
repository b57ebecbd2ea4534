//! Keys of `[network]` and `[links.NAME]` that break packets on their path.

use super::support::{backends, everywhere, refused, when};
use super::{Backends, DefaultValue, Effect, Key, Section};

const OF_PROBES: Backends = backends(
    when(r#"with `link = "emulated"` and `kind = "probe"`, otherwise refused"#),
    when(r#"with `kind = "probe"`, otherwise refused"#),
)
.between_hosts(refused(
    "nothing breaks packets between hosts: --on netns or --on sim",
))
.predicted(refused(
    "no closed form has broken packets: --on netns or --on sim",
));

pub(super) const SECTIONS: &[Section] = &[Section {
    tables: &["links.NAME", "network"],
    kinds: &[],
    about: "Faults of a link: what happens to packets in front of it. Without a key nothing happens.",
    backends: everywhere(),
    keys: &[
        key(
            "drop_above",
            "bytes",
            "IP packets above this size vanish without a message, as in a switch with a smaller MTU.",
        ),
        key(
            "drop_direction",
            "`both`, `forward` or `backward`",
            "The direction of these packets: `forward` is from the sender to the receiver. Without it both.",
        ),
        key(
            "drop_protocol",
            "`all`, `icmp`, `udp` or `tcp`",
            "The protocol of these packets. Without it all.",
        ),
        key(
            "drop_flows",
            "share, e.g. `\"50%\"`",
            "The share of flows whose packets these are: those that take one branch among paths of equal cost. Addresses, ports, the identifier of echoes and the flow label choose the branch.",
        ),
        key(
            "drop_from",
            "time",
            "When they begin to vanish, counted from the start of the trial.",
        ),
        key("drop_until", "time", "When they stop to vanish."),
        key(
            "too_big_messages",
            "`pass` or `drop`",
            "`drop`: ICMP messages that a packet was too big do not pass.",
        ),
        key(
            "too_big_interval",
            "time",
            "Of these messages one passes, and then one after each of these times.",
        ),
        key(
            "too_big_mtu",
            "bytes",
            "The MTU that these messages announce behind the link, whatever they announced before.",
        ),
        key(
            "mss",
            "bytes",
            "A SYN announces no larger segments than these behind the link.",
        ),
        key("fragments", "`pass` or `drop`", "`drop`: fragments vanish."),
    ],
}];

const fn key(name: &'static str, kind: &'static str, meaning: &'static str) -> Key {
    Key {
        name,
        kind,
        default: DefaultValue::Absent,
        meaning,
        backends: OF_PROBES,
        effect: Effect::None,
    }
}
