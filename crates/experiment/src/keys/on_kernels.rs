//! Keys of the kinds of traffic that only kernels have: programs of the user, and round
//! trips split into parts.

use plan::Action;

use super::support::{everywhere, no_effect, simulator};
use super::{Backends, DefaultValue, Effect, Key, Section};

/// Keys of a kind that the simulator refuses.
const OF_REFUSED_KIND: Backends = simulator(no_effect("its kind is refused"));

pub(super) const SECTIONS: &[Section] = &[
    Section {
        tables: &["traffic"],
        kinds: &["command"],
        about: "",
        backends: everywhere(),
        keys: &[
            Key {
                name: "receiver",
                kind: "command line",
                default: DefaultValue::Absent,
                meaning: "Started in the receiver first.",
                backends: OF_REFUSED_KIND,
                effect: Effect::Does(Action::Run),
            },
            Key {
                name: "sender",
                kind: "command line",
                default: DefaultValue::Required,
                meaning: "Run in the sender; its stdout is one JSON document.",
                backends: OF_REFUSED_KIND,
                effect: Effect::Does(Action::Run),
            },
            Key {
                name: "size",
                kind: "size",
                default: DefaultValue::Absent,
                meaning: "The value of `{size}` in the command lines, in bytes.",
                backends: OF_REFUSED_KIND,
                effect: Effect::None,
            },
        ],
    },
    Section {
        tables: &["traffic.read"],
        kinds: &["command"],
        about: "The metrics read from that document; at least one.",
        backends: everywhere(),
        keys: &[
            Key {
                name: "bytes",
                kind: "JSON pointer, perhaps with a factor",
                default: DefaultValue::Absent,
                meaning: "The bytes of payload: with it `cpu_total` and `cpu_softirq` are metered.",
                backends: OF_REFUSED_KIND,
                effect: Effect::None,
            },
            Key {
                name: "METRIC",
                kind: "JSON pointer [RFC6901], perhaps with a factor",
                default: DefaultValue::Absent,
                meaning: r#"A metric as docs/reference/metrics.md names it, in its unit: `"/end/sum_received/bits_per_second * 1e-6"`."#,
                backends: OF_REFUSED_KIND,
                effect: Effect::None,
            },
        ],
    },
    Section {
        tables: &["traffic"],
        kinds: &["latency-breakdown"],
        about: "",
        backends: everywhere(),
        keys: &[
            Key {
                name: "messages",
                kind: "number, 1 to 10000",
                default: DefaultValue::Number(200),
                meaning: "Round trips of a trial that are taken apart; a quarter as many, or 40, go before them without stamps of departures, and 40 without sleep.",
                backends: OF_REFUSED_KIND,
                effect: Effect::None,
            },
            Key {
                name: "copying",
                kind: "boolean",
                default: DefaultValue::Text("on"),
                meaning: "Whether both programs copy received data: with `off` they get the header of a datagram, and nothing of a stream (MSG_TRUNC) [tcp(7)].",
                backends: OF_REFUSED_KIND,
                effect: Effect::None,
            },
            Key {
                name: "checksum",
                kind: "boolean",
                default: DefaultValue::Text("on"),
                meaning: "Over UDP: whether datagrams have checksums; `off` takes SO_NO_CHECK of IPv4, and UDP_NO_CHECK6_TX and _RX of IPv6 [LinuxUapi socket.h, udp.h].",
                backends: OF_REFUSED_KIND,
                effect: Effect::None,
            },
        ],
    },
    Section {
        tables: &["traffic.inject"],
        kinds: &["latency-breakdown"],
        about: "A known time in a known place, to try the instrument with.",
        backends: everywhere(),
        keys: &[
            Key {
                name: "place",
                kind: "`none`, `send`, `wire`, `receive` or `echo`",
                default: DefaultValue::Text("none"),
                meaning: "`send`: in the sender, just before it writes; `wire`: on the first emulated link, on the way there; `receive`: in the receiver, each time between its wake-up and its read; `echo`: in the receiver, between its last read and the stamp before its write.",
                backends: OF_REFUSED_KIND,
                effect: Effect::None,
            },
            Key {
                name: "span",
                kind: "time up to 100 ms",
                default: DefaultValue::Text("100us"),
                meaning: "How much; on the processor it is spent by watching the clock, and no less.",
                backends: OF_REFUSED_KIND,
                effect: Effect::None,
            },
        ],
    },
];
