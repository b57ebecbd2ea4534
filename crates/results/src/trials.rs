//! Trials as one table: `trials.parquet` and CSV, both derived from the
//! journal.

use std::collections::BTreeSet;
use std::io::Write;
use std::path::Path;

use anyhow::Result;
use plan::metric::Metric;
use plan::{Level, Trial};

use crate::table::{Column, Values, csv_header, csv_rows, write_groups};

/// The name of the Parquet file in a results folder.
pub const FILE: &str = "trials.parquet";

/// The columns of every table, before and after the factors.
const FIXED: [&str; 7] = [
    "id", "repeat", "start", "seconds", "failure", "flags", "evidence",
];

/// The trials that are written at once, a row group of the Parquet file. Larger
/// groups take more memory; a table of fewer trials is one group.
const ROWS: usize = 100_000;

/// Writes `trials.parquet` at `path`, atomically.
pub fn write(path: &Path, trials: &[Trial]) -> Result<()> {
    let layout = Layout::of(trials);
    write_groups(path, groups(trials).map(|group| layout.columns(group)))
}

/// Writes the same table as CSV [RFC4180], with a header line.
pub fn csv(trials: &[Trial], output: &mut impl Write) -> Result<()> {
    let layout = Layout::of(trials);
    for (number, group) in groups(trials).enumerate() {
        let columns = layout.columns(group);
        if number == 0 {
            csv_header(&columns, output)?;
        }
        csv_rows(&columns, group.len(), output)?;
    }
    Ok(())
}

/// The groups of rows of the table: at least one.
fn groups(trials: &[Trial]) -> impl Iterator<Item = &[Trial]> {
    let count = trials.len().div_ceil(ROWS).max(1);
    (0..count).map(|number| &trials[number * ROWS..trials.len().min((number + 1) * ROWS)])
}

/// The columns that depend on the trials of a table.
struct Layout<'a> {
    /// The factors in the order in which trials name them.
    factors: Vec<(&'a str, Kind)>,
    /// The metrics by name.
    metrics: BTreeSet<&'a str>,
}

/// The narrowest type that all levels of a factor have.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Integer,
    Real,
    Text,
}

impl Kind {
    const fn of(level: &Level) -> Self {
        match level {
            Level::Integer(_) => Self::Integer,
            Level::Float(_) => Self::Real,
            Level::Text(_) => Self::Text,
        }
    }
}

impl<'a> Layout<'a> {
    fn of(trials: &'a [Trial]) -> Self {
        let mut layout = Self {
            factors: Vec::new(),
            metrics: BTreeSet::new(),
        };
        for trial in trials {
            layout.metrics.extend(trial.metrics.keys());
            for (name, level) in &trial.factors.0 {
                let kind = Kind::of(level);
                match layout.factors.iter_mut().find(|(other, _)| other == name) {
                    Some((_, widest)) => *widest = kind.max(*widest),
                    None => layout.factors.push((name, kind)),
                }
            }
        }
        layout
    }

    /// The columns of some trials in the order of docs/formats.md.
    fn columns(&self, trials: &[Trial]) -> Vec<Column> {
        let column = |name: &str, values: Values| Column {
            name: name.into(),
            values,
        };
        let text = |name: &str, value: &dyn Fn(&Trial) -> Option<String>| {
            column(name, Values::Text(trials.iter().map(value).collect()))
        };
        let real = |name: &str, value: &dyn Fn(&Trial) -> Option<f64>| {
            column(name, Values::Real(trials.iter().map(value).collect()))
        };
        let repeats = trials.iter().map(|trial| Some(i64::from(trial.repeat)));
        let mut columns = vec![text("id", &|trial| Some(trial.id.clone()))];
        let factors = self.factors.iter();
        columns.extend(factors.map(|(name, kind)| factor(name, *kind, trials)));
        columns.extend([
            column("repeat", Values::Integer(repeats.collect())),
            text("start", &|trial| trial.start.clone()),
            real("seconds", &|trial| Some(trial.seconds)),
            text("failure", &|trial| trial.failure.clone()),
            text("flags", &|trial| Some(trial.flags.join(" "))),
        ]);
        let metrics = self.metrics.iter();
        columns.extend(metrics.map(|name| real(name, &|trial| trial.metrics.get(name).copied())));
        columns.push(text("evidence", &|trial| Some(trial.evidence.json())));
        columns
    }
}

