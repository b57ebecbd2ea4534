//! `jumbolab predict optimal`.

use anyhow::{Context as _, Result, anyhow, ensure};
use model::{Path, Prospect, Response, Stack};
use report::{Chosen, Prediction};
use units::{Bytes, Span};

use super::mix::mix;
use super::options::quantity;
use crate::args::{Optimal, ResponseLaw};
use crate::command::probabilities::{probability, share};

/// The best MTU of the path that the options describe.
///
/// # Errors
/// One line with the option, the value, and what would be right.
pub(super) fn prediction(args: &Optimal) -> Result<Prediction> {
    let Optimal { ber, loss, .. } = args;
    let stack: Stack = args
        .headers
        .stack
        .parse()
        .with_context(|| format!("--stack {}", args.headers.stack))?;
    let trip = args
        .rtt
        .as_deref()
        .map(|text| quantity::<Span>("--rtt", text))
        .transpose()?;
    ensure!(
        trip.is_none_or(|trip| trip > Span::ZERO),
        "--rtt: a round trip takes some time; write for instance 20ms, or leave it out"
    );
    let path = Path {
        rate: quantity("--rate", &args.rate)?,
        loss: share(loss).map_err(|why| anyhow!("--loss {loss}: {why}"))?,
        bit_error_rate: probability(ber).map_err(|why| anyhow!("--ber {ber}: {why}"))?,
        response: trip.map(|trip| (trip, response(args.response))),
    };
    ensure!(
        path.loss < 1.0 && path.bit_error_rate < 1.0,
        "nothing arrives if every frame or bit is wrong; write smaller values of --loss and --ber"
    );
    let messages = args
        .mix
        .as_deref()
        .map(mix)
        .transpose()?
        .unwrap_or_default();
    let largest: Bytes = quantity("--largest", &args.largest)?;
    let mtus = args.mtu.iter().map(|text| {
        let mtu = quantity("--mtu", text)?;
        stack
            .largest(mtu)
            .with_context(|| format!("--mtu {text}"))?;
        Ok(mtu)
    });
    let mtus: Vec<Bytes> = mtus.collect::<Result<_>>()?;
    let most = mtus.iter().copied().max().unwrap_or(largest).max(largest);
    let prospect = Prospect::new(&stack, path, &messages, most)
        .with_context(|| format!("--largest {}", most.get()))?;
    let asked = mtus.iter().map(|mtu| {
        let expected = prospect.at(*mtu);
        Ok((
            *mtu,
            expected.with_context(|| format!("--mtu {}", mtu.get()))?,
        ))
    });
    let asked = asked.collect::<Result<_>>()?;
    let best = prospect.best().filter(|(_, best)| best.goodput() > 0.0);
    let best = best.context(
        "no packet of any MTU arrives on this path; write smaller values of --loss and --ber",
    )?;
    let chosen = Chosen {
        stack: &stack,
        rate: path.rate,
        bit_error_rate: path.bit_error_rate,
        words: words(args),
        prospect: &prospect,
        best,
        asked,
    };
    Ok(report::of_optimal(&chosen))
}

const fn response(law: ResponseLaw) -> Response {
    match law {
        ResponseLaw::Reno => Response::Reno,
        ResponseLaw::Timeouts => Response::RenoWithTimeouts,
        ResponseLaw::Cubic => Response::Cubic,
    }
}

/// The path as it was described.
fn words(args: &Optimal) -> String {
    let trip = args.rtt.as_ref().map(|trip| {
        let law = match args.response {
            ResponseLaw::Reno => "Reno",
            ResponseLaw::Timeouts => "Reno with time-outs",
            ResponseLaw::Cubic => "CUBIC",
        };
        format!(", {law} with round trips of {trip}")
    });
    let mix = args.mix.as_ref().map(|mix| format!(", messages of {mix}"));
    format!(
        "{}, errors of bits {}, frames lost {}{}{}",
        args.rate,
        args.ber,
        args.loss,
        trip.unwrap_or_default(),
        mix.unwrap_or_default()
    )
}
