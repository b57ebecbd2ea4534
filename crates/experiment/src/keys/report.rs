//! Keys of `[report]`: how reports present the results.

use super::support::everywhere;
use super::{DefaultValue, Key, Section};

pub(super) const SECTIONS: &[Section] = &[
    Section {
        tables: &["report"],
        kinds: &[],
        about: "How reports present the results, see [The headline](#the-headline). It changes no trial, and the plan's hash is the same without it.",
        worlds: everywhere(),
        keys: &[
            Key {
                name: "question",
                kind: "one sentence with `?` at its end",
                default: DefaultValue::Absent,
                meaning: "The question that the first sentences of a report answer.",
                worlds: everywhere(),
            },
            Key {
                name: "metrics",
                kind: "list of metrics",
                default: DefaultValue::Follows("goodput and CPU, or the first that the run has"),
                meaning: r#"The metrics of these sentences, in this order: `["inner_drop_percent_h2"]`."#,
                worlds: everywhere(),
            },
            Key {
                name: "level",
                kind: "level",
                default: DefaultValue::Follows("the last of the compared factor"),
                meaning: "The level of the compared factor that these sentences set against the baseline.",
                worlds: everywhere(),
            },
        ],
    },
    Section {
        tables: &["report.cells"],
        kinds: &[],
        about: r#"The cells that these sentences are about; without it all of them: `cells = { frames = "bundles" }`."#,
        worlds: everywhere(),
        keys: &[Key {
            name: "NAME",
            kind: "level, or list of levels",
            default: DefaultValue::Absent,
            meaning: "The levels of the factor of this name.",
            worlds: everywhere(),
        }],
    },
    Section {
        tables: &["report.labels.NAME"],
        kinds: &[],
        about: "Words for the levels of the factor of this name. Terminal and page show them; data, `--set` and names of files keep the level as it is written.",
        worlds: everywhere(),
        keys: &[Key {
            name: "LEVEL",
            kind: "one line",
            default: DefaultValue::Absent,
            meaning: r#"The words for this level: `mredhead = "MRED, drop from the oldest frame"`."#,
            worlds: everywhere(),
        }],
    },
];
