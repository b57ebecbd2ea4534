//! The tables `[flows.NAME]` of a file.

use std::path::Path;

use anyhow::{Context as _, Result};
use keyfile::{Origin, Section, Table, fault, rejection};

/// The keys of a flow in tables; options have dashes instead of underscores.
pub const KEYS: [&str; 37] = [
    "host",
    "control",
    "preset",
    "protocol",
    "meter",
    "message",
    "payload",
    "gap",
    "payload_rate",
    "on_time",
    "off_time",
    "start",
    "omit",
    "stop",
    "duration",
    "packets",
    "bytes",
    "dscp",
    "ecn",
    "flow_label",
    "ttl",
    "pmtudisc",
    "source",
    "source_port",
    "destination_port",
    "interface",
    "nagle",
    "checksum_coverage",
    "sctp_streams",
    "unordered",
    "mss",
    "congestion",
    "send_buffer",
    "receive_buffer",
    "gso",
    "gro",
    "busy_poll",
];

/// Pairs of alternative keys.
const ALIKE: [[&str; 2]; 2] = [["gap", "payload_rate"], ["stop", "duration"]];

/// The keys that a preset stands for.
const OF_PRESET: [&str; 6] = [
    "protocol",
    "message",
    "gap",
    "payload_rate",
    "on_time",
    "off_time",
];

/// The size limit of a file of flows.
pub(super) const LARGEST_FILE: u64 = 1 << 20;

/// The flows of a file in order, each with its name. Keys that the file omits are as in
/// `typed`.
///
/// # Errors
/// One line of text with file, line, key and the expected value.
pub fn read_file(path: &Path, typed: &Section) -> Result<Vec<(String, Section)>> {
    let name = path.display().to_string();
    let text = files::read_text(path, LARGEST_FILE).with_context(|| name.clone())?;
    read(&text, &name, typed)
}

/// As [`read_file`], from text; error messages name `file`.
///
/// # Errors
/// As [`read_file`].
pub fn read(text: &str, file: &str, typed: &Section) -> Result<Vec<(String, Section)>> {
    let tree = keyfile::parse(text, file)?;
    if let Some((key, node)) = tree.iter().find(|(key, _)| *key != "flows") {
        let why = "unknown key; write only tables [flows.NAME]";
        return Err(rejection(&node.origin, key, &node.value, why));
    }
    let flows: Vec<_> = tree
        .table("flows")
        .into_iter()
        .flat_map(Table::iter)
        .collect();
    if flows.is_empty() {
        return Err(fault(
            &Origin::start_of(file),
            "no flows; write for instance [flows.voice] and below it message = 160, gap = \"20ms\"",
        ));
    }
    let of = |(name, node): (&str, _)| {
        let own = Section::read(&format!("flows.{name}"), node, &KEYS)?;
        let mut typed = typed.clone();
        // A flow's own gap replaces the default rate and vice versa, as do its end and
        // its duration.
        for [one, other] in ALIKE {
            match (own.has(one), own.has(other)) {
                (true, true) => {
                    let why = format!("there is {one}, too; write one of the two");
                    return Err(own.reject(other, why));
                }
                (true, false) => typed.remove(other),
                (false, true) => typed.remove(one),
                (false, false) => {}
            }
        }
        // Likewise its preset replaces what is usual.
        if own.has("preset") {
            OF_PRESET.iter().for_each(|key| typed.remove(key));
        }
        Ok((name.to_owned(), own.over(typed)))
    };
    flows.into_iter().map(of).collect()
}
