//! Keys of `[network]` and `[links.NAME]` that break packets on their path.

use super::support::{backends, everywhere, rejected, when};
use super::{Backends, DefaultValue, Effect, Key, Section};

const OF_PROBES: Backends = backends(
    when(r#"with `link = "emulated"` and `kind = "probe"`, otherwise rejected"#),
    when(r#"with `kind = "probe"`, otherwise rejected"#),
)
.between_hosts(rejected(
    "nothing breaks packets between hosts: --on netns or --on sim",
))
.predicted(rejected(
    "no closed form has broken packets: --on netns or --on sim",
));

pub(super) const SECTIONS: &[Section] = &[Section {
    tables: &["links.NAME", "network"],
    kinds: &[],
    about: "Faults of the path MTU in front of a link; none by default.",
    backends: everywhere(),
    keys: &[
        key(
            "drop_above",
            "bytes",
            "Larger IP packets are dropped silently, as by a switch with a smaller MTU.",
        ),
        key(
            "drop_up_to",
            "bytes",
            "Still larger packets pass: those of a range of sizes are dropped.",
        ),
        key(
            "drop_share",
            "share, e.g. `\"20%\"`",
            "The share of these packets that is dropped at random (default all).",
        ),
        key(
            "drop_direction",
            "`both`, `forward` or `reverse`",
            "The direction of these packets (default both): `forward` is from the sender to the receiver.",
        ),
        key(
            "drop_protocol",
            "`all`, `icmp`, `udp` or `tcp`",
            "The protocol of these packets (default all).",
        ),
        key(
            "drop_flows",
            "share, e.g. `\"50%\"`",
            "The share of flows that lose these packets, as on one of several paths of equal cost. Addresses, ports, echo identifier and flow label select the path.",
        ),
        key(
            "drop_from",
            "time",
            "Time in the trial from which they are dropped.",
        ),
        key(
            "drop_until",
            "time",
            "Time in the trial until which they are dropped.",
        ),
        key(
            "too_big_messages",
            "`pass` or `drop`",
            "`drop`: ICMP errors about too large packets do not pass.",
        ),
        key(
            "too_big_interval",
            "time",
            "One of these errors passes in each such interval.",
        ),
        key(
            "too_big_mtu",
            "bytes",
            "The MTU that these errors report behind the link, instead of the true one.",
        ),
        key(
            "icmp_interval",
            "time",
            "One ICMP packet of any size passes toward the receiver in each such interval, as where a firewall limits the rate of echo requests.",
        ),
        key(
            "icmp_burst",
            "number",
            "So many of them pass in a row (default 1).",
        ),
        key(
            "mss",
            "bytes",
            "Upper limit of the MSS in a SYN behind the link.",
        ),
        key(
            "mss_direction",
            "`both`, `forward` or `reverse`",
            "The direction of these SYNs (default both): `reverse` limits the MSS that the receiver announces.",
        ),
        key(
            "dont_fragment",
            "`pass` or `clear`",
            "`clear`: IPv4 packets lose their flag DF in front of the link, so that later routers fragment them.",
        ),
        key(
            "fragments",
            "`pass` or `drop`",
            "`drop`: fragments are dropped silently.",
        ),
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
