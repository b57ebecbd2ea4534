//! A shard: a part of a run with its own journal.

use std::str::FromStr;

use anyhow::{Error, bail};

/// One of several parts of a run, each of which can run separately.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    number: usize,
    of: usize,
}

/// The maximum number of shards.
const MOST_SHARDS: usize = 10_000;

impl Shard {
    /// Whether the trial at `position` in the order of the whole run belongs to
    /// this shard.
    pub const fn has(self, position: usize) -> bool {
        position % self.of == self.number - 1
    }

    /// The name of the shard's journal.
    pub(super) fn journal(self) -> String {
        format!("trials.{}of{}.jsonl", self.number, self.of)
    }
}

impl FromStr for Shard {
    type Err = Error;
    fn from_str(text: &str) -> Result<Self, Error> {
        let numbers = text.split_once('/');
        let numbers =
            numbers.and_then(|(number, of)| Some((number.parse().ok()?, of.parse().ok()?)));
        match numbers {
            Some((number, of)) if (1..=of).contains(&number) && of <= MOST_SHARDS => {
                Ok(Self { number, of })
            }
            _ => bail!(
                "--shard {}: write the part and the number of parts, for instance 1/3; at most {MOST_SHARDS}",
                text.escape_debug()
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shard_is_one_of_so_many() {
        for wrong in [
            "", "1", "0/3", "4/3", "-1/3", "1/0", "a/b", "1/3/4", "1/99999",
        ] {
            let error = wrong.parse::<Shard>().unwrap_err().to_string();
            assert!(error.contains("for instance 1/3"), "{error}");
        }
        assert_eq!("2/3".parse::<Shard>().unwrap(), Shard { number: 2, of: 3 });
    }
}
