//! Keys of the kinds of traffic that only kernels have: programs of the user, and round
//! trips split into parts.

use plan::Action;

use super::support::{everywhere, no_effect, simulator};
use super::{Backends, DefaultValue, Effect, Key, Section};

/// Keys of a kind that the simulator rejects.
const OF_REJECTED_KIND: Backends = simulator(no_effect("its kind is rejected"));

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
                meaning: "Started first, on the receiver.",
                backends: OF_REJECTED_KIND,
                effect: Effect::Does(Action::Run),
            },
            Key {
                name: "sender",
                kind: "command line",
                default: DefaultValue::Required,
                meaning: "Run on the sender; its stdout is one JSON document.",
                backends: OF_REJECTED_KIND,
                effect: Effect::Does(Action::Run),
            },
            Key {
                name: "size",
                kind: "size",
                default: DefaultValue::Absent,
                meaning: "The value of `{size}` in the command lines, in bytes.",
                backends: OF_REJECTED_KIND,
                effect: Effect::None,
            },
        ],
    },
    Section {
        tables: &["traffic.read"],
        kinds: &["command"],
        about: "The metrics read from this document, at least one.",
        backends: everywhere(),
        keys: &[
            Key {
                name: "bytes",
                kind: "JSON pointer, perhaps with a factor",
                default: DefaultValue::Absent,
                meaning: "The bytes of payload, which enable `cpu_total` and `cpu_softirq`.",
                backends: OF_REJECTED_KIND,
                effect: Effect::None,
            },
            Key {
                name: "METRIC",
                kind: "JSON pointer [RFC6901], perhaps with a factor",
                default: DefaultValue::Absent,
                meaning: r#"A metric of docs/reference/metrics.md in its unit: `"/end/sum_received/bits_per_second * 1e-6"`."#,
                backends: OF_REJECTED_KIND,
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
                meaning: "Measured round trips of a trial. Before them a quarter as many, at least 40, run without departure stamps, and 40 without sleep.",
                backends: OF_REJECTED_KIND,
                effect: Effect::None,
            },
            Key {
                name: "copying",
                kind: "boolean",
                default: DefaultValue::Text("on"),
                meaning: "Whether both programs copy received data. `off`: only the header of a datagram, and nothing of a stream (MSG_TRUNC) [tcp(7)].",
                backends: OF_REJECTED_KIND,
                effect: Effect::None,
            },
            Key {
                name: "checksum",
                kind: "boolean",
                default: DefaultValue::Text("on"),
                meaning: "Over UDP: whether datagrams have checksums. `off` sets SO_NO_CHECK (IPv4), or UDP_NO_CHECK6_TX and _RX (IPv6) [LinuxUapi socket.h, udp.h].",
                backends: OF_REJECTED_KIND,
                effect: Effect::None,
            },
        ],
    },
    Section {
        tables: &["traffic.inject"],
        kinds: &["latency-breakdown"],
        about: "A known delay at a known place, to test the measurement.",
        backends: everywhere(),
        keys: &[
            Key {
                name: "place",
                kind: "`none`, `send`, `wire`, `receive` or `echo`",
                default: DefaultValue::Text("none"),
                meaning: "`send`: before the sender's write; `wire`: on the first emulated link, forward; `receive`: between the receiver's wake-up and its read; `echo`: between its last read and the stamp before its write.",
                backends: OF_REJECTED_KIND,
                effect: Effect::None,
            },
            Key {
                name: "span",
                kind: "time up to 100 ms",
                default: DefaultValue::Text("100us"),
                meaning: "The delay; on a processor by polling the clock.",
                backends: OF_REJECTED_KIND,
                effect: Effect::None,
            },
        ],
    },
];
