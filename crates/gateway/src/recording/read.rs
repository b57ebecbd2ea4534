//! Reads recordings of gateways.

use std::io::Read;
use std::str::{FromStr, Split};

use anyhow::{Context as _, Result, anyhow, bail, ensure};
use files::Lines;
use link::edge::Exit;
use units::{Bytes, IpMtu, IpVersion, Span, Time};
use wire::bundle::RECORDING;

use super::{Described, END, FORMAT, FirstLine, REASONS, SETTINGS};
use crate::machine::{Decision, Event, RecordedArrival as Arrival};

/// The longest line: a bundle of 65535 packets takes less.
const LONGEST_LINE: u64 = 1 << 21;

/// The largest recording: 1 GiB, about ten million packets. It takes about as much memory.
const LARGEST: u64 = 1 << 30;

/// The latest time: a day before time ends.
const LATEST: Time = Time::from_picos(u64::MAX - 86_400_000_000_000_000);

/// The largest IP packet [RFC791 s3.1].
const LARGEST_PACKET: u64 = 65_535;

/// A recording of a gateway.
#[derive(Clone, Debug, PartialEq)]
pub struct Recording {
    /// The parts with the same settings.
    pub sections: Vec<Section>,
    /// Whether it goes to its end.
    pub is_whole: bool,
}

/// The events between a start or a reload and the next one.
#[derive(Clone, Debug, PartialEq)]
pub struct Section {
    pub settings: Described,
    /// The events in their order.
    pub events: Vec<Event>,
}

impl Recording {
    /// Reads a recording.
    ///
    /// # Errors
    /// One line of text with the invalid line.
    pub fn parse(file: impl Read) -> Result<Self> {
        let mut lines = Lines::of(file, LONGEST_LINE, LARGEST);
        let first = text(&mut lines).context("line 1")?.unwrap_or_default();
        let first = first.strip_prefix(RECORDING).context(
            "line 1: this is no recording of a gateway; make one with `jumbolab gateway --record`",
        )?;
        let first: FirstLine = serde_json::from_str(first).map_err(|error| {
            anyhow!("line 1: this build reads recordings of format {FORMAT} ({error})")
        })?;
        ensure!(
            first.format == FORMAT,
            "line 1: this is a recording of format {}; this build reads format {FORMAT}",
            first.format
        );
        let mut reader = Reader {
            origin: Time::from_picos(first.origin_ps),
            latest: Time::ZERO,
            sections: Vec::new(),
        };
        let mut is_whole = false;
        for number in 2u64.. {
            let place = || format!("line {number}");
            // A line that was cut may look like a whole one.
            let Some(line) = text(&mut lines).with_context(place)? else {
                break;
            };
            is_whole = line == END;
            if is_whole {
                break;
            }
            reader.take(line).with_context(place)?;
        }
        ensure!(
            !reader.sections.is_empty(),
            "the recording is incomplete: its settings are missing; record it again"
        );
        Ok(Self {
            sections: reader.sections,
            is_whole,
        })
    }
}

/// The next line that has an end, without it.
fn text(lines: &mut Lines<impl Read>) -> Result<Option<&str>> {
    let line = lines.next_text()?;
    Ok(line.and_then(|(line, has_end)| has_end.then_some(line)))
}

struct Reader {
    origin: Time,
    latest: Time,
    sections: Vec<Section>,
}

impl Reader {
    fn take(&mut self, line: &str) -> Result<()> {
        if let Some(settings) = line.strip_prefix(SETTINGS) {
            let settings: Described = serde_json::from_str(settings)?;
            self.sections.push(Section {
                settings,
                events: Vec::new(),
            });
            return Ok(());
        }
        let event = self.event(Fields(line.split(',')))?;
        let section = self.sections.last_mut();
        let section = section.context("an event stands in front of the settings")?;
        let peer = match &event {
            Event::Arrived(arrival) => Some(arrival.exit.egress),
            Event::Mtu { peer, .. }
            | Event::Decided(Decision::Sent { peer, .. } | Decision::Dropped { peer, .. }) => {
                Some(*peer)
            }
            Event::Checked(_) | Event::Polled(_) | Event::Flushed(_) => None,
        };
        if let Some(peer) = peer.filter(|peer| *peer >= section.settings.peers.len()) {
            bail!("there is no peer {peer}; record it again");
        }
        if let Event::Arrived(arrival) = &event {
            let known = section.events.iter().rev();
            let mut known = known.filter_map(|event| match event {
                Event::Arrived(arrival) => Some(arrival.number),
                _ => None,
            });
            let next = known.next().map_or(0, |number| number + 1);
            ensure!(
                arrival.number == next,
                "packet {} stands where packet {next} is expected; record it again",
                arrival.number
            );
        }
        section.events.push(event);
        Ok(())
    }

