//! Columns of integers, stored in as few bits as their values need.
//!
//! Values are grouped in frames of up to 128. A frame holds the bits per value (0 to
//! 64, one byte), the smallest value (zigzag, seven bits a byte, low bits first) and
//! then each value's distance from the smallest, packed from the lowest bit of the
//! first byte on. An outlier thus widens only its own frame.

use alloc::vec::Vec;

use crate::{Error, Field};

/// Values per frame.
const FRAME: usize = 128;

/// Bytes of the widest frame, and the bytes behind it that [`unpack`] may read.
const WIDEST: usize = FRAME * 8 + 16;

/// Appends `values`.
pub(super) fn emit(values: &[i64], out: &mut Vec<u8>) {
    for frame in values.chunks(FRAME) {
        let smallest = frame.iter().copied().min().unwrap_or_default();
        let largest = frame.iter().copied().max().unwrap_or_default();
        let width = u64::BITS - distance(largest, smallest).leading_zeros();
        let [width_byte, ..] = width.to_le_bytes();
        out.push(width_byte);
        emit_number(zigzag(smallest), out);
        pack(
            frame.iter().map(|&value| distance(value, smallest)),
            width,
            out,
        );
    }
}

/// Reads `count` values at the start of `bytes` into `values`, whose former content is
/// removed.
pub(super) fn parse(bytes: &mut &[u8], count: usize, values: &mut Vec<i64>) -> Result<(), Error> {
    values.clear();
    let mut padded = [0; WIDEST];
    while values.len() < count {
        let frame = FRAME.min(count - values.len());
        let width = u32::from(take(bytes, 1)?[0]);
        if width > u64::BITS {
            return Err(Error::Malformed(Field::Width));
        }
        let smallest = unzigzag(parse_number(bytes)?);
        if width == 0 {
            values.resize(values.len() + frame, smallest);
            continue;
        }
        // The frame has at most 128 values of 64 bits.
        let packed = take(bytes, (frame * width as usize).div_ceil(8))?;
        padded[..packed.len()].copy_from_slice(packed);
        unpack(&padded, frame, width as usize, smallest, values);
    }
    Ok(())
}

/// Appends a number in seven bits a byte.
pub(super) fn emit_number(mut number: u64, out: &mut Vec<u8>) {
    while number >= 0x80 {
        let [low, ..] = number.to_le_bytes();
        out.push(low | 0x80);
        number >>= 7;
    }
    let [low, ..] = number.to_le_bytes();
    out.push(low);
}

/// Reads such a number at the start of `bytes`.
pub(super) fn parse_number(bytes: &mut &[u8]) -> Result<u64, Error> {
    let mut number = 0;
    for shift in (0..u64::BITS).step_by(7) {
        let byte = take(bytes, 1)?[0];
        let bits = u64::from(byte & 0x7f);
        if bits << shift >> shift != bits {
            break;
        }
        number |= bits << shift;
        if byte & 0x80 == 0 {
            return Ok(number);
        }
    }
    Err(Error::Malformed(Field::Number))
}

/// Splits `count` bytes off the front.
pub(super) fn take<'a>(bytes: &mut &'a [u8], count: usize) -> Result<&'a [u8], Error> {
    let (taken, rest) = bytes.split_at_checked(count).ok_or(Error::Truncated {
        need: count,
        have: bytes.len(),
    })?;
    *bytes = rest;
    Ok(taken)
}

/// The distance of a value above the smallest: below 2^64 for all values.
fn distance(value: i64, smallest: i64) -> u64 {
    value.wrapping_sub(smallest).cast_unsigned()
}

fn zigzag(value: i64) -> u64 {
    (value << 1 ^ value >> 63).cast_unsigned()
}

fn unzigzag(value: u64) -> i64 {
    (value >> 1).cast_signed() ^ -(value & 1).cast_signed()
}

fn pack(values: impl Iterator<Item = u64>, width: u32, out: &mut Vec<u8>) {
    let mut bits = 0u128;
    let mut held = 0;
    for value in values {
        bits |= u128::from(value) << held;
        held += width;
        while held >= 8 {
            let [low, ..] = bits.to_le_bytes();
            out.push(low);
            bits >>= 8;
            held -= 8;
        }
    }
    if held > 0 {
        let [low, ..] = bits.to_le_bytes();
        out.push(low);
    }
}

/// Appends `count` values of `width` bits, 1 to 64, to `values`.
fn unpack(padded: &[u8; WIDEST], count: usize, width: usize, smallest: i64, values: &mut Vec<i64>) {
    let mask = u64::MAX >> (64 - width);
    let value = |distance: u64| smallest.wrapping_add((distance & mask).cast_signed());
    // For widths up to 57 bits, eight bytes hold a value at any bit offset.
    if width <= 57 {
        values.extend((0..count).map(|at| {
            let bit = at * width;
            let word = array::<8>(padded, bit / 8);
            value(u64::from_le_bytes(word) >> (bit % 8))
        }));
    } else {
        values.extend((0..count).map(|at| {
            let bit = at * width;
            let low = u64::from_le_bytes(array::<8>(padded, bit / 8));
            let high = u64::from(padded[bit / 8 + 8]);
            // Two shifts, because a shift by 64 bits overflows.
            value(low >> (bit % 8) | high << 1 << (63 - bit % 8))
        }));
    }
}

fn array<const N: usize>(padded: &[u8; WIDEST], at: usize) -> [u8; N] {
    let mut bytes = [0; N];
    bytes.copy_from_slice(&padded[at..at + N]);
    bytes
}
