//! Reads recordings of simulated queues (`watch/TRIAL-LINK.queue.parquet`).

use std::fs::File;
use std::path::Path;

use anyhow::{Context, Result, anyhow};
use files::Folder;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::{Field, Row};
use plan::Trial;
use plan::queue_recording::{Excerpt, Loss, QueueRecording, QueueWindow, QueuedPacket};
use units::Time;

/// The folder of the recordings in a results folder, and how their names end.
const FOLDER: &str = "watch";
const ENDING: &str = ".queue.parquet";

/// The most rows of a recording that are searched for a loss.
const MOST_ROWS: usize = 2_000_000;

/// The packets of `trial` about the first loss or mark at or after `from`, on the
/// first of its links whose queue was recorded. Without any loss: its last
/// packets. `None` without a recording, or if it does not tell what became of the
/// packets.
///
/// # Errors
/// The recording cannot be read.
pub fn read(folder: &Path, trial: &Trial, from: Time) -> Result<Option<QueueRecording>> {
    let Some((name, link)) = recorded(trial) else {
        return Ok(None);
    };
    let place = || format!("cannot read {FOLDER}/{name}");
    let files = Folder::open(folder).and_then(|results| results.folder(FOLDER));
    let file = files.and_then(|files| files.open_file(&name));
    let file = file.with_context(place)?;
    let window = window(file, from).with_context(place)?;
    Ok(window.map(|window| QueueRecording {
        trial: trial.id.to_string(),
        factors: (*trial.factors).clone(),
        link,
        window,
    }))
}

/// The file name of the first recorded queue of a trial, and its link.
fn recorded(trial: &Trial) -> Option<(String, String)> {
    let files = trial.evidence.list("watched")?;
    let names = files
        .iter()
        .filter_map(|file| file.as_str()?.strip_prefix("watch/"));
    let mut found = names.filter_map(|name| {
        let own = name.strip_prefix(trial.id.as_str())?.strip_prefix('-')?;
        Some((name.to_owned(), own.strip_suffix(ENDING)?.to_owned()))
    });
    found.next()
}

/// The columns of a recording, in this order.
const COLUMNS: [&str; 11] = [
    "at_ps",
    "way",
    "packets",
    "average",
    "flow",
    "size",
    "inner",
    "left_ps",
    "fate",
    "marked",
    "inner_drops",
];

fn window(file: File, from: Time) -> Result<Option<QueueWindow>> {
    let reader = SerializedFileReader::new(file)?;
    let metadata = reader.metadata().file_metadata();
    let columns = metadata.schema_descr().columns();
    let place = |name: &&str| columns.iter().position(|column| column.name() == *name);
    let places: Option<Vec<usize>> = COLUMNS.iter().map(place).collect();
    let Some(places) = places else {
        return Ok(None);
    };
    let recorded = u64::try_from(metadata.num_rows()).unwrap_or_default();
    let mut flows: Vec<String> = Vec::new();
    let mut parts: [Excerpt; 2] = Default::default();
    for row in reader.get_row_iter(None)?.take(MOST_ROWS) {
        let (direction, packet) = packet(row?, &places, &mut flows)?;
        parts[direction].take(packet, from);
        if parts[0].is_whole() {
            break;
        }
    }
    let (direction, Excerpt { packets, decided }) = Excerpt::of_link(parts);
    Ok(Some(QueueWindow {
        direction,
        flows,
        packets: packets.into(),
        decided,
        recorded,
    }))
}

