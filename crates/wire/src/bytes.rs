//! Access to big-endian fields at fixed offsets.

use crate::Error;

/// The first `need` bytes; later accesses stay within them.
pub(crate) fn demand(bytes: &[u8], need: usize) -> Result<&[u8], Error> {
    bytes.get(..need).ok_or(Error::Truncated {
        need,
        have: bytes.len(),
    })
}

/// The first `need` bytes, mutable.
pub(crate) fn demand_mut(bytes: &mut [u8], need: usize) -> Result<&mut [u8], Error> {
    let have = bytes.len();
    bytes.get_mut(..need).ok_or(Error::Truncated { need, have })
}

/// The first `N` bytes, mutable, and the bytes behind them.
pub(crate) fn split_mut<const N: usize>(
    bytes: &mut [u8],
) -> Result<(&mut [u8; N], &mut [u8]), Error> {
    let have = bytes.len();
    bytes
        .split_first_chunk_mut()
        .ok_or(Error::Truncated { need: N, have })
}

/// The `N` bytes from `at` on.
pub(crate) fn array<const N: usize>(bytes: &[u8], at: usize) -> Result<[u8; N], Error> {
    bytes
        .get(at..)
        .and_then(<[u8]>::first_chunk)
        .copied()
        .ok_or_else(|| Error::Truncated {
            need: at.saturating_add(N),
            have: bytes.len(),
        })
}

/// The `N` bytes from `at` on, mutable.
pub(crate) fn array_mut<const N: usize>(
    bytes: &mut [u8],
    at: usize,
) -> Result<&mut [u8; N], Error> {
    let have = bytes.len();
    let from = bytes.get_mut(at..);
    from.and_then(<[u8]>::first_chunk_mut)
        .ok_or_else(|| Error::Truncated {
            need: at.saturating_add(N),
            have,
        })
}

/// Writes `field` at `at`. The caller ensures that `bytes` are long enough.
pub(crate) fn put<const N: usize>(bytes: &mut [u8], at: usize, field: [u8; N]) {
    bytes[at..at + N].copy_from_slice(&field);
}

/// The byte at `at`.
pub(crate) fn u8_at(bytes: &[u8], at: usize) -> Result<u8, Error> {
    array(bytes, at).map(u8::from_be_bytes)
}

/// The 16-bit number at `at`.
pub(crate) fn u16_at(bytes: &[u8], at: usize) -> Result<u16, Error> {
    array(bytes, at).map(u16::from_be_bytes)
}

/// The 32-bit number at `at`.
pub(crate) fn u32_at(bytes: &[u8], at: usize) -> Result<u32, Error> {
    array(bytes, at).map(u32::from_be_bytes)
}

/// The 64-bit number at `at`.
pub(crate) fn u64_at(bytes: &[u8], at: usize) -> Result<u64, Error> {
    array(bytes, at).map(u64::from_be_bytes)
}
