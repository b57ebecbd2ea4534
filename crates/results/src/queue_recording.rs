//! Reads recordings of simulated queues (`watch/TRIAL-LINK.queue.parquet`).

use std::collections::BTreeMap;
use std::fs::File;

use anyhow::{Context, Result, anyhow, ensure};
use files::Folder;
use plan::Trial;
use plan::queue_recording::{Excerpt, Loss, QueueRecording, QueueWindow, QueuedPacket};
use units::Time;

use crate::checked_parquet::{Kind, Table};

/// The folder of the recordings in a results folder, and how their names end.
const FOLDER: &str = "watch";
const ENDING: &str = ".queue.parquet";

/// The most rows of a recording that are searched for a loss.
const MOST_ROWS: usize = 2_000_000;

/// The maximum length of the name of a flow, and of all names together, in bytes.
const LONGEST_NAME: usize = 1_000;
const MOST_NAMES: usize = 4 << 20;

/// The maximum number of packets that are dropped out of a bundle, which has no more
/// (docs/formats.md), and of the text about them in bytes.
const MOST_IN_BUNDLE: usize = 4_095;
const LONGEST_DROPS: usize = 30 * MOST_IN_BUNDLE;

/// The maximum number of packets dropped out of the bundles that are shown.
const MOST_SHOWN_DROPS: usize = 100_000;

/// The rows between two counts of these.
const ROWS_OF_COUNT: usize = 250;

