//! Reads `[tcp]` and `[flows.NAME.tcp]`: the settings of simulated connections.

mod of_kernel;
mod values;

use anyhow::Result;
use keyfile::quantity::{either, on_off, size_or, span, switch, word};
use keyfile::{Node, Parsed, Table, Value, rejection};
use tcp::{Acknowledging, Control, Profile, Recovery, Settings};
use units::{Bytes, Span};

use crate::reader::{Reader, Spanned};
pub(super) use of_kernel::read as of_kernel;
use values::{Threshold, limit, name_of, segments, threshold, whole, written};

/// Bytes of timestamps in every segment, padding included [RFC7323 App A].
const TIMESTAMPS: u32 = 12;
/// The default receive window of ns-2, in segments [Ns2].
const NS2_WINDOW: u32 = 20;
/// The maximum delay of acknowledgements, as Linux's minimum; 500 ms are
/// allowed [RFC5681 s4.2].
const STANDARD_DELAY: Span = Span::from_millis(40);
/// The maximum delay of delayed acknowledgements in ns-2 [Ns2].
const NS2_DELAY: Span = Span::from_millis(100);
/// The largest payload of an IPv4 packet [RFC791 s3.1].
const LARGEST_SEGMENT: u32 = 65_495;

/// The TCP implementation, and the agent in ns-2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Agent {
    Standard,
    Linux,
    Ns2(Recovery),
}

const AGENTS: &[(&str, Agent)] = &[
    ("standard", Agent::Standard),
    ("linux", Agent::Linux),
    ("tahoe", Agent::Ns2(Recovery::Tahoe)),
    ("reno", Agent::Ns2(Recovery::Reno)),
    ("newreno", Agent::Ns2(Recovery::NewReno)),
    ("sack1", Agent::Ns2(Recovery::Sack)),
];

const RECOVERIES: &[(&str, Recovery)] = &[
    ("reno", Recovery::Reno),
    ("newreno", Recovery::NewReno),
    ("sack", Recovery::Sack),
];

/// The default connections of a cell.
#[derive(Clone)]
pub(super) struct Connections {
    settings: Settings,
    control: Control,
}

impl Connections {
    /// The settings of each connection.
    pub(super) fn into_settings(self) -> Settings {
        self.settings
    }
}

/// Reads `[tcp]`, with the hosts' `congestion`.
pub(super) fn read(reader: &mut Reader<'_>, congestion: &str) -> Result<Connections> {
    let control = control(congestion).unwrap_or(Control::Reno);
    let agent = reader.read("tcp.agent", word(AGENTS))?;
    grows_as_reno(reader, &agent, congestion)?;
    let base = defaults(agent.value, control);
    let settings = keys(reader, "tcp", agent.value, &base, true)?;
    Ok(Connections { settings, control })
}

/// Reads the keys of one flow. The defaults are those of `[tcp]` or, if the
/// flow names an agent, those of the agent.
pub(super) fn of_flow(
    reader: &mut Reader<'_>,
    flow: &str,
    all: &Connections,
    congestion: &str,
) -> Result<Settings> {
    let table = format!("flows.{flow}.tcp");
    let agent = reader.optional(&format!("{table}.agent"), word(AGENTS))?;
    let Some(agent) = agent else {
        let agent = match all.settings.profile {
            Profile::Standard => Agent::Standard,
            Profile::Ns2 => Agent::Ns2(all.settings.recovery),
        };
        return keys(reader, &table, agent, &all.settings, false);
    };
    grows_as_reno(reader, &agent, congestion)?;
    let base = defaults(agent.value, all.control);
    keys(reader, &table, agent.value, &base, true)
}

/// The window of flows between kernels, in segments, that `table` gives, or else `usual`;
/// `None`: as the kernel has it.
pub(super) fn window(
    reader: &mut Reader<'_>,
    table: &str,
    usual: Option<u32>,
) -> Result<Option<u32>> {
    let limit = |value: &Value| either(value, "none", segments);
    let found = reader.optional(&format!("{table}.window"), limit)?;
    Ok(found.map_or(usual, |found| found.value))
}

/// The congestion control of this name in the simulator.
pub(super) fn control(congestion: &str) -> Option<Control> {
    match congestion {
        "reno" => Some(Control::Reno),
        "cubic" => Some(Control::Cubic),
        _ => None,
    }
}

