//! A column of a row group, page by page.

use std::fs::File;

use anyhow::{Context, Result, bail, ensure};

use super::Kind;
use super::runs::Runs;
use super::thrift::Value;

/// The maximum size of the head of a page. It has a dozen numbers, and a run writes no
/// statistics of values into it.
const LARGEST_HEAD: u64 = 1 << 10;

/// Encodings of values.
const PLAIN: i64 = 0;
const PLAIN_DICTIONARY: i64 = 2;
const RLE: i64 = 3;
const RLE_DICTIONARY: i64 = 8;

/// A part of a file with the pages of a column.
#[derive(Debug)]
pub(super) struct Chunk {
    kind: Kind,
    is_optional: bool,
    is_packed: bool,
    /// The places of the next page and behind the last one.
    next: u64,
    end: u64,
}

impl Chunk {
    /// The chunk that `described` is about, in a file of `length` bytes.
    pub(super) fn of(
        described: &Value<'_>,
        kind: Kind,
        is_optional: bool,
        length: u64,
    ) -> Result<Self> {
        let damaged = "the place of a column is damaged";
        let is_packed = match described.number(4) {
            Some(0) => false,
            Some(7) => true,
            _ => bail!("it is compressed by another method than LZ4_RAW"),
        };
        let pages = described.size(9).context(damaged)?;
        let dictionary = described.size(11).filter(|place| *place > 0);
        let next = dictionary.map_or(pages, |place| place.min(pages)) as u64;
        let size = described.size(7).context(damaged)? as u64;
        let end = next.checked_add(size).filter(|end| *end <= length);
        Ok(Self {
            kind,
            is_optional,
            is_packed,
            next,
            end: end.context(damaged)?,
        })
    }
}

/// The head of a page.
pub(super) struct Page {
    /// The size of its content in memory.
    pub(super) unpacked: usize,
    packed: usize,
    place: u64,
    contents: Contents,
}

enum Contents {
    Dictionary,
    /// So many values, with their encoding.
    Values(usize, i64),
}

/// A column that is being read.
#[derive(Debug)]
pub(super) struct Column {
    chunk: Chunk,
    dictionary: Vec<u8>,
    /// The place and the length of each value in the dictionary.
    entries: Vec<(u32, u32)>,
    page: Vec<u8>,
    /// The values that are left in the page, absent ones included.
    left: usize,
    /// Which of them are present; `None`: all.
    present: Option<Runs>,
    values: Values,
}

#[derive(Debug)]
enum Values {
    /// The place of the next value in the page.
    Plain(usize),
    /// Numbers of entries of the dictionary.
    Entries(Runs),
}

impl Column {
    pub(super) const fn new(chunk: Chunk) -> Self {
        Self {
            chunk,
            dictionary: Vec::new(),
            entries: Vec::new(),
            page: Vec::new(),
            left: 0,
            present: None,
            values: Values::Plain(0),
        }
    }

    /// Whether the page has no more values.
    pub(super) const fn is_empty(&self) -> bool {
        self.left == 0
    }

    /// The bytes in memory.
    pub(super) const fn bytes(&self) -> usize {
        self.dictionary.len() + self.page.len() + 8 * self.entries.len()
    }

    /// The head of the next page; `None` behind the last one.
    pub(super) fn next_page(&self, file: &File) -> Result<Option<Page>> {
        let chunk = &self.chunk;
        if chunk.next >= chunk.end {
            return Ok(None);
        }
        let size = LARGEST_HEAD.min(chunk.end - chunk.next);
        let mut head = vec![0; usize::try_from(size)?];
        files::read_exact_at(file, &mut head, chunk.next)?;
        let (head, length) = Value::read(&head).context("the head of a page is damaged")?;
        let damaged = "the head of a page is damaged";
        let place = chunk.next + length as u64;
        let packed = head.size(3).context(damaged)?;
        let unpacked = head.size(2).context(damaged)?;
        let largest = match chunk.is_packed {
            // What LZ4 makes of bytes that do not repeat [LZ4].
            true => (unpacked / 255).saturating_add(unpacked).saturating_add(16),
            false => unpacked,
        };
        ensure!(
            packed as u64 <= chunk.end.saturating_sub(place)
                && packed <= largest
                && (chunk.is_packed || packed == unpacked),
            damaged
        );
        let contents = match head.number(1) {
            Some(0) => {
                let about = head.field(5).context(damaged)?;
                let encoding = about.number(2).context(damaged)?;
                ensure!(
                    !chunk.is_optional || about.number(3) == Some(RLE),
                    "the values of a page are marked in an unknown way"
                );
                Contents::Values(about.size(1).context(damaged)?, encoding)
            }
            Some(2) => Contents::Dictionary,
            _ => bail!("pages of another kind are not expected"),
        };
        Ok(Some(Page {
            unpacked,
            packed,
            place,
            contents,
        }))
    }

