//! A trial of our own transfers.

use anyhow::Context;
use live::clock::Epoch;
use live::meter;
use live::transfer::{Echo, Transfer};
use serde_json::json;
use units::{Bytes, Seed};

use super::checks::{flags, late_share};
use super::convert::{Paced, counted_of, transfer_of};
use super::figures::{Ends, Passes};
use super::{Failure, Figures, Netns, OUTRUNNING, Seen};
use crate::passed::Over;
use plan::Setting;
use plan::setting as spec;

impl Netns {
    /// Transfers through the links for bulk and those for single messages;
    /// what was seen of both, that for bulk first.
    pub(super) fn transfers(
        &mut self,
        setting: &Setting,
        transfer: &spec::Transfer,
        luck: Seed,
        epoch: Epoch,
    ) -> Result<(Figures, Vec<Seen>), Failure> {
        let [bulk, single] = Paced::of(setting.network.link);
        let mut seen = Vec::new();
        let mut bases = Vec::new();
        for paced in Paced::beds(setting.network.link) {
            let standing = self.bed(setting, paced)?;
            let address = standing.testbed.destination(&standing.path);
            let base = transfer_of(setting, paced, transfer, address, epoch);
            seen.push(standing.see(setting, &base, transfer.protocol)?);
            standing.begin_luck(luck)?;
            bases.push(base);
        }
        let before = self.before(setting)?;
        // Goodput and CPU are taken through a drained bucket; the messages
        // that drain it need not look like the traffic, and long ones outrun
        // links that short ones do not. Delays begin with an idle path.
        let drained = Transfer {
            preroll_message: OUTRUNNING.max(bases[0].message),
            delays: false,
            ..bases[0].clone()
        };
        let idle = Transfer {
            preroll: Bytes::ZERO,
            ..bases[bases.len() - 1].clone()
        };
        let rated = self.over(setting, bulk, &drained)?;
        let windows = self.windows(setting, &rated, epoch)?;
        let one_way = self.over(setting, single, &idle)?;
        let echo = match transfer.echo {
            spec::Echo::Off => None,
            spec::Echo::Headers => Some(Echo::Headers),
            spec::Echo::Whole => Some(Echo::Whole),
        };
        let echoed = match echo {
            Some(echo) => Some(self.over(setting, single, &Transfer { echo, ..idle })?),
            None => None,
        };
        let metered = match transfer.cpu_size {
            Bytes::ZERO => None,
            size => {
                let before = meter::Machine::sample().context("metering the machine")?;
                let ends = self.over(setting, bulk, &Transfer { size, ..drained })?;
                let after = meter::Machine::sample().context("metering the machine")?;
                Some((ends, after.since(&before)))
            }
        };
        let passes = Passes {
            rated,
            one_way,
            echoed,
            metered,
            meanwhile: self.meanwhile(setting, &before)?,
        };
        passes.something_arrived(transfer.message, transfer.size)?;
        let mut figures = Figures::of(&passes);
        figures.take_meanwhile(setting, &passes.meanwhile);
        for (window, over) in &windows {
            figures.take_window(window, over);
        }
        figures.flags = flags(setting, transfer, &passes, &seen);
        if let Some(goodput) = &passes.rated.1.goodput {
            let late = 100.0 * late_share(&seen[0], &passes, goodput);
            figures.note("goodput_late_percent", json!(late));
        }
        figures.note("message_octets", json!(bases[0].message.get()));
        figures.note("preroll_octets", json!(bases[0].preroll.get()));
        Ok((figures, seen))
    }

    /// The figures over the counted part of a transfer, by the windows' names.
    fn windows(
        &mut self,
        setting: &Setting,
        (_, received): &Ends,
        epoch: Epoch,
    ) -> Result<Vec<(String, Over)>, Failure> {
        let Some(goodput) = &received.goodput else {
            return Ok(Vec::new());
        };
        let [from, to] = [goodput.first, goodput.last].map(|time| epoch.unix_nanos_at(time));
        let mut windows = Vec::new();
        for (wire, window) in counted_of(setting) {
            let over = self.emulation(setting)?.over(wire, from, to)?;
            windows.extend(over.map(|over| (window.to_owned(), over)));
        }
        Ok(windows)
    }

    fn over(
        &mut self,
        setting: &Setting,
        paced: Paced,
        transfer: &Transfer,
    ) -> Result<Ends, Failure> {
        self.bed(setting, paced)?.agents.transfer(transfer)
    }
}
