//! Reads the keys that break packets in front of a link: the rules of a middlebox.

use anyhow::{Error, Result};
use keyfile::quantity::{number, share, span, word};
use plan::setting::middlebox::{Action, Rule};
use plan::setting::{Direction, Protocol};
use units::{Bytes, Span};

use super::inherited::Inherited;
use crate::reader::Spanned;

const DIRECTIONS: &[(&str, Option<Direction>)] = &[
    ("both", None),
    ("forward", Some(Direction::Forward)),
    ("reverse", Some(Direction::Reverse)),
];

const PROTOCOLS: &[(&str, Option<Protocol>)] = &[
    ("all", None),
    ("icmp", Some(Protocol::Icmp)),
    ("udp", Some(Protocol::Udp)),
    ("tcp", Some(Protocol::Tcp)),
];

const PASS_OR_DROP: &[(&str, bool)] = &[("pass", false), ("drop", true)];

const PASS_OR_CLEAR: &[(&str, bool)] = &[("pass", false), ("clear", true)];

const MOST_IN_BURST: i64 = 10_000;

/// A share in thousandths.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a share is between 0 and 1"
)]
fn per_mille(share: f64) -> u16 {
    (share * 1000.0).round() as u16
}

/// The keys of a link, or of all links; `None`: not written.
pub(super) struct Faults {
    drop_above: Option<Spanned<i64>>,
    up_to: Option<Spanned<i64>>,
    dropped: Option<Spanned<f64>>,
    direction: Option<Spanned<Option<Direction>>>,
    protocol: Option<Spanned<Option<Protocol>>>,
    flows: Option<Spanned<f64>>,
    from: Option<Spanned<Span>>,
    until: Option<Spanned<Span>>,
    messages: Option<Spanned<bool>>,
    interval: Option<Spanned<Span>>,
    announced: Option<Spanned<i64>>,
    icmp_interval: Option<Spanned<Span>>,
    icmp_burst: Option<Spanned<i64>>,
    mss: Option<Spanned<i64>>,
    mss_direction: Option<Spanned<Option<Direction>>>,
    clear: Option<Spanned<bool>>,
    fragments: Option<Spanned<bool>>,
}

impl Faults {
    pub(super) fn read(table: &mut Inherited<'_, '_, '_>) -> Result<Self> {
        // The length field of IPv4 has 16 bits [RFC791 s3.1], the option for the segment
        // size, too [RFC9293 s3.2].
        let bytes = || number(68, u16::MAX.into());
        Ok(Self {
            drop_above: table.if_written("drop_above", bytes(), |keys| &keys.faults.drop_above)?,
            up_to: table.if_written("drop_up_to", bytes(), |keys| &keys.faults.up_to)?,
            dropped: table.if_written("drop_share", share, |keys| &keys.faults.dropped)?,
            direction: table.if_written("drop_direction", word(DIRECTIONS), |keys| {
                &keys.faults.direction
            })?,
            protocol: table.if_written("drop_protocol", word(PROTOCOLS), |keys| {
                &keys.faults.protocol
            })?,
            flows: table.if_written("drop_flows", share, |keys| &keys.faults.flows)?,
            from: table.if_written("drop_from", span, |keys| &keys.faults.from)?,
            until: table.if_written("drop_until", span, |keys| &keys.faults.until)?,
            messages: table.if_written("too_big_messages", word(PASS_OR_DROP), |keys| {
                &keys.faults.messages
            })?,
            interval: table.if_written("too_big_interval", span, |keys| &keys.faults.interval)?,
            announced: table.if_written("too_big_mtu", bytes(), |keys| &keys.faults.announced)?,
            icmp_interval: table
                .if_written("icmp_interval", span, |keys| &keys.faults.icmp_interval)?,
            icmp_burst: table.if_written("icmp_burst", number(1, MOST_IN_BURST), |keys| {
                &keys.faults.icmp_burst
            })?,
            mss: table.if_written("mss", bytes(), |keys| &keys.faults.mss)?,
            mss_direction: table.if_written("mss_direction", word(DIRECTIONS), |keys| {
                &keys.faults.mss_direction
            })?,
            clear: table.if_written("dont_fragment", word(PASS_OR_CLEAR), |keys| {
                &keys.faults.clear
            })?,
            fragments: table.if_written("fragments", word(PASS_OR_DROP), |keys| {
                &keys.faults.fragments
            })?,
        })
    }

    /// The rules of these keys.
    pub(super) fn rules(&self) -> Result<Vec<Rule>> {
        let mut rules = Vec::new();
        rules.extend(self.dropping()?);
        let is_set =
            |found: &Option<Spanned<bool>>| found.as_ref().is_some_and(|found| found.value);
        if is_set(&self.messages) {
            rules.push(Rule::always(Action::DropTooBig));
        }
        if let Some(interval) = &self.interval {
            rules.push(Rule::always(Action::LimitTooBig(interval.value)));
        }
        if let Some(announced) = &self.announced {
            let mtu = u32::try_from(announced.value).unwrap_or_default();
            rules.push(Rule::always(Action::AnnounceMtu(mtu)));
        }
        rules.extend(self.limiting()?);
        rules.extend(self.clamping()?);
        if is_set(&self.clear) {
            rules.push(Rule::always(Action::ClearDontFragment));
        }
        if is_set(&self.fragments) {
            rules.push(Rule::always(Action::DropFragments));
        }
        Ok(rules)
    }

