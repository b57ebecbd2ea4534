//! Reads the blocks of a log file.

use std::fs::{self, File};
use std::io::{Read, Seek as _};
use std::path::Path;

use anyhow::{Context, Result, bail};
use wire::Error;
use wire::log::{self, Block, ENVELOPE, LONGEST, MAGIC, Next};

/// Reads a log block by block.
pub(super) struct Blocks {
    file: File,
    /// The size of the file when it was opened, in bytes.
    pub(super) length: u64,
    /// The bytes before the next block.
    pub(super) position: u64,
    /// The damaged end of the log, if any.
    pub(super) tear: Option<TruncationPoint>,
    /// The bytes read; those from `start` to `end` are not consumed yet.
    buffer: Vec<u8>,
    start: usize,
    end: usize,
}

/// The position and the reason of a log's premature end.
pub(super) struct TruncationPoint {
    pub(super) position: u64,
    pub(super) why: String,
}

/// Opens a log, which may be no pipe.
pub(super) fn open(path: &Path) -> Result<File> {
    let metadata = fs::metadata(path).context("cannot be read")?;
    if metadata.is_dir() {
        bail!("this is a folder; name a packet log, as written by `--packet-log`");
    }
    if !metadata.is_file() {
        bail!(
            "this is a pipe or a device, and a packet log is read twice; save it to a file first"
        );
    }
    files::open_regular(path).context("cannot be read")
}

impl Blocks {
    pub(super) fn new(file: File) -> Result<Self> {
        let mut blocks = Self {
            length: file.metadata().context("cannot be read")?.len(),
            file,
            position: 0,
            tear: None,
            buffer: vec![0; ENVELOPE + LONGEST],
            start: 0,
            end: 0,
        };
        blocks.begin()?;
        Ok(blocks)
    }

    /// Goes back to the first block. The file stays open, so it is the same one.
    pub(super) fn rewind(&mut self) -> Result<()> {
        self.file.rewind().context("cannot be read again")?;
        (self.position, self.start, self.end) = (0, 0, 0);
        self.begin()
    }

    /// Whether the file is shorter than it was when it was opened.
    pub(super) fn was_cut(&self) -> Result<bool> {
        let found = self.file.metadata().context("cannot be read")?;
        Ok(found.len() < self.length)
    }

    fn begin(&mut self) -> Result<()> {
        self.fill(MAGIC.len())?;
        match log::open(self.ahead()) {
            Ok(()) => self.consume(MAGIC.len()),
            Err(Error::Malformed(wire::Field::Version)) => {
                bail!(
                    "this is a packet log of another version; decode it with the build that wrote it"
                )
            }
            Err(_) if self.was_cut()? => bail!("it was cut while it was read; decode it again"),
            Err(_) => bail!(
                "this is not a packet log; name a file written by `--packet-log`, or a log of D-ITG"
            ),
        }
        Ok(())
    }

    /// The next block, or `None` at the end of the log.
    pub(super) fn next(&mut self) -> Result<Option<Block<'_>>> {
        if !self.fill(ENVELOPE)? {
            if self.start < self.end {
                self.torn("the last block is incomplete".into());
            }
            return Ok(None);
        }
        let length = match log::length(self.ahead()) {
            Ok(length) => length,
            Err(error) => {
                self.torn(error.to_string());
                return Ok(None);
            }
        };
        if !self.fill(length)? {
            self.torn("the last block is incomplete".into());
            return Ok(None);
        }
        let bytes = self.start..self.start + length;
        match log::next(&self.buffer[bytes]) {
            Ok(Next::Block(block, length)) => {
                self.start += length;
                self.position += length as u64;
                Ok(Some(block))
            }
            Ok(Next::More(_)) => Ok(None),
            Err(error) => {
                let (position, why) = (self.position, error.to_string());
                self.tear = Some(TruncationPoint { position, why });
                Ok(None)
            }
        }
    }

    fn torn(&mut self, why: String) {
        let position = self.position;
        self.tear = Some(TruncationPoint { position, why });
    }

    fn ahead(&self) -> &[u8] {
        &self.buffer[self.start..self.end]
    }

    fn consume(&mut self, bytes: usize) {
        self.start += bytes;
        self.position += bytes as u64;
    }

    /// Reads until `need` bytes are available; returns whether they are.
    fn fill(&mut self, need: usize) -> Result<bool> {
        if self.end - self.start >= need {
            return Ok(true);
        }
        self.buffer.copy_within(self.start..self.end, 0);
        (self.start, self.end) = (0, self.end - self.start);
        while self.end < need {
            let read = self.file.read(&mut self.buffer[self.end..]);
            match read.context("cannot be read to its end")? {
                0 => return Ok(false),
                read => self.end += read,
            }
        }
        Ok(true)
    }
}
