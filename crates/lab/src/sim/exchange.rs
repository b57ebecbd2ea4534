//! Messages of many sizes, one at a time, each through a network of its own.

use live::exchange::OfSize;
use sim::Outcome;
use units::{Seed, Span};

use super::scenario::{ECHO, TRANSFER, scenario_of_size};
use super::{Simulator, seconds, simulation_of};
use crate::experiment::{Exchange, Setting};
use crate::trial::Figures;

impl Simulator {
    /// Goes through the sizes of `exchange`; for how many seconds their
    /// networks ran together.
    pub(super) fn exchange(
        &self,
        setting: &Setting,
        exchange: &Exchange,
        seed: Seed,
    ) -> Result<(Figures, f64), String> {
        let mut sizes = Vec::new();
        let mut ran = 0.0;
        for size in exchange.sizes.all() {
            let mut took = |size: u32| {
                let scenario = scenario_of_size(setting, exchange, size, seed, self.budget);
                let simulation = simulation_of(setting, scenario);
                let outcome = simulation.map_err(|bad| bad.to_string())?.run();
                ran += seconds(outcome.end);
                round_trip(&outcome).ok_or_else(|| {
                    format!("a message of {size} octets, or its answer, did not arrive")
                })
            };
            let octets = exchange.octets.get();
            let (messages, rest) = (octets / u64::from(size), octets % u64::from(size));
            let mean = took(size)?;
            let last = match u32::try_from(rest) {
                Ok(rest) if rest > 0 => took(rest.max(28))?,
                _ => Span::ZERO,
            };
            sizes.push(OfSize {
                size,
                messages,
                mean: mean.as_picos() as f64 / 1e3,
                least: mean.as_nanos(),
                whole: (mean * messages + last).as_nanos(),
                ..OfSize::default()
            });
        }
        let mut figures = Figures::default();
        figures.take_sizes(exchange, &sizes);
        // Instants are counted in picoseconds: a nanosecond, in milliseconds.
        for metric in ["message_time", "megabyte_time"] {
            figures.note(&format!("resolution_{metric}"), 1e-6.into());
        }
        Ok((figures, ran))
    }
}

/// From the sending of the message to its answer, if both arrived.
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
