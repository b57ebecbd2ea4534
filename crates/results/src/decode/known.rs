//! The statements of a log about itself and its flows.

use std::collections::BTreeMap;
use std::time::{Duration, SystemTime};

use anyhow::{Result, bail};
use wire::log::{Clock, Estimate, Facts, Flow, Record, Role, Sent};

use super::clock_offset::ClockOffset;
use super::row::Scope;

/// The maximum number of flows in a log. Each takes about 200 kB of
/// memory, and at most 1 MB where delays range from nanoseconds to years.
pub const MOST_FLOWS: usize = 1024;

/// A statement of a log, which is no record.
#[derive(Clone, Debug)]
pub(super) enum Statement {
    Facts(Facts),
    /// A flow, and what stands for it in records.
    Flow(u32, Flow),
    Estimate(Estimate),
    Sent(Sent),
}

/// What the first reading of a log found.
#[derive(Default)]
pub(super) struct Known {
    pub(super) facts: Option<Facts>,
    flows: Vec<KnownFlow>,
    /// The index in `flows` by what stands for a flow in records.
    places: BTreeMap<u32, usize>,
}

/// What is known of a flow.
#[derive(Default)]
pub(super) struct KnownFlow {
    /// What stands for it in records.
    number: u32,
    pub(super) flow: Option<Flow>,
    pub(super) sent: Option<Sent>,
    estimates: Vec<Estimate>,
    /// The clock offset derived from the estimates.
    pub(super) offset: ClockOffset,
    /// One more than the highest number without an answer in a log of round trips.
    pub(super) asked: u64,
}

impl Known {
    /// Takes a statement. Of the estimates of a flow only the earliest and the latest one
    /// count.
    ///
    /// # Errors
    /// The log has too many flows.
    pub(super) fn take(&mut self, statement: Statement) -> Result<()> {
        match statement {
            Statement::Facts(facts) => self.facts = Some(facts),
            Statement::Flow(number, flow) => {
                let place = self.place(number)?;
                self.flows[place].flow = Some(flow);
            }
            Statement::Sent(sent) => {
                let place = self.place(sent.flow)?;
                self.flows[place].sent = Some(sent);
            }
            Statement::Estimate(estimate) => {
                let place = self.place(estimate.flow)?;
                let flow = &mut self.flows[place];
                flow.estimates.push(estimate);
                flow.estimates.sort_by_key(|estimate| estimate.at);
                if flow.estimates.len() > 2 {
                    flow.estimates.remove(1);
                }
                flow.offset = ClockOffset::of(&flow.estimates);
            }
        }
        Ok(())
    }

    /// Takes the flows of a batch of records, and gives the earliest time of the batch; `None`
    /// if it has no records.
    ///
    /// # Errors
    /// The log has too many flows.
    pub(super) fn survey(&mut self, records: impl Iterator<Item = Record>) -> Result<Option<u64>> {
        let role = self.role();
        let mut earliest = None;
        let mut latest = None;
        for record in records {
            let place = match latest {
                Some((flow, place)) if flow == record.flow => place,
                _ => self.place(record.flow)?,
            };
            latest = Some((record.flow, place));
            let least = earliest.get_or_insert(u64::MAX);
            match instant(role, &record) {
                Some(at) => *least = at.min(*least),
                None => {
                    let asked = &mut self.flows[place].asked;
                    *asked = record.sequence.saturating_add(1).max(*asked);
                }
            }
        }
        Ok(earliest)
    }

    /// The index of a flow; new flows are added.
    ///
    /// # Errors
    /// The log has too many flows.
    pub(super) fn place(&mut self, number: u32) -> Result<usize> {
        if let Some(place) = self.places.get(&number) {
            return Ok(*place);
        }
        let place = self.flows.len();
        if place == MOST_FLOWS {
            bail!("this log has more than {MOST_FLOWS} flows; write several logs");
        }
        self.flows.push(KnownFlow {
            number,
            ..KnownFlow::default()
        });
        self.places.insert(number, place);
        Ok(place)
    }

    /// The flow with an index.
    pub(super) fn flow(&self, place: usize) -> &KnownFlow {
        &self.flows[place]
    }

    /// The number of the flow with an index.
    pub(super) fn number(&self, place: usize) -> u32 {
        let KnownFlow { flow, number, .. } = &self.flows[place];
        flow.as_ref().map_or(*number, |flow| flow.number)
    }

    /// The number of flows.
    pub(super) fn count(&self) -> usize {
        self.flows.len()
    }

    /// The numbers and indices of all flows, by number.
    pub(super) fn places(&self) -> Vec<(u32, usize)> {
        let places = self.places.values();
        let mut places: Vec<_> = places.map(|place| (self.number(*place), *place)).collect();
        places.sort();
        places
    }

    /// The writer of the log.
    pub(super) fn role(&self) -> Role {
        self.facts.map_or(Role::Receiver, |facts| facts.role)
    }

    /// The kind and the writer of the log, in one line.
    pub(super) fn title(&self, name: &str) -> String {
        let Some(facts) = self.facts else {
            return name.into();
        };
        let role = match facts.role {
            Role::Sender => "sender's log",
            Role::Receiver => "receiver's log",
            Role::RoundTrip => "log of round trips",
        };
        let clock = |what: &str, clock| {
            let clock = match clock {
                Clock::None => return None,
                Clock::Program => "the program",
                Clock::Kernel => "the kernel",
                Clock::Hardware => "the interface",
                Clock::Simulation => "the simulation",
            };
            Some(format!("{what} stamped by {clock}"))
        };
        let began = (facts.wall > 0).then(|| {
            let instant = SystemTime::UNIX_EPOCH + Duration::from_nanos(facts.wall);
            format!("began {}", humantime::format_rfc3339_millis(instant))
        });
        let parts = [
            Some(format!("{name}: {role}")),
            began,
            clock("sending", facts.sent),
            clock("arrival", facts.received),
            clock("return", facts.returned),
        ];
        parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
    }
}

impl KnownFlow {
    /// The flow in rows, where records have `number`.
    pub(super) fn scope(&self, number: u32) -> Scope {
        let flow = self.flow.clone();
        flow.map_or(Scope::Number(number), Scope::Flow)
    }
}

/// The time at which a record was made; `None` for a request without an answer.
pub(super) fn instant(role: Role, record: &Record) -> Option<u64> {
    match role {
        Role::Sender => Some(record.sent),
        Role::Receiver => Some(record.received.unwrap_or(record.sent)),
        Role::RoundTrip => record.returned,
    }
}
