//! The machine on which programs are compared.

use std::fs;

/// The text of a file of the kernel, empty if there is none.
fn read(file: &str) -> String {
    fs::read_to_string(file).unwrap_or_default()
}

/// The load average of the last minute.
pub(crate) fn load() -> String {
    let text = read("/proc/loadavg");
    text.split(' ').next().unwrap_or("unknown").to_owned()
}

/// A description of the machine.
pub(crate) fn machine() -> String {
    let processors = read("/proc/cpuinfo");
    let models: Vec<&str> = processors
        .lines()
        .filter_map(|line| Some(line.strip_prefix("model name")?.split_once(':')?.1.trim()))
        .collect();
    format!(
        "{} processors ({}), Linux {}, load {}",
        models.len(),
        models.first().unwrap_or(&"unknown"),
        read("/proc/sys/kernel/osrelease").trim(),
        load()
    )
}
