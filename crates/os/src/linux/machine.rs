//! Properties of this machine that affect results.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::{env, fs};

use nix::sys::utsname::uname;
use units::Bytes;

use crate::limits;

/// A description of the machine.
#[derive(Clone, Debug, PartialEq)]
pub struct Machine {
    /// Kernel release and build, e.g. `6.18.44 #1 SMP`.
    pub kernel: String,
    /// Name of the processor model.
    pub cpu_model: String,
    /// Number of processors available to this process.
    pub processors: usize,
    /// Whether the machine is virtual.
    pub virtual_machine: bool,
    /// The frequency governor, if the kernel shows one.
    pub governor: Option<String>,
    /// TCP congestion controls available.
    pub congestion_controls: Vec<String>,
    /// Limits of socket buffers in bytes: `tcp_rmem`, `tcp_wmem`, `rmem_max`,
    /// `wmem_max`.
    pub socket_memory: [(&'static str, String); 4],
    /// Runnable processes, averaged over the last minute.
    pub load: f64,
}

impl Machine {
    /// Reads the description; unreadable properties are empty.
    pub fn here() -> Self {
        let read = |file: &str| {
            fs::read_to_string(file)
                .map(|text| text.trim().to_owned())
                .unwrap_or_default()
        };
        let cpuinfo = read("/proc/cpuinfo");
        let field = |name: &str| {
            let line = cpuinfo.lines().find(|line| line.starts_with(name))?;
            line.split_once(':')
                .map(|(_, value)| value.trim().to_owned())
        };
        let governor = read("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
        let kernel = uname().map(|name| {
            format!(
                "{} {}",
                name.release().to_string_lossy(),
                name.version().to_string_lossy()
            )
        });
        Self {
            kernel: kernel.unwrap_or_default(),
            cpu_model: field("model name")
                .or_else(|| field("Hardware"))
                .unwrap_or_default(),
            processors: std::thread::available_parallelism().map_or(1, usize::from),
            virtual_machine: field("flags")
                .is_some_and(|flags| flags.split(' ').any(|flag| flag == "hypervisor")),
            governor: Some(governor).filter(|name| !name.is_empty()),
            congestion_controls: read("/proc/sys/net/ipv4/tcp_available_congestion_control")
                .split_whitespace()
                .map(str::to_owned)
                .collect(),
            socket_memory: [
                ("tcp_rmem", "/proc/sys/net/ipv4/tcp_rmem"),
                ("tcp_wmem", "/proc/sys/net/ipv4/tcp_wmem"),
                ("rmem_max", "/proc/sys/net/core/rmem_max"),
                ("wmem_max", "/proc/sys/net/core/wmem_max"),
            ]
            .map(|(name, file)| (name, read(file).replace('\t', " "))),
            load: read("/proc/loadavg")
                .split(' ')
                .next()
                .and_then(|text| text.parse().ok())
                .unwrap_or(0.0),
        }
    }
}

/// The operating system, as `uname -s` prints it.
pub fn system() -> String {
    uname().map_or_else(
        |_| String::new(),
        |name| name.sysname().to_string_lossy().into_owned(),
    )
}

/// This system and processor, as `uname -sm` prints them.
pub fn kind() -> String {
    let name = uname().map(|name| {
        let [system, machine] =
            [name.sysname(), name.machine()].map(|text| text.to_string_lossy().into_owned());
        format!("{system} {machine}")
    });
    name.unwrap_or_default()
}

/// Whether TCP of this kernel can detect losses without RACK [RFC8985]. Linux cannot from
/// 6.17 on, where tcp_recovery = 0 has no effect [LinuxDoc ip-sysctl].
pub fn has_other_loss_detection() -> bool {
    uname().is_ok_and(|name| precedes_6_17(&name.release().to_string_lossy()))
}

fn precedes_6_17(release: &str) -> bool {
    let mut numbers = release.split(|letter: char| !letter.is_ascii_digit());
    let mut next = || numbers.next()?.parse().ok();
    let version: Option<(u32, u32)> = next().zip(next());
    version.is_some_and(|version| version < (6, 17))
}

/// The name that this machine has for itself.
pub fn name() -> String {
    uname().map_or_else(
        |_| String::new(),
        |name| name.nodename().to_string_lossy().into_owned(),
    )
}

/// Memory that this program can still allocate without paging, if the kernel states it
/// [proc_meminfo(5)]; at most what a limit of its address space leaves.
pub fn available_memory() -> Option<Bytes> {
    const KIB: u64 = 1024;
    let text = fs::read_to_string("/proc/meminfo").ok()?;
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(Bytes::new(kib * KIB).min(limits::address_space_left()?))
}

/// Whether a folder of `PATH` has a program of this name.
pub fn has_program(name: &str) -> bool {
    let executable = |path: &Path| {
        fs::metadata(path)
            .is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0)
    };
    env::var_os("PATH").is_some_and(|folders| {
        env::split_paths(&folders).any(|folder| executable(&folder.join(name)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_found_on_the_path_and_nothing_else_is_one() {
        assert!(has_program("sh"));
        assert!(!has_program("no-such-program") && !has_program(""));
    }

    #[test]
    fn the_system_has_its_usual_name() {
        assert_eq!(system(), "Linux");
    }

    #[test]
    fn losses_are_detected_by_rack_alone_from_6_17_on() {
        for (release, precedes) in [
            ("6.16.12-generic", true),
            ("5.15.0-1", true),
            ("6.17", false),
            ("6.18.44", false),
            ("7.0.0-rc1", false),
            ("", false),
        ] {
            assert_eq!(precedes_6_17(release), precedes, "{release}");
        }
    }
}
