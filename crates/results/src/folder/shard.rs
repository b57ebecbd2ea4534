//! A shard: a part of a run with its own journal.

use std::str::FromStr;

use anyhow::{Error, bail};

/// Successive ones of several parts of a run, which can run separately from the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    first: usize,
    last: usize,
    of: usize,
}

/// The maximum number of parts.
const MOST_SHARDS: usize = 1_000_000_000;

impl Shard {
    /// Whether the trial at `position` in the order of the whole run belongs to
    /// this shard. With as many parts as trials, a shard is a range of that order.
    pub const fn has(self, position: usize) -> bool {
        let part = position % self.of + 1;
        self.first <= part && part <= self.last
    }

    /// The name of the shard's journal.
    pub(super) fn journal(self) -> String {
        let Self { first, last, of } = self;
        match first == last {
            true => format!("trials.{first}of{of}.jsonl"),
            false => format!("trials.{first}-{last}of{of}.jsonl"),
        }
    }
}

impl FromStr for Shard {
    type Err = Error;
    fn from_str(text: &str) -> Result<Self, Error> {
        let numbers = text.split_once('/').and_then(|(parts, of)| {
            let (first, last) = parts.split_once('-').unwrap_or((parts, parts));
            Some((first.parse().ok()?, last.parse().ok()?, of.parse().ok()?))
        });
        match numbers {
            Some((first, last, of))
                if 1 <= first && first <= last && last <= of && of <= MOST_SHARDS =>
            {
                Ok(Self { first, last, of })
            }
            _ => bail!(
                "--shard {}: write the part and the number of parts, for instance 1/3, or several parts, for instance 2-3/3; at most {MOST_SHARDS}",
                text.escape_debug()
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shard_is_one_or_more_of_so_many() {
        for wrong in [
            "",
            "1",
            "0/3",
            "4/3",
            "-1/3",
            "1/0",
            "a/b",
            "1/3/4",
            "1/9999999999",
            "2-1/3",
            "0-1/3",
            "1-4/3",
            "1-/3",
            "1-2-3/3",
        ] {
            let error = wrong.parse::<Shard>().unwrap_err().to_string();
            assert!(error.contains("for instance 1/3"), "{error}");
        }
        let shard = |first, last| Shard { first, last, of: 3 };
        assert_eq!("2/3".parse::<Shard>().unwrap(), shard(2, 2));
        assert_eq!("2-3/3".parse::<Shard>().unwrap(), shard(2, 3));
        assert_eq!(shard(2, 2).journal(), "trials.2of3.jsonl");
        assert_eq!(shard(2, 3).journal(), "trials.2-3of3.jsonl");
    }
}
