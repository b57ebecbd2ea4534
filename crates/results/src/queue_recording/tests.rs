use plan::synthetic::{factors, trial};
use serde_json::json;

use super::*;
use crate::table::{Column, Values, write_table_in};

const NAME: &str = "c00-r01-bottleneck.queue.parquet";

/// A recording of `count` packets, 1 us apart, of which every tenth from number
/// 3000 on was dropped early.
fn folder(count: i64) -> tempfile::TempDir {
    let flow = |number: i64| if number % 2 == 0 { "a" } else { "b" }.to_owned();
    let drops = |number: i64| (number == 2_999).then(|| "3000 early 3001 forced".to_owned());
    folder_with(count, &flow, &drops)
}

/// The same with other flows and drops out of bundles, by the number of the packet.
fn folder_with(
    count: i64,
    flow: &dyn Fn(i64) -> String,
    inner_drops: &dyn Fn(i64) -> Option<String>,
) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let watch = files::Folder::open(folder.path()).unwrap();
    let watch = watch.folder(FOLDER).unwrap();
    write_table_in(&watch, NAME, &recording(count, flow, inner_drops)).unwrap();
    folder
}

/// The columns of such a recording.
pub(crate) fn recording(
    count: i64,
    flow: &dyn Fn(i64) -> String,
    inner_drops: &dyn Fn(i64) -> Option<String>,
) -> Vec<Column> {
    let is_dropped = |number: i64| number >= 3_000 && number % 10 == 0;
    let integers = |of: &dyn Fn(i64) -> i64| {
        Values::Integer((0..count).map(|number| Some(of(number))).collect())
    };
    let texts = |of: &dyn Fn(i64) -> Option<String>| Values::Text((0..count).map(of).collect());
    let fate = |number| if is_dropped(number) { "early" } else { "sent" }.to_owned();
    let columns = [
        ("at_ps", integers(&|number| number * 1_000_000)),
        ("way", integers(&|_| 0)),
        ("packets", integers(&|_| 4)),
        (
            "average",
            Values::Real((0..count).map(|_| Some(2.5)).collect()),
        ),
        ("flow", texts(&|number| Some(flow(number)))),
        ("size", integers(&|_| 1_500)),
        ("inner", integers(&|_| 2)),
        ("left_ps", integers(&|number| number * 1_000_000 + 7)),
        ("fate", texts(&|number| Some(fate(number)))),
        ("marked", integers(&|_| 0)),
        ("inner_drops", texts(inner_drops)),
    ];
    let column = |(name, values): (&str, Values)| Column {
        name: name.into(),
        values,
    };
    columns.into_iter().map(column).collect()
}

/// What is read of a recording in `folder`.
fn read_in(
    folder: &tempfile::TempDir,
    trial: &Trial,
    from: Time,
) -> Result<Option<QueueRecording>> {
    read(&Folder::open(folder.path()).unwrap(), trial, from)
}

fn watched() -> Trial {
    let mut trial = trial(factors(1500), 1, &[]);
    trial.id = "c00-r01".into();
    let files = json!([format!("watch/{NAME}")]);
    trial.evidence.insert("watched", files);
    trial
}

#[test]
fn the_packets_about_the_first_loss_after_an_instant_are_read() {
    let folder = folder(9_000);
    let read_from = |from: u64| {
        let from = Time::from_picos(from * 1_000_000);
        let recording = read_in(&folder, &watched(), from).unwrap().unwrap();
        assert_eq!(recording.link, "bottleneck");
        recording.window
    };
    let early = read_from(0);
    // The bundle number 2999 lost two packets.
    assert_eq!(
        (early.packets.len(), early.decided),
        (Excerpt::BEFORE + Excerpt::AFTER, Some(Excerpt::BEFORE))
    );
    let decided = &early.packets[Excerpt::BEFORE];
    assert_eq!(decided.at, Time::from_picos(2_999_000_000));
    let names: Vec<&str> = decided
        .inner_drops
        .iter()
        .map(|(_, why)| why.name())
        .collect();
    assert_eq!(names, ["early", "forced"]);
    assert_eq!(
        (early.flows[decided.flow].as_str(), early.recorded),
        ("b", 9_000)
    );
    let later = read_from(5_001);
    let (_, loss) = later.packets[Excerpt::BEFORE].left.unwrap();
    assert_eq!(
        later.packets[Excerpt::BEFORE].at,
        Time::from_picos(5_010_000_000)
    );
    assert_eq!(loss.map(Loss::name), Some("early"));
}