/// The direction and the packet of a row.
fn packet(row: Row, places: &[usize], flows: &mut Vec<String>) -> Result<(usize, QueuedPacket)> {
    let values = row.into_columns();
    let value = |column: usize| values.get(places[column]).map(|(_, field)| field);
    let whole = |column: usize| -> Option<u64> {
        match value(column)? {
            Field::Long(number) => u64::try_from(*number).ok(),
            _ => None,
        }
    };
    let text = |column: usize| match value(column) {
        Some(Field::Str(text)) => Some(text.as_str()),
        _ => None,
    };
    let needed = |column: usize| {
        whole(column).ok_or_else(|| anyhow!("{}: not a whole number", COLUMNS[column]))
    };
    let small = |column: usize| {
        let number = u32::try_from(needed(column)?);
        number.map_err(|_| anyhow!("{}: too large", COLUMNS[column]))
    };
    let direction = usize::from(needed(1)? != 0);
    let name = text(4).unwrap_or_default();
    let flow = flows.iter().position(|flow| flow == name);
    let flow = flow.unwrap_or_else(|| {
        flows.push(name.to_owned());
        flows.len() - 1
    });
    let loss = |word: &str| {
        Loss::named(word)
            .ok_or_else(|| anyhow!("fate: `{}` is not known", plan::shortened(word, 60)))
    };
    let left = match (whole(7), text(8)) {
        (Some(at), Some("sent")) => Some((Time::from_picos(at), None)),
        (Some(at), Some(word)) => Some((Time::from_picos(at), Some(loss(word)?))),
        _ => None,
    };
    let mut words = text(10).unwrap_or_default().split_whitespace();
    let mut inner_drops = Vec::new();
    while let (Some(at), Some(word)) = (words.next(), words.next()) {
        let at: u64 = at.parse().context("inner_drops")?;
        inner_drops.push((Time::from_picos(at), loss(word)?));
    }
    let packet = QueuedPacket {
        at: Time::from_picos(needed(0)?),
        waiting: small(2)?,
        average: match value(3) {
            Some(Field::Double(average)) if average.is_finite() => Some(*average),
            _ => None,
        },
        flow,
        size: needed(5)?,
        inner: small(6)?,
        left,
        is_marked: whole(9) == Some(1),
        inner_drops,
    };
    Ok((direction, packet))
}

#[cfg(test)]
mod tests {
    use plan::synthetic::{factors, trial};
    use serde_json::json;

    use super::*;
    use crate::table::{Column, Values, write_table_in};

    /// A recording of `count` packets, 1 us apart, of which every tenth from number
    /// 3000 on was dropped early.
    fn folder(count: i64) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        let watch = files::Folder::open(folder.path()).unwrap();
        watch.create_folder(FOLDER).unwrap();
        let is_dropped = |number: i64| number >= 3_000 && number % 10 == 0;
        let integers = |of: &dyn Fn(i64) -> i64| {
            Values::Integer((0..count).map(|number| Some(of(number))).collect())
        };
        let texts = |of: &dyn Fn(i64) -> Option<&'static str>| {
            Values::Text(
                (0..count)
                    .map(|number| of(number).map(Into::into))
                    .collect(),
            )
        };
        let columns = [
            ("at_ps", integers(&|number| number * 1_000_000)),
            ("way", integers(&|_| 0)),
            ("packets", integers(&|_| 4)),
            (
                "average",
                Values::Real((0..count).map(|_| Some(2.5)).collect()),
            ),
            (
                "flow",
                texts(&|number| Some(if number % 2 == 0 { "a" } else { "b" })),
            ),
            ("size", integers(&|_| 1_500)),
            ("inner", integers(&|_| 2)),
            ("left_ps", integers(&|number| number * 1_000_000 + 7)),
            (
                "fate",
                texts(&|number| Some(if is_dropped(number) { "early" } else { "sent" })),
            ),
            ("marked", integers(&|_| 0)),
            (
                "inner_drops",
                texts(&|number| (number == 2_999).then_some("3000 early 3001 forced")),
            ),
        ];
        let columns: Vec<Column> = columns
            .into_iter()
            .map(|(name, values)| Column {
                name: name.into(),
                values,
            })
            .collect();
        let name = "c00-r01-bottleneck.queue.parquet";
        write_table_in(&watch.folder(FOLDER).unwrap(), name, &columns).unwrap();
        folder
    }

    fn watched() -> Trial {
        let mut trial = trial(factors(1500), 1, &[]);
        trial.id = "c00-r01".into();
        let files = json!(["watch/c00-r01-bottleneck.queue.parquet"]);
        trial.evidence.insert("watched", files);
        trial
    }

    #[test]
    fn the_packets_about_the_first_loss_after_an_instant_are_read() {
        let folder = folder(9_000);
        let read_from = |from: u64| {
            let from = Time::from_picos(from * 1_000_000);
            let recording = read(folder.path(), &watched(), from).unwrap().unwrap();
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
        let recording = read(folder.path(), &watched(), Time::ZERO)
            .unwrap()
            .unwrap();
        assert_eq!(recording.window.packets.len(), 2_000);
        let plain = trial(factors(1500), 1, &[]);
        assert_eq!(read(folder.path(), &plain, Time::ZERO).unwrap(), None);
    }

    #[test]
    fn a_file_that_is_no_recording_is_an_error() {
        let folder = folder(1);
        let place = folder.path().join("watch/c00-r01-bottleneck.queue.parquet");
        for octets in [&b"PAR1"[..], b"", &[0xff; 600]] {
            std::fs::write(&place, octets).unwrap();
            assert!(read(folder.path(), &watched(), Time::ZERO).is_err());
        }
    }
}
