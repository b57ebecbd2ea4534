//! A comparison with an excerpt of a run of ns-2.35 [Ns2], arrival by arrival.

#[path = "../../../queue/examples/ns2_replay/replay.rs"]
mod replay;

use units::Bytes;

use crate::row::Row;
use replay::{Loser, replay};

/// 1500 arrivals at a RED queue of 35 frames that drops from the front.
const RUN: &str = include_str!("../../../queue/tests/fixtures/ns2_reddf_1500_35.csv");

pub(crate) fn rows() -> Vec<Row> {
    let replayed = |loser| {
        let lines = RUN.lines().map(String::from);
        replay(lines, loser, Bytes::new(1500)).unwrap_or_default()
    };
    let seen = replayed(Loser::Second);
    let wrong = replayed(Loser::Arriving);
    vec![
        Row::same(
            "RED with drop from the front: arrivals replayed",
            1_500,
            seen.arrivals,
        ),
        Row::same(
            "lengths of the queue that differ, ties within 1 us aside",
            0,
            seen.queue_unexcused,
        ),
        Row::same(
            "averages that differ, ties within 1 us aside",
            0,
            seen.average_unexcused,
        ),
        Row {
            what: "arrivals that such ties excuse: lengths, averages".into(),
            expected: "at most 15 each".into(),
            obtained: format!("{}, {}", seen.queue, seen.average),
            rule: "bound",
            holds: seen.queue <= 15 && seen.average <= 15,
        },
        Row {
            what: "counter-check, the arriving packet dropped instead: lengths that differ".into(),
            expected: "more than 5".into(),
            obtained: wrong.queue_unexcused.to_string(),
            rule: "bound",
            holds: wrong.queue_unexcused > 5,
        },
    ]
}
