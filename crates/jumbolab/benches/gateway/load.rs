//! The loads under which systems are compared.

use crate::Result;

/// Datagrams of many flows to the far host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Load {
    pub(crate) name: &'static str,
    /// Bytes of a frame, with its FCS.
    pub(crate) frame: u16,
    /// Datagrams per second; `None`: as fast as it goes.
    pub(crate) pace: Option<u64>,
    /// One of so many datagrams is a probe, whose delay is measured.
    pub(crate) probes: usize,
    pub(crate) millis: u64,
    /// The CPUs of the near and the far gateway. The hosts are on CPU 0, which also
    /// forwards where the kernels do.
    pub(crate) processors: [u8; 2],
}

/// Flows, told apart by their ports.
pub(crate) const FLOWS: usize = 256;

impl Load {
    /// The names of the loads that need company for aggregation, and of the one without.
    pub(crate) const LOADED: &'static str = "rate-64,rate-200,paced-64,paced-200";
    pub(crate) const IDLE: &'static str = "idle,idle-one";

    /// Traffic before the measurements: afterwards caches are warm and neighbours are known.
    pub(crate) const WARM: Self = Self::new("warm", 64, Some(10_000), 16, 20);

    pub(crate) const ALL: [Self; 7] = [
        Self::WARM,
        Self::new("rate-64", 64, None, 64, 1_000),
        Self::new("rate-200", 200, None, 64, 1_000),
        Self::new("paced-64", 64, Some(100_000), 16, 1_000),
        Self::new("paced-200", 200, Some(100_000), 16, 1_000),
        Self::IDLE_LOAD,
        // No processor has to be woken up.
        Self {
            name: "idle-one",
            processors: [0, 0],
            ..Self::IDLE_LOAD
        },
    ];

    const IDLE_LOAD: Self = Self::new("idle", 64, Some(1_000), 1, 1_000);

    const fn new(
        name: &'static str,
        frame: u16,
        pace: Option<u64>,
        probes: usize,
        millis: u64,
    ) -> Self {
        Self {
            name,
            frame,
            pace,
            probes,
            millis,
            // A paced load leaves time on the hosts' processor.
            processors: if pace.is_some() { [1, 0] } else { [1, 1] },
        }
    }

    pub(crate) fn of_name(name: &str) -> Result<Self> {
        let known = Self::ALL.into_iter().find(|load| load.name == name);
        known.ok_or_else(|| format!("there is no load `{name}`").into())
    }
}
