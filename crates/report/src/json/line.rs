//! Common parts of JSON lines.

use plan::{Flag, Trial};
use serde::Serialize;

/// An object as one line.
pub(crate) fn json_line(object: &impl Serialize) -> String {
    serde_json::to_string(object)
        .expect("a line holds only strings, numbers and maps with string keys")
}

/// Whether a flag of `trial` fails the certificate; unknown flags do.
pub(super) fn fails(trial: &Trial) -> bool {
    let flags = trial.flags.iter().map(|flag| flag.parse::<Flag>());
    flags.into_iter().any(|flag| flag.map_or(true, Flag::fails))
}
