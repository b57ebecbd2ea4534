//! Keys of `[traffic]`, by its kind.

use super::support::{
    SUPPORTED, all_but, backends, everywhere, no_effect, only, rejected, simulator, when,
};
use super::{Backends, DefaultValue, Effect, Key, Section};

const NO_SOCKETS: &str = "simulated hosts have no sockets, but host.receive_buffer; write \"auto\"";

const NO_SOCKETS_OF_FLOWS: &str =
    "simulated flows have no sockets; remove it, or write it below [on.netns.traffic]";

const NO_PARTS: &str =
    "the simulator has no buckets to drain and no processors to meter; write \"auto\" or 0";

const NO_PROGRAMS: &str =
    "what programs do with a connection the simulator does not know: --on netns";

/// Keys of flows between kernels only.
const OF_SOCKETS: Backends = simulator(rejected(NO_SOCKETS_OF_FLOWS));

/// Keys of a kind that closed forms reject.
const OF_PROBES: Backends = everywhere().predicted(no_effect("its kind is rejected"));

pub(super) const SECTIONS: &[Section] = &[
    Section {
        tables: &["traffic"],
        kinds: &[],
        about: "The traffic of a trial. Keys of other kinds are rejected.",
        backends: everywhere(),
        keys: &[Key {
            name: "kind",
            kind: "`transfer`, `command`, `flows`, `latency-breakdown`, `request-response` or `probe`",
            default: DefaultValue::Text("transfer"),
            meaning: "`transfer`: one transfer of `size` bytes; `command`: [your own programs](../guides/experiments.md#your-own-programs-as-trials); `flows`: [datagrams and connections](experiments.md#flows); `latency-breakdown`: [parts of round trips](experiments.md#latency-breakdown); `request-response`: [messages of many sizes](experiments.md#requests-and-responses), one at a time; `probe`: [the path MTU](experiments.md#probes).",
            backends: backends(
                SUPPORTED,
                all_but(&[
                    ("command", "the simulator runs no programs: --on netns"),
                    (
                        "latency-breakdown",
                        "the simulator has no kernel to take apart: --on netns",
                    ),
                ]),
            )
            .between_hosts(all_but(&[
                (
                    "probe",
                    "`jumbolab probe HOST` investigates the path to a machine",
                ),
                (
                    "latency-breakdown",
                    "it needs stamps of one clock at both ends: --on netns",
                ),
            ]))
            .predicted(all_but(&[
                ("command", "no closed form runs programs: --on netns"),
                (
                    "latency-breakdown",
                    "no closed form takes a kernel apart: --on netns",
                ),
                (
                    "probe",
                    "no closed form predicts what a prober finds; write --on sim or netns",
                ),
            ])),
            effect: Effect::None,
        }],
    },
    Section {
        tables: &["traffic"],
        kinds: &["probe"],
        about: "",
        backends: everywhere(),
        keys: &[
            Key {
                name: "max_mtu",
                kind: "size",
                default: DefaultValue::Text("9000B"),
                meaning: "The size of IP packets that the path should deliver, at most 65535.",
                backends: OF_PROBES,
                effect: Effect::None,
            },
            Key {
                name: "protocols",
                kind: "list of `icmp`, `udp` and `tcp`",
                default: DefaultValue::Absent,
                meaning: "The protocols of probes (default all).",
                backends: OF_PROBES,
                effect: Effect::None,
            },
            Key {
                name: "reflector",
                kind: "boolean",
                default: DefaultValue::Text("off"),
                meaning: "Whether a STAMP reflector runs at the receiver, which separates the directions.",
                backends: OF_PROBES,
                effect: Effect::None,
            },
            Key {
                name: "tcp_port_open",
                kind: "boolean",
                default: DefaultValue::Text("on"),
                meaning: "Whether the receiver listens at the TCP port that is probed.",
                backends: OF_PROBES,
                effect: Effect::None,
            },
            Key {
                name: "timeout",
                kind: "time",
                default: DefaultValue::Text("60s"),
                meaning: "Maximum duration of an investigation.",
                backends: OF_PROBES,
                effect: Effect::None,
            },
        ],
    },
    Section {
        tables: &["traffic"],
        kinds: &["transfer", "latency-breakdown"],
        about: "",
        backends: everywhere(),
        keys: &[
            Key {
                name: "protocol",
                kind: "`tcp` or `udp`",
                default: DefaultValue::Text("tcp"),
                meaning: "The transport.",
                backends: everywhere(),
                effect: Effect::None,
            },
            Key {
                name: "message",
                kind: "size, `mtu-N`, or `auto`",
                default: DefaultValue::Text("auto"),
                meaning: "Bytes of one write, 56 to 16777216 (UDP: 65507, over IPv6 65527). `auto`: over TCP 1428 at every MTU, over UDP `mtu-72`; `mtu-N`: N below the smallest MTU of the path, which also saves system calls.",
                backends: everywhere(),
                effect: Effect::None,
            },
        ],
    },
    Section {
        tables: &["traffic"],
        kinds: &["transfer"],
        about: "",
        backends: everywhere(),
        keys: &[
            Key {
                name: "size",
                kind: "size",
                default: DefaultValue::Text("5MB"),
                meaning: "Measured bytes of a transfer, at least 28.",
                backends: everywhere(),
                effect: Effect::None,
            },
            Key {
                name: "warmup",
                kind: "size, or `auto`",
                default: DefaultValue::Text("auto"),
                meaning: "Bytes sent before, which empty the token buckets; `auto`: 1 MB, or 8 automatic bursts.",
                backends: simulator(when(
                    "over TCP; over UDP, where there are no buckets to drain, rejected unless `auto` or `0`",
                )),
                effect: Effect::None,
            },
            Key {
                name: "cpu_bytes",
                kind: "size, or `auto`",
                default: DefaultValue::Text("auto"),
                meaning: "Bytes of the transfer for CPU metrics, 0 for none. `auto`: 320 ms of the slowest link, from 1 MB to 40 MB.",
                backends: simulator(only(&["auto", "0B"], NO_PARTS)),
                effect: Effect::None,
            },
            Key {
                name: "echo",
                kind: "`on`, `off` or `whole`",
                default: DefaultValue::Text("on"),
                meaning: "A second pass with echoes, for `rtt`. `on`: the receiver returns the header of each message; `whole`: it returns all bytes, one message at a time; `off`: no pass, which saves time on lossy links.",
                backends: simulator(all_but(&[(
                    "whole",
                    "simulated answers are headers alone; write \"on\" or \"off\"",
                )])),
                effect: Effect::None,
            },
        ],
    },
    Section {
        tables: &["traffic"],
        kinds: &["transfer", "command", "latency-breakdown"],
        about: "",
        backends: everywhere(),
        keys: &[Key {
            name: "timeout",
            kind: "time",
            default: DefaultValue::Text("30s"),
            meaning: "A transfer fails if nothing arrives for this time, a command if it runs longer.",
            backends: simulator(no_effect("a simulation comes to its end")),
            effect: Effect::None,
        }],
    },
    Section {
        tables: &["traffic"],
        kinds: &["transfer", "latency-breakdown", "request-response"],
        about: "",
        backends: everywhere(),
        keys: &[
            Key {
                name: "send_buffer",
                kind: "size up to 1 GB, or `auto`",
                default: DefaultValue::Text("auto"),
                meaning: "`SO_SNDBUF`; `auto`: tuned by the kernel.",
                backends: simulator(only(&["auto"], NO_SOCKETS)),
                effect: Effect::None,
            },
            Key {
                name: "receive_buffer",
                kind: "size up to 1 GB, or `auto`",
                default: DefaultValue::Text("auto"),
                meaning: "`SO_RCVBUF`; `auto`: tuned by the kernel.",
                backends: simulator(only(&["auto"], NO_SOCKETS)),
                effect: Effect::None,
            },
            Key {
                name: "nagle",
                kind: "boolean",
                default: DefaultValue::Text("off"),
                meaning: "Nagle's algorithm.",
                backends: simulator(no_effect("TCP there knows nothing of messages")),
                effect: Effect::None,
            },
        ],
    },
    Section {
        tables: &["traffic"],
        kinds: &["request-response"],
        about: "",
        backends: everywhere(),
        keys: &[
            Key {
                name: "protocol",
                kind: "`tcp` or `udp`",
                default: DefaultValue::Text("udp"),
                meaning: "The transport.",
                backends: everywhere(),
                effect: Effect::None,
            },
            Key {
                name: "size",
                kind: "size",
                default: DefaultValue::Text("1MB"),
                meaning: "Bytes sent for each size of message.",
                backends: everywhere(),
                effect: Effect::None,
            },
            Key {
                name: "min_size",
                kind: "size",
                default: DefaultValue::Text("1000B"),
                meaning: "The smallest message, from 56 bytes to the maximum `message` of a transfer.",
                backends: everywhere(),
                effect: Effect::None,
            },
            Key {
                name: "max_size",
                kind: "size",
                default: DefaultValue::Text("65500B"),
                meaning: "The largest message.",
                backends: everywhere(),
                effect: Effect::None,
            },
            Key {
                name: "size_step",
                kind: "size",
                default: DefaultValue::Text("500B"),
                meaning: "Difference between sizes.",
                backends: everywhere(),
                effect: Effect::None,
            },
            Key {
                name: "reference_size",
                kind: "size",
                default: DefaultValue::Text("11000B"),
                meaning: "The size of the metric `message_time`, added to the others if necessary.",
                backends: everywhere(),
                effect: Effect::None,
            },
            Key {
                name: "answer",
                kind: "`ack`, `data+ack` or `pieces`",
                default: DefaultValue::Text("ack"),
                meaning: "The response. `ack`: the header of the message; `data+ack`: the whole message; `pieces`: each piece once it was read, as a simple echo server does. The first two wait for the whole message.",
                backends: simulator(all_but(&[("pieces", NO_PROGRAMS)])),
                effect: Effect::None,
            },
            Key {
                name: "read_mode",
                kind: "`whole` or `once`",
                default: DefaultValue::Text("whole"),
                meaning: "Over TCP, how the sender reads an answer: all of it (`whole`), or one read (`once`).",
                backends: simulator(only(&["whole"], NO_PROGRAMS)),
                effect: Effect::None,
            },
            Key {
                name: "write_mode",
                kind: "`whole` or `parts`",
                default: DefaultValue::Text("whole"),
                meaning: "Over TCP: one write for a message (`whole`), or one for its header and one for the rest (`parts`).",
                backends: simulator(only(&["whole"], NO_PROGRAMS)),
                effect: Effect::None,
            },
            Key {
                name: "delayed_ack",
                kind: "time, or `auto`",
                default: DefaultValue::Text("auto"),
                meaning: "Over TCP: TCP_DELACK_MAX_US of the receiver, from two kernel ticks to 200 ms, on Linux from 6.17 on. `auto`: the kernel's choice.",
                backends: simulator(only(
                    &["auto"],
                    "simulated connections have tcp.delayed_ack",
                )),
                effect: Effect::None,
            },
            Key {
                name: "pause",
                kind: "time",
                default: DefaultValue::Text("0s"),
                meaning: "Pause of the receiver's program before each read.",
                backends: simulator(only(
                    &["0s"],
                    "simulated hosts have host.receive_per_packet",
                )),
                effect: Effect::None,
            },
            Key {
                name: "deadline",
                kind: "time",
                default: DefaultValue::Text("1s"),
                meaning: "Maximum time of a message with its answer; a longer one is a stall.",
                backends: simulator(no_effect("nothing else is in flight")),
                effect: Effect::None,
            },
            Key {
                name: "retransmit_after",
                kind: "time",
                default: DefaultValue::Text("100ms"),
                meaning: "Over UDP: time without an answer before a datagram is sent again.",
                backends: simulator(when("where links lose")),
                effect: Effect::None,
            },
            Key {
                name: "timeout",
                kind: "time",
                default: DefaultValue::Text("5min"),
                meaning: "Maximum duration of a trial; a longer one fails.",
                backends: simulator(no_effect("a simulation comes to its end")),
                effect: Effect::None,
            },
        ],
    },
    Section {
        tables: &["traffic"],
        kinds: &["flows"],
        about: "",
        backends: everywhere(),
        keys: &[
            Key {
                name: "duration",
                kind: "time",
                default: DefaultValue::Text("1s"),
                meaning: "When the last source stops; packets in flight still arrive.",
                backends: everywhere(),
                effect: Effect::None,
            },
            Key {
                name: "send_buffer",
                kind: "size up to 1 GB, or `auto`",
                default: DefaultValue::Text("auto"),
                meaning: "`SO_SNDBUF`; `auto`: tuned by the kernel.",
                backends: OF_SOCKETS,
                effect: Effect::None,
            },
            Key {
                name: "receive_buffer",
                kind: "size up to 1 GB, or `auto`",
                default: DefaultValue::Text("auto"),
                meaning: "`SO_RCVBUF`; `auto`: tuned by the kernel.",
                backends: OF_SOCKETS,
                effect: Effect::None,
            },
            Key {
                name: "nagle",
                kind: "boolean",
                default: DefaultValue::Follows(r#"`"off"`; with `generator = "ditg"` `"on"`"#),
                meaning: "Nagle's algorithm.",
                backends: OF_SOCKETS,
                effect: Effect::None,
            },
            Key {
                name: "generator",
                kind: "`polling`, `sleeping` or `ditg`",
                default: DefaultValue::Text("polling"),
                meaning: "How senders wait. `polling`: poll the clock before each departure; `sleeping`: sleep until then, so messages leave later and `cpu_message` is their cost; `ditg`: as D-ITG without polling, see [Flows between kernels](experiments.md#flows-between-kernels).",
                backends: OF_SOCKETS,
                effect: Effect::None,
            },
            Key {
                name: "log",
                kind: "boolean",
                default: DefaultValue::Text("off"),
                meaning: "Whether every message is recorded (`packets/` in docs/reference/formats.md).",
                backends: OF_SOCKETS,
                effect: Effect::None,
            },
        ],
    },
];
