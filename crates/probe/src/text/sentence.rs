//! Sentences.

use units::Bytes;

/// The text with a capital letter first.
pub(super) fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| {
        first.to_uppercase().chain(letters).collect()
    })
}

/// A size with its unit.
pub(super) fn bytes(size: Bytes) -> String {
    format!("{} bytes", size.get())
}
