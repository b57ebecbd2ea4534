//! Keys of `[domain]`: aggregation of packets into bundles.

use super::support::{everywhere, no_effect, rejected};
use super::{Backends, DefaultValue, Effect, Key, Section};

const AGGREGATED: Backends = everywhere()
    .between_hosts(rejected(
        "nothing is aggregated between hosts: --on netns or --on sim",
    ))
    .predicted(no_effect("its shape is not predicted"));

pub(super) const SECTIONS: &[Section] = &[
    Section {
        tables: &["domain"],
        kinds: &[],
        about: r#"`shape = "explicit"` only: edge routers aggregate packets into bundles and unpack them, see [Packets in bundles](experiments.md#packets-in-bundles)."#,
        backends: AGGREGATED,
        keys: &[
            Key {
                name: "edges",
                kind: "list of routers",
                default: DefaultValue::Required,
                meaning: r#"The edge routers, `["r1", "r2"]`; each aggregates and unpacks."#,
                backends: AGGREGATED,
                effect: Effect::None,
            },
            Key {
                name: "aggregate",
                kind: "boolean",
                default: DefaultValue::Text("on"),
                meaning: "`off`: nothing is aggregated, but all metrics of a domain are reported.",
                backends: AGGREGATED,
                effect: Effect::None,
            },
            Key {
                name: "mtu",
                kind: "bytes up to 65535",
                default: DefaultValue::Number(9000),
                meaning: "Maximum bytes of IP in a bundle. Links between the edges must support it; larger packets are cut over several bundles.",
                backends: AGGREGATED,
                effect: Effect::None,
            },
            Key {
                name: "trigger",
                kind: "`egress-busy`, `timer` or `full`",
                default: DefaultValue::Text("egress-busy"),
                meaning: "When a bundle leaves that is not full. `egress-busy`: when the link is free, at the latest after `max_wait`; `timer`: `max_wait` after its first packet; `full`: never.",
                backends: AGGREGATED,
                effect: Effect::None,
            },
            Key {
                name: "max_wait",
                kind: "time",
                default: DefaultValue::Text("1ms"),
                meaning: "Maximum wait (MAX_WAIT in the paper); above 0 for `timer`.",
                backends: AGGREGATED,
                effect: Effect::None,
            },
            Key {
                name: "share",
                kind: "number above 0, at most 1",
                default: DefaultValue::Number(1),
                meaning: "The share of packets without an open bundle that open one; the others leave bare at once, in order. With `0.025` at most one frame in 40 is a bundle.",
                backends: AGGREGATED,
                effect: Effect::None,
            },
            Key {
                name: "encapsulation",
                kind: "`ip`, `udp` or `label`",
                default: DefaultValue::Text("ip"),
                meaning: "The outer header of a bundle: 20, 28 or 4 bytes (IPv6: 40, 48 or 4). The bundle adds 6 bytes, and 4 for each packet.",
                backends: AGGREGATED,
                effect: Effect::None,
            },
            Key {
                name: "time_unit",
                kind: "`1us` or `10us`",
                default: DefaultValue::Text("1us"),
                meaning: "Resolution of the waiting times in a bundle.",
                backends: AGGREGATED,
                effect: Effect::None,
            },
            Key {
                name: "destination",
                kind: "`egress`, `first-packet` or `label`",
                default: DefaultValue::Follows(r#"`"egress"`, of labels `"label"`"#),
                meaning: r#"The field by which core routers forward a bundle: the address of the `egress`; the destination of the `first-packet`, as in the paper; or the `label` [RFC3031]."#,
                backends: AGGREGATED,
                effect: Effect::None,
            },
            Key {
                name: "shaping",
                kind: "boolean",
                default: DefaultValue::Text("on"),
                meaning: "Whether packets leave a bundle with their original gaps.",
                backends: AGGREGATED,
                effect: Effect::None,
            },
        ],
    },
    Section {
        tables: &["domain.routes.NAME"],
        kinds: &[],
        about: "A row of the routing table, at least one. The longest prefix of an address counts [RFC1812 s5.2.4.3].",
        backends: AGGREGATED,
        keys: &[
            Key {
                name: "prefix",
                kind: r#"prefix, `"10.2.0.0/16"`"#,
                default: DefaultValue::Required,
                meaning: "A unique prefix without bits beyond its length.",
                backends: AGGREGATED,
                effect: Effect::None,
            },
            Key {
                name: "egress",
                kind: "name of an edge",
                default: DefaultValue::Required,
                meaning: "The edge router for this prefix.",
                backends: AGGREGATED,
                effect: Effect::None,
            },
            Key {
                name: "via",
                kind: "list of routers",
                default: DefaultValue::Absent,
                meaning: r#"With labels only: the routers of the label-switched path, e.g. `["r5", "r6"]`. Other packets take the shortest path."#,
                backends: AGGREGATED,
                effect: Effect::None,
            },
            Key {
                name: "next_as",
                kind: "number",
                default: DefaultValue::Number(0),
                meaning: "The next autonomous system. Packets to different ones never share a bundle.",
                backends: AGGREGATED,
                effect: Effect::None,
            },
        ],
    },
];
