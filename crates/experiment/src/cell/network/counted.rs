//! Reads `[links.NAME.windows]`, `[links.NAME.series]` and
//! `[links.NAME.losses]`: counters of a link over parts of a trial.

mod losses;
mod transfer;

use anyhow::Result;
use keyfile::quantity::{name, span};
use keyfile::{Node, Parsed, Table, Value, rejection};
use plan::metric::LONGEST_WINDOW;
use plan::setting::{Counted, Network, Traffic, Window};
use plan::{Backend, Hosts};
use units::Span;

use crate::reader::{Reader, Spanned};

/// The tables of a link that are read here.
const TABLES: [&str; 3] = ["windows", "series", "losses"];

/// The maximum number of links with windows in a network with a domain: each
/// uses a bit of the packets' marks.
const MOST_WINDOWED: u32 = u64::BITS;

/// The maximum number of intervals of a time series: each is a point of a plot.
const MOST_INTERVALS: u64 = 10_000;

/// Reads the counters of the links of `network`, which carries `traffic`.
pub(in crate::cell) fn read(
    reader: &mut Reader<'_>,
    tree: &Table,
    network: &mut Network,
    traffic: &Traffic,
    backend: Backend,
) -> Result<()> {
    let links: Vec<String> = network.links.iter().map(|link| link.name.clone()).collect();
    let duration = match (traffic, backend.profile().hosts) {
        (Traffic::Flows(flows), Hosts::Simulated) => flows.duration,
        (Traffic::Flows(flows), Hosts::Kernels) if network.graph.is_some() => flows.duration,
        (Traffic::Transfer(of), _) if transfer::is_followed(network, of, backend) => {
            return transfer::read(reader, tree, network);
        }
        _ => {
            return reject(reader, &links, traffic, backend);
        }
    };
    let mut taken: Vec<String> = Vec::new();
    let mut looked_at: Option<&str> = None;
    let mut windowed = 0;
    for (position, link) in links.iter().enumerate() {
        let windows = windows(reader, tree, link, duration, &taken)?;
        let series = series(reader, link, duration)?;
        let losses = losses::read(reader, link, duration, looked_at)?;
        if losses.is_some() {
            looked_at = Some(link.as_str());
        }
        windowed += u32::from(!windows.is_empty());
        if windowed > MOST_WINDOWED
            && network.domain.is_some()
            && let Some((_, path, node)) = called(tree, link, &taken)?.first()
        {
            let why = format!("at most {MOST_WINDOWED} links may have windows; remove this one's");
            return Err(rejection(&node.origin, path, &node.value, &why));
        }
        taken.extend(windows.iter().map(|window| window.name.clone()));
        let counted = Counted {
            windows,
            series,
            transfer: None,
            losses,
        };
        if counted.is_any() {
            of_one_wire(reader, network, position)?;
        }
        network.links[position].counted = counted;
    }
    Ok(())
}

/// Rejects the tables where nothing can be counted.
fn reject(
    reader: &mut Reader<'_>,
    links: &[String],
    traffic: &Traffic,
    backend: Backend,
) -> Result<()> {
    for link in links {
        for table in TABLES {
            let path = format!("links.{link}.{table}");
            if let Some(Node { value, origin }) = reader.find(&path)? {
                let why = match (traffic, backend.profile().hosts) {
                    (Traffic::Transfer(_), Hosts::Kernels) if table == "windows" => {
                        "only a transfer over TCP and link = \"emulated\" is counted"
                    }
                    (_, Hosts::Kernels) => "only links of the backend `sim` are counted: --on sim",
                    (Traffic::Transfer(_), Hosts::Simulated) => {
                        "only a transfer over TCP is counted"
                    }
                    (_, Hosts::Simulated) => {
                        "only traffic of kind = \"flows\" has a duration to be parted; remove it"
                    }
                };
                return Err(rejection(origin, &path, value, why));
            }
        }
    }
    Ok(())
}

/// Rejects a name in `[links]` that stands for several links, whose counts
/// would be merged.
fn of_one_wire(reader: &mut Reader<'_>, network: &Network, position: usize) -> Result<()> {
    let graph = network.as_graph();
    let wires = graph.wires.iter().filter(|wire| wire.link == position);
    if wires.count() == 1 {
        return Ok(());
    }
    let link = &network.links[position].name;
    for table in TABLES {
        let path = format!("links.{link}.{table}");
        if let Some(Node { value, origin }) = reader.find(&path)? {
            let why = "this name stands for several links; write shape = \"explicit\" to count one of them";
            return Err(rejection(origin, &path, value, why));
        }
    }
    Ok(())
}

/// The windows of `link`; `taken` has the window names of other links.
fn windows(
    reader: &mut Reader<'_>,
    tree: &Table,
    link: &str,
    duration: Span,
    taken: &[String],
) -> Result<Vec<Window>> {
    let mut windows = Vec::new();
    for (called, path, _) in called(tree, link, taken)? {
        let Some(found) = reader.optional(&path, part)? else {
            continue;
        };
        let (from, to) = found.value;
        if to > duration {
            return Err(found.reject(format!(
                "traffic.duration ends at {duration}, before it; write a longer duration"
            )));
        }
        windows.push(Window {
            name: called.to_owned(),
            from,
            to,
        });
    }
    Ok(windows)
}

/// The windows written for `link`: unique names with their places.
fn called<'a>(
    tree: &'a Table,
    link: &str,
    taken: &[String],
) -> Result<Vec<(&'a str, String, &'a Node)>> {
    let table = tree
        .table("links")
        .and_then(|links| links.table(link)?.table("windows"));
    let mut all = Vec::new();
    for (called, node) in table.into_iter().flat_map(Table::iter) {
        let path = format!("links.{link}.windows.{called}");
        let reject = |why: &str| rejection(&node.origin, &path, &node.value, why);
        name(LONGEST_WINDOW)(&Value::from(called))
            .map_err(|why| reject(&format!("the window's name: {why}")))?;
        if taken.iter().any(|other| other == called) {
            return Err(reject(
                "a window of another link has this name; its metrics need one of their own",
            ));
        }
        all.push((called, path, node));
    }
    Ok(all)
}

fn series(reader: &mut Reader<'_>, link: &str, duration: Span) -> Result<Option<Span>> {
    let path = format!("links.{link}.series.interval");
    let interval: Option<Spanned<Span>> = reader.optional(&path, span)?;
    let Some(interval) = interval else {
        return Ok(None);
    };
    let picos = interval.value.as_picos();
    if picos == 0 || duration.as_picos() / picos >= MOST_INTERVALS {
        let why = format!(
            "write a longer time: traffic.duration = {duration} may have at most {MOST_INTERVALS} intervals"
        );
        return Err(interval.reject(why));
    }
    Ok(Some(interval.value))
}

/// `0s..25s`.
fn part(value: &Value) -> Parsed<(Span, Span)> {
    const EXAMPLE: &str = "write a part of the trial, for instance \"0s..25s\"";
    let Value::Text(text) = value else {
        return Err(EXAMPLE.into());
    };
    let (from, to) = text.split_once("..").ok_or(EXAMPLE)?;
    let ((from, first), (to, last)) = (moment(from)?, moment(to)?);
    match from < to {
        true => Ok(((from, to), Value::Text(format!("{first}..{last}")))),
        false => Err("it is over before it begins; write for instance \"0s..25s\"".into()),
    }
}

fn moment(text: &str) -> Result<(Span, String), String> {
    match span(&Value::from(text.trim()))? {
        (moment, Value::Text(canonical)) => Ok((moment, canonical)),
        (moment, _) => Ok((moment, moment.to_string())),
    }
}
