//! Decodes logs of three million packets, and compares with D-ITG's decoder where it is
//! installed:
//!
//!     cargo bench -p jumbolab-results --no-default-features --bench decoding
#![expect(clippy::print_stdout, reason = "a benchmark prints what it measured")]

use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Result, ensure};
use jumbolab_results::decode::{Definitions, Packets, Request, decode};
use nix::sys::resource::{Usage, UsageWho, getrusage};
use nix::sys::time::TimeValLike as _;
use wire::log::ditg::DitgRecord;
use wire::log::{Clock, Facts, Flow, Marks, Record, Role, Writer};

const RECORDS: u32 = 3_000_000;

/// How often each log is decoded; the shortest time counts.
const TIMES: usize = 3;

fn main() -> Result<()> {
    let folder = tempfile::tempdir()?;
    println!("| log | flows | decoder | records per processor second | most memory |");
    println!("|---|---|---|---|---|");
    for flows in [1, 16] {
        let ours = folder.path().join("ours.jlog");
        let theirs = folder.path().join("theirs.dat");
        write(&ours, &theirs, flows)?;
        for (log, path) in [("ours", &ours), ("D-ITG", &theirs)] {
            for (definitions, name) in [
                (Definitions::Standard, "standard"),
                (Definitions::Ditg, "ditg"),
            ] {
                let request = Request {
                    definitions,
                    by_flow: true,
                    interval: None,
                };
                let rate = rate(UsageWho::RUSAGE_SELF, || {
                    let decoded = decode(path, &request, &mut |_, _| ())?;
                    ensure!(decoded.complaint.is_none() && !decoded.rows.is_empty());
                    Ok(())
                })?;
                row(log, flows, &format!("--definitions {name}"), rate)?;
            }
            let rate = rate(UsageWho::RUSAGE_SELF, || {
                let mut packets = Packets::open(std::slice::from_ref(path), &mut |_, _| ())?;
                while packets.next(&mut |_, _| ())?.is_some() {}
                Ok(())
            })?;
            row(log, flows, "--packets, not printed", rate)?;
        }
        if Command::new("ITGDec")
            .stdout(Stdio::null())
            .status()
            .is_ok()
        {
            let rate = rate(UsageWho::RUSAGE_CHILDREN, || {
                let decoder = Command::new("ITGDec").arg(&theirs).output()?;
                ensure!(decoder.status.success(), "ITGDec fails");
                Ok(())
            })?;
            row("D-ITG", flows, "ITGDec", rate)?;
        }
    }
    Ok(())
}

/// Writes packets with exponential gaps as a log of ours and of D-ITG; one in a hundred is lost.
fn write(ours: &Path, theirs: &PathBuf, flows: u32) -> Result<()> {
    let facts = Facts {
        role: Role::Receiver,
        sent: Clock::Program,
        received: Clock::Kernel,
        returned: Clock::None,
        wall: 1,
        start: 0,
    };
    let mut out = Vec::new();
    let mut writer = Writer::new(&facts, &mut out);
    let mut ours = BufWriter::new(File::create(ours)?);
    let mut theirs = BufWriter::new(File::create(theirs)?);
    let ends = |flow: u32| {
        let port = 10_001 + u16::try_from(flow).unwrap_or_default();
        [([192, 0, 2, 1], port).into(), ([192, 0, 2, 2], port).into()]
    };
    for number in 0..flows {
        let [source, destination] = ends(number);
        let flow = Flow {
            number,
            name: "flow".into(),
            protocol: 17,
            dscp: 0,
            source,
            destination,
        };
        writer.flow(&flow, &mut out);
    }
    let mut at = 1_000_000_000;
    for packet in 0..RECORDS * 100 / 99 {
        let mut noise = u64::from(packet).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        noise ^= noise >> 31;
        at += u64::from(noise.trailing_zeros()) * 10_000 + (noise >> 40) % 10_000;
        if packet % 100 == 0 {
            continue;
        }
        // Delays rise and fall by 50 us, without reordering.
        let phase = at / 8 % 100_000;
        let [sent, received] = [at, at + 300_000 + phase.min(100_000 - phase)];
        let (flow, sequence) = (packet % flows, packet / flows);
        let size = 64 + (packet & 1023);
        let record = Record {
            flow,
            sequence: sequence.into(),
            sent,
            received: Some(received),
            returned: None,
            size,
            marks: Marks::default(),
        };
        writer.record(record, &mut out);
        ours.write_all(&out)?;
        out.clear();
        let [source, destination] = ends(flow);
        let record = DitgRecord {
            flow: flow + 1,
            sequence: sequence + 1,
            source,
            destination,
            sent,
            received,
            size,
        };
        theirs.write_all(&record.emit())?;
    }
    writer.finish(&mut out);
    ours.write_all(&out)?;
    ours.flush()?;
    Ok(theirs.flush()?)
}

/// Records per processor second of the best of several trials.
fn rate(who: UsageWho, mut work: impl FnMut() -> Result<()>) -> Result<f64> {
    let mut best = f64::INFINITY;
    for _ in 0..TIMES {
        let before = seconds(&getrusage(who)?);
        work()?;
        best = best.min(seconds(&getrusage(who)?) - before);
    }
    Ok(f64::from(RECORDS) / best)
}

fn seconds(used: &Usage) -> f64 {
    let micros = used.user_time().num_microseconds() + used.system_time().num_microseconds();
    micros as f64 / 1e6
}

fn row(log: &str, flows: u32, decoder: &str, rate: f64) -> Result<()> {
    // Of this program alone: the kernel's other figure begins with that of cargo.
    let status = std::fs::read_to_string("/proc/self/status")?;
    let memory = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let memory = memory.unwrap_or_default().trim();
    println!(
        "| {log} | {flows} | `{decoder}` | {:.1} million | {memory} |",
        rate / 1e6
    );
    Ok(())
}