    fn event(&mut self, mut fields: Fields<'_>) -> Result<Event> {
        let kind = fields.text("kind")?;
        let since: u64 = fields.next("instant")?;
        let at = self.origin + Span::from_picos(since);
        ensure!(
            (self.latest..=LATEST).contains(&at),
            "time: {since} lies before the one above, or beyond the end of time"
        );
        self.latest = at;
        Ok(match kind {
            "arrived" => Event::Arrived(Arrival {
                at,
                number: fields.next("number")?,
                exit: Exit {
                    egress: fields.next("peer")?,
                    next_as: fields.next("next AS")?,
                },
                size: match fields.next("size")? {
                    size @ 20..=LARGEST_PACKET => Bytes::new(size),
                    size => {
                        bail!("size: {size} is not from 20 to {LARGEST_PACKET}; record it again")
                    }
                },
                flow: fields.next("flow")?,
                service: fields.next("service")?,
            }),
            "checked" => Event::Checked(at),
            "polled" => Event::Polled(at),
            "flushed" => Event::Flushed(at),
            "mtu" => Event::Mtu {
                at,
                peer: fields.next("peer")?,
                mtu: fields.mtu("MTU")?,
            },
            "sent" => Event::Decided(Decision::Sent {
                at,
                peer: fields.next("peer")?,
                bundle: fields.next("bundle")?,
                packets: fields.list("packets", |packet| {
                    let mut parts = packet.split(':');
                    let number = parts.next()?.parse().ok()?;
                    let waited = parts.next()?.parse().ok()?;
                    Some((number, waited, flag(parts.next()?)?))
                })?,
            }),
            "dropped" => Event::Decided(Decision::Dropped {
                at,
                peer: fields.next("peer")?,
                reason: {
                    let word = fields.text("reason")?;
                    let known = REASONS.iter().find(|(known, _)| *known == word);
                    known.context("reason: not a word of this format")?.1
                },
                taken_out: flag(fields.text("taken out")?).context("taken out: neither 0 nor 1")?,
                packets: fields.list("packets", |number| number.parse().ok())?,
            }),
            other => bail!(
                "`{}` is no kind of an event",
                keyfile::shortened(other, MOST_SHOWN)
            ),
        })
    }
}

/// The most characters of a value in a message.
const MOST_SHOWN: usize = 60;

fn flag(text: &str) -> Option<bool> {
    match text {
        "0" => Some(false),
        "1" => Some(true),
        _ => None,
    }
}

/// The fields of a line.
struct Fields<'a>(Split<'a, char>);

impl<'a> Fields<'a> {
    fn text(&mut self, name: &str) -> Result<&'a str> {
        self.0.next().with_context(|| format!("{name} is missing"))
    }

    fn next<T: FromStr>(&mut self, name: &str) -> Result<T> {
        let text = self.text(name)?;
        let number = text.parse();
        number.map_err(|_| {
            let shown = keyfile::shortened(text, MOST_SHOWN);
            anyhow!("{name}: `{shown}` is not a valid number")
        })
    }

    fn mtu(&mut self, name: &str) -> Result<Bytes> {
        let mtu = IpMtu::new(self.next(name)?, IpVersion::V4);
        Ok(mtu.map_err(|bad| anyhow!("{name}: {bad}"))?.bytes())
    }

    /// The entries of a list with spaces between.
    fn list<T>(&mut self, name: &str, read: impl Fn(&str) -> Option<T>) -> Result<Vec<T>> {
        let entries = self
            .text(name)?
            .split(' ')
            .filter(|entry| !entry.is_empty());
        let read: Option<Vec<T>> = entries.map(read).collect();
        read.with_context(|| format!("{name}: not a list of this format"))
    }
}