    /// Reads a page, whose sizes are within the limits.
    pub(super) fn take(&mut self, page: Page, file: &File) -> Result<()> {
        let mut packed = vec![0; page.packed];
        files::read_exact_at(file, &mut packed, page.place)?;
        let content = match self.chunk.is_packed {
            false => packed,
            // Without values there may be nothing to unpack.
            true if page.unpacked == 0 => Vec::new(),
            true => {
                let mut content = vec![0; page.unpacked];
                let length = lz4_flex::block::decompress_into(&packed, &mut content);
                ensure!(
                    length.is_ok_and(|length| length == page.unpacked),
                    "a page is damaged"
                );
                content
            }
        };
        self.chunk.next = page.place + page.packed as u64;
        match page.contents {
            Contents::Dictionary => {
                ensure!(self.dictionary.is_empty(), "a column has two dictionaries");
                self.entries = entries(&content, self.chunk.kind)?;
                self.dictionary = content;
            }
            Contents::Values(count, encoding) => self.begin(content, count, encoding)?,
        }
        Ok(())
    }

    /// Begins a page with `count` values.
    fn begin(&mut self, page: Vec<u8>, count: usize, encoding: i64) -> Result<()> {
        let mut place = 0;
        self.present = None;
        if self.chunk.is_optional {
            let length = length_at(&page, 0).context("a page ends early")?;
            place = 4 + length;
            ensure!(place <= page.len(), "a page ends early");
            self.present = Some(Runs::new(4, place, 1));
        }
        self.values = match encoding {
            PLAIN => Values::Plain(place),
            PLAIN_DICTIONARY | RLE_DICTIONARY => {
                // Without a value that is present there may be no width either.
                let width = page.get(place).map_or(0, |width| u32::from(*width));
                ensure!(width <= u32::BITS, "a page is damaged");
                Values::Entries(Runs::new(place + 1, page.len(), width))
            }
            _ => bail!("values are encoded in another way than this program does"),
        };
        (self.page, self.left) = (page, count);
        Ok(())
    }

    /// The next value of the page, which has one; `None`: it is absent.
    pub(super) fn next(&mut self) -> Result<Option<&[u8]>> {
        let early = "a page ends early";
        self.left = self.left.checked_sub(1).context(early)?;
        if let Some(present) = &mut self.present
            && present.next(&self.page).context(early)? == 0
        {
            return Ok(None);
        }
        match &mut self.values {
            Values::Plain(place) => {
                let (start, length) = at(&self.page, *place, self.chunk.kind).context(early)?;
                *place = start + length;
                Ok(Some(&self.page[start..start + length]))
            }
            Values::Entries(numbers) => {
                let number = numbers.next(&self.page).context(early)?;
                let entry = self.entries.get(number as usize);
                let (start, length) = entry.context("a value is not in its dictionary")?;
                let (start, length) = (*start as usize, *length as usize);
                Ok(Some(&self.dictionary[start..start + length]))
            }
        }
    }
}

/// The place and the length of each plain value in `bytes`.
fn entries(bytes: &[u8], kind: Kind) -> Result<Vec<(u32, u32)>> {
    let mut entries = Vec::new();
    let mut place = 0;
    while place < bytes.len() {
        let (start, length) = at(bytes, place, kind).context("a dictionary ends early")?;
        entries.push((u32::try_from(start)?, u32::try_from(length)?));
        place = start + length;
    }
    Ok(entries)
}

/// Where the plain value at `place` begins, and its length; `None` if it is not whole.
fn at(bytes: &[u8], place: usize, kind: Kind) -> Option<(usize, usize)> {
    let (start, length) = match kind {
        Kind::Integer | Kind::Real => (place, 8),
        Kind::Text => (place.checked_add(4)?, length_at(bytes, place)?),
    };
    (start.checked_add(length)? <= bytes.len()).then_some((start, length))
}

/// The length that stands at `place`.
fn length_at(bytes: &[u8], place: usize) -> Option<usize> {
    let length = bytes.get(place..)?.first_chunk::<4>()?;
    usize::try_from(u32::from_le_bytes(*length)).ok()
}
