//! Reads recordings.

use std::borrow::Cow;
use std::fs::File;
use std::io::{Cursor, Read};
use std::path::Path;
use std::str::{self, FromStr};

use anyhow::{Context, Result, anyhow, bail, ensure};
use files::Lines;
use link::{Arrival, Header, PacketOutcome, Reseed, Settings};
use queue::Reason;
use units::{Seed, Time};

use super::{CHANCE, COLUMNS, END, FORMAT, FirstLine, MAGIC, SEEDS_LAST, WAITING, reason, word};

/// The maximum length of a line, and of the first one, which describes the
/// link: 1 MiB.
const LONGEST_LINE: u64 = 1 << 20;

/// The maximum size of a recording: 1 GiB, about ten million packets. A packet
/// takes about as much memory.
const LARGEST: u64 = 1 << 30;

/// More bytes than the first words of any recording have.
const LONGEST_MAGIC: u64 = 64;

/// The maximum number of characters of a value in a message.
const MOST_SHOWN: usize = 60;

/// A recorded link and the outcomes of its packets.
#[derive(Clone, Debug, PartialEq)]
pub struct Recorded {
    /// The origin of all times.
    pub origin: Time,
    /// Each direction.
    pub directions: [Traced; 2],
    /// Whether it goes to its end. One that was cut, by a full disk or a killed
    /// program, has in each direction the packets up to the first whose outcome is
    /// missing, and the decisions before the last of them arrived.
    pub is_whole: bool,
}

/// One direction of a recorded link.
#[derive(Clone, Debug, PartialEq)]
pub struct Traced {
    /// The settings of the link.
    pub settings: Settings,
    /// The packets in order of arrival, each with the decision about it unless
    /// it still waited at the end.
    pub packets: Vec<(Arrival, Option<Decision>)>,
    /// The restarts of the random streams, the initial seed first.
    pub reseeds: Vec<Reseed>,
}

/// The decision about a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decision {
    /// The time of the decision.
    pub at: Time,
    /// The outcome of the packet.
    pub outcome: PacketOutcome,
    /// The reason, if the queue dropped it.
    pub reason: Option<Reason>,
    /// Whether the queue marked it with ECN.
    pub marked: bool,
}

impl Recorded {
    /// Reads the recording in `input`.
    ///
    /// # Errors
    /// One line of text with the file and the invalid line.
    pub fn read(input: Input) -> Result<Self> {
        input.parse(Self::parse)
    }

    /// Reads a recording.
    pub(crate) fn parse(file: impl Read) -> Result<Self> {
        let mut lines = Lines::of(file, LONGEST_LINE, LARGEST);
        let first = text(&mut lines).context("line 1")?.unwrap_or_default();
        let first = first.strip_prefix(MAGIC).ok_or_else(|| {
            anyhow!("not a recording with a description of its link; record it anew with `jumbolab emulate --record` or `record = true`")
        })?;
        let first: FirstLine = serde_json::from_str(first).map_err(|error| {
            anyhow!("line 1: this build reads recordings of format {FORMAT} ({error})")
        })?;
        ensure!(
            [FORMAT, SEEDS_LAST].contains(&first.format),
            "line 1: this is a recording of format {}; this build reads formats {SEEDS_LAST} and {FORMAT}",
            first.format
        );
        ensure!(
            text(&mut lines).context("line 2")? == Some(COLUMNS),
            "line 2: the columns are not those of format {FORMAT}"
        );
        let mut recorded = Self {
            origin: Time::from_picos(first.origin_ps),
            directions: first.directions.map(|settings| Traced {
                settings,
                packets: Vec::new(),
                reseeds: Vec::new(),
            }),
            is_whole: first.format == SEEDS_LAST,
        };
        for number in 3u64.. {
            let place = || format!("line {number}");
            let Some((line, is_ended)) = lines.next_text().with_context(place)? else {
                break;
            };
            // A number that was cut may still be one.
            if !is_ended && first.format == FORMAT {
                break;
            }
            if line == END {
                recorded.is_whole = true;
                break;
            }
            recorded.take(line).with_context(place)?;
        }
        for direction in &mut recorded.directions {
            ensure!(
                !direction.reseeds.is_empty(),
                "the recording is incomplete: the seeds of the random streams are missing; record it again"
            );
            direction
                .packets
                .sort_by_key(|(arrival, _)| arrival.header.number);
            if !recorded.is_whole {
                direction.cut();
            }
        }
        Ok(recorded)
    }

