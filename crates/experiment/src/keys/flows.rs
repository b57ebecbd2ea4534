//! Keys of `[flows.NAME]`: traffic from one host to another.

use super::support::{all_but, backends, everywhere, kernels, only, rejected, simulator, when};
use super::{Backends, DefaultValue, Effect, Key, Section};

const ONLY_SIMULATED: &str = "only simulated packets have it; write 0, or add --on sim";

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
                meaning: r#"The sending host. With `count`, `*` is the number of the flow: `"sender*"`."#,
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
                meaning: "The receiving host, in the same way.",
                backends: everywhere(),
                effect: Effect::None,
            },
            Key {
                name: "protocol",
                kind: "`udp` or `tcp`",
                default: DefaultValue::Text("udp"),
                meaning: "`udp`: datagrams, with the keys from `message` to `dont_fragment`; `tcp`: a connection, without these keys in the simulator, and with all but the last between kernels.",
                backends: everywhere(),
                effect: Effect::None,
            },
            Key {
                name: "count",
                kind: "number, 1 to 10000",
                default: DefaultValue::Number(1),
                meaning: "Number of equal flows: NAME01, NAME02, ... All flows together are at most 10000, between kernels 64.",
                backends: everywhere(),
                effect: Effect::None,
            },
            Key {
                name: "start_interval",
                kind: "time",
                default: DefaultValue::Text("0s"),
                meaning: "Delay of the start of each of them after the previous one.",
                backends: everywhere(),
                effect: Effect::None,
            },
            Key {
                name: "start_jitter",
                kind: "time",
                default: DefaultValue::Text("0s"),
                meaning: "Additional random delay of each start, uniform up to this time.",
                backends: everywhere(),
                effect: Effect::None,
            },
            Key {
                name: "bytes",
                kind: "size, or `none`",
                default: DefaultValue::Text("none"),
                meaning: "Bytes of payload to send (datagrams: until the sum reaches it). `none`: as many as possible until `stop`.",
                backends: everywhere(),
                effect: Effect::None,
            },
            Key {
                name: "start",
                kind: "time",
                default: DefaultValue::Text("0s"),
                meaning: "The start; the first datagram follows one gap later.",
                backends: everywhere(),
                effect: Effect::None,
            },
            Key {
                name: "stop",
                kind: "time",
                default: DefaultValue::Follows("the end"),
                meaning: "The end. TCP still repairs outstanding data until `duration`.",
                backends: everywhere(),
                effect: Effect::None,
            },
            Key {
                name: "path_mtu",
                kind: "`dont`, `want`, `do`, `probe` or `machine`",
                default: DefaultValue::Text("machine"),
                meaning: r#"Path MTU discovery of datagrams. `dont`: routers may fragment IPv4; with the others they may not. Above the known path MTU, `want` fragments at the sender, `do` does not send, and `probe` sends unfragmented. `machine`: the machine's setting, in the simulator `dont` for IPv4, `want` for IPv6."#,
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
                meaning: "`round-trip`: the receiver returns every message, for `rtt`, `rtt_p50`, `rtt_p95` and `rtt_p99` instead of delays and throughput.",
                backends: simulator(only(
                    &["one-way"],
                    "simulated flows go one way; write it below [on.netns.flows.NAME], or leave it out",
                )),
                effect: Effect::None,
            },
            Key {
                name: "class",
                kind: "number, 0 to 255",
                default: DefaultValue::Number(0),
                meaning: "The class, for queues with classes.",
                backends: kernels(only(&["0"], ONLY_SIMULATED)),
                effect: Effect::None,
            },
            Key {
                name: "precedence",
                kind: "number, 0 to 255",
                default: DefaultValue::Number(0),
                meaning: "The drop precedence, for queues that use it; 0 is dropped last.",
                backends: kernels(only(&["0"], ONLY_SIMULATED)),
                effect: Effect::None,
            },
        ],
    },
    Section {
        tables: &["flows.NAME"],
        kinds: &["flows"],
        about: "The messages of a flow of datagrams. All keys but the last also apply to TCP between kernels.",
        backends: everywhere(),
        keys: OF_MESSAGES,
    },
    Section {
        tables: &["flows.NAME.watch"],
        kinds: &["flows"],
        about: "Records of a simulated flow over TCP. They change no result.",
        backends: everywhere(),
        keys: &[Key {
            name: "interval",
            kind: "time",
            default: DefaultValue::Absent,
            meaning: "Interval at which the sender's state is recorded (`watch/` in docs/reference/formats.md).",
            backends: kernels(rejected(OWN_TCP)),
            effect: Effect::None,
        }],
    },
];

