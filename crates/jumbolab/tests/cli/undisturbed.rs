//! Measurements that other work on the machine may disturb: the only place
//! where a test may try again.

use std::io::Write;

/// Why an attempt does not count: a fact about the machine, or the error by
/// which the program itself names a disturbance.
#[derive(Debug)]
pub(crate) struct Disturbed(pub(crate) String);

/// Repeats `attempt` until it is not [`Disturbed`], `most` times at most.
/// Prints each attempt that is discarded, and why, past the capture of test
/// output: a reader of the log sees how often a measurement was repeated.
///
/// # Errors
/// Where every attempt was disturbed.
pub(crate) fn until_undisturbed<T>(
    measurement: &str,
    most: usize,
    mut attempt: impl FnMut() -> Result<T, Disturbed>,
) -> Result<T, String> {
    for number in 1..=most {
        match attempt() {
            Ok(measured) => return Ok(measured),
            Err(Disturbed(why)) => {
                // A closed stderr is no reason to fail.
                let _ = writeln!(
                    std::io::stderr(),
                    "{measurement}: attempt {number} of {most} is discarded: {why}"
                );
            }
        }
    }
    Err(format!(
        "{measurement}: all {most} attempts were disturbed; let the machine be idle"
    ))
}
