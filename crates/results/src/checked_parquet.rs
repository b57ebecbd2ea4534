//! Reads Parquet files of unknown origin within limits [Parquet].
//!
//! The crate `parquet` writes our files and does not read them here: on damaged files it
//! panics, and it allocates whatever sizes a file states, which no caller can catch. This
//! reader knows the part of the format that our files use: flat columns of 64-bit integers,
//! doubles and texts, plain or with a dictionary, in pages of version 1, as they are or
//! compressed by LZ4_RAW.

mod column;
mod runs;
mod thrift;

use std::fs::File;

use anyhow::{Context, Result, bail, ensure};

use column::{Chunk, Column};
use thrift::Value;

/// The maximum size of a file, of the description at its end, and of all that is unpacked.
const LARGEST_FILE: u64 = 1 << 30;
const LARGEST_FOOTER: u64 = 1 << 18;
const MOST_UNPACKED: u64 = 1 << 30;

/// The maximum size of the pages and dictionaries that are in memory at once.
const MOST_IN_MEMORY: usize = 1 << 26;

/// What a page counts for at least, so that empty ones are limited too.
const LEAST_OF_PAGE: u64 = 1 << 12;

/// The first and the last bytes of a file.
const MAGIC: &[u8] = b"PAR1";

/// The type of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Integer,
    Real,
    Text,
}

impl Kind {
    /// The number of the type in a file.
    const fn code(self) -> i64 {
        match self {
            Self::Integer => 2,
            Self::Real => 5,
            Self::Text => 6,
        }
    }
}

/// A file whose rows are read in turn.
#[derive(Debug)]
pub(crate) struct Table {
    file: File,
    rows: u64,
    /// The row groups behind the current one, the next one last.
    groups: Vec<Group>,
    columns: Vec<Column>,
    /// The rows of the current group that are still to be read.
    left: u64,
    /// The bytes that may still be unpacked.
    may_unpack: u64,
}

#[derive(Debug)]
struct Group {
    rows: u64,
    chunks: Vec<Chunk>,
}

impl Table {
    /// Opens a table to read its columns of these names; `None` if it lacks one.
    ///
    /// # Errors
    /// It is larger than a limit, damaged, or not as this program writes tables.
    pub(crate) fn open(file: File, names: &[(&str, Kind)]) -> Result<Option<Self>> {
        let length = file.metadata()?.len();
        ensure!(
            length <= LARGEST_FILE,
            "it is larger than {} GiB, the limit",
            LARGEST_FILE >> 30
        );
        let footer = footer(&file, length)?;
        let (described, _) = Value::read(&footer).context("its description is damaged")?;
        let schema = described.list(2).context("it describes no columns")?;
        let Some((_, elements)) = schema.split_first() else {
            bail!("it describes no columns");
        };
        ensure!(
            elements.iter().all(|one| one.size(5).unwrap_or(0) == 0),
            "columns inside columns are not expected"
        );
        let mut places = Vec::new();
        for (name, kind) in names {
            let is_named = |one: &Value<'_>| matches!(one.field(4), Some(Value::Bytes(own)) if *own == name.as_bytes());
            let Some(place) = elements.iter().position(is_named) else {
                return Ok(None);
            };
            let element = &elements[place];
            ensure!(
                element.number(1) == Some(kind.code()),
                "column {name} is of another type"
            );
            let is_optional = match element.number(3) {
                Some(0) | None => false,
                Some(1) => true,
                _ => bail!("column {name} has several values in a row"),
            };
            places.push((place, *kind, is_optional));
        }
        let mut groups = Vec::new();
        for group in described.list(4).unwrap_or_default() {
            let rows = group.size(3).context("a row group has no length")? as u64;
            let chunks = group.list(1).unwrap_or_default();
            let chunk = |(place, kind, is_optional): &(usize, Kind, bool)| {
                let described = chunks.get(*place).and_then(|chunk| chunk.field(3));
                let described = described.context("a column is missing in a row group")?;
                Chunk::of(described, *kind, *is_optional, length)
            };
            let chunks = places.iter().map(chunk).collect::<Result<_>>()?;
            groups.push(Group { rows, chunks });
        }
        groups.reverse();
        Ok(Some(Self {
            file,
            rows: described.size(3).unwrap_or(0) as u64,
            groups,
            columns: Vec::new(),
            left: 0,
            may_unpack: MOST_UNPACKED,
        }))
    }

