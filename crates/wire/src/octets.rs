//! Access to big-endian fields at fixed offsets.

use crate::Error;

/// The first `need` octets; later accesses stay within them.
pub(crate) fn demand(octets: &[u8], need: usize) -> Result<&[u8], Error> {
    octets.get(..need).ok_or(Error::Truncated {
        need,
        have: octets.len(),
    })
}

/// The first `need` octets, mutable.
pub(crate) fn demand_mut(octets: &mut [u8], need: usize) -> Result<&mut [u8], Error> {
    let have = octets.len();
    octets
        .get_mut(..need)
        .ok_or(Error::Truncated { need, have })
}

/// The first `N` octets, mutable, and the octets behind them.
pub(crate) fn split_mut<const N: usize>(
    octets: &mut [u8],
) -> Result<(&mut [u8; N], &mut [u8]), Error> {
    let have = octets.len();
    octets
        .split_first_chunk_mut()
        .ok_or(Error::Truncated { need: N, have })
}

/// The `N` octets from `at` on.
pub(crate) fn array<const N: usize>(octets: &[u8], at: usize) -> Result<[u8; N], Error> {
    octets
        .get(at..)
        .and_then(<[u8]>::first_chunk)
        .copied()
        .ok_or_else(|| Error::Truncated {
            need: at.saturating_add(N),
            have: octets.len(),
        })
}

/// The `N` octets from `at` on, mutable.
pub(crate) fn array_mut<const N: usize>(
    octets: &mut [u8],
    at: usize,
) -> Result<&mut [u8; N], Error> {
    let have = octets.len();
    let from = octets.get_mut(at..);
    from.and_then(<[u8]>::first_chunk_mut)
        .ok_or_else(|| Error::Truncated {
            need: at.saturating_add(N),
            have,
        })
}

/// Writes `field` at `at`. The caller ensures that `octets` are long enough.
pub(crate) fn put<const N: usize>(octets: &mut [u8], at: usize, field: [u8; N]) {
    octets[at..at + N].copy_from_slice(&field);
}

/// The octet at `at`.
pub(crate) fn u8_at(octets: &[u8], at: usize) -> Result<u8, Error> {
    array(octets, at).map(u8::from_be_bytes)
}

/// The 16-bit number at `at`.
pub(crate) fn u16_at(octets: &[u8], at: usize) -> Result<u16, Error> {
    array(octets, at).map(u16::from_be_bytes)
}

/// The 32-bit number at `at`.
pub(crate) fn u32_at(octets: &[u8], at: usize) -> Result<u32, Error> {
    array(octets, at).map(u32::from_be_bytes)
}

/// The 64-bit number at `at`.
pub(crate) fn u64_at(octets: &[u8], at: usize) -> Result<u64, Error> {
    array(octets, at).map(u64::from_be_bytes)
}
