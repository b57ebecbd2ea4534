//! Trials as one table: `trials.parquet` and CSV, both derived from the
//! journal.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use anyhow::Result;
use files::Folder;
use plan::metric::Metric;
use plan::{Level, Trial};

use crate::table::{Column, HAS_PARQUET, PART, Values, csv_header, csv_rows, write_parts};

/// The name of the Parquet file in a results folder.
pub const FILE: &str = "trials.parquet";

/// The columns of every table, before and after the factors.
const FIXED: [&str; 7] = [
    "id", "repeat", "start", "seconds", "failure", "flags", "evidence",
];

/// Writes `trials.parquet` in `folder`, atomically. A program without Parquet writes
/// nothing: the journal has all of it.
pub fn write(folder: &Folder, trials: &[Trial]) -> Result<()> {
    if !HAS_PARQUET {
        return Ok(());
    }
    let layout = Layout::of(trials);
    let fields: Vec<Column> = { layout.fields.iter() }
        .map(|field| layout.column(*field, &[]))
        .collect();
    write_parts(folder, FILE, &fields, trials.len(), |field, rows| {
        layout.values(layout.fields[field], &trials[rows])
    })
}

/// Hands the same table as CSV [RFC4180] to `print`, with a header line, in pieces of
/// whole lines.
pub fn csv(trials: &[Trial], mut print: impl FnMut(&str) -> Result<()>) -> Result<()> {
    let layout = Layout::of(trials);
    let of = |part: &[Trial]| -> Vec<Column> {
        let fields = layout.fields.iter();
        fields.map(|field| layout.column(*field, part)).collect()
    };
    let mut text = Vec::new();
    csv_header(&of(&[]), &mut text)?;
    for part in trials.chunks(PART) {
        csv_rows(&of(part), part.len(), &mut text)?;
        print(&String::from_utf8_lossy(&text))?;
        text.clear();
    }
    print(&String::from_utf8_lossy(&text))
}

/// The columns of a table.
struct Layout<'a> {
    /// In the order of docs/reference/formats.md.
    fields: Vec<Field<'a>>,
}

/// The contents of a column.
#[derive(Clone, Copy)]
enum Field<'a> {
    Id,
    Factor(&'a str, Kind),
    Repeat,
    Start,
    Seconds,
    Failure,
    Flags,
    Metric(&'a str),
    Evidence,
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
        // The factors in the order in which trials name them, the metrics by name.
        let mut factors: Vec<(&str, Kind)> = Vec::new();
        let mut places: BTreeMap<&str, usize> = BTreeMap::new();
        let mut metrics = BTreeSet::new();
        let mut before: Option<&Trial> = None;
        for trial in trials {
            if before.is_none_or(|before| !before.metrics.has_names_of(&trial.metrics)) {
                metrics.extend(trial.metrics.keys());
            }
            if before.is_none_or(|before| !Arc::ptr_eq(&before.factors, &trial.factors)) {
                for (name, level) in &trial.factors.0 {
                    let kind = Kind::of(level);
                    let place = *places.entry(name).or_insert(factors.len());
                    match factors.get_mut(place) {
                        Some((_, widest)) => *widest = kind.max(*widest),
                        None => factors.push((name, kind)),
                    }
                }
            }
            before = Some(trial);
        }
        let mut fields = vec![Field::Id];
        fields.extend(
            factors
                .iter()
                .map(|(name, kind)| Field::Factor(name, *kind)),
        );
        fields.extend([
            Field::Repeat,
            Field::Start,
            Field::Seconds,
            Field::Failure,
            Field::Flags,
        ]);
        fields.extend(metrics.into_iter().map(Field::Metric));
        fields.push(Field::Evidence);
        Self { fields }
    }

    /// The column of `field` with the values of some trials.
    fn column(&self, field: Field<'_>, trials: &[Trial]) -> Column {
        let name = match field {
            Field::Id => "id",
            Field::Repeat => "repeat",
            Field::Start => "start",
            Field::Seconds => "seconds",
            Field::Failure => "failure",
            Field::Flags => "flags",
            Field::Evidence => "evidence",
            Field::Metric(name) => name,
            // A factor may have the name of a metric, such as `delay` or `loss`.
            Field::Factor(name, _) if FIXED.contains(&name) || Metric::named(name).is_some() => {
                &format!("factor_{name}")
            }
            Field::Factor(name, _) => name,
        };
        Column {
            name: name.to_owned(),
            values: self.values(field, trials),
        }
    }

    /// The values of `field` in some trials.
    fn values(&self, field: Field<'_>, trials: &[Trial]) -> Values {
        let text = |value: &dyn Fn(&Trial) -> Option<String>| {
            Values::Text(trials.iter().map(value).collect())
        };
        let real = |value: &dyn Fn(&Trial) -> Option<f64>| {
            Values::Real(trials.iter().map(value).collect())
        };
        match field {
            Field::Id => text(&|trial| Some(trial.id.to_string())),
            Field::Factor(name, kind) => factor(name, kind, trials),
            Field::Repeat => {
                let repeats = trials.iter().map(|trial| Some(i64::from(trial.repeat)));
                Values::Integer(repeats.collect())
            }
            Field::Start => text(&|trial| trial.start.as_deref().map(str::to_owned)),
            Field::Seconds => real(&|trial| Some(trial.seconds)),
            Field::Failure => text(&|trial| trial.failure.as_deref().map(str::to_owned)),
            Field::Flags => text(&|trial| Some(trial.flags.join(" "))),
            Field::Metric(name) => real(&|trial| trial.metrics.get(name).copied()),
            Field::Evidence => text(&|trial| Some(trial.evidence.json())),
        }
    }
}