    /// The rule about large packets, if there is one.
    fn dropping(&self) -> Result<Option<Rule>> {
        let Some(most) = &self.drop_above else {
            return self.alone().map_or(Ok(None), Err);
        };
        let action = self.of_sizes(most)?;
        let from = self.from.as_ref().map_or(Span::ZERO, |from| from.value);
        if let Some(until) = self.until.as_ref().filter(|until| until.value <= from) {
            return Err(until.reject(
                "packets are dropped until a time before `drop_from`; write a later time",
            ));
        }
        Ok(Some(Rule {
            direction: self.direction.as_ref().and_then(|found| found.value),
            protocol: self.protocol.as_ref().and_then(|found| found.value),
            share: self.flows.as_ref().map_or(1.0, |found| found.value),
            from,
            until: self.until.as_ref().map(|until| until.value),
            ..Rule::always(action)
        }))
    }

    /// The action on packets above `most`: it drops all, a range of sizes or a share.
    fn of_sizes(&self, most: &Spanned<i64>) -> Result<Action> {
        let bytes = |value| Bytes::new(u64::try_from(value).unwrap_or_default());
        let above = bytes(most.value);
        match (&self.up_to, &self.dropped) {
            (None, None) => Ok(Action::DropAbove(above)),
            (Some(up_to), None) if up_to.value > most.value => Ok(Action::DropBetween {
                from: above + Bytes::new(1),
                to: bytes(up_to.value),
            }),
            (Some(up_to), None) => Err(up_to
                .reject("no size is above `drop_above` and not above this; write a larger size")),
            (None, Some(share)) => Ok(Action::DropShareAbove {
                above,
                per_mille: per_mille(share.value),
            }),
            (Some(_), Some(share)) => {
                Err(share
                    .reject("a range of sizes is dropped whole; remove drop_share or drop_up_to"))
            }
        }
    }

    /// The rule about the rate of ICMP packets, if there is one.
    fn limiting(&self) -> Result<Option<Rule>> {
        let Some(every) = &self.icmp_interval else {
            let alone = self.icmp_burst.as_ref();
            return alone.map_or(Ok(None), |burst| {
                Err(burst.reject("at which rate afterwards? write icmp_interval too"))
            });
        };
        let burst = self.icmp_burst.as_ref().map_or(1, |burst| burst.value);
        let action = Action::LimitRate {
            burst: u32::try_from(burst).unwrap_or(u32::MAX),
            every: every.value,
        };
        Ok(Some(Rule {
            direction: Some(Direction::Forward),
            protocol: Some(Protocol::Icmp),
            ..Rule::always(action)
        }))
    }

    /// The rule about the maximum segment size, if there is one.
    fn clamping(&self) -> Result<Option<Rule>> {
        let Some(mss) = &self.mss else {
            let alone = self.mss_direction.as_ref();
            return alone.map_or(Ok(None), |direction| {
                Err(direction.reject("of which limit? write mss too"))
            });
        };
        let mss = u16::try_from(mss.value).unwrap_or_default();
        Ok(Some(Rule {
            direction: self.mss_direction.as_ref().and_then(|found| found.value),
            ..Rule::always(Action::ClampMss(mss))
        }))
    }

    /// Rejects the first key that is written. `why` takes its name.
    pub(super) fn reject(&self, why: impl Fn(&str) -> String) -> Result<()> {
        fn of<T>(found: Option<&Spanned<T>>, why: String) -> Result<()> {
            found.map_or(Ok(()), |found| Err(found.reject(why)))
        }
        of(self.drop_above.as_ref(), why("drop_above"))?;
        of(self.messages.as_ref(), why("too_big_messages"))?;
        of(self.interval.as_ref(), why("too_big_interval"))?;
        of(self.announced.as_ref(), why("too_big_mtu"))?;
        of(self.icmp_interval.as_ref(), why("icmp_interval"))?;
        of(self.icmp_burst.as_ref(), why("icmp_burst"))?;
        of(self.mss.as_ref(), why("mss"))?;
        of(self.mss_direction.as_ref(), why("mss_direction"))?;
        of(self.clear.as_ref(), why("dont_fragment"))?;
        of(self.fragments.as_ref(), why("fragments"))
    }

    /// The error about a key that restricts `drop_above`, if there is one.
    fn alone(&self) -> Option<Error> {
        fn of<T>(found: Option<&Spanned<T>>) -> Option<Error> {
            found.map(|found| found.reject("of which packets? write drop_above too"))
        }
        of(self.up_to.as_ref())
            .or_else(|| of(self.dropped.as_ref()))
            .or_else(|| of(self.direction.as_ref()))
            .or_else(|| of(self.protocol.as_ref()))
            .or_else(|| of(self.flows.as_ref()))
            .or_else(|| of(self.from.as_ref()))
            .or_else(|| of(self.until.as_ref()))
    }
}
