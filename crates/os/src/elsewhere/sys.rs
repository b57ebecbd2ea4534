//! Calls of one system each, with numbers and lists of plain data as answers.

#![expect(unsafe_code, reason = "this is the folder for it")]

#[cfg(unix)]
pub(crate) mod unix;
#[cfg(windows)]
pub(crate) mod windows;
