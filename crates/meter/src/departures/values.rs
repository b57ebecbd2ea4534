//! Lists of observed gaps or sizes, one per line.

use std::io::{BufRead, BufReader, Read};

use super::Seen;
use super::written::{Measure, quantity};

/// The maximum number of values of a list.
const MOST_VALUES: usize = 10_000_000;
/// The maximum size of a list and of a line, in bytes.
const LARGEST: u64 = 1 << 30;
const LONGEST_LINE: u64 = 1_000;

impl Seen {
    /// The values in `list`, one per line; `#` starts a comment. Errors call the list
    /// `name`.
    ///
    /// # Errors
    /// One line with the number of the line and what would be right.
    pub fn read(list: impl Read, name: &str, measure: Measure) -> Result<Self, String> {
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
                return Err(reject("a file has 10000000 values at most; write fewer"));
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
