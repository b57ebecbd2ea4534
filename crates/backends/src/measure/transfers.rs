//! A trial of transfers.

use anyhow::Context;
use os::clock::Epoch;
use plan::{Setting, evidence, setting as spec};
use traffic::driver::transfer::{Echo, Transfer};
use units::Bytes;

use super::checks::{flags, stored_share};
use super::convert::transfer_of;
use super::disturbance::{Disturbance, StallMetering, watched};
use super::pass::Pass;
use super::passes::{Ends, Passes};
use super::{OUTRUNNING, Pair, Path};
use crate::agent::Failure;
use crate::link_window::LinkWindow;
use crate::measurements::Measurements;

/// Transfers bulk data between the first of `pairs` and single messages between
/// the last, which may be the same.
pub(super) fn transfers(
    pairs: &mut [Pair<'_>],
    setting: &Setting,
    transfer: &spec::Transfer,
    epoch: Epoch,
) -> Result<Measurements, Failure> {
    let single = pairs.len() - 1;
    let base = |path: &Path| {
        let address = path.addresses.receiver;
        transfer_of(setting, path.paced, transfer, address, epoch)
    };
    let [bulk, last] = [0, single].map(|number| base(&pairs[number].path));
    // Goodput and CPU time are measured after the bucket is drained. The
    // draining messages may differ from the traffic; long ones exceed link
    // rates that short ones do not reach. Delays start with an idle path.
    let drained = Transfer {
        warmup_message: OUTRUNNING.max(bulk.message),
        delays: false,
        ..bulk.clone()
    };
    let idle = Transfer {
        warmup: Bytes::ZERO,
        ..last
    };
    let mut each = Vec::new();
    let mut pass = |pair: &mut Pair<'_>, pass: Pass, transfer: &Transfer| {
        let stall_metering = match pass {
            Pass::Throughput | Pass::Delay | Pass::RoundTrip => StallMetering::On,
            Pass::Cpu => StallMetering::Off,
        };
        let transferred = watched(pair, stall_metering, |pair| pair.agents.transfer(transfer));
        let (ends, disturbance) = transferred?;
        let machine = disturbance.machine;
        each.push((pass, disturbance));
        Ok::<_, Failure>((ends, machine))
    };
    let (rated, _) = pass(&mut pairs[0], Pass::Throughput, &drained)?;
    let windows = windows(&mut pairs[single], setting, &rated, epoch)?;
    let (one_way, _) = pass(&mut pairs[single], Pass::Delay, &idle)?;
    let echo = match transfer.echo {
        spec::Echo::Off => None,
        spec::Echo::Headers => Some(Echo::Headers),
        spec::Echo::Whole => Some(Echo::Whole),
    };
    let echoed = match echo {
        Some(echo) => {
            let echoing = Transfer { echo, ..idle };
            Some(pass(&mut pairs[single], Pass::RoundTrip, &echoing)?.0)
        }
        None => None,
    };
    let metered = match transfer.cpu_bytes {
        Bytes::ZERO => None,
        size => Some(pass(
            &mut pairs[0],
            Pass::Cpu,
            &Transfer { size, ..drained },
        )?),
    };
    let mut disturbances = each.iter().map(|(_, disturbance)| disturbance);
    let mut disturbance = disturbances.next().context("a trial has passes")?.clone();
    disturbances.for_each(|later| disturbance.add(later));
    let passes = Passes {
        rated,
        one_way,
        echoed,
        metered,
        each,
        disturbance,
    };
    passes.something_arrived(transfer.message, transfer.size)?;
    let mut measurements = Measurements::of(&passes);
    measurements.take_disturbance(setting, &passes.disturbance);
    for (name, window) in &windows {
        measurements.take_window(name, window);
    }
    let paths: Vec<&Path> = pairs.iter().map(|pair| &pair.path).collect();
    measurements.flags = flags(setting, transfer, &passes, &paths);
    let slewed = passes.of(Pass::Delay).map(Disturbance::slewed);
    let clocks = passes.one_way.1.clocks.as_ref();
    measurements.take_clock_line(clocks, slewed.unwrap_or_default());
    measurements.take_stamps_of_transfer(&passes);
    let rated = passes
        .of(Pass::Throughput)
        .zip(passes.rated.1.goodput.as_ref());
    if let Some((disturbance, goodput)) = rated {
        let stored = stored_share(setting, paths[0], disturbance, goodput.bytes, goodput.span);
        measurements.note(evidence::GOODPUT_LATE_PERCENT, 100.0 * stored);
    }
    measurements.note(evidence::MESSAGE_BYTES, bulk.message.get());
    measurements.note(evidence::WARMUP_BYTES, bulk.warmup.get());
    match measurements.judge_each(&passes.each) {
        true => Ok(measurements),
        false => Err(passes.disturbance.failure("no pass is valid".to_owned())),
    }
}

/// The links with a window over the counted part of a transfer, and its name.
pub(crate) fn counted_of(setting: &Setting) -> impl Iterator<Item = (usize, &str)> {
    let links = setting.network.links.iter().enumerate();
    links.filter_map(|(number, link)| Some((number, link.counted.transfer.as_deref()?)))
}

/// The metrics over the counted part of a transfer, by window name.
fn windows(
    pair: &mut Pair<'_>,
    setting: &Setting,
    (_, received): &Ends,
    epoch: Epoch,
) -> Result<Vec<(String, LinkWindow)>, Failure> {
    let Some(goodput) = &received.goodput else {
        return Ok(Vec::new());
    };
    let [from, to] = [goodput.first, goodput.last].map(|time| epoch.unix_nanos_at(time));
    let mut windows = Vec::new();
    for (link, name) in counted_of(setting) {
        let window = pair.meters.window(link, from, to)?;
        windows.extend(window.map(|window| (name.to_owned(), window)));
    }
    Ok(windows)
}
