//! Repeats measurements that other load on the machine disturbs. No other code
//! of the tests repeats an attempt.

use std::io::Write;

/// The reason why an attempt does not count: a property of the machine, or the
/// program's own error about a disturbance.
#[derive(Debug)]
pub(crate) struct Disturbed(pub(crate) String);

/// Repeats `attempt` until it is not [`Disturbed`], at most `most` times.
/// Prints each discarded attempt with the reason, bypassing the capture of test
/// output, so that the log shows how often a measurement was repeated.
///
/// # Errors
/// Every attempt was disturbed.
pub(crate) fn until_undisturbed<T>(
    measurement: &str,
    most: usize,
    mut attempt: impl FnMut() -> Result<T, Disturbed>,
) -> Result<T, String> {
    for number in 1..=most {
        match attempt() {
            Ok(measured) => return Ok(measured),
            Err(Disturbed(why)) => {
                // A closed stderr is not an error.
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