#[test]
fn without_a_loss_the_packets_are_read_and_without_a_recording_none() {
    let folder = folder(2_000);
    let recording = read_in(&folder, &watched(), Time::ZERO).unwrap().unwrap();
    assert_eq!(recording.window.packets.len(), 2_000);
    let plain = trial(factors(1500), 1, &[]);
    assert_eq!(read_in(&folder, &plain, Time::ZERO).unwrap(), None);
}

#[test]
fn a_file_that_is_no_recording_is_an_error() {
    let folder = folder(1);
    let place = folder.path().join(FOLDER).join(NAME);
    for octets in [&b"PAR1"[..], b"", &[0xff; 600]] {
        std::fs::write(&place, octets).unwrap();
        assert!(read_in(&folder, &watched(), Time::ZERO).is_err());
    }
}

#[test]
fn names_and_drops_are_limited_and_only_those_shown_are_kept() {
    let one = |_| "a".to_owned();
    let none = |_| None;
    let never = Time::from_picos(u64::MAX);
    let read = |folder: &tempfile::TempDir| read_in(folder, &watched(), never);
    let refused = |folder| format!("{:#}", read(&folder).unwrap_err());
    // Each packet is of a flow of its own.
    let own = |number| format!("flow {number}");
    let window = read(&folder_with(9_000, &own, &none))
        .unwrap()
        .unwrap()
        .window;
    assert_eq!(window.flows.len(), Excerpt::BEFORE + Excerpt::AFTER);
    let first = &window.packets[0];
    assert_eq!(
        (window.flows[first.flow].as_str(), first.at.as_picos()),
        ("flow 5500", 5_500_000_000)
    );
    let long = |_| "x".repeat(LONGEST_NAME + 1);
    let why = refused(folder_with(3, &long, &none));
    assert!(
        why.ends_with("row 1: flow: a text is longer than 1000 bytes, the limit"),
        "{why}"
    );
    let long = |number| format!("{number:0>LONGEST_NAME$}");
    let why = refused(folder_with(4_200, &long, &none));
    assert!(
        why.ends_with("row 4195: flow: names of more than 4 MiB, the limit"),
        "{why}"
    );
    let many = |count: usize| move |number| (number == 1).then(|| "7 full ".repeat(count));
    read(&folder_with(3, &one, &many(MOST_IN_BUNDLE))).unwrap();
    let why = refused(folder_with(3, &one, &many(MOST_IN_BUNDLE + 1)));
    assert!(
        why.contains("row 2: inner_drops: more than 4095 packets of a bundle"),
        "{why}"
    );
    let why = refused(folder_with(3, &one, &many(50_000)));
    assert!(
        why.contains("row 2: inner_drops: a text is longer than"),
        "{why}"
    );
    let full = |_| Some("7 full ".repeat(MOST_IN_BUNDLE));
    let why = refused(folder_with(40, &one, &full));
    assert!(
        why.contains("inner_drops: more than 100000 packets in 3500 rows"),
        "{why}"
    );
    let odd = |_| Some("7 full -1 full".to_owned());
    let why = refused(folder_with(3, &one, &odd));
    assert!(
        why.ends_with("row 1: inner_drops: `-1` is not an instant"),
        "{why}"
    );
}
