//! Reads stacks, MTUs and rates from options.

use std::str::FromStr;

use anyhow::{Context as _, Result, anyhow, ensure};
use model::{ETHERNET_RATES, Sizes, Stack};
use units::{BadText, Bytes, Rate};

use crate::args::Packets;

/// The most values of an option.
pub(super) const MOST_VALUES: usize = 64;

/// A stack, and the packets that fill each MTU.
#[derive(Debug)]
pub(super) struct Asked {
    pub(super) stack: Stack,
    pub(super) full: Vec<(Bytes, Sizes)>,
}

impl Asked {
    /// Reads `--headers` and `--mtu`.
    ///
    /// # Errors
    /// One line with the option, the value, and what would be right.
    pub(super) fn read(packets: &Packets) -> Result<Self> {
        let text = &packets.stack.headers;
        let stack: Stack = text.parse().with_context(|| format!("--headers {text}"))?;
        ensure!(
            packets.mtu.len() <= MOST_VALUES,
            "--mtu: at most {MOST_VALUES} values; write fewer"
        );
        let full = packets.mtu.iter().map(|text| {
            let mtu: Bytes = quantity("--mtu", text)?;
            let sizes = stack
                .largest(mtu)
                .with_context(|| format!("--mtu {text}"))?;
            Ok((mtu, sizes))
        });
        Ok(Self {
            full: full.collect::<Result<_>>()?,
            stack,
        })
    }
}

/// The rates of `--rate`; those of Ethernet where none is given.
///
/// # Errors
/// As [`Asked::read`].
pub(super) fn rates(texts: &[String]) -> Result<Vec<Rate>> {
    ensure!(
        texts.len() <= MOST_VALUES,
        "--rate: at most {MOST_VALUES} values; write fewer"
    );
    if texts.is_empty() {
        let rates = ETHERNET_RATES.into_iter();
        return Ok(rates.filter_map(Rate::from_bits_per_second).collect());
    }
    texts.iter().map(|text| quantity("--rate", text)).collect()
}

/// A quantity with a unit.
///
/// # Errors
/// As [`Asked::read`].
pub(super) fn quantity<T: FromStr<Err = BadText>>(option: &str, text: &str) -> Result<T> {
    text.parse()
        .map_err(|why| anyhow!("{option} {text}: {why}"))
}
