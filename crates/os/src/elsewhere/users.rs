//! The rights of this process.

/// Whether they are those of root or of an administrator.
pub fn privileged() -> bool {
    #[cfg(windows)]
    return super::sys::windows::is_administrator();
    #[cfg(unix)]
    return super::sys::unix::is_root();
}