/// The default congestion control of hosts: ns-2's agents support only Reno.
pub(super) fn usual_control(tree: &Table) -> &'static str {
    let agent = tree.table("tcp").and_then(|tcp| tcp.get("agent"));
    match agent.map(|node| &node.value) {
        Some(Value::Text(agent)) if !["standard", "linux"].contains(&agent.as_str()) => "reno",
        _ => "cubic",
    }
}

fn defaults(agent: Agent, control: Control) -> Settings {
    match agent {
        Agent::Standard => Settings {
            control,
            ..Settings::new(u32::MAX)
        },
        Agent::Linux => Settings::linux(control, u32::MAX),
        Agent::Ns2(recovery) => Settings::ns2(recovery, u32::MAX, NS2_WINDOW),
    }
}

fn grows_as_reno(reader: &mut Reader<'_>, agent: &Spanned<Agent>, congestion: &str) -> Result<()> {
    if !matches!(agent.value, Agent::Ns2(_)) || congestion == "reno" {
        return Ok(());
    }
    let why = "ns-2's agents know Reno's control only; write host.congestion = \"reno\"";
    match reader.find("host.congestion")? {
        Some(Node { value, origin }) => Err(rejection(origin, "host.congestion", value, why)),
        None => Err(agent.reject(why)),
    }
}

/// The loss recovery of a sender that is not an ns-2 agent.
fn recovery_of_standard(value: &Value) -> Parsed<Recovery> {
    match value {
        Value::Text(word) if word == "tahoe" => Err(
            "ns-2's agent alone has it: agent = \"tahoe\"; here write \"reno\", \"newreno\" or \"sack\"".to_owned(),
        ),
        value => word(RECOVERIES)(value),
    }
}

/// Reads the keys of `table` over `base`; `all`: defaults are resolved, too.
fn keys(
    reader: &mut Reader<'_>,
    table: &str,
    agent: Agent,
    base: &Settings,
    all: bool,
) -> Result<Settings> {
    let mut keys = Keys { reader, table, all };
    let standard = !matches!(agent, Agent::Ns2(_));
    let recovery = match agent {
        Agent::Standard | Agent::Linux => {
            let usual = name_of(RECOVERIES, base.recovery);
            let recovery = keys.key("recovery", usual.into(), recovery_of_standard)?;
            recovery.map_or(base.recovery, |found| found.value)
        }
        Agent::Ns2(recovery) => {
            let path = keys.path("recovery");
            if let Some(Node { value, origin }) = keys.reader.find(&path)? {
                let why = "ns-2's agents have their own: agent = \"tahoe\", \"reno\", \"newreno\" or \"sack1\"";
                return Err(rejection(origin, &path, value, why));
            }
            recovery
        }
    };
    for key in ["rack", "tail_loss_probe"] {
        // The table of keys accepts nothing but "off".
        let path = keys.path(key);
        keys.reader.optional(&path, switch)?;
    }
    let window = keys.key("window", limit(base.window), |value| {
        either(value, "none", segments)
    })?;
    let window = window.map_or(base.window, |found| found.value.unwrap_or(u32::MAX));
    let initial_window = keys.key("initial_window", whole(base.initial_window), segments)?;
    // Values derived from the window are written as such, so that they stay
    // derived.
    let usual = match (standard, base.initial_ssthresh) {
        (true, None) => Value::from("none"),
        (_, Some(threshold)) if standard || threshold != base.window => whole(threshold),
        _ => "window".into(),
    };
    let inherited = match &usual {
        Value::Text(text) if text == "window" => Some(window),
        _ => base.initial_ssthresh,
    };
    let threshold = keys.key("initial_ssthresh", usual, threshold)?;
    if let Some(found) = &threshold
        && found.value == Threshold::None
        && !standard
    {
        return Err(found.reject("ns-2's agents always have one; write \"window\" or a number"));
    }
    let initial_ssthresh = match threshold.map(|found| found.value) {
        None => inherited,
        Some(Threshold::None) => None,
        Some(Threshold::Window) => Some(window),
        Some(Threshold::Segments(segments)) => Some(segments),
    };
    let limited = keys.key(
        "limited_transmit",
        on_off(base.limited_transmit).into(),
        switch,
    )?;
    let acknowledging = acknowledging(&mut keys, base, standard)?;
    let ecn = keys.key("ecn", on_off(base.ecn).into(), switch)?;
    if let Some(found) = &ecn
        && found.value
        && !standard
    {
        return Err(found.reject("ns-2's agents are simulated without marks; write \"off\""));
    }
    let timestamps = keys.key("timestamps", on_off(base.options > 0).into(), switch)?;
    let times = times(&mut keys, base)?;
    let most = i64::from(LARGEST_SEGMENT);
    let usual = match base.segment {
        u32::MAX => Value::from("mtu"),
        segment => whole(segment),
    };
    let segment = keys.key("segment", usual, size_or("mtu"))?;
    let bytes = |size: Bytes| u32::try_from(size.get()).ok();
    let fits = |segment: u32| (1..=LARGEST_SEGMENT).contains(&segment);
    let segment = match segment {
        None => base.segment,
        Some(found) => match found.value.map(bytes) {
            None => u32::MAX,
            Some(Some(segment)) if fits(segment) => segment,
            Some(_) => {
                return Err(found.reject(format!("write \"mtu\", or 1 to {most} bytes")));
            }
        },
    };
    Ok(Settings {
        recovery,
        window,
        initial_window: initial_window.map_or(base.initial_window, |found| found.value),
        initial_ssthresh,
        limited_transmit: limited.map_or(base.limited_transmit, |found| found.value),
        acknowledging,
        ecn: ecn.map_or(base.ecn, |found| found.value),
        options: match timestamps {
            None => base.options,
            Some(found) if found.value => TIMESTAMPS,
            Some(_) => 0,
        },
        segment,
        ..times
    })
}

