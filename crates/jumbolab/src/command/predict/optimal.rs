//! `jumbolab predict optimal`.

use anyhow::{Context as _, Result, anyhow, ensure};
use model::{GoodputByMtu, Path, Response, Stack};
use report::{Chosen, Prediction};
use units::{Bytes, Span};

use super::mix::mix;
use super::options::quantity;
use crate::args::{Optimal, TcpModel};
use crate::command::probabilities::{probability, share};

/// The best MTU of the path that the options describe.
///
/// # Errors
/// One line with the option, the value, and what would be right.
pub(super) fn prediction(args: &Optimal) -> Result<Prediction> {
    let Optimal {
        bit_error_rate,
        loss,
        ..
    } = args;
    let stack: Stack = args
        .stack
        .headers
        .parse()
        .with_context(|| format!("--headers {}", args.stack.headers))?;
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
        bit_error_rate: probability(bit_error_rate)
            .map_err(|why| anyhow!("--bit-error-rate {bit_error_rate}: {why}"))?,
        response: trip.map(|trip| (trip, response(args.tcp_model))),
    };
    ensure!(
        path.loss < 1.0 && path.bit_error_rate < 1.0,
        "nothing arrives if every frame or bit is wrong; write smaller values of --loss and --bit-error-rate"
    );
    let messages = args
        .traffic_mix
        .as_deref()
        .map(mix)
        .transpose()?
        .unwrap_or_default();
    let largest: Bytes = quantity("--max-mtu", &args.max_mtu)?;
    let mtus = args.mtu.iter().map(|text| {
        let mtu = quantity("--mtu", text)?;
        stack
            .largest(mtu)
            .with_context(|| format!("--mtu {text}"))?;
        Ok(mtu)
    });
    let mtus: Vec<Bytes> = mtus.collect::<Result<_>>()?;
    let most = mtus.iter().copied().max().unwrap_or(largest).max(largest);
    let prospect = GoodputByMtu::new(&stack, path, &messages, most)
        .with_context(|| format!("--max-mtu {}", most.get()))?;
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
        "no packet of any MTU arrives on this path; write smaller values of --loss and --bit-error-rate",
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

const fn response(model: TcpModel) -> Response {
    match model {
        TcpModel::Reno => Response::Reno,
        TcpModel::Timeouts => Response::RenoWithTimeouts,
        TcpModel::Cubic => Response::Cubic,
    }
}

/// The path as it was described.
fn words(args: &Optimal) -> String {
    let trip = args.rtt.as_ref().map(|trip| {
        let model = match args.tcp_model {
            TcpModel::Reno => "Reno",
            TcpModel::Timeouts => "Reno with time-outs",
            TcpModel::Cubic => "CUBIC",
        };
        format!(", {model} with round trips of {trip}")
    });
    let mix = args
        .traffic_mix
        .as_ref()
        .map(|mix| format!(", messages of {mix}"));
    format!(
        "{}, errors of bits {}, frames lost {}{}{}",
        args.rate,
        args.bit_error_rate,
        args.loss,
        trip.unwrap_or_default(),
        mix.unwrap_or_default()
    )
}
