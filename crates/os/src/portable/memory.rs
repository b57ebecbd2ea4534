//! Memory that is free.

#[cfg(target_os = "linux")]
pub use crate::linux::machine::available_memory as available;

/// Memory that this program can still allocate without paging, if the system states it.
#[cfg(not(target_os = "linux"))]
pub fn available() -> Option<units::Bytes> {
    let mut system = sysinfo::System::new();
    system.refresh_memory();
    let free = system.available_memory();
    (free > 0).then_some(units::Bytes::new(free))
}
