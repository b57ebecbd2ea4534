//! Keys of `[network]` and `[nodes]`: the shape, and properties of all links.

use super::row::QUEUES;
use super::support::{
    Support, all_but, backends, everywhere, kernels, measured, no_effect, only, rejected,
    simulator, when,
};
use super::{Backends, DefaultValue, Effect, Key, Section};

/// The reason why nothing of a network between named hosts can be chosen.
const AS_IT_IS: &str = "the network between hosts is as it is; --on netns and --on sim build one";

/// The reason why nothing waits in links of the backend `hosts` that it knows.
const THEIR_QUEUES: &str = "the queues between hosts are as they are";

/// The support of a key of emulated links by named hosts, whose `value` means that
/// nothing is emulated.
const fn not_emulated(value: &'static [&'static str]) -> Support {
    only(value, AS_IT_IS)
}

/// The reason why nothing is predicted of networks that are no path.
const NO_PATH: &str =
    "not predicted: closed forms are of a path, not of traffic that meets in a network";

/// The support of keys of networks with nodes of their own.
const OF_GRAPHS: Backends = everywhere()
    .between_hosts(no_effect("its shape is rejected"))
    .predicted(no_effect("its shape is not predicted"));

/// The condition for networks that are no path between kernels.
const GRAPHS: &str = r#"; `dumbbell` and `explicit` with `link = "emulated"` and `kind = "flows"`, see [Networks between kernels](experiments.md#networks-between-kernels)"#;

