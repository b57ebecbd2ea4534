//! Keys of `[flows.NAME]`: traffic from one host to another.

use super::support::{all_but, backends, everywhere, kernels, only, refused, simulator, when};
use super::{Backends, DefaultValue, Effect, Key, Section};

const ONLY_SIMULATED: &str = "only simulated packets have it; write 0, or say --on sim";

/// Keys of datagrams in every backend, and of messages over streams between
/// kernels.
const MESSAGES: Backends = simulator(when(", of datagrams alone"));

pub(super) const SECTIONS: &[Section] = &[
    Section {
        tables: &["flows.NAME"],
        kinds: &["flows"],
        about: "Traffic from one host to another, see [Flows](experiments.md#flows).",
        backends: everywhere(),
        keys: &[
            Key {
                name: "from",
                kind: "name of a host",
                default: DefaultValue::Follows("`sender`, in a dumbbell `sender1`"),
                meaning: r#"The sending host; `*` in a name is the number of the flow, where there are several by `count`: `"sender*"`."#,
                backends: kernels(when(", on a path `sender`")).between_hosts(only(
                    &["sender"],
                    "between hosts flows go from the sender to the receiver",
                )),
                effect: Effect::None,
            },
            Key {
                name: "to",
                kind: "name of a host",
                default: DefaultValue::Follows("`receiver`, in a dumbbell `receiver1`"),
                meaning: "The receiving host, likewise.",
                backends: everywhere(),
                effect: Effect::None,
            },
            Key {
                name: "protocol",
                kind: "`udp` or `tcp`",
                default: DefaultValue::Text("udp"),
                meaning: "`udp`: datagrams, by the keys from `message` to `packets` and `dont_fragment`; `tcp`: a connection, which has none of these in the simulator, and between kernels all but the last, as messages of a stream.",
                backends: everywhere(),
                effect: Effect::None,
            },
            Key {
                name: "count",
                kind: "number, 1 to 10000",
                default: DefaultValue::Number(1),
                meaning: "So many flows like this one: NAME01, NAME02, ... (of 100 and more with as many digits as it takes); all together at most 10000, between kernels 64.",
                backends: everywhere(),
                effect: Effect::None,
            },
            Key {
                name: "stagger",
                kind: "time",
                default: DefaultValue::Text("0s"),
                meaning: "Each of them begins so much later than the one before.",
                backends: everywhere(),
                effect: Effect::None,
            },
            Key {
                name: "start_within",
                kind: "time",
                default: DefaultValue::Text("0s"),
                meaning: "Besides, each begins at a random instant within this time, drawn from a stream of the flow's own.",
                backends: everywhere(),
                effect: Effect::None,
            },
            Key {
                name: "bytes",
                kind: "size, or `none`",
                default: DefaultValue::Text("none"),
                meaning: "Bytes of payload to send: over TCP exactly, of datagrams until the sum reaches them; `none`: as many as possible until `stop`.",
                backends: everywhere(),
                effect: Effect::None,
            },
            Key {
                name: "start",
                kind: "time",
                default: DefaultValue::Text("0s"),
                meaning: "When it begins; the first datagram follows one gap after that.",
                backends: everywhere(),
                effect: Effect::None,
            },
            Key {
                name: "stop",
                kind: "time",
                default: DefaultValue::Follows("the end"),
                meaning: "Its end. TCP still repairs outstanding data after it, until `duration`.",
                backends: everywhere(),
                effect: Effect::None,
            },
            Key {
                name: "path_mtu",
                kind: "`dont`, `want`, `do`, `probe` or `machine`",
                default: DefaultValue::Text("machine"),
                meaning: r#"For datagrams: the sender's path-MTU discovery. `dont`: routers may fragment IPv4; `want`: they may not, and the sender fragments packets above the known path MTU; `do`: it does not send those; `probe`: it sends them unfragmented; `machine`: the machine's setting, in the simulator `dont` over IPv4 and `want` over IPv6. Refused beside `dont_fragment = "on"`, which is `do`."#,
                backends: simulator(
                    all_but(&[(
                        "probe",
                        "simulated senders trust every advertised MTU; write \"want\" or \"do\"",
                    )])
                    .if_(", `dont` over IPv4 alone"),
                ),
                effect: Effect::None,
            },
            Key {
                name: "meter",
                kind: "`one-way` or `round-trip`",
                default: DefaultValue::Text("one-way"),
                meaning: "`round-trip`: the receiver sends every message back as it is, for `rtt`, `rtt_p50`, `rtt_p95` and `rtt_p99` instead of delays and throughput.",
                backends: simulator(only(
                    &["one-way"],
                    "simulated flows go one way: write it below [on.netns.flows.NAME], or leave it out",
                )),
                effect: Effect::None,
            },
            Key {
                name: "class",
                kind: "number, 0 to 255",
                default: DefaultValue::Number(0),
                meaning: "For queues that tell classes apart.",
                backends: kernels(only(&["0"], ONLY_SIMULATED)),
                effect: Effect::None,
            },
            Key {
                name: "precedence",
                kind: "number, 0 to 255",
                default: DefaultValue::Number(0),
                meaning: "For queues that know drop precedences; 0 is dropped last.",
                backends: kernels(only(&["0"], ONLY_SIMULATED)),
                effect: Effect::None,
            },
        ],
    },
    Section {
        tables: &["flows.NAME"],
        kinds: &["flows"],
        about: "The messages of a flow of datagrams; all keys but the last also apply to a flow of TCP between kernels.",
        backends: everywhere(),
        keys: OF_MESSAGES,
    },
    Section {
        tables: &["flows.NAME.watch"],
        kinds: &["flows"],
        about: "The recordings of a simulated flow over TCP; they change no figure.",
        backends: everywhere(),
        keys: &[Key {
            name: "interval",
            kind: "time",
            default: DefaultValue::Absent,
            meaning: "The state of its sender is kept once in each such time, as `watch/` of docs/reference/formats.md has it.",
            backends: kernels(refused(OWN_TCP)),
            effect: Effect::None,
        }],
    },
];