/// The levels of one factor.
fn factor(name: &str, kind: Kind, trials: &[Trial]) -> Values {
    let levels = trials.iter().map(|trial| trial.factors.level(name));
    match kind {
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
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use parquet::file::reader::{FileReader, SerializedFileReader};
    use parquet::record::{Field as Value, RowAccessor};
    use plan::evidence::CONGESTION;
    use plan::synthetic::{full_factors, trial};
    use std::fs::File;

    /// The rows of a group of the table.
    const GROUP: usize = 100_000;

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
        good.flags = vec!["disturbed".into(), "host-drops".into()].into();
        good.evidence.insert(CONGESTION, "cubic".to_owned());
        vec![good, failed]
    }

    fn csv_of(trials: &[Trial]) -> String {
        let mut all = String::new();
        csv(trials, |text| {
            all.push_str(text);
            Ok(())
        })
        .unwrap();
        all
    }

    #[test]
    fn an_archive_reads_back_column_by_column() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("trials.parquet");
        let files = Folder::open(folder.path()).unwrap();
        write(&files, &two()).unwrap();
        write(&files, &two()).expect("the archive is made anew each time");
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
        let fields: Vec<&Value> = rows[1].get_column_iter().map(|(_, field)| field).collect();
        assert_eq!(fields[4], &Value::Str("1%".into()));
        assert_eq!(fields[10], &Value::Null);
        assert_eq!(rows[1].get_string(8).unwrap(), "timed out, \"again\"");
    }

    #[test]
    fn an_archive_of_nothing_is_still_one() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("trials.parquet");
        let files = Folder::open(folder.path()).unwrap();
        write(&files, &[]).unwrap();
        let reader = SerializedFileReader::new(File::open(&path).unwrap()).unwrap();
        assert_eq!(reader.metadata().file_metadata().num_rows(), 0);
    }

    #[test]
    fn more_trials_than_a_group_of_rows_are_one_table_with_the_columns_of_all() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("trials.parquet");
        let one = |repeat| trial(full_factors("LU-LU", "off", 1500), repeat, &[("rtt", 1.0)]);
        let last = u32::try_from(GROUP).unwrap() + 1;
        let mut trials: Vec<Trial> = (1..=last).map(one).collect();
        trials[GROUP].metrics.insert("delay", 2.0);
        Arc::make_mut(&mut trials[GROUP].factors).0[2].1 = Level::Float(0.5);
        write(&Folder::open(folder.path()).unwrap(), &trials).unwrap();
        let reader = SerializedFileReader::new(File::open(&path).unwrap()).unwrap();
        assert_eq!(reader.metadata().num_row_groups(), 2);
        let row = reader.get_row_iter(None).unwrap().last().unwrap().unwrap();
        let named = |name: &str| {
            let found = row.get_column_iter().find(|(other, _)| *other == name);
            found.unwrap().1.clone()
        };
        assert_eq!(named("repeat"), Value::Long(last.into()));
        assert_eq!(
            (named("mtu"), named("delay")),
            (Value::Double(0.5), Value::Double(2.0))
        );
        let text = csv_of(&trials);
        assert_eq!(text.lines().count(), GROUP + 2);
        assert!(
            text.lines().nth(1).unwrap().contains(",1500,1,"),
            "{:?}",
            text.lines().nth(1)
        );
    }

    #[test]
    fn csv_quotes_what_needs_it() {
        assert_eq!(
            csv_of(&two()),
            "\
id,scenario,offloads,mtu,factor_loss,repeat,start,seconds,failure,flags,rtt,throughput,evidence
scenario=LU-LU-offloads=off-mtu=1500-r01,LU-LU,off,1500,,1,2026-01-02T03:04:05.678Z,0.5,,disturbed host-drops,0.25,938.88,\"{\"\"congestion\"\":\"\"cubic\"\"}\"
scenario=LU-LU-offloads=on-mtu=9000-r02,LU-LU,on,9000,1%,2,2026-01-02T03:04:05.678Z,0.5,\"timed out, \"\"again\"\"\",,,,{}
"
        );
    }
}
