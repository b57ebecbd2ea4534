//! Keys of `[domain]`: gathering of packets into bundles.

use super::support::{everywhere, no_effect, refused};
use super::{Backends, DefaultValue, Effect, Key, Section};

const GATHERED: Backends = everywhere()
    .between_hosts(refused(
        "nothing is gathered between hosts: --on netns or --on sim",
    ))
    .predicted(no_effect("its shape is not predicted"));

pub(super) const SECTIONS: &[Section] = &[
    Section {
        tables: &["domain"],
        kinds: &[],
        about: r#"`shape = "explicit"` only: routers gather packets into bundles where they enter it, and unpack them where they leave, see [Packets in bundles](experiments.md#packets-in-bundles)."#,
        backends: GATHERED,
        keys: &[
            Key {
                name: "edges",
                kind: "list of routers",
                default: DefaultValue::Required,
                meaning: r#"The routers at its border, `["r1", "r2"]`; each gathers and unpacks."#,
                backends: GATHERED,
                effect: Effect::None,
            },
            Key {
                name: "gather",
                kind: "boolean",
                default: DefaultValue::Text("on"),
                meaning: "`off`: nothing is gathered, and all figures of a domain are reported all the same.",
                backends: GATHERED,
                effect: Effect::None,
            },
            Key {
                name: "mtu",
                kind: "bytes up to 65535",
                default: DefaultValue::Number(9000),
                meaning: "The most bytes of IP in a bundle: at least its headers and two of the smallest packets. Links between the edges must carry them.",
                backends: GATHERED,
                effect: Effect::None,
            },
            Key {
                name: "trigger",
                kind: "`egress-busy`, `timer` or `full`",
                default: DefaultValue::Text("egress-busy"),
                meaning: "When a bundle that is not full is sent. `egress-busy`: as soon as the link is free, so that only waiting packets are gathered, and after `jfet` at the latest; `timer`: `jfet` after its first packet arrived; `full`: never.",
                backends: GATHERED,
                effect: Effect::None,
            },
            Key {
                name: "jfet",
                kind: "time",
                default: DefaultValue::Text("1ms"),
                meaning: "That time, the paper's JFET; above 0 for `timer`.",
                backends: GATHERED,
                effect: Effect::None,
            },
            Key {
                name: "share",
                kind: "number above 0, at most 1",
                default: DefaultValue::Number(1),
                meaning: "The share of sent frames that may be bundles: of the packets that find no open bundle this share opens one, evenly spread, and the others are sent bare at once. With `0.025` one frame in 40 is a bundle, if a second packet arrives in time. Order is kept.",
                backends: GATHERED,
                effect: Effect::None,
            },
            Key {
                name: "carriage",
                kind: "`ip`, `udp` or `label`",
                default: DefaultValue::Text("ip"),
                meaning: "The outer header of a bundle (docs/reference/formats.md): 20, 28 or 4 bytes, over IPv6 40, 48 or 4, and the bundle's own 6 bytes plus 4 a packet.",
                backends: GATHERED,
                effect: Effect::None,
            },
            Key {
                name: "tick",
                kind: "`1us` or `10us`",
                default: DefaultValue::Text("1us"),
                meaning: "The unit in which a bundle says how long its packets waited.",
                backends: GATHERED,
                effect: Effect::None,
            },
            Key {
                name: "destination",
                kind: "`egress`, `first-packet` or `label`",
                default: DefaultValue::Follows(r#"`"egress"`, of labels `"label"`"#),
                meaning: r#"The field by which routers between the edges forward it: the address of the `egress`, or, as in the paper, the destination of the `first-packet`; with `carriage = "label"` its `label`, which each router replaces [RFC3031]."#,
                backends: GATHERED,
                effect: Effect::None,
            },
            Key {
                name: "shaping",
                kind: "boolean",
                default: DefaultValue::Text("on"),
                meaning: "Whether packets leave a bundle with the gaps with which they came.",
                backends: GATHERED,
                effect: Effect::None,
            },
        ],
    },
    Section {
        tables: &["domain.routes.NAME"],
        kinds: &[],
        about: "A row of the routing table, at least one; the longest prefix that covers a host's address counts [RFC1812 s5.2.4.3].",
        backends: GATHERED,
        keys: &[
            Key {
                name: "prefix",
                kind: r#"prefix, `"10.2.0.0/16"`"#,
                default: DefaultValue::Required,
                meaning: "No bit is set behind its length; no other row has it.",
                backends: GATHERED,
                effect: Effect::None,
            },
            Key {
                name: "egress",
                kind: "name of an edge",
                default: DefaultValue::Required,
                meaning: "The edge through which it is reached.",
                backends: GATHERED,
                effect: Effect::None,
            },
            Key {
                name: "via",
                kind: "list of routers",
                default: DefaultValue::Absent,
                meaning: r#"With labels only: the routers over which bundles are switched to it, in this order, e.g. `["r5", "r6"]`; packets outside of bundles take the shortest path."#,
                backends: GATHERED,
                effect: Effect::None,
            },
            Key {
                name: "next_as",
                kind: "number",
                default: DefaultValue::Number(0),
                meaning: "The autonomous system behind that; packets to different ones are never together.",
                backends: GATHERED,
                effect: Effect::None,
            },
        ],
    },
];
