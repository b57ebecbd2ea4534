//! Files of captured packets in the format pcapng [Pcapng].

use std::fs::File;
use std::io::{ErrorKind, Write};
use std::path::Path;

use wire::pcapng::{Block, LinkType};

use crate::error::{Error, OperationContext, Result};

/// A file of the packets of one interface.
pub struct CaptureFile(File);

impl CaptureFile {
    /// A new file of the packets of `interface`, of each of which at most `most` bytes are
    /// kept. The path is the value of `--capture`.
    ///
    /// # Errors
    /// The file exists or cannot be written.
    pub fn create(path: &Path, interface: &str, kind: LinkType, most: u32) -> Result<Self> {
        let operation = || format!("--capture {}", path.display());
        let file = files::create_new(path).map_err(|error| match error.kind() {
            ErrorKind::AlreadyExists => Error::new(operation(), "the file exists; name a new file"),
            _ => Error {
                operation: operation(),
                source: error,
            },
        })?;
        let mut file = Self(file);
        file.write(&Block::Section)?;
        file.write(&Block::Interface {
            kind,
            name: interface,
            most,
        })?;
        Ok(file)
    }

    /// Writes a packet that was seen at a time, in nanoseconds since 1970: the bytes
    /// that are kept, and its length.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn packet(&mut self, unix_nanos: u64, bytes: &[u8], length: usize) -> Result<()> {
        self.write(&Block::Packet {
            interface: 0,
            nanos: unix_nanos,
            bytes,
            length: u32::try_from(length).unwrap_or(u32::MAX),
        })
    }

    fn write(&mut self, block: &Block<'_>) -> Result<()> {
        let mut bytes = vec![0; block.buffer_len()];
        block
            .emit(&mut bytes)
            .map_err(std::io::Error::other)
            .and_then(|()| self.0.write_all(&bytes))
            .during(|| "writing the capture")
    }
}