/// The packets of `trial` about the first loss or mark at or after `from`, on the
/// first of its links whose queue was recorded. Without any loss: its last
/// packets. `None` without a recording, or if it does not tell what became of the
/// packets.
///
/// # Errors
/// The recording cannot be read.
pub fn read(folder: &Folder, trial: &Trial, from: Time) -> Result<Option<QueueRecording>> {
    let Some((name, link)) = recorded(trial) else {
        return Ok(None);
    };
    let place = || format!("cannot read {FOLDER}/{name}");
    let file = { folder.folder(FOLDER) }.and_then(|files| files.open_file(&name));
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

/// The columns of a recording, in the order of [`Row`].
const COLUMNS: [(&str, Kind); 11] = [
    ("at_ps", Kind::Integer),
    ("way", Kind::Integer),
    ("packets", Kind::Integer),
    ("average", Kind::Real),
    ("flow", Kind::Text),
    ("size", Kind::Integer),
    ("inner", Kind::Integer),
    ("left_ps", Kind::Integer),
    ("fate", Kind::Text),
    ("marked", Kind::Integer),
    ("inner_drops", Kind::Text),
];

pub(crate) fn window(file: File, from: Time) -> Result<Option<QueueWindow>> {
    let Some(mut table) = Table::open(file, &COLUMNS)? else {
        return Ok(None);
    };
    let mut flows = Flows::default();
    let mut parts: [Excerpt; 2] = Default::default();
    for row in 1..=MOST_ROWS {
        if !table.next_row() {
            break;
        }
        let (direction, packet) =
            packet(&mut table, &mut flows).with_context(|| format!("row {row}"))?;
        parts[direction].take(packet, from);
        if parts[0].is_whole() {
            break;
        }
        if row % ROWS_OF_COUNT == 0 {
            count_drops(&parts)?;
        }
    }
    count_drops(&parts)?;
    let (direction, mut part) = Excerpt::of_link(parts);
    Ok(Some(QueueWindow {
        direction,
        flows: flows.shown(&mut part),
        packets: part.packets.into(),
        decided: part.decided,
        recorded: table.rows(),
    }))
}

/// Checks that few enough packets were dropped out of the bundles that may be shown.
fn count_drops(parts: &[Excerpt; 2]) -> Result<()> {
    let packets = parts.iter().flat_map(|part| &part.packets);
    let drops: usize = packets.map(|packet| packet.inner_drops.len()).sum();
    ensure!(
        drops <= MOST_SHOWN_DROPS,
        "inner_drops: more than {MOST_SHOWN_DROPS} packets in {} rows, the limit",
        Excerpt::BEFORE + Excerpt::AFTER
    );
    Ok(())
}

/// The flows of a recording, numbered as they come.
#[derive(Default)]
struct Flows {
    numbers: BTreeMap<Box<str>, usize>,
    /// The bytes of their names.
    bytes: usize,
}

impl Flows {
    fn number(&mut self, name: &str) -> Result<usize> {
        if let Some(number) = self.numbers.get(name) {
            return Ok(*number);
        }
        self.bytes += name.len();
        ensure!(
            self.bytes <= MOST_NAMES,
            "names of more than {} MiB, the limit",
            MOST_NAMES >> 20
        );
        let number = self.numbers.len();
        self.numbers.insert(name.into(), number);
        Ok(number)
    }

    /// The names of the flows of `part`, which are numbered anew.
    fn shown(self, part: &mut Excerpt) -> Vec<String> {
        let names: BTreeMap<usize, Box<str>> = { self.numbers.into_iter() }
            .map(|(name, number)| (number, name))
            .collect();
        let mut shown: BTreeMap<usize, usize> = BTreeMap::new();
        let mut flows = Vec::new();
        for packet in &mut part.packets {
            packet.flow = *shown.entry(packet.flow).or_insert_with(|| {
                flows.push(
                    names
                        .get(&packet.flow)
                        .map_or_else(String::new, |name| name.to_string()),
                );
                flows.len() - 1
            });
        }
        flows
    }
}

/// The direction and the packet of the current row.
fn packet(table: &mut Table, flows: &mut Flows) -> Result<(usize, QueuedPacket)> {
    let mut row = Row { table };
    let at = Time::from_picos(row.needed(0)?);
    let direction = usize::from(row.needed(1)? != 0);
    let waiting = row.small(2)?;
    let average = row.of(3, |table| table.real(3))?;
    let flow = row.of(4, |table| {
        flows.number(table.text(4, LONGEST_NAME)?.unwrap_or_default())
    })?;
    let size = row.needed(5)?;
    let inner = row.small(6)?;
    let left = row.whole(7)?.map(Time::from_picos);
    let fate = row.of(8, |table| match table.text(8, LONGEST_NAME)? {
        None => Ok(None),
        Some("sent") => Ok(Some(None)),
        Some(word) => loss(word).map(|loss| Some(Some(loss))),
    })?;
    let is_marked = row.whole(9)? == Some(1);
    let inner_drops = row.of(10, |table| drops(table.text(10, LONGEST_DROPS)?))?;
    let packet = QueuedPacket {
        at,
        waiting,
        average: average.filter(|average| average.is_finite()),
        flow,
        size,
        inner,
        left: left.zip(fate),
        is_marked,
        inner_drops,
    };
    Ok((direction, packet))
}

/// The drops that a text of instants and reasons tells.
fn drops(text: Option<&str>) -> Result<Vec<(Time, Loss)>> {
    let mut words = text.unwrap_or_default().split_whitespace();
    let mut drops = Vec::new();
    while let (Some(at), Some(word)) = (words.next(), words.next()) {
        ensure!(
            drops.len() < MOST_IN_BUNDLE,
            "more than {MOST_IN_BUNDLE} packets of a bundle, the limit"
        );
        let at: u64 = at.parse().ok().with_context(|| {
            let shown = plan::shortened(at, 60).into_owned();
            format!("`{shown}` is not an instant")
        })?;
        drops.push((Time::from_picos(at), loss(word)?));
    }
    Ok(drops)
}

fn loss(word: &str) -> Result<Loss> {
    Loss::named(word).ok_or_else(|| anyhow!("`{}` is not known", plan::shortened(word, 60)))
}

/// The current row of a table, whose errors name their column.
struct Row<'a> {
    table: &'a mut Table,
}

impl Row<'_> {
    fn of<T>(&mut self, column: usize, read: impl FnOnce(&mut Table) -> Result<T>) -> Result<T> {
        read(self.table).context(COLUMNS[column].0)
    }

    /// A whole number that is not negative.
    fn whole(&mut self, column: usize) -> Result<Option<u64>> {
        self.of(column, |table| {
            let number = table.integer(column)?;
            let whole = |number: i64| {
                u64::try_from(number).map_err(|_| anyhow!("{number} is not a whole number from 0"))
            };
            number.map(whole).transpose()
        })
    }

    fn needed(&mut self, column: usize) -> Result<u64> {
        let number = self.whole(column)?;
        self.of(column, |_| number.context("a number is missing"))
    }

    fn small(&mut self, column: usize) -> Result<u32> {
        let number = self.needed(column)?;
        self.of(column, |_| {
            u32::try_from(number).map_err(|_| anyhow!("{number} is too large"))
        })
    }
}

#[cfg(test)]
pub(crate) mod tests;
