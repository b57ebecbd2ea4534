//! Keys of `[links.NAME]` that only single links have.

use super::support::{Support, backends, everywhere, kernels, no_effect, only, refused, when};
use super::{Backends, DefaultValue, Effect, Key, Section};

const UNWATCHED: &str = "only links of the backend `sim` are watched; write --on sim, or record = true on an emulated link";

const UNCOUNTED: &str = "only links of the backend `sim` are counted: --on sim";

/// The tables that count parts of trials with flows.
const OF_FLOWS: &str = r#"with `kind = "flows"`, of links that are one wire"#;

pub(super) const SECTIONS: &[Section] = &[
    Section {
        tables: &["links.NAME"],
        kinds: &[],
        about: "Keys of one link.",
        backends: everywhere(),
        keys: &[
            Key {
                name: "ends",
                kind: "list of two nodes",
                default: DefaultValue::Required,
                meaning: r#"`shape = "explicit"` only: the nodes that the link connects, `["a", "b"]`."#,
                backends: everywhere()
                    .between_hosts(no_effect("its shape is refused"))
                    .predicted(no_effect("its shape is not predicted")),
                effect: Effect::None,
            },
            Key {
                name: "record",
                kind: "boolean",
                default: DefaultValue::Text("off"),
                meaning: "Whether the fate of every packet on this emulated link is recorded, see `recordings/` in docs/reference/formats.md.",
                backends: backends(
                    when(r#"with `link = "emulated"`, otherwise refused unless `off`"#),
                    refused("only emulated links of the backend `netns` have it; leave it out"),
                )
                .between_hosts(only(
                    &["off"],
                    "only emulated links of the backend `netns` are recorded",
                )),
                effect: Effect::None,
            },
        ],
    },
    Section {
        tables: &["links.NAME.watch"],
        kinds: &[],
        about: "The recordings of single packets on this simulated link, see `watch/` in docs/reference/formats.md; they change no figure.",
        backends: everywhere(),
        keys: &[
            Key {
                name: "queue",
                kind: "boolean",
                default: DefaultValue::Text("off"),
                meaning: "The queue length that each packet finds, and the average on which RED decides.",
                backends: WATCH,
                effect: Effect::None,
            },
            Key {
                name: "interval",
                kind: "time, or `arrival`",
                default: DefaultValue::Text("arrival"),
                meaning: "Of `queue` only the first packet at or after each multiple of this time; `arrival`: every one.",
                backends: WATCH,
                effect: Effect::None,
            },
            Key {
                name: "drops",
                kind: "boolean",
                default: DefaultValue::Text("off"),
                meaning: "Which packets are dropped or lost here, and why.",
                backends: WATCH,
                effect: Effect::None,
            },
            Key {
                name: "delays",
                kind: "boolean",
                default: DefaultValue::Text("off"),
                meaning: "How long the packets of each flow wait, and how long its messages take from end to end: percentiles, in the evidence.",
                backends: WATCH,
                effect: Effect::None,
            },
            Key {
                name: "capture",
                kind: "boolean",
                default: DefaultValue::Text("off"),
                meaning: "The headers of all packets on the wire, for tools that read captures.",
                backends: WATCH,
                effect: Effect::None,
            },
        ],
    },
    Section {
        tables: &["links.NAME.windows"],
        kinds: &[],
        about: "Parts of a trial in which this link, from its first end to its second, has figures of its own: `drop_percent_WINDOW`, `utilisation_percent_WINDOW` and `mean_queue_WINDOW`, and in networks with a `[domain]` more (docs/reference/formats.md).",
        backends: WINDOWS,
        keys: &[Key {
            name: "WINDOW",
            kind: "`\"0s..25s\"`, or `\"all\"`",
            default: DefaultValue::Absent,
            meaning: r#"When it begins and when it is over. Over a transfer of TCP, simulated or with `link = "emulated"`, `"all"`: the part that `throughput` counts (with `echo` the simulator's answers run beside it, and their acknowledgements are among the packets: compare backends with `echo = "off"`). The name has up to 16 letters, digits, `-` and `_`; no other link has a window of this name."#,
            backends: WINDOWS,
            effect: Effect::None,
        }],
    },
    Section {
        tables: &["links.NAME.series"],
        kinds: &[],
        about: "The same figures over time, and goodput, delays and round trips of all flows (`series`, `flow_series` and quantiles of docs/reference/formats.md), kept of every trial and plotted on the page.",
        backends: SERIES,
        keys: &[Key {
            name: "interval",
            kind: "time",
            default: DefaultValue::Absent,
            meaning: "How long each interval is; at most 10000 of them in a trial.",
            backends: SERIES,
            effect: Effect::None,
        }],
    },
    Section {
        tables: &["links.NAME.losses"],
        kinds: &[],
        about: "Which flows lose packets in front of this link, from its first end to its second; of one link in an experiment. The metrics are `drop_bias`, `synchronisation` and `notice` (docs/reference/formats.md).",
        backends: SERIES,
        keys: &[
            Key {
                name: "window",
                kind: "part of the trial, `\"20s..120s\"`",
                default: DefaultValue::Absent,
                meaning: "When losses count.",
                backends: SERIES,
                effect: Effect::None,
            },
            Key {
                name: "epoch",
                kind: "time",
                default: DefaultValue::Text("100ms"),
                meaning: "Connections that lose within this time of a first loss lose together; about a round trip.",
                backends: SERIES,
                effect: Effect::None,
            },
        ],
    },
    Section {
        tables: &["links.NAME.cross"],
        kinds: &[],
        about: "Traffic of others on this emulated or simulated link of a path, see [Cross traffic](experiments.md#cross-traffic); without `load` there is none.",
        backends: CROSS,
        keys: &[Key {
            name: "load",
            kind: "share, rate, `none`, `light`, `moderate` or `heavy`",
            default: DefaultValue::Follows("`network.load`"),
            meaning: "How much of the link it asks for on average, framing included: a share of the link's rate, `\"30%\"`, a rate, `\"30mbit\"`, which may be more than the link carries, or a word of `network.load`; at most 500000 packets a second.",
            backends: CROSS,
            effect: Effect::None,
        }],
    },
    Section {
        tables: &["network.cross", "links.NAME.cross"],
        kinds: &[],
        about: "The cross traffic on all links, or on one.",
        backends: CROSS,
        keys: &[
            Key {
                name: "size",
                kind: "size, or `mtu`",
                default: DefaultValue::Text("mtu"),
                meaning: "Bytes of each of its IP packets: a datagram without fragments; `mtu`: the largest that the link takes.",
                backends: CROSS,
                effect: Effect::None,
            },
            Key {
                name: "gaps",
                kind: "`exponential`, `constant` or `uniform`",
                default: DefaultValue::Text("exponential"),
                meaning: "The law of the gaps between arrivals. `exponential` is a Poisson process; `uniform` lies between nothing and twice the mean.",
                backends: CROSS,
                effect: Effect::None,
            },
            Key {
                name: "way",
                kind: "`with`, `against` or `both`",
                default: DefaultValue::Text("with"),
                meaning: "The direction: `with` the measured traffic, from the sender's side to the receiver's; `against` it; `both`: this much in each direction.",
                backends: CROSS,
                effect: Effect::None,
            },
        ],
    },
];

const WINDOWS: Backends = backends(
    when(
        r#"with `link = "emulated"`, of a transfer over TCP and in a `dumbbell` or an `explicit` network, of links that are one wire"#,
    ),
    when(r#"with `kind = "flows"` and of a transfer over TCP, of links that are one wire"#),
)
.between_hosts(refused(UNCOUNTED))
.predicted(UNSEEN);

const WATCH: Backends = kernels(refused(UNWATCHED)).predicted(UNSEEN);

const SERIES: Backends = backends(
    when("in a `dumbbell` or an `explicit` network, of links that are one wire"),
    when(OF_FLOWS),
)
.between_hosts(refused(UNCOUNTED))
.predicted(UNSEEN);

/// Settings that record packets have no effect where figures follow from closed forms.
const UNSEEN: Support = no_effect("there are no packets to record");

const CROSS: Backends = backends(
    when(r#"with `link = "emulated"`, otherwise refused"#),
    when("on paths, with hosts that cost no time"),
)
.between_hosts(refused(
    "nobody else's traffic is made between hosts: --on netns or --on sim",
))
.predicted(when(
    "on one link, by flows of datagrams; with other traffic the row is kept: \"not predicted\"",
));
