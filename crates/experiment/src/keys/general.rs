//! Keys of the file's head, aliases, and overrides for one backend.

use super::support::everywhere;
use super::{DefaultValue, Effect, Key, Section};

pub(super) const SECTIONS: &[Section] = &[
    Section {
        tables: &[""],
        kinds: &[],
        about: "",
        backends: everywhere(),
        keys: &[
            Key {
                name: "format",
                kind: "`1`",
                default: DefaultValue::Required,
                meaning: "Version of this format; this build reads `1`.",
                backends: everywhere(),
                effect: Effect::None,
            },
            Key {
                name: "name",
                kind: "letters, digits, `-`, `_`",
                default: DefaultValue::Required,
                meaning: "The name of the results folder.",
                backends: everywhere(),
                effect: Effect::None,
            },
            Key {
                name: "title",
                kind: "one line",
                default: DefaultValue::Absent,
                meaning: "The question that the experiment asks.",
                backends: everywhere(),
                effect: Effect::None,
            },
            Key {
                name: "source",
                kind: "key of docs/sources.md",
                default: DefaultValue::Absent,
                meaning: "The publication that is reproduced.",
                backends: everywhere(),
                effect: Effect::None,
            },
            Key {
                name: "backend",
                kind: "`netns`, `hosts`, `sim` or `model`",
                default: DefaultValue::Text("netns"),
                meaning: "The backend, unless `--on` names another one.",
                backends: everywhere(),
                effect: Effect::None,
            },
            Key {
                name: "run",
                kind: "table",
                default: DefaultValue::Absent,
                meaning: "Facts that a run writes into its `plan.toml`; they are not read.",
                backends: everywhere(),
                effect: Effect::None,
            },
        ],
    },
    Section {
        tables: &["aliases"],
        kinds: &[],
        about: "Short names of dotted keys. `repeat` and `seeds` always stand for `trials.repeat`.",
        backends: everywhere(),
        keys: &[Key {
            name: "NAME",
            kind: "dotted key, or table",
            default: DefaultValue::Absent,
            meaning: r#"The key, e.g. `mtu = "network.mtu"`. With `{ key = "network.buffer", unit = "packets" }` the number 35 is `"35 packets"`."#,
            backends: everywhere(),
            effect: Effect::None,
        }],
    },
    Section {
        tables: &["choices.NAME"],
        kinds: &[],
        about: "A name for several keys, see [Choices](../guides/experiments.md#choices).",
        backends: everywhere(),
        keys: &[Key {
            name: "WORD",
            kind: "table",
            default: DefaultValue::Absent,
            meaning: "The keys and values of the word. With `left_out`, a reason in one line, its cells are not run.",
            backends: everywhere(),
            effect: Effect::None,
        }],
    },
    Section {
        tables: &["on.BACKEND"],
        kinds: &[],
        about: "Values for one backend, or for a study's own settings (`[on.published]`), see [Keys of one backend](../guides/experiments.md#keys-of-one-backend).",
        backends: everywhere(),
        keys: &[Key {
            name: "TABLE",
            kind: "table",
            default: DefaultValue::Absent,
            meaning: "Keys of this table, of `trials`, of `report` or of a word of `choices`, e.g. `[on.sim.host]`. They override the file in this backend.",
            backends: everywhere(),
            effect: Effect::None,
        }],
    },
];
