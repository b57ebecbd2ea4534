//! Blocks of a log: kind, length and checksum around the content.
//!
//! All numbers of the log are little-endian.
//!
//! | offset | bytes | field    | meaning                                    |
//! |-------:|-------:|----------|--------------------------------------------|
//! |      0 |      1 | kind     | type of the block                          |
//! |      1 |      3 | length   | bytes of the content                      |
//! |      4 |      4 | checksum | CRC-32C of kind, length and content        |
//! |      8 | length | content  |                                            |

use alloc::vec::Vec;

use crc::{CRC_32_ISCSI, Crc, Table};

use super::MAGIC;
use super::facts::{Estimate, Facts, Flow, Sent};
use super::records::Records;
use crate::{Error, Field};

/// Bytes in front of the content of a block.
pub const ENVELOPE: usize = 8;

/// The largest content of a block: 4096 records of seven columns of 64 bits, and the
/// entries of as many flows, with some reserve.
pub const LONGEST: usize = 1 << 19;

/// Tables of 16 KiB, which are three times as fast as one of 1 KiB.
const CHECKSUM: Crc<u32, Table<16>> = Crc::<u32, Table<16>>::new(&CRC_32_ISCSI);

/// One block of a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Block<'a> {
    /// Properties of the log; the first block.
    Facts(Facts),
    /// One flow, before its records.
    Flow(Flow),
    /// The offset between the two clocks of a flow.
    Estimate(Estimate),
    /// The sender's totals of a flow.
    Sent(Sent),
    /// Records of packets.
    Records(Records<'a>),
    /// The regular end of the log.
    End,
    /// A kind that a later version of the format may define; readers skip it.
    Unknown(u8),
}

/// The result of reading a block at the start of a buffer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Next<'a> {
    /// A whole block, and its length in bytes.
    Block(Block<'a>, usize),
    /// An incomplete block, and its length in bytes as known so far.
    More(usize),
}

pub(super) mod kind {
    pub(in crate::log) const FACTS: u8 = 1;
    pub(in crate::log) const FLOW: u8 = 2;
    pub(in crate::log) const RECORDS: u8 = 3;
    pub(in crate::log) const ESTIMATE: u8 = 4;
    pub(in crate::log) const SENT: u8 = 5;
    pub(in crate::log) const END: u8 = 6;
}

/// Checks the first bytes of a log.
///
/// # Errors
/// The bytes are too few or not a log, or the version is another.
pub fn open(bytes: &[u8]) -> Result<(), Error> {
    let head = crate::bytes::demand(bytes, MAGIC.len())?;
    let (name, version) = (&head[..MAGIC.len() - 1], head[MAGIC.len() - 1]);
    if name != &MAGIC[..MAGIC.len() - 1] {
        return Err(Error::Malformed(Field::Magic));
    }
    if version != MAGIC[MAGIC.len() - 1] {
        return Err(Error::Malformed(Field::Version));
    }
    Ok(())
}

/// The length in bytes of the block that `bytes` begin with; [`ENVELOPE`] if there
/// are too few bytes to read it. Only the envelope is read.
///
/// # Errors
/// The length is more than [`LONGEST`].
pub fn length(bytes: &[u8]) -> Result<usize, Error> {
    let Some(&[_, l0, l1, l2, ..]) = bytes.first_chunk::<ENVELOPE>() else {
        return Ok(ENVELOPE);
    };
    match usize::from(l0) | usize::from(l1) << 8 | usize::from(l2) << 16 {
        content if content > LONGEST => Err(Error::Malformed(Field::Length)),
        content => Ok(ENVELOPE + content),
    }
}

/// Reads the block at the start of `bytes`, which follow [`MAGIC`] or another block.
///
/// # Errors
/// The length is more than [`LONGEST`], the checksum is wrong, or the content does not
/// match its kind: the log is truncated or damaged.
pub fn next(bytes: &[u8]) -> Result<Next<'_>, Error> {
    let Some((envelope, rest)) = bytes.split_first_chunk::<ENVELOPE>() else {
        return Ok(Next::More(ENVELOPE));
    };
    let [kind, l0, l1, l2, c0, c1, c2, c3] = *envelope;
    let length = length(bytes)?;
    let Some(content) = rest.get(..length - ENVELOPE) else {
        return Ok(Next::More(length));
    };
    if checksum([kind, l0, l1, l2], content) != u32::from_le_bytes([c0, c1, c2, c3]) {
        return Err(Error::Malformed(Field::Checksum));
    }
    let block = match kind {
        kind::FACTS => Block::Facts(Facts::parse(content)?),
        kind::FLOW => Block::Flow(Flow::parse(content)?),
        kind::RECORDS => Block::Records(Records::parse(content)?),
        kind::ESTIMATE => Block::Estimate(Estimate::parse(content)?),
        kind::SENT => Block::Sent(Sent::parse(content)?),
        kind::END if content.is_empty() => Block::End,
        kind::END => return Err(Error::Malformed(Field::Length)),
        kind => Block::Unknown(kind),
    };
    Ok(Next::Block(block, length))
}

/// Appends a block whose content `fill` appends.
pub(super) fn seal(out: &mut Vec<u8>, kind: u8, fill: impl FnOnce(&mut Vec<u8>)) {
    let start = out.len();
    out.extend_from_slice(&[0; ENVELOPE]);
    fill(out);
    let length = out.len() - start - ENVELOPE;
    let [l0, l1, l2, ..] = u32::try_from(length)
        .expect("the content of a block is below LONGEST")
        .to_le_bytes();
    let head = [kind, l0, l1, l2];
    let sum = checksum(head, &out[start + ENVELOPE..]);
    out[start..start + 4].copy_from_slice(&head);
    out[start + 4..start + ENVELOPE].copy_from_slice(&sum.to_le_bytes());
}

/// CRC-32C [RFC3720 s12.1] over the whole block but the checksum.
fn checksum(head: [u8; 4], content: &[u8]) -> u32 {
    let mut digest = CHECKSUM.digest();
    digest.update(&head);
    digest.update(content);
    digest.finalize()
}
