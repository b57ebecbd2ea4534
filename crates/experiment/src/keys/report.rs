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
    Section {
        tables: &["report.figure"],
        kinds: &[],
        about: "A figure of a study, which the page redraws with this run's data beside the printed points.",
        worlds: everywhere(),
        keys: &[
            Key {
                name: "title",
                kind: "one line",
                default: DefaultValue::Required,
                meaning: r#"Its name: `"Figure 2 of [Praptodiyono2019]: RTT"`."#,
                worlds: everywhere(),
            },
            Key {
                name: "metrics",
                kind: "list of metrics",
                default: DefaultValue::Absent,
                meaning: "Its metrics, of one unit. Printed points are those of `[[published]]`.",
                worlds: everywhere(),
            },
            Key {
                name: "x",
                kind: "factor",
                default: DefaultValue::Follows("none: the metrics side by side"),
                meaning: "The factor along its axis; other factors that vary make its series.",
                worlds: everywhere(),
            },
            Key {
                name: "over_time",
                kind: "link",
                default: DefaultValue::Absent,
                meaning: "Instead of `metrics`: queue, average and drops of this link over time, of one trial and on average; it needs a `[links.NAME.series]`.",
                worlds: everywhere(),
            },
            Key {
                name: "event",
                kind: "s",
                default: DefaultValue::Absent,
                meaning: "An instant to mark in a figure over time.",
                worlds: everywhere(),
            },
            Key {
                name: "event_text",
                kind: "one line",
                default: DefaultValue::Follows("`event`"),
                meaning: r#"Words for it: `"20 connections begin"`."#,
                worlds: everywhere(),
            },
            Key {
                name: "sizes",
                kind: "two numbers of octets",
                default: DefaultValue::Absent,
                meaning: "Instead of `metrics`: times of messages between these sizes, `[1000, 15000]`, with the steps that `[[jump]]` claims.",
                worlds: everywhere(),
            },
        ],
    },
    Section {
        tables: &["report.figure.cells"],
        kinds: &[],
        about: "The cells that a figure shows; without it all of them.",
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
        tables: &["report.figure.points"],
        kinds: &[],
        about: "A printed point that no `[[published]]` has.",
        worlds: everywhere(),
        keys: &[
            Key {
                name: "name",
                kind: "one line",
                default: DefaultValue::Required,
                meaning: "The series that it belongs to.",
                worlds: everywhere(),
            },
            Key {
                name: "x",
                kind: "number",
                default: DefaultValue::Required,
                meaning: "Its place along the axis.",
                worlds: everywhere(),
            },
            Key {
                name: "y",
                kind: "number",
                default: DefaultValue::Required,
                meaning: "Its value, in the unit of the figure.",
                worlds: everywhere(),
            },
        ],
    },
];
