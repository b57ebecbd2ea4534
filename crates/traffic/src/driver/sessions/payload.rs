//! The bytes of messages behind their header: those of a file, one after the other, and from
//! its start again after its end.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Seek as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use os::error::{OperationContext, Result};

/// A smaller file is held in memory, and of a larger one so many bytes are read at a time.
/// The memory of a flow has this limit, and messages wait for a disk rarely.
const PIECE: usize = 1 << 20;

/// A file whose bytes messages have.
#[derive(Clone, Debug)]
pub struct Payload {
    path: PathBuf,
    /// All of it, if it is small.
    held: Option<Arc<[u8]>>,
}

impl Payload {
    /// Reads the start of the regular file at `path`.
    ///
    /// # Errors
    /// The reason if it cannot be read, or is empty.
    pub fn of(path: &Path) -> io::Result<Self> {
        let mut file = BufReader::with_capacity(PIECE, files::open_regular(path)?);
        let is_small = file.get_ref().metadata()?.len() <= PIECE as u64;
        let mut held = Vec::new();
        // What is called small may have grown.
        while held.len() <= PIECE {
            let bytes = file.fill_buf()?;
            if bytes.is_empty() {
                break;
            }
            held.extend_from_slice(bytes);
            let length = bytes.len();
            file.consume(length);
            if !is_small {
                break;
            }
        }
        if held.is_empty() {
            return Err(io::Error::new(io::ErrorKind::InvalidData, EMPTY));
        }
        Ok(Self {
            path: path.to_owned(),
            held: (is_small && held.len() <= PIECE).then(|| held.into()),
        })
    }

    /// Its bytes from the start, for one flow.
    ///
    /// # Errors
    /// The file can no longer be read.
    pub(super) fn open(&self) -> Result<PayloadBytes> {
        Ok(match &self.held {
            Some(held) => PayloadBytes::Held {
                bytes: Arc::clone(held),
                next: 0,
            },
            None => {
                let doing = || format!("reading {}", self.path.display());
                let file = files::open_regular(&self.path).during(doing)?;
                PayloadBytes::File {
                    path: self.path.clone(),
                    file: BufReader::with_capacity(PIECE, file),
                }
            }
        })
    }
}

const EMPTY: &str = "it is empty; name a file with bytes to send";

/// The bytes of a file on their way to the messages of a flow.
pub(super) enum PayloadBytes {
    Held {
        bytes: Arc<[u8]>,
        next: usize,
    },
    File {
        path: PathBuf,
        file: BufReader<File>,
    },
}

impl PayloadBytes {
    /// Fills `room` with the next bytes.
    ///
    /// # Errors
    /// The file can no longer be read, or has become empty.
    pub(super) fn fill(&mut self, room: &mut [u8]) -> Result<()> {
        match self {
            Self::Held { bytes, next } => {
                fill_from(bytes, next, room);
                Ok(())
            }
            Self::File { path, file } => {
                fill_by_reading(file, room).during(|| format!("reading {}", path.display()))
            }
        }
    }
}

fn fill_from(bytes: &[u8], next: &mut usize, mut room: &mut [u8]) {
    while !room.is_empty() {
        let rest = &bytes[*next..];
        let length = rest.len().min(room.len());
        let (filled, left) = room.split_at_mut(length);
        filled.copy_from_slice(&rest[..length]);
        room = left;
        *next = (*next + length) % bytes.len();
    }
}

fn fill_by_reading(file: &mut BufReader<File>, mut room: &mut [u8]) -> io::Result<()> {
    let mut is_at_start = false;
    while !room.is_empty() {
        let bytes = file.fill_buf()?;
        if bytes.is_empty() {
            if is_at_start {
                return Err(io::Error::new(io::ErrorKind::InvalidData, EMPTY));
            }
            file.rewind()?;
            is_at_start = true;
            continue;
        }
        is_at_start = false;
        let length = bytes.len().min(room.len());
        let (filled, left) = room.split_at_mut(length);
        filled.copy_from_slice(&bytes[..length]);
        room = left;
        file.consume(length);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    /// A file with these bytes, which is removed with its folder.
    fn file(bytes: &[u8]) -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("payload");
        files::create_new(&path).unwrap().write_all(bytes).unwrap();
        (folder, path)
    }

    #[test]
    fn bytes_go_on_from_message_to_message_and_begin_again() {
        for length in [1, 7, 1_000, PIECE, PIECE + 1, 2 * PIECE + 3] {
            let bytes: Vec<u8> = (0..251).cycle().take(length).collect();
            let (_folder, path) = file(&bytes);
            let payload = Payload::of(&path).unwrap();
            assert_eq!(payload.held.is_some(), length <= PIECE);
            let mut from = payload.open().unwrap();
            let mut sent = Vec::new();
            for size in [0, 1, 3, 1_400, 65_000, 3 * PIECE, 1, 500] {
                let mut room = vec![0xaa; size];
                from.fill(&mut room).unwrap();
                sent.extend(room);
            }
            assert!(
                sent.iter().eq(bytes.iter().cycle().take(sent.len())),
                "{length}"
            );
        }
    }

    #[test]
    fn a_file_that_becomes_empty_ends_the_flow_and_not_the_program() {
        let (_folder, path) = file(&vec![1; PIECE + 1]);
        let mut from = Payload::of(&path).unwrap().open().unwrap();
        let mut room = vec![0; PIECE];
        from.fill(&mut room).unwrap();
        let file = std::fs::OpenOptions::new().write(true).open(&path);
        file.unwrap().set_len(0).unwrap();
        let why = from.fill(&mut room).unwrap_err().to_string();
        assert!(why.contains("it is empty"), "{why}");
        assert!(Payload::of(&path).is_err());
    }
}
