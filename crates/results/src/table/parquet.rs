//! Tables as Parquet.

use std::borrow::Borrow;
use std::io::Write;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use anyhow::Result;
use files::Folder;
use parquet::basic::{Compression, LogicalType, Repetition, Type as Physical};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::errors::Result as Written;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{
    SerializedColumnWriter, SerializedFileWriter, SerializedRowGroupWriter,
};
use parquet::schema::types::Type;

use super::{Column, PART, Values};

/// Whether this program writes Parquet.
pub(crate) const HAS_PARQUET: bool = true;

/// Writes a table to a Parquet file at `path`, atomically.
pub fn write_table(path: &Path, columns: &[Column]) -> Result<()> {
    files::replace(path, |file| Ok(write_columns(columns, file)?))
}

/// Writes a table to a Parquet file at `path`, atomically, a row group at a time: `next` makes the
/// columns of the next group, until there are no more. `fields` are the columns without values.
pub(crate) fn write_groups(
    path: &Path,
    fields: &[Column],
    next: &mut dyn FnMut() -> Result<Option<Vec<Column>>>,
) -> Result<()> {
    files::replace(path, |file| {
        let mut file = writer(fields, file)?;
        while let Some(columns) = next()? {
            let mut group = file.next_row_group()?;
            for column in &columns {
                write_column(&mut group, [&column.values])?;
            }
            group.close()?;
        }
        file.close()?;
        Ok(())
    })
}

/// The rows of a row group. Larger groups take more memory; a table of fewer rows is
/// one group.
const GROUP: usize = 100_000;

/// Writes a table of `rows` rows to the Parquet file `name` of `folder`, atomically, in row groups.
/// `fields` are its columns, without values; `part` makes the values of some rows of one
/// of them.
pub(crate) fn write_parts(
    folder: &Folder,
    name: &str,
    fields: &[Column],
    rows: usize,
    part: impl Fn(usize, Range<usize>) -> Values,
) -> Result<()> {
    let write = |file: &mut _| {
        let mut file = writer(fields, file)?;
        for first in (0..rows.max(1)).step_by(GROUP) {
            let mut group = file.next_row_group()?;
            let last = rows.min(first + GROUP);
            for field in 0..fields.len() {
                let parts = (first..last).step_by(PART);
                let parts = parts.map(|begin| part(field, begin..last.min(begin + PART)));
                write_column(&mut group, parts)?;
            }
            group.close()?;
        }
        file.close().map(drop)
    };
    folder.replace(name, |file| Ok(write(file)?))
}

/// Writes a table to the Parquet file `name` of `folder`, atomically.
pub fn write_table_in(folder: &Folder, name: &str, columns: &[Column]) -> Result<()> {
    folder.replace(name, |file| Ok(write_columns(columns, file)?))
}

impl Column {
    fn schema(&self) -> Written<Arc<Type>> {
        let (physical, logical) = match self.values {
            Values::Text(_) => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
            Values::Integer(_) => (Physical::INT64, None),
            Values::Real(_) => (Physical::DOUBLE, None),
            Values::Boolean(_) => (Physical::BOOLEAN, None),
        };
        Type::primitive_type_builder(&self.name, physical)
            .with_logical_type(logical)
            .with_repetition(Repetition::OPTIONAL)
            .build()
            .map(Arc::new)
    }
}

/// Writes a table as one row group.
fn write_columns(columns: &[Column], output: &mut (impl Write + Send)) -> Written<()> {
    let mut file = writer(columns, output)?;
    let mut group = file.next_row_group()?;
    for column in columns {
        write_column(&mut group, [&column.values])?;
    }
    group.close()?;
    file.close().map(drop)
}

/// The writer of a table with the columns of `fields`.
fn writer<W: Write + Send>(fields: &[Column], output: W) -> Written<SerializedFileWriter<W>> {
    let fields = fields.iter().map(Column::schema).collect::<Written<_>>()?;
    let schema = Type::group_type_builder("trial")
        .with_fields(fields)
        .build()?;
    let properties = WriterProperties::builder()
        .set_compression(Compression::LZ4_RAW)
        .build();
    SerializedFileWriter::new(output, Arc::new(schema), Arc::new(properties))
}

/// Writes the next column of a row group, part by part.
fn write_column<V: Borrow<Values>>(
    group: &mut SerializedRowGroupWriter<'_, impl Write + Send>,
    parts: impl IntoIterator<Item = V>,
) -> Written<()> {
    let Some(mut column) = group.next_column()? else {
        return Ok(());
    };
    for part in parts {
        match part.borrow() {
            Values::Text(values) => {
                let bytes = |text: &String| ByteArray::from(text.as_str());
                write_part::<ByteArrayType, _>(&mut column, values, bytes)?;
            }
            Values::Integer(values) => {
                write_part::<Int64Type, _>(&mut column, values, |value| *value)?;
            }
            Values::Real(values) => {
                write_part::<DoubleType, _>(&mut column, values, |value| *value)?;
            }
            Values::Boolean(values) => {
                write_part::<BoolType, _>(&mut column, values, |value| *value)?;
            }
        }
    }
    column.close()
}

fn write_part<T: DataType, V>(
    column: &mut SerializedColumnWriter<'_>,
    values: &[Option<V>],
    convert: impl Fn(&V) -> T::T,
) -> Written<()> {
    let present: Vec<T::T> = values.iter().flatten().map(convert).collect();
    let levels: Vec<i16> = values.iter().map(|v| i16::from(v.is_some())).collect();
    column
        .typed::<T>()
        .write_batch(&present, Some(&levels), None)
        .map(drop)
}