const OWN_TCP: &str = "the TCP of kernels has no such key; remove it, or add --on sim";

/// Keys of flows with scheduled messages.
pub(crate) const OF_MESSAGES: &[Key] = &[
    Key {
        name: "message",
        kind: "size, `mtu-N`, or a whole distribution",
        default: DefaultValue::Number(1000),
        meaning: r#"Mean payload in bytes. `mtu-N`: N below the smallest MTU of the path (`mtu-48` fills a UDP packet over IPv6, `mtu-28` over IPv4). Or a [distribution](experiments.md#distributions), `"normal:512,64"`."#,
        backends: MESSAGES,
        effect: Effect::Reads,
    },
    Key {
        name: "message_distribution",
        kind: "distribution beside a mean",
        default: DefaultValue::Text("constant"),
        meaning: "Distribution around the mean: `constant`, `exponential`, `uniform` from 0 to twice the mean, `poisson`, `pareto:SHAPE`, `gamma:SHAPE` or `weibull:SHAPE`.",
        backends: MESSAGES,
        effect: Effect::None,
    },
    Key {
        name: "message_samples",
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
            "one of `load`, `rate`, `payload_rate`, `gap` and `gap_samples` is required",
        ),
        meaning: "The rate as a share of the slowest link of the network, with framing and fragments.",
        backends: MESSAGES,
        effect: Effect::None,
    },
    Key {
        name: "rate",
        kind: "rate",
        default: DefaultValue::Absent,
        meaning: "The rate with framing and fragments.",
        backends: MESSAGES,
        effect: Effect::None,
    },
    Key {
        name: "payload_rate",
        kind: "rate",
        default: DefaultValue::Absent,
        meaning: "The rate of payload alone, as `--payload-rate` of `jumbolab send`.",
        backends: MESSAGES,
        effect: Effect::None,
    },
    Key {
        name: "gap",
        kind: "time, or a whole distribution",
        default: DefaultValue::Absent,
        meaning: r#"The mean gap between messages, or a [distribution](experiments.md#distributions), `"pareto:1.5,1ms"`."#,
        backends: MESSAGES,
        effect: Effect::Reads,
    },
    Key {
        name: "gap_distribution",
        kind: "distribution beside a mean",
        default: DefaultValue::Text("exponential"),
        meaning: "As `message_distribution`; `exponential` is a Poisson process.",
        backends: MESSAGES,
        effect: Effect::None,
    },
    Key {
        name: "gap_samples",
        kind: "times with spaces between",
        default: DefaultValue::Absent,
        meaning: r#"Instead of the previous five: gaps to draw from, `"1ms 1ms 20ms"`."#,
        backends: MESSAGES,
        effect: Effect::None,
    },
    Key {
        name: "on",
        kind: "distribution",
        default: DefaultValue::Absent,
        meaning: r#"Distribution of sending periods, `"exponential:1s"`, together with `off`. Without both it always sends."#,
        backends: MESSAGES,
        effect: Effect::Reads,
    },
    Key {
        name: "off",
        kind: "distribution",
        default: DefaultValue::Absent,
        meaning: "Distribution of silent periods.",
        backends: MESSAGES,
        effect: Effect::Reads,
    },
    Key {
        name: "packets",
        kind: "number",
        default: DefaultValue::Follows("no limit"),
        meaning: "Maximum number of datagrams.",
        backends: MESSAGES,
        effect: Effect::None,
    },
    Key {
        name: "dont_fragment",
        kind: "boolean",
        default: DefaultValue::Text("off"),
        meaning: "`on`: datagrams too large for a packet of the path are not sent.",
        backends: backends(when(", of datagrams alone"), when(", of datagrams alone")),
        effect: Effect::None,
    },
];