/// The column of one factor.
fn factor(name: &str, kind: Kind, trials: &[Trial]) -> Column {
    let levels = trials.iter().map(|trial| trial.factors.level(name));
    let values = match kind {
        Kind::Integer => {
            let integer = |level: Option<&Level>| match level {
                Some(Level::Integer(number)) => Some(*number),
                _ => None,
            };
            Values::Integer(levels.map(integer).collect())
        }
        Kind::Real => {
            let real = |level: Option<&Level>| match level {
                Some(Level::Float(number)) => Some(*number),
                Some(Level::Integer(number)) => Some(*number as f64),
                _ => None,
            };
            Values::Real(levels.map(real).collect())
        }
        Kind::Text => {
            let text = |level: Option<&Level>| level.map(ToString::to_string);
            Values::Text(levels.map(text).collect())
        }
    };
    // A factor may have the name of a metric, such as `delay` or `loss`.
    let taken = FIXED.contains(&name) || Metric::named(name).is_some();
    Column {
        name: if taken {
            format!("factor_{name}")
        } else {
            name.into()
        },
        values,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use parquet::file::reader::{FileReader, SerializedFileReader};
    use parquet::record::{Field, RowAccessor};
    use plan::synthetic::{full_factors, trial};
    use std::fs::File;
    use std::sync::Arc;

    fn two() -> Vec<Trial> {
        let mut failed = trial(full_factors("LU-LU", "on", 9000), 2, &[]);
        failed.failure = Some("timed out, \"again\"".into());
        Arc::make_mut(&mut failed.factors)
            .0
            .push(("loss".into(), Level::Text("1%".into())));
        let mut good = trial(
            full_factors("LU-LU", "off", 1500),
            1,
            &[("throughput", 938.88), ("rtt", 0.25)],
        );
        good.flags = vec!["disturbed".into(), "host-drops".into()];
        good.evidence.insert("congestion", "cubic".into());
        vec![good, failed]
    }

    #[test]
    fn an_archive_reads_back_column_by_column() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("trials.parquet");
        write(&path, &two()).unwrap();
        write(&path, &two()).expect("the archive is made anew each time");
        assert_eq!(folder.path().read_dir().unwrap().count(), 1);

        let reader = SerializedFileReader::new(File::open(&path).unwrap()).unwrap();
        let schema = reader.metadata().file_metadata().schema_descr();
        let names: Vec<&str> = schema.columns().iter().map(|c| c.name()).collect();
        assert_eq!(
            names,
            [
                "id",
                "scenario",
                "offloads",
                "mtu",
                "factor_loss",
                "repeat",
                "start",
                "seconds",
                "failure",
                "flags",
                "rtt",
                "throughput",
                "evidence"
            ]
        );
        let rows: Vec<_> = reader
            .get_row_iter(None)
            .unwrap()
            .map(Result::unwrap)
            .collect();
        assert_eq!(rows.len(), 2);
        assert_eq!(rows[0].get_string(1).unwrap(), "LU-LU");
        assert_eq!(rows[0].get_long(3).unwrap(), 1500);
        assert_eq!(rows[0].get_string(9).unwrap(), "disturbed host-drops");
        assert_eq!(rows[0].get_double(11).unwrap(), 938.88);
        assert_eq!(
            rows[0].get_string(12).unwrap(),
            "{\"congestion\":\"cubic\"}"
        );
        let fields: Vec<&Field> = rows[1].get_column_iter().map(|(_, field)| field).collect();
        assert_eq!(fields[4], &Field::Str("1%".into()));
        assert_eq!(fields[10], &Field::Null);
        assert_eq!(rows[1].get_string(8).unwrap(), "timed out, \"again\"");
    }

    #[test]
    fn an_archive_of_nothing_is_still_one() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("trials.parquet");
        write(&path, &[]).unwrap();
        let reader = SerializedFileReader::new(File::open(&path).unwrap()).unwrap();
        assert_eq!(reader.metadata().file_metadata().num_rows(), 0);
    }

    #[test]
    fn more_trials_than_a_group_of_rows_are_one_table_with_the_columns_of_all() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("trials.parquet");
        let one = |repeat| trial(full_factors("LU-LU", "off", 1500), repeat, &[("rtt", 1.0)]);
        let last = u32::try_from(ROWS).unwrap() + 1;
        let mut trials: Vec<Trial> = (1..=last).map(one).collect();
        trials[ROWS].metrics.insert("delay", 2.0);
        Arc::make_mut(&mut trials[ROWS].factors).0[2].1 = Level::Float(0.5);
        write(&path, &trials).unwrap();
        let reader = SerializedFileReader::new(File::open(&path).unwrap()).unwrap();
        assert_eq!(reader.metadata().num_row_groups(), 2);
        let row = reader.get_row_iter(None).unwrap().last().unwrap().unwrap();
        let named = |name: &str| {
            let found = row.get_column_iter().find(|(other, _)| *other == name);
            found.unwrap().1.clone()
        };
        assert_eq!(named("repeat"), Field::Long(last.into()));
        assert_eq!(
            (named("mtu"), named("delay")),
            (Field::Double(0.5), Field::Double(2.0))
        );
        let mut text = Vec::new();
        csv(&trials, &mut text).unwrap();
        let text = String::from_utf8(text).unwrap();
        assert_eq!(text.lines().count(), ROWS + 2);
        assert!(
            text.lines().nth(1).unwrap().contains(",1500,1,"),
            "{:?}",
            text.lines().nth(1)
        );
    }

    #[test]
    fn csv_quotes_what_needs_it() {
        let mut output = Vec::new();
        csv(&two(), &mut output).unwrap();
        assert_eq!(
            String::from_utf8(output).unwrap(),
            "\
id,scenario,offloads,mtu,factor_loss,repeat,start,seconds,failure,flags,rtt,throughput,evidence
scenario=LU-LU-offloads=off-mtu=1500-r01,LU-LU,off,1500,,1,2026-01-02T03:04:05.678Z,0.5,,disturbed host-drops,0.25,938.88,\"{\"\"congestion\"\":\"\"cubic\"\"}\"
scenario=LU-LU-offloads=on-mtu=9000-r02,LU-LU,on,9000,1%,2,2026-01-02T03:04:05.678Z,0.5,\"timed out, \"\"again\"\"\",,,,{}
"
        );
    }
}
