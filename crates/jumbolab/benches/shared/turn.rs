//! The order of what is compared.

/// The places of `count` candidates in this round. Every other round is in reverse order, so
/// that none always follows the same one.
pub(crate) fn turn(round: usize, count: usize) -> Vec<usize> {
    match round % 2 {
        0 => (0..count).collect(),
        _ => (0..count).rev().collect(),
    }
}
