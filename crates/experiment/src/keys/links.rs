//! Keys of `[links.NAME]` that only single links have.

use super::support::{Support, backends, everywhere, kernels, no_effect, only, rejected, when};
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
                meaning: r#"`shape = "explicit"` only: the two nodes, `["a", "b"]`."#,
                backends: everywhere()
                    .between_hosts(no_effect("its shape is rejected"))
                    .predicted(no_effect("its shape is not predicted")),
                effect: Effect::None,
            },
            Key {
                name: "record",
                kind: "boolean",
                default: DefaultValue::Text("off"),
                meaning: "Whether the outcome of every packet on this emulated link is recorded (`recordings/` in docs/reference/formats.md).",
                backends: backends(
                    when(r#"with `link = "emulated"`, otherwise rejected unless `off`"#),
                    rejected("only emulated links of the backend `netns` have it; leave it out"),
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
        about: "Records of single packets on this simulated link (`watch/` in docs/reference/formats.md). They change no result.",
        backends: everywhere(),
        keys: &[
            Key {
                name: "queue",
                kind: "boolean",
                default: DefaultValue::Text("off"),
                meaning: "The queue length at each arrival, and the average on which RED decides.",
                backends: WATCH,
                effect: Effect::None,
            },
            Key {
                name: "interval",
                kind: "time, or `arrival`",
                default: DefaultValue::Text("arrival"),
                meaning: "`queue` records only the first packet at or after each multiple of this time; `arrival`: every packet.",
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
                meaning: "Percentiles of the waiting times of each flow's packets, and of the delays of its messages, in the evidence.",
                backends: WATCH,
                effect: Effect::None,
            },
            Key {
                name: "capture",
                kind: "boolean",
                default: DefaultValue::Text("off"),
                meaning: "The headers of all packets, as a capture file.",
                backends: WATCH,
                effect: Effect::None,
            },
        ],
    },
    Section {
        tables: &["links.NAME.windows"],
        kinds: &[],
        about: "Parts of a trial with metrics of their own for this link, from its first end to its second: `drop_percent_WINDOW`, `utilisation_percent_WINDOW` and `mean_queue_WINDOW`, and more with a `[domain]` (docs/reference/metrics.md).",
        backends: WINDOWS,
        keys: &[Key {
            name: "WINDOW",
            kind: "`\"0s..25s\"`, or `\"all\"`",
            default: DefaultValue::Absent,
            meaning: r#"Its start and end. For a TCP transfer, simulated or with `link = "emulated"`, only `"all"`: the part that `throughput` counts (compare backends with `echo = "off"`, because simulated echoes run at the same time). The name is unique and has up to 16 letters, digits, `-` and `_`."#,
            backends: WINDOWS,
            effect: Effect::None,
        }],
    },
    Section {
        tables: &["links.NAME.series"],
        kinds: &[],
        about: "The same metrics over time, and goodput, delays and round trips of all flows, for the journal and the page (`series`, `flow_series` in docs/reference/formats.md).",
        backends: SERIES,
        keys: &[Key {
            name: "interval",
            kind: "time",
            default: DefaultValue::Absent,
            meaning: "Length of an interval; at most 10000 in a trial.",
            backends: SERIES,
            effect: Effect::None,
        }],
    },
    Section {
        tables: &["links.NAME.losses"],
        kinds: &[],
        about: "Which flows lose packets at this link, from its first end to its second, for one link of an experiment. The metrics are `drop_bias`, `synchronisation` and `notice`.",
        backends: SERIES,
        keys: &[
            Key {
                name: "window",
                kind: "part of the trial, `\"20s..120s\"`",
                default: DefaultValue::Absent,
                meaning: "The time in which losses count.",
                backends: SERIES,
                effect: Effect::None,
            },
            Key {
                name: "epoch",
                kind: "time",
                default: DefaultValue::Text("100ms"),
                meaning: "Connections that lose packets within this time of a first loss are synchronised; about a round trip.",
                backends: SERIES,
                effect: Effect::None,
            },
        ],
    },
    Section {
        tables: &["links.NAME.cross"],
        kinds: &[],
        about: "[Cross traffic](experiments.md#cross-traffic) on this emulated or simulated link of a path; none without `load`.",
        backends: CROSS,
        keys: &[Key {
            name: "load",
            kind: "share, rate, `none`, `light`, `moderate` or `heavy`",
            default: DefaultValue::Follows("`network.load`"),
            meaning: "Mean load with framing: a share of the link's rate (`\"30%\"`), a rate (`\"30mbit\"`, also above the link's), or a word of `network.load`. At most 500000 packets a second.",
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
                meaning: "Bytes of each IP packet, without fragments; `mtu`: the largest that the link accepts.",
                backends: CROSS,
                effect: Effect::None,
            },
            Key {
                name: "interarrival",
                kind: "`exponential`, `constant` or `uniform`",
                default: DefaultValue::Text("exponential"),
                meaning: "Distribution of the gaps between arrivals. `exponential`: a Poisson process; `uniform`: from 0 to twice the mean.",
                backends: CROSS,
                effect: Effect::None,
            },
            Key {
                name: "direction",
                kind: "`forward`, `reverse` or `both`",
                default: DefaultValue::Text("forward"),
                meaning: "The direction: that of the measured traffic (`forward`), the `reverse` one, or this load in `both`.",
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
.between_hosts(rejected(UNCOUNTED))
.predicted(UNSEEN);

const WATCH: Backends = kernels(rejected(UNWATCHED)).predicted(UNSEEN);

const SERIES: Backends = backends(
    when("in a `dumbbell` or an `explicit` network, of links that are one wire"),
    when(OF_FLOWS),
)
.between_hosts(rejected(UNCOUNTED))
.predicted(UNSEEN);

/// Settings that record packets have no effect where figures follow from closed forms.
const UNSEEN: Support = no_effect("there are no packets to record");

const CROSS: Backends = backends(
    when(r#"with `link = "emulated"`, otherwise rejected"#),
    when("on paths, with hosts that cost no time"),
)
.between_hosts(rejected(
    "nobody else's traffic is made between hosts: --on netns or --on sim",
))
.predicted(when(
    "on one link, by flows of datagrams; with other traffic the row is kept: \"not predicted\"",
));
