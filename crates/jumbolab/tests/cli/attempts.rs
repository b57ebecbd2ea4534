//! Attempts are repeated if the machine was disturbed, and only then.

use crate::undisturbed::{Disturbed, until_undisturbed};

#[test]
fn disturbed_attempts_are_repeated_and_no_other() {
    let mut attempts = 0;
    let measured = until_undisturbed("a number", 3, || {
        attempts += 1;
        let busy = || Disturbed("a test says so".to_owned());
        (attempts > 1).then_some(attempts).ok_or_else(busy)
    });
    assert_eq!((measured, attempts), (Ok(2), 2));
}

#[test]
fn a_measurement_that_is_always_disturbed_fails() {
    let never = |_| Err::<(), _>(Disturbed("a test says so".to_owned()));
    let mut attempts = 0;
    let failed = until_undisturbed("a number", 2, || {
        attempts += 1;
        never(attempts)
    });
    assert_eq!(attempts, 2);
    assert!(failed.unwrap_err().contains("all 2 attempts"));
}
