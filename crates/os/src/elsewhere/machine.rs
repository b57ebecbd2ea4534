//! Properties of this machine that affect results, on systems other than Linux.

use sysinfo::{CpuRefreshKind, System};

/// A description of the machine; what the system does not state is empty.
#[derive(Clone, Debug, PartialEq)]
pub struct Machine {
    /// The kernel's name and release.
    pub kernel: String,
    /// Name of the processor model.
    pub cpu_model: String,
    /// Number of processors available to this process.
    pub processors: usize,
}

impl Machine {
    /// Reads the description.
    pub fn here() -> Self {
        let mut machine = System::new();
        machine.refresh_cpu_list(CpuRefreshKind::nothing());
        let model = machine
            .cpus()
            .first()
            .map(|cpu| cpu.brand().trim().to_owned());
        Self {
            kernel: kernel(),
            cpu_model: model.unwrap_or_default(),
            processors: std::thread::available_parallelism().map_or(1, usize::from),
        }
    }
}

/// The kernel's name and release; with Wine its version, too.
fn kernel() -> String {
    let release = System::kernel_version().unwrap_or_default();
    let known = System::long_os_version().unwrap_or_else(system);
    #[cfg(windows)]
    if let Some(version) = super::sys::windows::wine_version() {
        return format!("Wine {version} ({known}, {release})");
    }
    format!("{known}, {release}")
}

/// The operating system, as `uname -s` prints it. A program in Wine runs on no Windows, and
/// results must not say so.
pub fn system() -> String {
    #[cfg(windows)]
    return match super::sys::windows::is_wine() {
        true => "Windows (Wine)".to_owned(),
        false => "Windows_NT".to_owned(),
    };
    #[cfg(unix)]
    match std::env::consts::OS {
        "macos" => "Darwin".to_owned(),
        "freebsd" => "FreeBSD".to_owned(),
        other => other.to_owned(),
    }
}

/// The congestion control that TCP has by itself, where the system names it.
#[cfg(not(target_os = "linux"))]
pub fn congestion_control() -> Option<String> {
    #[cfg(target_os = "freebsd")]
    return super::sys::unix::congestion_control().ok();
    #[cfg(not(target_os = "freebsd"))]
    None
}

/// The name that this machine has for itself.
pub fn name() -> String {
    System::host_name().unwrap_or_default()
}
