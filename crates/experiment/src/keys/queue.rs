//! Keys of `[network.QUEUE]` and `[links.NAME.QUEUE]`: the parameters of queue
//! disciplines, which the disciplines themselves define.

use std::sync::LazyLock;

use link::written::{ANY, visit};
use queue::{Choice, DISCIPLINES, Field};

use super::support::{Support, kernels, no_effect, rejected, when};
use super::{Backends, DefaultValue, Effect, Key, Section};

/// The support of queue keys in backends with kernels.
const QUEUED: Backends = kernels(when(r#"with `link = "emulated"`, as `queue`"#))
    .between_hosts(rejected(AS_THEY_ARE))
    .predicted(UNASKED);

/// No closed form here describes how a queue treats the packets that wait.
const UNASKED: Support = no_effect("no distribution of a queue is asked");

/// The reason why queues between hosts have no parameters.
const AS_THEY_ARE: &str = "the queues between hosts are as they are: --on netns or --on sim";

/// The support of keys that only simulated sources understand.
const NOTICES: Backends = kernels(when(
    "; `notify` must be `off` where the queue is `mred`: no kernel understands it",
))
.predicted(UNASKED);

/// One section for each discipline, created once.
pub(super) static SECTIONS: LazyLock<Vec<Section>> =
    LazyLock::new(|| DISCIPLINES.iter().map(section).collect());

fn section(choice: &Choice) -> Section {
    let mut keys = Vec::new();
    visit(choice, |key, field| {
        keys.push(Key {
            name: key.name,
            kind: kind(&field).leak(),
            default: key
                .default
                .map_or_else(|| usual(&field), DefaultValue::Follows),
            meaning: key.meaning,
            backends: match key.is_for_sources {
                true => NOTICES,
                false => QUEUED,
            },
            effect: Effect::None,
        });
    });
    let tables = ["network", "links.NAME"].map(|above| -> &str {
        let table = format!("{above}.{}", choice.name);
        table.leak()
    });
    Section {
        tables: tables.to_vec().leak(),
        kinds: &[],
        about: choice.about,
        backends: QUEUED,
        keys: keys.leak(),
    }
}

/// The type of the values of `field` in a user's terms.
fn kind(field: &Field<'_>) -> String {
    match field {
        Field::Span(_) => "time".into(),
        Field::SpanOrNone(_) => "time, or `none`".into(),
        Field::Size(_) => "size".into(),
        Field::Frames(_) => "frames".into(),
        Field::Threshold { .. } => "frames, or a size".into(),
        Field::Number(_) => "number".into(),
        Field::Probability(_) => "probability".into(),
        Field::Shares(low, high) => format!("`\"{low}..{high}\"`"),
        Field::Weight(_) => "above 0, at most 1".into(),
        Field::Count { most, .. } => format!("number, 1 to {most}"),
        Field::Switch(_) => "boolean".into(),
        Field::Word(words) => one_of(&words.words()),
        Field::Queue(_) => "a queue".into(),
    }
}

/// `a`, `b` or `c`, each as code.
pub(super) fn one_of(words: &[&str]) -> String {
    let words: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
    match words.split_last() {
        Some((last, others)) if !others.is_empty() => {
            format!("{} or {last}", others.join(", "))
        }
        _ => words.concat(),
    }
}

/// The default of `field`.
fn usual(field: &Field<'_>) -> DefaultValue {
    let text = |text: String| DefaultValue::Text(text.leak());
    match field {
        Field::Span(span) => text(span.to_string()),
        Field::SpanOrNone(span) => text(span.map_or("none".into(), |span| span.to_string())),
        Field::Size(size) if **size == ANY.1 => DefaultValue::Follows("the largest frame"),
        Field::Size(size) => text(size.to_string()),
        Field::Frames(number)
        | Field::Threshold { length: number, .. }
        | Field::Number(number)
        | Field::Probability(number)
        | Field::Weight(number) => match number.to_string().parse() {
            Ok(whole) => DefaultValue::Number(whole),
            Err(_) => DefaultValue::Follows(format!("`{number}`").leak()),
        },
        Field::Shares(low, high) => DefaultValue::Follows(format!("`\"{low}..{high}\"`").leak()),
        Field::Count { count, .. } => DefaultValue::Number(i64::from(**count)),
        Field::Switch(truth) => DefaultValue::Text(if **truth { "on" } else { "off" }),
        Field::Word(words) | Field::Queue(words) => DefaultValue::Text(words.word()),
    }
}
