//! Tables of columns, written as Parquet or CSV.

use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use anyhow::Result;
use files::Folder;
use parquet::basic::{Compression, LogicalType, Repetition, Type as Physical};
use parquet::data_type::{ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::Type;

/// One column: a name, and a value for each row that has one.
pub struct Column {
    /// The column's name, the header of the CSV.
    pub name: String,
    /// The values by row.
    pub values: Values,
}

/// The values of a column; `None` for rows without a value.
pub enum Values {
    /// Text.
    Text(Vec<Option<String>>),
    /// Whole numbers.
    Integer(Vec<Option<i64>>),
    /// Floating-point numbers.
    Real(Vec<Option<f64>>),
}

/// Writes a table to a Parquet file at `path`, atomically.
pub fn write_table(path: &Path, columns: &[Column]) -> Result<()> {
    files::replace(path, |file| Ok(write_columns([columns], file)?))
}

/// Writes a table to a Parquet file at `path`, atomically, a row group for each of
/// `groups`, which have the same columns.
pub fn write_groups(path: &Path, groups: impl IntoIterator<Item = Vec<Column>>) -> Result<()> {
    files::replace(path, |file| Ok(write_columns(groups, file)?))
}

/// Writes a table to the Parquet file `name` of `folder`, atomically.
pub fn write_table_in(folder: &Folder, name: &str, columns: &[Column]) -> Result<()> {
    folder.replace(name, |file| Ok(write_columns([columns], file)?))
}

/// Writes a table of `rows` rows as CSV, with a header line.
pub fn csv_table(columns: &[Column], rows: usize, output: &mut impl Write) -> Result<()> {
    csv_header(columns, output)?;
    csv_rows(columns, rows, output)
}

/// Writes the names of columns as CSV.
pub(crate) fn csv_header(columns: &[Column], output: &mut impl Write) -> Result<()> {
    let names: Vec<String> = columns.iter().map(|column| quoted(&column.name)).collect();
    Ok(writeln!(output, "{}", names.join(","))?)
}

/// Writes `rows` rows as CSV, without a header line.
pub(crate) fn csv_rows(columns: &[Column], rows: usize, output: &mut impl Write) -> Result<()> {
    for row in 0..rows {
        let cells: Vec<String> = columns.iter().map(|column| column.cell(row)).collect();
        writeln!(output, "{}", cells.join(","))?;
    }
    Ok(())
}

impl Column {
    /// One value as CSV; a missing value is empty.
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

/// Writes row groups of the same columns, one after the other. Their number is at
/// least one.
fn write_columns<C: AsRef<[Column]>>(
    groups: impl IntoIterator<Item = C>,
    output: &mut (impl Write + Send),
) -> parquet::errors::Result<()> {
    let mut groups = groups.into_iter().peekable();
    let fields = groups.peek().map(|columns| columns.as_ref().iter());
    let fields = { fields.into_iter().flatten() }
        .map(Column::schema)
        .collect::<parquet::errors::Result<_>>()?;
    let schema = Type::group_type_builder("trial")
        .with_fields(fields)
        .build()?;
    let properties = WriterProperties::builder()
        .set_compression(Compression::LZ4_RAW)
        .build();
    let mut file = SerializedFileWriter::new(output, Arc::new(schema), Arc::new(properties))?;
    for columns in groups {
        write_group(file.next_row_group()?, columns.as_ref())?;
    }
    file.close()?;
    Ok(())
}

fn write_group(
    mut rows: SerializedRowGroupWriter<'_, impl Write + Send>,
    columns: &[Column],
) -> parquet::errors::Result<()> {
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

/// Quotes a text as a CSV field.
fn quoted(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.into()
    }
}