const OWN_TCP: &str = "kernels have TCP of their own; remove it, or say --on sim";

/// Keys of flows with scheduled messages.
pub(crate) const OF_MESSAGES: &[Key] = &[
    Key {
        name: "message",
        kind: "size, `mtu-N`, or a whole law",
        default: DefaultValue::Number(1000),
        meaning: r#"Bytes of payload, on average; `mtu-N`: N below the smallest MTU of the path (`mtu-48` fills a packet of UDP over IPv6, `mtu-28` of IPv4); or a [law](experiments.md#laws), `"normal:512,64"`."#,
        backends: MESSAGES,
        effect: Effect::Reads,
    },
    Key {
        name: "message_law",
        kind: "law beside a mean",
        default: DefaultValue::Text("constant"),
        meaning: "`constant`, `exponential`, `uniform` from 0 to twice the mean, `poisson`, or `pareto:SHAPE`, `gamma:SHAPE`, `weibull:SHAPE` with the scale that makes the mean.",
        backends: MESSAGES,
        effect: Effect::None,
    },
    Key {
        name: "message_seen",
        kind: "sizes with spaces between",
        default: DefaultValue::Absent,
        meaning: r#"Instead of both: sizes to draw from, `"40B 576B 1500B 1500B"`."#,
        backends: MESSAGES,
        effect: Effect::None,
    },
    Key {
        name: "load",
        kind: "share",
        default: DefaultValue::Follows(
            "one of `load`, `rate`, `payload_rate`, `gap` and `gap_seen` is required",
        ),
        meaning: "How often: the share of the network's slowest link that datagrams of the mean size take, framing and fragments included.",
        backends: MESSAGES,
        effect: Effect::None,
    },
    Key {
        name: "rate",
        kind: "rate",
        default: DefaultValue::Absent,
        meaning: "How often: that share as a rate.",
        backends: MESSAGES,
        effect: Effect::None,
    },
    Key {
        name: "payload_rate",
        kind: "rate",
        default: DefaultValue::Absent,
        meaning: "How often: bytes of payload alone a second, the same in frames of every size (as `--payload-rate` of `jumbolab send`).",
        backends: MESSAGES,
        effect: Effect::None,
    },
    Key {
        name: "gap",
        kind: "time, or a whole law",
        default: DefaultValue::Absent,
        meaning: r#"How often: the mean time from one to the next; or a [law](experiments.md#laws), `"pareto:1.5,1ms"`."#,
        backends: MESSAGES,
        effect: Effect::Reads,
    },
    Key {
        name: "gap_law",
        kind: "law beside a mean",
        default: DefaultValue::Text("exponential"),
        meaning: "As `message_law`; `exponential` gaps make a Poisson process.",
        backends: MESSAGES,
        effect: Effect::None,
    },
    Key {
        name: "gap_seen",
        kind: "times with spaces between",
        default: DefaultValue::Absent,
        meaning: r#"Instead of `gap`, `rate`, `payload_rate`, `load` and `gap_law`: gaps to draw from, `"1ms 1ms 20ms"`."#,
        backends: MESSAGES,
        effect: Effect::None,
    },
    Key {
        name: "on",
        kind: "law",
        default: DefaultValue::Absent,
        meaning: r#"Periods in which it sends, `"exponential:1s"`; with `off` or not at all, then it sends all the time."#,
        backends: MESSAGES,
        effect: Effect::Reads,
    },
    Key {
        name: "off",
        kind: "law",
        default: DefaultValue::Absent,
        meaning: "Periods between them in which it is silent.",
        backends: MESSAGES,
        effect: Effect::Reads,
    },
    Key {
        name: "packets",
        kind: "number",
        default: DefaultValue::Follows("no limit"),
        meaning: "How many datagrams at most.",
        backends: MESSAGES,
        effect: Effect::None,
    },
    Key {
        name: "dont_fragment",
        kind: "boolean",
        default: DefaultValue::Text("off"),
        meaning: "`on`: a datagram that no packet of the path can hold is not sent.",
        backends: backends(when(", of datagrams alone"), when(", of datagrams alone")),
        effect: Effect::None,
    },
];
