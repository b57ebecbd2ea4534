use document::text;
use plan::replayed_link::{OutcomeCounts, QueueOverTime, Waits};
use units::{Span, Time};

use super::*;
use crate::html;
use crate::page::plots_of;

/// A queue with 90 packets forwarded and 10 dropped in two intervals of a second.
fn queue(direction: usize, settings: Option<&str>, dropped: u64) -> ReplayedQueue {
    let mut outcomes = OutcomeCounts::default();
    outcomes.of_outcome[PacketOutcome::Delivered as usize] = 100 - dropped;
    outcomes.of_outcome[PacketOutcome::Dropped as usize] = dropped;
    outcomes.dropped[0] = dropped;
    ReplayedQueue {
        direction,
        settings: settings.map(str::to_owned),
        outcomes,
        waits: Waits {
            mean: 0.001,
            quantiles: vec![0.0, 0.001, 0.002],
            ..Waits::default()
        },
        over_time: QueueOverTime {
            begin: Time::ZERO,
            interval: Span::from_secs(1),
            packets: vec![1.5, 2.5],
            arrivals: vec![100, 0],
            dropped: vec![dropped, 0],
        },
    }
}

fn link() -> ReplayedLink {
    let mut back = queue(1, None, 0);
    back.over_time = QueueOverTime::default();
    ReplayedLink {
        recording: "<frames>.csv".into(),
        cut_after: Some(100),
        verdict: "reproduced: all 100 decisions are as recorded, each at the same time".into(),
        is_reproduced: true,
        queues: vec![queue(0, None, 10), queue(0, Some("queue=codel"), 2), back],
    }
}

#[test]
fn a_terminal_has_the_verdict_a_sentence_and_a_row_for_each_setting() {
    for width in [60, 100, 160] {
        let text = text(&of_replay(&link()), width);
        assert!(text.starts_with("replay: Replay of <frames>.csv\n"));
        assert!(text.contains("reproduced: all 100 decisions"), "{text}");
        for words in ["recorded", "queue=codel", "reverse", "p99 ms"] {
            assert!(text.contains(words), "{words}: {text}");
        }
        let longest = text.lines().map(|line| line.chars().count()).max();
        assert!(longest <= Some(usize::from(width)), "{text}");
    }
    let text = text(&of_replay(&link()), 999);
    let sentence = "With queue=codel the queue drops 2.00 % of the packets (recorded: 10.00 %), and the mean wait is 1.0000 ms (recorded: 1.0000 ms).";
    assert!(text.contains(sentence), "{text}");
}

#[test]
fn a_page_draws_each_direction_with_packets() {
    let page = html(&of_replay(&link()));
    let plots = plots_of(&page);
    let ids: Vec<&String> = plots.as_object().unwrap().keys().collect();
    let expected = [
        "replayed-drops-forward",
        "replayed-queue-forward",
        "replayed-waits-forward",
    ];
    assert_eq!(ids, expected, "nothing came back");
    let queue = &plots["replayed-queue-forward"]["data"];
    assert_eq!(queue[0]["name"], "recorded");
    assert_eq!(queue[1]["y"], serde_json::json!([1.5, 2.5]));
    let drops = &plots["replayed-drops-forward"]["data"][1];
    assert_eq!(drops["y"], serde_json::json!([2.0, null]));
    assert!(page.contains("The recording was cut; its first 100 packets are replayed."));
    assert!(page.contains("Replay of &lt;frames&gt;.csv"));
}
