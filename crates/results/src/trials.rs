//! Trials as one table: `trials.parquet` and CSV, both derived from the
//! journal.

use std::io::Write;
use std::path::Path;

use anyhow::{Context, Result};
use plan::metric::Metric;
use plan::{Level, Trial};

use crate::table::{Column, Values, csv_table, write_table};

/// The name of the Parquet file in a results folder.
pub const FILE: &str = "trials.parquet";

/// The columns of every table, before and after the factors.
const FIXED: [&str; 7] = [
    "id", "repeat", "start", "seconds", "failure", "flags", "evidence",
];

/// Writes `trials.parquet` at `path`, atomically.
pub fn write(path: &Path, trials: &[Trial]) -> Result<()> {
    write_table(path, &columns(trials)?)
}

/// Writes the same table as CSV [RFC4180], with a header line.
pub fn csv(trials: &[Trial], output: &mut impl Write) -> Result<()> {
    csv_table(&columns(trials)?, trials.len(), output)
}

/// The table's columns in the order of docs/formats.md.
fn columns(trials: &[Trial]) -> Result<Vec<Column>> {
    let text = |name: &str, value: &dyn Fn(&Trial) -> Option<String>| Column {
        name: name.into(),
        values: Values::Text(trials.iter().map(value).collect()),
    };
    let mut columns = vec![text("id", &|trial| Some(trial.id.clone()))];
    let mut factors: Vec<&str> = Vec::new();
    for (name, _) in trials.iter().flat_map(|trial| &trial.factors.0) {
        if !factors.contains(&name.as_str()) {
            factors.push(name);
        }
    }
    columns.extend(factors.into_iter().map(|name| factor(name, trials)));
    let repeats = trials.iter().map(|trial| Some(i64::from(trial.repeat)));
    columns.push(Column {
        name: "repeat".into(),
        values: Values::Integer(repeats.collect()),
    });
    columns.push(text("start", &|trial| trial.start.clone()));
    let seconds = trials.iter().map(|trial| Some(trial.seconds));
    columns.push(Column {
        name: "seconds".into(),
        values: Values::Real(seconds.collect()),
    });
    columns.push(text("failure", &|trial| trial.failure.clone()));
    columns.push(text("flags", &|trial| Some(trial.flags.join(" "))));
    let mut metrics: Vec<&String> = trials
        .iter()
        .flat_map(|trial| trial.metrics.keys())
        .collect();
    metrics.sort();
    metrics.dedup();
    columns.extend(metrics.into_iter().map(|name| {
        Column {
            name: name.clone(),
            values: Values::Real(
                trials
                    .iter()
                    .map(|trial| trial.metrics.get(name).copied())
                    .collect(),
            ),
        }
    }));
    let evidence: Vec<Option<String>> = trials
        .iter()
        .map(|trial| serde_json::to_string(&trial.evidence).map(Some))
        .collect::<Result<_, _>>()
        .context("evidence cannot be written as JSON: report this as a bug")?;
    columns.push(Column {
        name: "evidence".into(),
        values: Values::Text(evidence),
    });
    Ok(columns)
}

/// The column of one factor, with the narrowest type that all its levels allow.
fn factor(name: &str, trials: &[Trial]) -> Column {
    let levels: Vec<Option<&Level>> = trials
        .iter()
        .map(|trial| trial.factors.level(name))
        .collect();
    let all = |fits: fn(&Level) -> bool| levels.iter().flatten().all(|level| fits(level));
    let values = if all(|level| matches!(level, Level::Integer(_))) {
        let integer = |level: &Option<&Level>| match level {
            Some(Level::Integer(number)) => Some(*number),
            _ => None,
        };
        Values::Integer(levels.iter().map(integer).collect())
    } else if all(|level| !matches!(level, Level::Text(_))) {
        let real = |level: &Option<&Level>| match level {
            Some(Level::Float(number)) => Some(*number),
            Some(Level::Integer(number)) => Some(*number as f64),
            _ => None,
        };
        Values::Real(levels.iter().map(real).collect())
    } else {
        let text = |level: &Option<&Level>| level.map(ToString::to_string);
        Values::Text(levels.iter().map(text).collect())
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

    fn two() -> Vec<Trial> {
        let mut failed = trial(full_factors("LU-LU", "on", 9000), 2, &[]);
        failed.failure = Some("timed out, \"again\"".into());
        failed
            .factors
            .0
            .push(("loss".into(), Level::Text("1%".into())));
        let mut good = trial(
            full_factors("LU-LU", "off", 1500),
            1,
            &[("throughput", 938.88), ("rtt", 0.25)],
        );
        good.flags = vec!["disturbed".into(), "host-drops".into()];
        good.evidence.insert("congestion".into(), "cubic".into());
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