    /// The number of rows that the file states.
    pub(crate) const fn rows(&self) -> u64 {
        self.rows
    }

    /// Begins the next row, and returns whether there is one. Then each column is asked for
    /// its value once.
    pub(crate) fn next_row(&mut self) -> bool {
        while self.left == 0 {
            let Some(group) = self.groups.pop() else {
                return false;
            };
            self.left = group.rows;
            self.columns = group.chunks.into_iter().map(Column::new).collect();
        }
        self.left -= 1;
        true
    }

    /// The value of column `place` in the current row.
    ///
    /// # Errors
    /// The file is damaged or exceeds a limit.
    pub(crate) fn integer(&mut self, place: usize) -> Result<Option<i64>> {
        self.load(place)?;
        let value = self.columns[place].next()?;
        Ok(value.and_then(fixed).map(i64::from_le_bytes))
    }

    /// As [`Table::integer`].
    pub(crate) fn real(&mut self, place: usize) -> Result<Option<f64>> {
        self.load(place)?;
        let value = self.columns[place].next()?;
        Ok(value.and_then(fixed).map(f64::from_le_bytes))
    }

    /// As [`Table::integer`]; a text of at most `longest` bytes.
    pub(crate) fn text(&mut self, place: usize, longest: usize) -> Result<Option<&str>> {
        self.load(place)?;
        let Some(value) = self.columns[place].next()? else {
            return Ok(None);
        };
        ensure!(
            value.len() <= longest,
            "a text is longer than {longest} bytes, the limit"
        );
        let text = std::str::from_utf8(value).context("a text is not UTF-8")?;
        Ok(Some(text))
    }

    /// Makes a column ready for its next value: unpacks pages until one has values.
    fn load(&mut self, place: usize) -> Result<()> {
        while self.columns[place].is_empty() {
            let Some(page) = self.columns[place].next_page(&self.file)? else {
                bail!("a column ends early");
            };
            // Sizes are checked before anything is allocated or unpacked.
            let counted = (page.unpacked as u64).max(LEAST_OF_PAGE);
            self.may_unpack = (self.may_unpack.checked_sub(counted)).with_context(|| {
                format!(
                    "it unpacks to more than {} GiB, the limit",
                    MOST_UNPACKED >> 30
                )
            })?;
            let kept: usize = self.columns.iter().map(Column::bytes).sum();
            ensure!(
                kept.saturating_add(page.unpacked) <= MOST_IN_MEMORY,
                "its pages unpack to more than {} MiB, the limit",
                MOST_IN_MEMORY >> 20
            );
            self.columns[place].take(page, &self.file)?;
        }
        Ok(())
    }
}

fn fixed(bytes: &[u8]) -> Option<[u8; 8]> {
    bytes.try_into().ok()
}

/// The description at the end of a file.
fn footer(file: &File, length: u64) -> Result<Vec<u8>> {
    let damaged = "it is not a whole Parquet file";
    let mut tail = [0; 8];
    let end = length.checked_sub(12).context(damaged)? + 4;
    files::read_exact_at(file, &mut tail, end)?;
    ensure!(&tail[4..] == MAGIC, damaged);
    let size = u64::from(u32::from_le_bytes([tail[0], tail[1], tail[2], tail[3]]));
    ensure!(
        size <= LARGEST_FOOTER,
        "its description is larger than {} KiB, the limit",
        LARGEST_FOOTER >> 10
    );
    let start = end.checked_sub(size).context(damaged)?;
    let mut footer = vec![0; usize::try_from(size)?];
    files::read_exact_at(file, &mut footer, start)?;
    Ok(footer)
}

#[cfg(test)]
mod tests;
