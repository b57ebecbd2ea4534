//! `jumbolab predict wait` and `predict bundle`.

use anyhow::{Context as _, Result, anyhow, ensure};
use model::{Pieces, Service, Transfer, mean_wait};
use report::{BUNDLE_FRAMING, Bundles, Prediction, Waits};
use units::{Bytes, IpVersion, Rate, Span};

use super::mix::mix;
use super::options::{Asked, MOST_VALUES, quantity};
use crate::args::{Bundle, Wait};
use crate::command::probabilities::share;

/// The largest packet that a gateway cuts.
const LARGEST_CUT: Bytes = Bytes::new(0xffff);

/// The mean waits that the options describe.
///
/// # Errors
/// One line with the option, the value, and what would be right.
pub(super) fn waits(args: &Wait) -> Result<Prediction> {
    let asked = Asked::read(&args.packets)?;
    let rate: Rate = quantity("--rate", &args.rate)?;
    ensure!(
        args.load.len() <= MOST_VALUES,
        "--load: at most {MOST_VALUES} values; write fewer"
    );
    let loads = args.load.iter().map(|text| {
        let load = share(text).ok().filter(|load| *load < 1.0);
        load.ok_or_else(|| {
            anyhow!("--load {text}: write a share of the link below 100 %, for instance 70%; beyond it the queue grows without end")
        })
    });
    let loads: Vec<f64> = loads.collect::<Result<_>>()?;
    let messages = args.traffic_mix.as_deref().map(mix).transpose()?;
    let waits = asked.full.iter().map(|(mtu, full)| {
        let seconds = |wire: Bytes| wire.bits() as f64 / rate.bits_per_second() as f64;
        let services = match &messages {
            None => vec![(seconds(full.wire), 1.0)],
            Some(messages) => {
                let mut services: Vec<Service> = Vec::new();
                for (size, weight) in messages {
                    let transfer = Transfer::new(&asked.stack, *size, *mtu)
                        .with_context(|| format!("--mtu {}", mtu.get()))?;
                    let full = (transfer.frames - 1) as f64;
                    services.push((seconds(transfer.full.wire), weight * full));
                    services.push((seconds(transfer.last.wire), *weight));
                }
                services
            }
        };
        let weight: f64 = services.iter().map(|(_, weight)| weight).sum();
        let mean = services.iter().map(|(time, weight)| time * weight);
        let mean = mean.sum::<f64>() / weight;
        let waits = loads.iter().map(|load| mean_wait(&services, *load));
        let waits: Option<Vec<f64>> = waits.collect();
        Ok((*mtu, mean, waits.context("a mix without packets")?))
    });
    let waits: Vec<(Bytes, f64, Vec<f64>)> = waits.collect::<Result<_>>()?;
    Ok(report::of_waits(&Waits {
        stack: &asked.stack,
        rate,
        mix: args.traffic_mix.as_deref(),
        loads: &loads,
        waits: &waits,
    }))
}

/// The bundles that the options describe.
///
/// # Errors
/// As [`waits`].
pub(super) fn bundles(args: &Bundle) -> Result<Prediction> {
    for number in [
        args.packets_per_bundle.len(),
        args.arrivals.len(),
        args.inner_mtu.len(),
    ] {
        ensure!(
            number <= MOST_VALUES,
            "--packets-per-bundle, --arrivals, --inner-mtu: at most {MOST_VALUES} values each; write fewer"
        );
    }
    let timer = args.max_wait.as_deref();
    let timer: Option<Span> = timer.map(|text| quantity("--max-wait", text)).transpose()?;
    let arrivals = args.arrivals.iter().map(|text| {
        let number = text.parse::<f64>().ok();
        let number = number.filter(|number| (0.0..=1e12).contains(number));
        number.ok_or_else(|| {
            anyhow!("--arrivals {text}: write packets per second, for instance 2000")
        })
    });
    let arrivals: Vec<f64> = arrivals.collect::<Result<_>>()?;
    let ip = args.family.version().unwrap_or(IpVersion::V4);
    let mtu: Bytes = quantity("--mtu", &args.mtu)?;
    let pieces = args.inner_mtu.iter().map(|text| {
        let inner: Bytes = quantity("--inner-mtu", text)?;
        let pieces = Pieces::new(inner, mtu, ip.header(), BUNDLE_FRAMING)
            .filter(|_| inner <= LARGEST_CUT)
            .with_context(|| {
                let (most, mtu) = (LARGEST_CUT.get(), mtu.get());
                format!("--inner-mtu {text}: write a size of more than a bundle of {mtu} bytes holds, and at most {most}")
            })?;
        Ok((inner, mtu, pieces))
    });
    let pieces: Vec<_> = pieces.collect::<Result<_>>()?;
    Ok(report::of_bundles(&Bundles {
        ip,
        packets: &args.packets_per_bundle,
        timer: timer.map(|timer| (timer, arrivals.as_slice())),
        pieces: &pieces,
    }))
}
