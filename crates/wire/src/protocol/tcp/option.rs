//! Options of TCP [RFC9293 s3.2]: the maximum segment size, timestamps [RFC7323 s3.2] and selective
//! acknowledgements [RFC2018 s3].

use crate::bytes::{put, u16_at};

/// Offsets in every option of more than one byte.
mod field {
    pub(super) const KIND: usize = 0;
    pub(super) const LENGTH: usize = 1;
    pub(super) const BLOCKS: usize = 2;
    pub(super) const SEGMENT_SIZE: usize = 2;
    /// The sender's timestamp, and the last one that it received.
    pub(super) const VALUE: usize = 2;
    pub(super) const ECHO: usize = 6;
}

/// Kinds of options.
mod kind {
    pub(super) const END: u8 = 0;
    pub(super) const NOTHING: u8 = 1;
    pub(super) const SEGMENT_SIZE: u8 = 2;
    pub(super) const BLOCKS: u8 = 5;
    pub(super) const TIMESTAMPS: u8 = 8;
}

/// Bytes of the timestamps option; two bytes of padding in front fill its words
/// [RFC7323 sA].
const TIMESTAMPS_LEN: u8 = 10;
const PADDED_TIMESTAMPS: usize = 12;
const PADDING: usize = 2;
/// Bytes of a SACK block.
const BLOCK_LEN: usize = 8;

/// Bytes of the option with the maximum segment size [RFC9293 s3.2].
pub(crate) const SEGMENT_SIZE_LEN: u8 = 4;

/// The option with the maximum segment size [RFC9293 s3.2].
pub(crate) const fn segment_size(bytes: u16) -> [u8; SEGMENT_SIZE_LEN as usize] {
    let [upper, lower] = bytes.to_be_bytes();
    [kind::SEGMENT_SIZE, SEGMENT_SIZE_LEN, upper, lower]
}

/// The maximum segment size among `options`, and its place; `None` if they state none,
/// or are malformed in front of it.
pub(crate) fn find_segment_size(options: &[u8]) -> Option<(usize, u16)> {
    let mut at = 0;
    // Each round moves on by at least one byte.
    loop {
        let option = options.get(at..)?;
        let step = match *option.first()? {
            kind::END => return None,
            kind::NOTHING => 1,
            found => {
                let length = *option.get(field::LENGTH)?;
                if found == kind::SEGMENT_SIZE && length == SEGMENT_SIZE_LEN {
                    let size = u16_at(option, field::SEGMENT_SIZE).ok()?;
                    return Some((at + field::SEGMENT_SIZE, size));
                }
                usize::from(length).max(field::SEGMENT_SIZE)
            }
        };
        at += step;
    }
}

/// Fills the room behind the fixed header: timestamps first, then as many SACK blocks
/// as fit, each option aligned to the end of its words.
pub(crate) fn fill(room: &mut [u8], timestamps: Option<[u32; 2]>, blocks: &[[u32; 2]]) {
    room.fill(kind::NOTHING);
    let room = match timestamps {
        Some([value, echo]) if room.len() >= PADDED_TIMESTAMPS => {
            let (padded, rest) = room.split_at_mut(PADDED_TIMESTAMPS);
            let option = &mut padded[PADDING..];
            option[field::KIND] = kind::TIMESTAMPS;
            option[field::LENGTH] = TIMESTAMPS_LEN;
            put(option, field::VALUE, value.to_be_bytes());
            put(option, field::ECHO, echo.to_be_bytes());
            rest
        }
        _ => room,
    };
    let fit = room.len().saturating_sub(field::BLOCKS) / BLOCK_LEN;
    let fit = fit.min(blocks.len());
    if fit == 0 {
        return;
    }
    let length = field::BLOCKS + BLOCK_LEN * fit;
    let at = room.len() - length;
    let option = &mut room[at..];
    option[field::KIND] = kind::BLOCKS;
    option[field::LENGTH] = u8::try_from(length).unwrap_or(u8::MAX);
    let places = option[field::BLOCKS..].chunks_exact_mut(4);
    for (place, number) in places.zip(blocks.iter().flatten()) {
        place.copy_from_slice(&number.to_be_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_maximum_segment_size_is_found_behind_other_options() {
        let timestamps = [1, 8, 10, 0, 0, 0, 0, 0, 0, 0, 0];
        let options = [&timestamps[..], &segment_size(1_460)].concat();
        assert_eq!(find_segment_size(&options), Some((13, 1_460)));
        for without in [
            &[][..],
            &[0, 2, 4, 5, 6],
            &[2],
            &[2, 4, 5],
            &[2, 3, 5],
            &[8, 0, 1],
        ] {
            assert_eq!(find_segment_size(without), None, "{without:?}");
        }
    }

    #[test]
    fn options_are_laid_out_as_in_the_figures() {
        let mut room = [0; 24];
        fill(&mut room, Some([0x0102_0304, 0x0506_0708]), &[[0x11, 0x22]]);
        let timestamps = [1, 1, 8, 10, 1, 2, 3, 4, 5, 6, 7, 8];
        let blocks = [1, 1, 5, 10, 0, 0, 0, 0x11, 0, 0, 0, 0x22];
        assert_eq!(room[..12], timestamps);
        assert_eq!(room[12..], blocks);
    }
}