fn acknowledging(
    keys: &mut Keys<'_, '_>,
    base: &Settings,
    standard: bool,
) -> Result<Acknowledging> {
    let (delayed, usual) = match base.acknowledging {
        Acknowledging::Delayed(delay) => (true, delay),
        Acknowledging::Each if standard => (false, STANDARD_DELAY),
        Acknowledging::Each => (false, NS2_DELAY),
    };
    let words = word(&[("delayed", true), ("each", false)]);
    let usual_word = if delayed { "delayed" } else { "each" };
    let found = keys.key("acknowledge", usual_word.into(), words)?;
    let delayed = found.map_or(delayed, |found| found.value);
    let delay = keys.key("delayed_ack", written(usual), span)?;
    if let Some(found) = &delay
        && found.value == Span::ZERO
    {
        return Err(found.reject("for no delay write acknowledge = \"each\""));
    }
    let delay = delay.map_or(usual, |found| found.value);
    Ok(match delayed {
        true => Acknowledging::Delayed(delay),
        false => Acknowledging::Each,
    })
}

/// The settings of `base` with the times of its timers as written.
fn times(keys: &mut Keys<'_, '_>, base: &Settings) -> Result<Settings> {
    let mut time = |key: &str, usual: Span| -> Result<(Span, Option<Spanned<Span>>)> {
        let found = keys.key(key, written(usual), span)?;
        if let Some(found) = &found
            && found.value == Span::ZERO
        {
            return Err(found.reject("write a time above 0"));
        }
        Ok((found.as_ref().map_or(usual, |found| found.value), found))
    };
    let (initial_rto, _) = time("initial_rto", base.initial_rto)?;
    let (min_rto, shortest) = time("min_rto", base.min_rto)?;
    let (max_rto, longest) = time("max_rto", base.max_rto)?;
    let (tick, _) = time("clock_granularity", base.tick)?;
    if min_rto > max_rto
        && let Some(found) = longest.or(shortest)
    {
        return Err(found.reject(format!(
            "the shortest time-out is {min_rto}, the longest {max_rto}"
        )));
    }
    Ok(Settings {
        initial_rto,
        min_rto,
        max_rto,
        tick,
        ..base.clone()
    })
}

/// Keys of one table.
struct Keys<'a, 'b> {
    reader: &'a mut Reader<'b>,
    table: &'a str,
    all: bool,
}

impl Keys<'_, '_> {
    fn path(&self, key: &str) -> String {
        format!("{}.{key}", self.table)
    }

    fn key<T>(
        &mut self,
        key: &str,
        usual: Value,
        parse: impl FnOnce(&Value) -> Parsed<T>,
    ) -> Result<Option<Spanned<T>>> {
        let path = self.path(key);
        match self.all {
            true => self.reader.read_or(&path, usual, parse).map(Some),
            false => self.reader.optional(&path, parse),
        }
    }
}
