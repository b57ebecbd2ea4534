//! `jumbolab emulate`: an emulated link between two interfaces.

mod link;
mod reporter;
mod text;

use std::io::ErrorKind;

use anyhow::{Result, anyhow, ensure};
use backends::recording::{Heading, Recording};
use emulator::{EmulatedLink, Emulator, End};
use os::{clock, interrupt};
use units::{Bytes, Seed, Span, Time};

use crate::args::Emulate;
use crate::exit::Ending;
use crate::output;
use reporter::{Reporter, Tick};

/// The interval of checks for a stop request and of fetching events.
const STEP: Span = Span::from_millis(100);

/// The interval of reported counts.
const TICK: Span = Span::from_secs(1);

pub(crate) fn run(args: &Emulate) -> Result<Ending> {
    let ends: [String; 2] = args
        .between
        .clone()
        .try_into()
        .map_err(|_| anyhow!("--between: name two interfaces"))?;
    let length = args.duration.as_deref();
    let length = length
        .map(|text| link::duration("--duration", text))
        .transpose()?;
    let seed = args.seed.as_deref().unwrap_or("1");
    let seed = seed
        .parse()
        .map_err(|_| anyhow!("--seed {seed}: write a whole number, for instance 1"))?;
    // Report errors in the options first, whatever the interfaces are.
    link::directions(args, Bytes::ZERO)?;
    let largest = check(&ends)?;
    let link = EmulatedLink {
        directions: link::directions(args, largest)?,
        ends: ends.clone(),
        rules: Vec::new(),
    };
    let described = link.directions.clone();
    let mut emulator = Emulator::open(&[link], Seed::new(seed)).map_err(privileges)?;
    emulator.run_first();
    if args.record.is_some() {
        emulator.record();
    }
    let heading = Heading {
        origin: emulator.opened(),
        directions: described,
        reseeds: emulator.reseeds(0),
    };
    let recording = args.record.as_deref();
    let recording = recording
        .map(|path| Recording::create(path, &heading))
        .transpose()?;
    interrupt::listen()?;
    let end = match length {
        Some(length) => format!("for {length}"),
        None => "until Ctrl-C".to_owned(),
    };
    let [first, second] = &ends;
    output::info(&format!(
        "forwarding frames between {first} and {second} {end}"
    ));
    let reporter = Reporter::start(ends, args.json, recording)?;
    let outcome = carry(&mut emulator, &reporter, length);
    // Record the last frames, even if an interface has disappeared.
    reporter.record(emulator.take_events())?;
    reporter.conclude(emulator.waiting(0), emulator.reseeds(0));
    // The reporter may have ended first, and then returns the reason.
    let recorded = reporter.end()?;
    outcome?;
    Ok(match recorded {
        true => Ending::Sound,
        false => Ending::Unsound,
    })
}

/// Carries frames until a stop request, the end of `length`, or the loss of the
/// reader.
fn carry(emulator: &mut Emulator, reporter: &Reporter, length: Option<Span>) -> Result<()> {
    let begun = clock::monotonic();
    let (mut step, mut tick) = (begun, begun + TICK);
    loop {
        let now = clock::monotonic();
        // Steps missed during a pause, such as a suspended machine, are not
        // made up for.
        step = (step + STEP).max(now);
        let end = length.map_or(Time::from_picos(u64::MAX), |length| begun + length);
        emulator.run_until(step.min(tick).min(end))?;
        let now = clock::monotonic();
        if !reporter.record(emulator.take_events())? {
            return Ok(());
        }
        let elapsed = now.since(begun).unwrap_or_default();
        let over = interrupt::asked() || now >= end;
        if over || now >= tick {
            tick = (tick + TICK).max(now);
            let report = emulator.report()?;
            let whole = over.then(|| emulator.late());
            let news = Tick {
                elapsed,
                report,
                whole,
            };
            if !reporter.report(news) || over {
                return Ok(());
            }
        }
    }
}

/// Checks that frames can be carried between `ends`; returns the larger of the MTUs.
fn check(ends: &[String; 2]) -> Result<Bytes> {
    let [first, second] = ends;
    ensure!(
        first != second,
        "--between {first} {second}: a link needs two different interfaces; name another one"
    );
    let mut largest = Bytes::ZERO;
    for name in ends {
        let end = End::look(name).map_err(|_| {
            anyhow!("--between {first} {second}: unknown interface {name}; `ip link` lists the interfaces")
        })?;
        ensure!(
            !end.loopback && end.ethernet,
            "--between {first} {second}: {name} has no Ethernet frames; name a network card, one end of a veth pair, or a tap interface"
        );
        ensure!(
            end.up,
            "--between {first} {second}: {name} is down; type: ip link set {name} up"
        );
        largest = largest.max(end.mtu);
    }
    Ok(largest)
}

/// Adds the command to type if the kernel denies access.
fn privileges(error: os::Error) -> anyhow::Error {
    match error.source.kind() {
        ErrorKind::PermissionDenied => anyhow!(
            "{error}: emulation needs CAP_NET_RAW; type `sudo jumbolab emulate ...`, or run it inside `unshare -Urnm`, as root of a private network namespace"
        ),
        _ => error.into(),
    }
}
