//! Trials as one table: `trials.parquet` and CSV, both made from the journal.

use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result};
use parquet::basic::{Compression, LogicalType, Repetition, Type as Physical};
use parquet::data_type::{ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::Type;

use crate::folder::replace;
use plan::Level;
use plan::Trial;
use plan::metric::Metric;

/// The archive's name in a results folder.
pub const FILE: &str = "trials.parquet";

/// Columns that every archive has, before and after the factors.
const FIXED: [&str; 7] = [
    "id", "repeat", "start", "seconds", "failure", "flags", "evidence",
];

/// One column: a name, and a value for each row that has one.
pub(crate) struct Column {
    pub(crate) name: String,
    pub(crate) values: Values,
}

pub(crate) enum Values {
    Text(Vec<Option<String>>),
    Integer(Vec<Option<i64>>),
    Real(Vec<Option<f64>>),
}

/// Writes `trials.parquet` at `path`, whole or not at all.
pub fn write(path: &Path, trials: &[Trial]) -> Result<()> {
    let columns = columns(trials)?;
    replace(path, |file| Ok(write_columns(&columns, file)?))
}

/// Writes any table at `path`, whole or not at all.
pub(crate) fn write_table(path: &Path, columns: &[Column]) -> Result<()> {
    replace(path, |file| Ok(write_columns(columns, file)?))
}

/// Writes the same table as CSV [RFC4180], with a line of names first.
pub fn csv(trials: &[Trial], output: &mut impl Write) -> Result<()> {
    csv_table(&columns(trials)?, trials.len(), output)
}

/// Writes any table of so many rows as CSV, with a line of names first.
pub(crate) fn csv_table(columns: &[Column], rows: usize, output: &mut impl Write) -> Result<()> {
    let names: Vec<String> = columns.iter().map(|column| quoted(&column.name)).collect();
    writeln!(output, "{}", names.join(","))?;
    for row in 0..rows {
        let cells: Vec<String> = columns.iter().map(|column| column.cell(row)).collect();
        writeln!(output, "{}", cells.join(","))?;
    }
    Ok(())
}

impl Column {
    /// One value as CSV; a value that is missing is empty.
    fn cell(&self, row: usize) -> String {
        match &self.values {
            Values::Text(values) => values[row].as_deref().map(quoted),
            Values::Integer(values) => values[row].map(|value| value.to_string()),
            Values::Real(values) => values[row].map(|value| value.to_string()),
        }
        .unwrap_or_default()
    }

    fn schema(&self) -> parquet::errors::Result<Arc<Type>> {
        let (physical, logical) = match self.values {
            Values::Text(_) => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
            Values::Integer(_) => (Physical::INT64, None),
            Values::Real(_) => (Physical::DOUBLE, None),
        };
        Type::primitive_type_builder(&self.name, physical)
            .with_logical_type(logical)
            .with_repetition(Repetition::OPTIONAL)
            .build()
            .map(Arc::new)
    }
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

/// The column of one factor, as narrow a type as all its levels allow.
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
    // An experiment may sweep what is also a metric, e.g. `delay` or `loss`.
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

fn write_columns(
    columns: &[Column],
    output: &mut (impl Write + Send),
) -> parquet::errors::Result<()> {
    let fields = columns
        .iter()
        .map(Column::schema)
        .collect::<parquet::errors::Result<_>>()?;
    let schema = Type::group_type_builder("trial")
        .with_fields(fields)
        .build()?;
    let properties = WriterProperties::builder()
        .set_compression(Compression::LZ4_RAW)
        .build();
    let mut file = SerializedFileWriter::new(output, Arc::new(schema), Arc::new(properties))?;
    let mut rows = file.next_row_group()?;
    for column in columns {
        match &column.values {
            Values::Text(values) => {
                let octets = |text: &String| ByteArray::from(text.as_str());
                write_column::<ByteArrayType, _>(&mut rows, values, octets)?;
            }
            Values::Integer(values) => {
                write_column::<Int64Type, _>(&mut rows, values, |value| *value)?;
            }
            Values::Real(values) => {
                write_column::<DoubleType, _>(&mut rows, values, |value| *value)?;
            }
        }
    }
    rows.close()?;
    file.close()?;
    Ok(())
}

fn write_column<T: DataType, V>(
    rows: &mut SerializedRowGroupWriter<'_, impl Write + Send>,
    values: &[Option<V>],
    convert: impl Fn(&V) -> T::T,
) -> parquet::errors::Result<()> {
    let present: Vec<T::T> = values.iter().flatten().map(convert).collect();
    let levels: Vec<i16> = values.iter().map(|v| i16::from(v.is_some())).collect();
    if let Some(mut column) = rows.next_column()? {
        column
            .typed::<T>()
            .write_batch(&present, Some(&levels), None)?;
        column.close()?;
    }
    Ok(())
}

/// A text as a CSV field.
fn quoted(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.into()
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