    fn take(&mut self, line: &str) -> Result<()> {
        if let Some(chance) = line.strip_prefix(CHANCE) {
            let mut fields = Fields(chance.split(' '));
            let direction: usize = fields.next("direction")?;
            let reseed = Reseed {
                after: fields.next("packets")?,
                at: Time::from_picos(fields.next("instant")?),
                seed: Seed::new(fields.next("seed")?),
            };
            self.direction(direction)?.reseeds.push(reseed);
            return Ok(());
        }
        let mut fields = Fields(line.split(','));
        let at = Time::from_picos(fields.next("arrival_ps")?);
        let left = fields.text("left_ps")?;
        let direction: usize = fields.next("direction")?;
        let (size, flow) = (fields.next("size")?, fields.next("flow")?);
        let outcome = fields.text("outcome")?;
        let number = fields.next("number")?;
        let why = fields.text("reason")?;
        let marked = fields.next::<u8>("marked")? != 0;
        let header = Header {
            number,
            class: fields.next("class")?,
            precedence: fields.next("precedence")?,
            markable: fields.next::<u8>("markable")? != 0,
            tags: fields.next("tags")?,
            live: fields.next("live")?,
            served: match fields.text("served_ps")? {
                "" => Time::ZERO,
                served => Time::from_picos(served.parse().context("served_ps")?),
            },
        };
        let arrival = Arrival {
            at,
            size,
            flow,
            header,
        };
        let decision = match outcome {
            WAITING => None,
            outcome => Some(Decision {
                at: Time::from_picos(left.parse().context("left_ps")?),
                outcome: named(&PacketOutcome::ALL, word, outcome)?,
                reason: match why {
                    "" => None,
                    why => Some(named(&Reason::ALL, reason, why)?),
                },
                marked,
            }),
        };
        self.direction(direction)?.packets.push((arrival, decision));
        Ok(())
    }

    fn direction(&mut self, number: usize) -> Result<&mut Traced> {
        self.directions
            .get_mut(number)
            .ok_or_else(|| anyhow!("direction {number}: write 0 or 1"))
    }
}

/// A file with a recording of a link or of a gateway. It may be a pipe: what is read of it to
/// tell the two apart is kept.
pub struct Input {
    place: String,
    begin: Vec<u8>,
    rest: File,
}

impl Input {
    /// Opens the file at `path`.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn open(path: &Path) -> Result<Self> {
        let place = path.display().to_string();
        let cannot = || format!("cannot read {place}");
        let rest = files::open(path).with_context(cannot)?;
        let mut begin = Vec::new();
        let read = (&rest).take(LONGEST_MAGIC).read_to_end(&mut begin);
        read.with_context(cannot)?;
        Ok(Self { place, begin, rest })
    }

    /// Whether a gateway recorded it, and not a link.
    pub fn is_of_gateway(&self) -> bool {
        self.begin.starts_with(wire::bundle::RECORDING.as_bytes())
    }

    /// Reads the file by `parse`. Errors name the file.
    ///
    /// # Errors
    /// Those of `parse`.
    pub fn parse<T>(self, parse: impl FnOnce(Box<dyn Read>) -> Result<T>) -> Result<T> {
        let whole = Cursor::new(self.begin).chain(self.rest);
        parse(Box::new(whole)).with_context(|| self.place)
    }
}

/// The next line without its end.
fn text(lines: &mut Lines<impl Read>) -> Result<Option<&str>> {
    Ok(lines.next_text()?.map(|(line, _)| line))
}

/// A value in a message.
fn shown(text: &str) -> Cow<'_, str> {
    keyfile::shortened(text, MOST_SHOWN)
}

impl Traced {
    /// Leaves out what the outcomes of missing packets may have changed: the packets
    /// that came after the first missing one, and the decisions from the time on
    /// at which its predecessor came: the missing one may have come at that same
    /// time, and have driven others out of the queue.
    fn cut(&mut self) {
        let before = self.reseeds.first().map_or(0, |chance| chance.after);
        // A damaged number may be the largest there is.
        let numbers = std::iter::successors(before.checked_add(1), |number| number.checked_add(1));
        let numbers = self.packets.iter().zip(numbers);
        let known = numbers.take_while(|((arrival, _), number)| arrival.header.number == *number);
        let known = known.count();
        self.packets.truncate(known);
        let Some(end) = self.packets.last().map(|(arrival, _)| arrival.at) else {
            return;
        };
        for (_, decision) in &mut self.packets {
            *decision = decision.filter(|decision| decision.at < end);
        }
    }
}

/// The fields of a line.
struct Fields<I>(I);

impl<'a, I: Iterator<Item = &'a str>> Fields<I> {
    fn text(&mut self, name: &str) -> Result<&'a str> {
        self.0.next().with_context(|| format!("{name} is missing"))
    }

    fn next<T: FromStr>(&mut self, name: &str) -> Result<T> {
        let text = self.text(name)?;
        let number = text.parse();
        number.map_err(|_| anyhow!("{name}: `{}` is not a valid number", shown(text)))
    }
}

fn named<T: Copy>(all: &[T], name: impl Fn(T) -> &'static str, text: &str) -> Result<T> {
    match all.iter().find(|one| name(**one) == text) {
        Some(one) => Ok(*one),
        None => bail!("`{}` is not a word of this format", shown(text)),
    }
}
