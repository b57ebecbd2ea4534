//! Request-response messages of many sizes, each through a network of its own.

use meter::request_response::OfSize;
use plan::setting::RequestResponse;
use plan::{Setting, evidence, metric};
use sim::Outcome;
use units::{Bytes, Seed, Span, Time};

use super::scenario::{ECHO, TRANSFER, of_message, scenario_of_size, settling};
use super::{Simulator, seconds, simulation_of};
use crate::measurements::Measurements;

/// The maximum number of simulated messages of a size, if the setting is
/// random. Otherwise one message represents all.
const MOST: u64 = 20;

/// The maximum number of transmissions of a datagram.
const TRIES: u64 = 100;

/// The state of one trial.
struct Round<'a> {
    simulator: &'a Simulator,
    setting: &'a Setting,
    request_response: &'a RequestResponse,
    seed: Seed,
    /// The total simulated time of the networks, in seconds.
    ran: f64,
}

impl Simulator {
    /// Measures the sizes of `request-response`; returns the total simulated
    /// time of their networks in seconds.
    pub(super) fn request_response(
        &self,
        setting: &Setting,
        request_response: &RequestResponse,
        seed: Seed,
    ) -> Result<(Measurements, f64), String> {
        let mut round = Round {
            simulator: self,
            setting,
            request_response,
            seed,
            ran: 0.0,
        };
        let sizes = request_response.sizes.all();
        let sizes: Result<Vec<OfSize>, String> =
            sizes.iter().map(|&size| round.of_size(size)).collect();
        let mut measurements = Measurements::default();
        measurements.take_sizes(request_response, &sizes?);
        // Times have picoseconds: round to a nanosecond, in milliseconds.
        for metric in [&metric::MESSAGE_TIME, &metric::MEGABYTE_TIME] {
            measurements.note(evidence::resolution(metric), 1e-6);
        }
        Ok((measurements, round.ran))
    }
}

impl Round<'_> {
    /// All messages of one size.
    fn of_size(&mut self, size: u32) -> Result<OfSize, String> {
        let bytes = self.request_response.bytes.get();
        let (messages, rest) = (bytes / u64::from(size), bytes % u64::from(size));
        let few = match settling(self.setting, Bytes::new(size.into())) {
            Some(_) => messages.clamp(1, MOST),
            None => 1,
        };
        let times: Result<Vec<Span>, String> =
            (0..few).map(|number| self.message(size, number)).collect();
        let times = times?;
        let last = match u32::try_from(rest) {
            Ok(rest) if rest > 0 => self.message(rest.max(28), messages)?,
            _ => Span::ZERO,
        };
        let nanos: Vec<f64> = times
            .iter()
            .map(|time| time.as_picos() as f64 / 1e3)
            .collect();
        let mean = nanos.iter().sum::<f64>() / few as f64;
        let squares: f64 = nanos.iter().map(|one| (one - mean).powi(2)).sum();
        let least = times.iter().min().copied().unwrap_or_default();
        let whole = match times.as_slice() {
            [time] => (*time * messages + last).as_nanos(),
            _ => nanoseconds(mean * messages as f64) + last.as_nanos(),
        };
        Ok(OfSize {
            size,
            messages,
            mean,
            deviation: match few {
                1 => 0.0,
                few => (squares / (few - 1) as f64).sqrt(),
            },
            least: least.as_nanos(),
            whole,
            ..OfSize::default()
        })
    }

    /// The time from sending one message to its answer. If the datagram or its
    /// answer is lost, it is sent again after a timeout, as between kernels.
    fn message(&mut self, size: u32, number: u64) -> Result<Span, String> {
        let is_random = settling(self.setting, Bytes::new(size.into())).is_some();
        let tries = match is_random && self.request_response.tcp.is_none() {
            true => TRIES,
            false => 1,
        };
        for attempt in 0..tries {
            let seed = match is_random {
                true => self.seed.derive(&format!("{size}/{number}/{attempt}")),
                false => self.seed,
            };
            if let Some(time) = round_trip(&self.outcome(size, seed)?) {
                return Ok(time + self.request_response.retransmit_after * attempt);
            }
        }
        Err(format!(
            "a message of {size} bytes, or its answer, did not arrive"
        ))
    }

    /// The outcome of a message and its answer. Cross traffic lasts as long as
    /// they are in flight; for a connection only a simulation can tell.
    fn outcome(&mut self, size: u32, seed: Seed) -> Result<Outcome, String> {
        let mut until = of_message(self.setting, size);
        loop {
            let room = (self.simulator.budget, until);
            let scenario = scenario_of_size(self.setting, self.request_response, size, seed, room);
            let end = scenario.end;
            let simulation = simulation_of(self.setting, scenario);
            let simulation = simulation.map_err(|bad| bad.to_string())?;
            let outcome = super::outcome(simulation, None)?;
            let connections = outcome.flows.iter().filter_map(|flow| flow.tcp.as_ref());
            let latest = connections.filter_map(|tcp| tcp.last_arrival).max();
            match until.filter(|&until| until < end && latest.is_some_and(|last| last > until)) {
                Some(late) => until = Some(late + late.since(Time::ZERO).unwrap_or_default()),
                None => {
                    self.ran += seconds(outcome.end);
                    return Ok(outcome);
                }
            }
        }
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a length of time, not below zero and far below 2^53 nanoseconds"
)]
fn nanoseconds(nanos: f64) -> u64 {
    nanos.round() as u64
}

/// The time from sending the message to its answer, if both arrived.
fn round_trip(outcome: &Outcome) -> Option<Span> {
    let took = |name: &str| {
        let flow = outcome.flows.iter().find(|flow| flow.name == name)?;
        (flow.received == 1).then_some(())?;
        let seconds = flow.delays.as_ref()?.mean;
        // A mean of one delay is that delay, to the picosecond.
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a delay is not below zero, and far below what a span holds"
        )]
        let picos = (seconds * 1e12).round() as u64;
        Some(Span::from_picos(picos))
    };
    Some(took(TRANSFER)? + took(ECHO)?)
}

#[cfg(test)]
mod tests;
