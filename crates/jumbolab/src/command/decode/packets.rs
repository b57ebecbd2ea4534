//! `jumbolab decode --packets`, and the conversion of logs.

use std::path::Path;

use anyhow::{Result, bail, ensure};
use results::decode::{Definitions, PacketRows, Packets, Request};

use super::Bar;
use crate::args::Decode;
use crate::exit::Ending;
use crate::output;

/// Prints every packet of the logs.
pub(super) fn print(args: &Decode, request: &Request) -> Result<Ending> {
    reject_statistics("--packets", request)?;
    let mut bar = Bar::beside_rows();
    let mut watch = |done, all| bar.show(done, all);
    let mut packets = Packets::open(&args.logs, &mut watch)?;
    let origin = packets.origin();
    if args.csv {
        let mut header = Vec::new();
        PacketRows::csv_header(&mut header)?;
        output::print_table(&String::from_utf8(header)?)?;
    } else if !args.json && args.parquet.is_none() {
        for title in packets.titles() {
            output::print(&format!("{title}\n"))?;
        }
        output::print(&PacketRows::text_header(origin))?;
    }
    let mut print = |rows: &PacketRows<'_>| {
        if args.csv {
            let mut table = Vec::new();
            rows.csv(&mut table)?;
            output::print_table(&String::from_utf8(table)?)
        } else if args.json {
            let lines: Vec<String> = rows.json().collect();
            output::print(&(lines.join("\n") + "\n"))
        } else if args.parquet.is_none() {
            output::print(&rows.text(origin))
        } else {
            Ok(())
        }
    };
    if let Some(path) = &args.parquet {
        packets.write_parquet(path, &mut print, &mut watch)?;
    } else {
        while let Some(rows) = packets.next(&mut watch)? {
            print(&rows)?;
        }
    }
    drop(bar);
    complain(&packets)
}

/// Writes the packets of a log as a log of D-ITG.
pub(super) fn convert(args: &Decode, request: &Request, path: &Path) -> Result<Ending> {
    reject_statistics("--ditg-log", request)?;
    ensure!(
        args.logs.len() == 1,
        "--ditg-log: it is written from one LOG; convert each by itself"
    );
    output::spare_inputs("--ditg-log", path, &args.logs)?;
    let mut bar = Bar::new();
    let mut watch = |done, all| bar.show(done, all);
    let mut packets = Packets::open(&args.logs, &mut watch)?;
    packets.write_ditg(path, &mut watch)?;
    drop(bar);
    complain(&packets)
}

/// Prints what is damaged in the logs.
fn complain(packets: &Packets) -> Result<Ending> {
    let mut ending = Ending::Sound;
    for (complaint, has_changed) in packets.complaints()? {
        output::warn(&complaint);
        if has_changed {
            ending = Ending::Unsound;
        }
    }
    Ok(ending)
}

/// Rejects options about statistics with one that has none.
fn reject_statistics(option: &str, request: &Request) -> Result<()> {
    if request.by_flow {
        bail!("--by-flow: every packet of {option} has its flow; leave --by-flow out");
    }
    if request.interval.is_some() {
        bail!("--interval: {option} has packets and no intervals; leave one of them out");
    }
    if request.definitions == Definitions::Ditg {
        bail!("--definitions: {option} has no metrics to define; leave one of them out");
    }
    Ok(())
}
