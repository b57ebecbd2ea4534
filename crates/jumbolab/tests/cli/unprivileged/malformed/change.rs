//! Changes to a valid jumbogram.

use wire::jumbogram::at;

/// Bytes of its payload, all zero.
pub(super) const PAYLOAD: u32 = 65_600;

/// Writes a 16-bit number.
pub(super) fn put16(bytes: &mut [u8], at: usize, value: u16) {
    bytes[at..at + 2].copy_from_slice(&value.to_be_bytes());
}

/// Writes a 32-bit number.
pub(super) fn put32(bytes: &mut [u8], at: usize, value: u32) {
    bytes[at..at + 4].copy_from_slice(&value.to_be_bytes());
}

/// Inserts another header of eight bytes behind the options, and adjusts the lengths.
pub(super) fn insert(bytes: &mut Vec<u8>, number: u8, header: [u8; 8]) {
    bytes[at::OPTIONS] = number;
    bytes.splice(at::UDP..at::UDP, header);
    put32(bytes, at::JUMBO_LENGTH, PAYLOAD + 24);
}

/// Adds eight bytes of options behind the Jumbo Payload option.
pub(super) fn more_options(bytes: &mut Vec<u8>, options: [u8; 8]) {
    insert(bytes, 17, options);
    bytes[at::OPTIONS + 1] = 1;
}

/// Moves the option by `by` bytes of padding.
pub(super) fn shift(bytes: &mut Vec<u8>, by: usize) {
    let mut options = vec![0; 16];
    options[0] = 17;
    options[1] = 1;
    let option = [0xc2, 4, 0, 1, 0, 0x58];
    options[2 + by..8 + by].copy_from_slice(&option);
    bytes.splice(at::OPTIONS..at::UDP, options);
}

/// A packet of ordinary length that has the option.
pub(super) fn ordinary(bytes: &mut Vec<u8>) {
    bytes.truncate(at::UDP + 200);
    bytes[at::NEXT] = 60;
    put16(bytes, at::LENGTH, 208);
}

/// Replaces the checksum by that for another length.
pub(super) fn resum(bytes: &mut [u8], length: fn(u32) -> u32) {
    let right = PAYLOAD + 8;
    let old = u16::from_be_bytes([bytes[at::CHECKSUM], bytes[at::CHECKSUM + 1]]);
    // The sum changes by the difference of the lengths [RFC1624 s3].
    let parts = |value: u32| (value >> 16) + (value & 0xffff);
    let mut sum = u32::from(!old) + parts(!parts(right) & 0xffff) + parts(length(right));
    while sum > 0xffff {
        sum = parts(sum);
    }
    let sum = u16::try_from(sum).unwrap_or(u16::MAX);
    bytes[at::CHECKSUM..at::CHECKSUM + 2].copy_from_slice(&(!sum).to_be_bytes());
}
