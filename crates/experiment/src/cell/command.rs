//! Reads `[traffic]` of `kind = "command"`: the user's programs and the
//! positions of metrics in their output.

use anyhow::Result;
use keyfile::quantity::{line, size};
use keyfile::{Parsed, Value};
use plan::command_line::CommandLine;
use plan::metric::{CPU_SOFTIRQ, CPU_TOTAL, METRICS};
use plan::setting::{Command, Reading, Shape};

use super::traffic::timeout;
use crate::reader::{Reader, Spanned};

/// The metrics that Jumbolab derives from the bytes, if their position is
/// known.
const FROM_BYTES: [&str; 2] = [CPU_TOTAL.name, CPU_SOFTIRQ.name];

/// The programs and the positions of their metrics.
pub(super) fn read(reader: &mut Reader<'_>, shape: Shape) -> Result<Command> {
    let receiver = reader.optional("traffic.receiver", command_line)?;
    let sender = reader.required(
        "traffic.sender",
        "sender = \"iperf3 -c {receiver} -t 1 -J\"",
        command_line,
    )?;
    for found in receiver.iter().chain([&sender]) {
        if found.value.names_router() && shape != Shape::Routed {
            return Err(found.reject(
                "{router} stands for an address, and only shape = \"routed\" has a router; write another node",
            ));
        }
    }
    let named = || {
        receiver
            .iter()
            .chain([&sender])
            .find(|line| line.value.names_size())
    };
    let size = reader.optional("traffic.size", size)?;
    match (&size, named()) {
        (Some(found), None) => {
            return Err(found.reject("no command line has {size} in it; remove it"));
        }
        (None, Some(line)) => {
            return Err(
                line.reject("{size} stands for traffic.size; write for instance size = 1452")
            );
        }
        (Some(_), Some(_)) | (None, None) => {}
    }
    let bytes = reader.optional("traffic.read.bytes", reading)?;
    let mut read = Vec::new();
    for metric in METRICS {
        let Some(found) = reader.optional(&format!("traffic.read.{}", metric.name), reading)?
        else {
            continue;
        };
        if bytes.is_some() && FROM_BYTES.contains(&metric.name) {
            return Err(found.reject(format!(
                "with `bytes` it is metered here; remove `{}` or `bytes`",
                metric.name
            )));
        }
        read.push((metric, found.value));
    }
    if read.is_empty() {
        let example = "read = { throughput = \"/end/sum_received/bits_per_second * 1e-6\" }";
        return Err(reader.missing("traffic.read", example));
    }
    Ok(Command {
        receiver: receiver.map(|found: Spanned<CommandLine>| found.value),
        sender: sender.value,
        read,
        bytes: bytes.map(|found| found.value),
        size: size.map(|found| found.value),
        timeout: timeout(reader, "command")?,
    })
}

fn command_line(value: &Value) -> Parsed<CommandLine> {
    let (text, canonical) = line(value)?;
    Ok((text.parse()?, canonical))
}

/// A JSON pointer [RFC6901] with the factor of its number:
/// `/end/sum_received/bits_per_second * 1e-6`.
fn reading(value: &Value) -> Parsed<Reading> {
    const EXAMPLE: &str = "write a JSON pointer and perhaps a factor, for instance \"/end/sum_received/bits_per_second * 1e-6\"";
    let (text, _) = line(value).map_err(|_| EXAMPLE)?;
    let (pointer, factor) = match text.rsplit_once(" * ") {
        Some((pointer, factor)) => (pointer, factor.trim().parse().map_err(|_| EXAMPLE)?),
        None => (text.as_str(), 1.0),
    };
    let pointer = pointer.trim();
    if !is_pointer(pointer) || !f64::is_finite(factor) || factor == 0.0 {
        return Err(EXAMPLE.into());
    }
    let canonical = match factor == 1.0 {
        true => pointer.to_owned(),
        false => format!("{pointer} * {factor:e}"),
    };
    let pointer = pointer.to_owned();
    Ok((Reading { pointer, factor }, Value::Text(canonical)))
}

/// Whether `text` is a JSON pointer: keys after slashes, with `~` escaped as
/// `~0` and `/` as `~1` [RFC6901 s3].
fn is_pointer(text: &str) -> bool {
    let escapes = text.split('~').skip(1);
    text.starts_with('/') && { escapes }.all(|rest| rest.starts_with(['0', '1']))
}
