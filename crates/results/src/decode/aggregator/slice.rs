//! Statistics of one interval of a packet log.

use meter::ditg::DitgRecorder;
use meter::streaming_recorder::{ArrivalClass, Delays};
use wire::log::Role;

use super::super::request::Definitions;
use super::super::row::{RowStats, Slice, seconds};

/// Accumulates the current interval.
#[derive(Default)]
pub(super) struct SliceAggregator {
    pub(super) packets: u64,
    bytes: u64,
    missing: i64,
    delays: Delays,
    ditg: DitgRecorder,
}

impl SliceAggregator {
    pub(super) fn record(
        &mut self,
        class: ArrivalClass,
        at: u64,
        delay: Option<i64>,
        size: u32,
        ditg: bool,
    ) {
        self.packets += 1;
        if ditg {
            self.ditg.record(at, delay.unwrap_or_default(), size);
        }
        match class {
            ArrivalClass::Ahead(skipped) => {
                let skipped = i64::try_from(skipped).unwrap_or(i64::MAX);
                self.missing = self.missing.saturating_add(skipped);
            }
            ArrivalClass::Late => self.missing -= 1,
            ArrivalClass::Duplicate | ArrivalClass::Unexpected => return,
        }
        self.bytes = self.bytes.saturating_add(size.into());
        if let Some(delay) = delay.and_then(|delay| u64::try_from(delay).ok()) {
            self.delays.record(delay);
        }
    }

    pub(super) fn stats(&self, definitions: Definitions, role: Role, interval: u64) -> RowStats {
        match (definitions, role) {
            (Definitions::Standard, _) => RowStats::Slice(Slice {
                packets: self.packets,
                bytes: self.bytes,
                missing: self.missing,
                seconds: seconds(interval),
                delay_mean: self.delays.mean(),
                delay_min: self.delays.min(),
                delay_p50: self.delays.quantile(0.5),
                delay_p99: self.delays.quantile(0.99),
                delay_max: self.delays.max(),
            }),
            (Definitions::Ditg, Role::Sender) => {
                RowStats::Ditg(self.ditg.stats().of_departures(), None)
            }
            (Definitions::Ditg, _) => RowStats::Ditg(self.ditg.stats(), None),
        }
    }
}
