//! Lists of observed gaps or sizes, one per line, or in a capture.

use std::io::{BufRead, BufReader, Read};

use wire::capture::Capture;

use super::written::{Measure, quantity};
use super::{Seen, captured};

/// The maximum number of values of a list.
pub(super) const MOST_VALUES: usize = 10_000_000;
/// The maximum size of a list and of a line, in bytes.
const LARGEST: u64 = 1 << 30;
const LONGEST_LINE: u64 = 1_000;

impl Seen {
    /// The values in `list`: those of the IP packets if it is a capture, otherwise one per
    /// line; `#` starts a comment. Errors call the list `name`.
    ///
    /// # Errors
    /// One line with the number of the line or of the record and what would be right.
    pub fn read(mut list: impl Read, name: &str, measure: Measure) -> Result<Self, String> {
        let mut begin = Vec::new();
        let read = (&mut list).take(4).read_to_end(&mut begin);
        read.map_err(|error| format!("cannot read {name}: {error}"))?;
        let magic = begin.first_chunk().copied();
        let list = begin.as_slice().chain(list);
        match magic.and_then(Capture::of) {
            Some(capture) => captured::read(capture, list, name, measure),
            None => Self::read_lines(list, name, measure),
        }
    }

    fn read_lines(list: impl Read, name: &str, measure: Measure) -> Result<Self, String> {
        let mut list = BufReader::new(list.take(LARGEST + 1));
        let (mut values, mut line, mut bytes) = (Vec::new(), Vec::new(), 0);
        for number in 1u64.. {
            line.clear();
            let most = LONGEST_LINE + 1;
            let length = (&mut list)
                .take(most)
                .read_until(b'\n', &mut line)
                .map_err(|error| format!("cannot read {name}: {error}"))?;
            bytes += length as u64;
            if length == 0 {
                break;
            }
            let reject = |why: &str| format!("{name}:{number}: {why}");
            let text = std::str::from_utf8(&line).unwrap_or("\u{fffd}");
            if length as u64 == most || text == "\u{fffd}" {
                return Err(reject(
                    "these are not short lines of text; write one value on each line",
                ));
            }
            if bytes > LARGEST {
                return Err(reject(&format!(
                    "a file has {LARGEST} bytes at most; write fewer values"
                )));
            }
            let text = text.split('#').next().unwrap_or_default().trim();
            if text.is_empty() {
                continue;
            }
            if values.len() == MOST_VALUES {
                return Err(reject(&too_many()));
            }
            let (value, _) = quantity(text, measure).map_err(|why| reject(&why))?;
            values.push(value);
        }
        match values.is_empty() {
            true => Err(format!("{name} holds no values; write one on each line")),
            false => Ok(values.into()),
        }
    }
}

pub(super) fn too_many() -> String {
    format!("a file has {MOST_VALUES} values at most; write fewer")
}