pub(super) const SECTIONS: &[Section] = &[
    Section {
        tables: &["network"],
        kinds: &[],
        about: "The topology, and the properties of all links.",
        backends: everywhere(),
        keys: &[
            Key {
                name: "shape",
                kind: "`pair`, `routed`, `switched`, `chain`, `dumbbell` or `explicit`",
                default: DefaultValue::Text("pair"),
                meaning: "Between sender and receiver are: `pair` nothing; `routed` a router; `switched` bridges; `chain` routers. `dumbbell`: `pairs` hosts at each end of one link; `explicit`: nodes and links of the file.",
                backends: kernels(when(GRAPHS))
                .between_hosts(only(&["pair"], AS_IT_IS))
                .predicted(measured(&["pair", "routed", "switched", "chain"], NO_PATH)),
                effect: Effect::None,
            },
            Key {
                name: "devices",
                kind: "number, 0 to 16",
                default: DefaultValue::Number(1),
                meaning: "Switches (`switched`) or routers (`chain`) on the path, store-and-forward.",
                backends: everywhere().between_hosts(only(&["1"], AS_IT_IS)),
                effect: Effect::None,
            },
            Key {
                name: "pairs",
                kind: "number, 1 to 20000",
                default: DefaultValue::Number(1),
                meaning: "Pairs of hosts of a `dumbbell`: `sender1` and `receiver1`, ...",
                backends: kernels(when(GRAPHS))
                    .between_hosts(no_effect("its shape is rejected"))
                    .predicted(no_effect("its shape is not predicted")),
                effect: Effect::None,
            },
            Key {
                name: "link",
                kind: "`kernel`, `emulated` or `mixed`",
                default: DefaultValue::Text("kernel"),
                meaning: "`kernel`: token buckets, right for throughput and CPU, wrong for delays of single messages; `emulated`: our emulator, which serialises every frame and supports all keys from `queue` on; `mixed`: throughput and CPU over kernel links, delays over emulated ones.",
                backends: simulator(no_effect(
                    "the simulator paces all links, as `emulated` ones",
                ))
                .between_hosts(only(&["kernel"], AS_IT_IS))
                .predicted(no_effect("every link keeps its rate, as `emulated` ones")),
                effect: Effect::None,
            },
            Key {
                name: "ip",
                kind: "`4` or `6`",
                default: DefaultValue::Number(6),
                meaning: "The version of IP.",
                backends: everywhere(),
                effect: Effect::None,
            },
            Key {
                name: "addresses",
                kind: "`static`, `router` or `auto`",
                default: DefaultValue::Text("auto"),
                meaning: r#"`router`: by Router Advertisements (`ip = 6`, `shape = "routed"`); `auto`: `router` where possible, otherwise `static`."#,
                backends: simulator(all_but(&[(
                    "router",
                    "simulated hosts receive no Router Advertisements; write \"auto\"",
                )])).between_hosts(only(&["auto", "static"], "hosts have the addresses that they have")),
                effect: Effect::None,
            },
            Key {
                name: "cut_through",
                kind: "boolean",
                default: DefaultValue::Text("off"),
                meaning: "Whether switches (`switched`) forward a frame once its header has arrived. All links then have one rate.",
                backends: kernels(when(
                    r#"with `link = "emulated"`, otherwise rejected unless `off`"#,
                )).between_hosts(not_emulated(&["off"])),
                effect: Effect::None,
            },
            Key {
                name: "load",
                kind: "share, rate, `none`, `light`, `moderate` or `heavy`",
                default: DefaultValue::Absent,
                meaning: "[Cross traffic](experiments.md#cross-traffic) on every link of a path: `light` is 20 % of its rate, `moderate` 50 %, `heavy` 80 %. `cross.load` of a link overrides it.",
                backends: backends(
                    when(r#"with `link = "emulated"`, otherwise rejected unless `none`"#),
                    when("on paths, with hosts that cost no time"),
                )
                .between_hosts(not_emulated(&["none"]))
                .predicted(when("on one link, by flows of datagrams; with other traffic the row is kept: \"not predicted\"")),
                effect: Effect::None,
            },
            Key {
                name: "isolate_trials",
                kind: "boolean",
                default: DefaultValue::Text("off"),
                meaning: r#"With `kind = "flows"`: whether every trial has a new network, whose hosts know no path MTU yet."#,
                backends: simulator(no_effect(
                    "simulated hosts remember nothing from one trial to the next",
                )).between_hosts(only(&["off"], "a host keeps what it knows of paths; --on netns")),
                effect: Effect::None,
            },
            Key {
                name: "mtu_method",
                kind: "`interface` or `mss`",
                default: DefaultValue::Text("interface"),
                meaning: "What limits packets to `mtu`. `interface`: the MTU of the interfaces; `mss`: TCP_MAXSEG, with unchanged interfaces (in `netns` 1500, or `mtu` if larger); datagrams must fit by their size.",
                backends: simulator(only(
                    &["interface"],
                    "interfaces have the MTU there; write \"interface\"",
                )),
                effect: Effect::Changes("mss"),
            },
            Key {
                name: "timing_error",
                kind: "time, or `auto`",
                default: DefaultValue::Text("auto"),
                meaning: "Limit of the p99 timing error of an emulated link; above it a trial [fails](experiments.md#validity-of-trials-over-emulated-links). `auto`: the time in which the smallest buffer of the path drains, from 1 ms to 10 ms.",
                backends: backends(
                    when(
                        r#"with `link = "emulated"` and `"mixed"`, otherwise rejected unless `auto`"#,
                    ),
                    rejected(
                        "only emulated links of the backend `netns` have it; nothing is late there",
                    ),
                ).between_hosts(not_emulated(&["auto"])),
                effect: Effect::None,
            },
        ],
    },
    Section {
        tables: &["network", "links.NAME"],
        kinds: &[],
        about: "Keys of all links, or of one link, which override those of all. NAME is `sender-receiver` (pair); `sender-router`, `router-receiver` (routed); `sender-switch`, `switch-receiver` (switched); with more hops `sender-router1`, `router1-router2`, ...; `access` and `bottleneck` (dumbbell); any (explicit).",
        backends: everywhere(),
        keys: &[
            Key {
                name: "mtu",
                kind: "bytes, 1280 (IPv4: 68) to 65535",
                default: DefaultValue::Number(1500),
                meaning: "The largest IP packet.",
                backends: everywhere(),
                effect: Effect::None,
            },
            Key {
                name: "rate",
                kind: "rate, `none` or `auto`",
                default: DefaultValue::Text("1gbit"),
                meaning: "Rate with Ethernet framing (38 bytes a frame). `none`: no limit; `auto`: the largest of 1gbit, 500mbit, 200mbit and 100mbit that the machine [sustains](experiments.md#rates-that-the-machine-chooses).",
                backends: simulator(when(
                    "; a transfer and requests with responses need one on some link",
                ))
                .predicted(when("; without one the costs of hosts must limit a transfer"))
                .between_hosts(only(&["none"], "the links between hosts have the rate that they have; write \"none\"")),
                effect: Effect::None,
            },
            Key {
                name: "burst",
                kind: "size, or `auto`",
                default: DefaultValue::Text("auto"),
                meaning: "Depth of the token bucket, at least a frame. `auto`: two frames or 1 ms at the rate, whichever is more.",
                backends: backends(
                    when(
                        r#"; with `link = "emulated"` rejected unless `auto`: it has no token bucket"#,
                    ),
                    only(
                        &["auto"],
                        "an emulated or simulated link has no token bucket; leave it out, or write \"auto\"",
                    ),
                ).between_hosts(only(&["auto"], "no bucket paces the links between hosts; write \"auto\"")),
                effect: Effect::None,
            },
            Key {
                name: "buffer",
                kind: r#"size, or `"35 packets"`"#,
                default: DefaultValue::Text("500kB"),
                meaning: "Size of the queue of a link, at least two frames. Emulated and simulated links also accept a number of frames.",
                backends: kernels(when(
                    r#"; a number of packets with `link = "emulated"` alone"#,
                )).between_hosts(no_effect(THEIR_QUEUES)),
                effect: Effect::None,
            },
            Key {
                name: "queue",
                kind: QUEUES,
                default: DefaultValue::Text("droptail"),
                meaning: "The queue discipline of an emulated or simulated link, see [Queues](experiments.md#queues). When full, `droptail` drops the arriving frame, `dropfront` the oldest.",
                backends: kernels(when(
                    r#"with `link = "emulated"`, otherwise rejected unless `droptail`"#,
                ))
                .between_hosts(not_emulated(&["droptail"]))
                .predicted(measured(&["droptail"], "not predicted: what this queue drops has no closed form")),
                effect: Effect::None,
            },
            Key {
                name: "delay",
                kind: "time",
                default: DefaultValue::Text("0s"),
                meaning: "Propagation delay of an emulated or simulated link, one way.",
                backends: kernels(when(
                    r#"with `link = "emulated"`, otherwise rejected unless `0s`"#,
                )).between_hosts(not_emulated(&["0s"])),
                effect: Effect::None,
            },
            Key {
                name: "jitter",
                kind: "time",
                default: DefaultValue::Text("0s"),
                meaning: "Additional random delay of a frame (`jitter_distribution`); the order is kept.",
                backends: kernels(when(
                    r#"with `link = "emulated"`, otherwise rejected unless `0s`"#,
                )).between_hosts(not_emulated(&["0s"]))
                .predicted(measured(&["0s"], "not predicted: no closed form of TCP or of a mean has extra delays")),
                effect: Effect::None,
            },
            Key {
                name: "jitter_distribution",
                kind: "`uniform`, `normal` or `exponential`",
                default: DefaultValue::Text("uniform"),
                meaning: "Distribution of `jitter`. `uniform`: from 0 to `jitter`; `normal`: half-normal, with `jitter` as the standard deviation of the normal distribution and a mean of 0.798 of it; `exponential`: with mean `jitter`.",
                backends: kernels(when("beside `jitter`"))
                    .between_hosts(not_emulated(&["uniform"]))
                    .predicted(no_effect("jitter is not predicted")),
                effect: Effect::None,
            },
            Key {
                name: "loss",
                kind: "share",
                default: DefaultValue::Text("0%"),
                meaning: "Share of frames lost at random.",
                backends: kernels(when(
                    r#"with `link = "emulated"`, otherwise rejected unless `0%`"#,
                )).between_hosts(not_emulated(&["0%"])),
                effect: Effect::None,
            },
            Key {
                name: "bit_error_rate",
                kind: "probability",
                default: DefaultValue::Number(0),
                meaning: "Probability that a bit is wrong, e.g. `1e-9`: a frame of n bytes is lost with 1 - (1 - rate)^(8 n).",
                backends: kernels(when(
                    r#"with `link = "emulated"`, otherwise rejected unless `0`"#,
                )).between_hosts(not_emulated(&["0", "0.0"])),
                effect: Effect::None,
            },
            Key {
                name: "reorder",
                kind: "share",
                default: DefaultValue::Text("0%"),
                meaning: "Share of frames that later ones overtake.",
                backends: kernels(when(
                    r#"with `link = "emulated"`, otherwise rejected unless `0%`"#,
                )).between_hosts(not_emulated(&["0%"]))
                .predicted(measured(&["0%"], "not predicted: reordered packets have no closed form")),
                effect: Effect::None,
            },
            Key {
                name: "duplicate",
                kind: "share",
                default: DefaultValue::Text("0%"),
                meaning: "Share of frames that arrive twice.",
                backends: kernels(when(
                    r#"with `link = "emulated"`, otherwise rejected unless `0%`"#,
                )).between_hosts(not_emulated(&["0%"]))
                .predicted(measured(&["0%"], "not predicted: duplicated packets have no closed form")),
                effect: Effect::None,
            },
            Key {
                name: "link_mtu",
                kind: "bytes, or `mtu`",
                default: DefaultValue::Text("mtu"),
                meaning: "The largest IP packet that an emulated link delivers, at most the `mtu` of its interfaces.",
                backends: backends(
                    when(r#"with `link = "emulated"`, otherwise rejected unless `mtu`"#),
                    only(
                        &["mtu"],
                        "a simulated wire is as wide as its interfaces; write mtu instead",
                    ),
                ).between_hosts(not_emulated(&["mtu"])),
                effect: Effect::None,
            },
            Key {
                name: "oversize",
                kind: "`drop` or `icmp_error`",
                default: DefaultValue::Text("drop"),
                meaning: "Packets larger than `link_mtu`: `drop` drops them silently; `icmp_error` also [sends an ICMP error](experiments.md#links-with-a-smaller-mtu-than-their-interfaces).",
                backends: backends(
                    when("beside a smaller `link_mtu`, otherwise rejected unless `drop`"),
                    only(
                        &["drop"],
                        "nothing is too big for a simulated wire, which is as wide as its interfaces; write \"drop\"",
                    ),
                ).between_hosts(not_emulated(&["drop"])),
                effect: Effect::None,
            },
            Key {
                name: "framing",
                kind: "`ethernet` or `none`",
                default: DefaultValue::Text("ethernet"),
                meaning: "Bytes on the wire in addition to a packet: `ethernet` 38, `none` 0.",
                backends: kernels(when("in a `dumbbell` or an `explicit` network, otherwise rejected unless `ethernet`"))
                    .between_hosts(not_emulated(&["ethernet"])),
                effect: Effect::None,
            },
            Key {
                name: "medium",
                kind: "`cat5e`, `fibre` or `wifi`",
                default: DefaultValue::Absent,
                meaning: "The [medium](experiments.md#media), which sets the defaults of `rate`, `delay` and `bit_error_rate`.",
                backends: kernels(when(r#"; a delay needs `link = "emulated"`"#)).between_hosts(rejected(AS_IT_IS)),
                effect: Effect::None,
            },
            Key {
                name: "length",
                kind: "length, e.g. `\"100m\"`, `\"20km\"`",
                default: DefaultValue::Text("100m"),
                meaning: "Length of the `medium`.",
                backends: kernels(when("with `medium`")).between_hosts(rejected(AS_IT_IS)),
                effect: Effect::None,
            },
        ],
    },
    Section {
        tables: &["nodes.NAME"],
        kinds: &[],
        about: r#"The nodes of `shape = "explicit"`."#,
        backends: OF_GRAPHS,
        keys: &[
            Key {
                name: "role",
                kind: "`host`, `router` or `switch`",
                default: DefaultValue::Required,
                meaning: "The kind of node.",
                backends: OF_GRAPHS,
                effect: Effect::None,
            },
            Key {
                name: "address",
                kind: "IP address",
                default: DefaultValue::Absent,
                meaning: r#"Address of a host in a network with a `[domain]`, e.g. `"10.2.0.3"`. Packets to hosts without one are not aggregated."#,
                backends: OF_GRAPHS,
                effect: Effect::None,
            },
        ],
    },
];
