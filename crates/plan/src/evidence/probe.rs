//! Investigations of a path.

use serde_json::Value;
use serde_json::value::RawValue;

use super::fact::{Fact, Row};

facts! {
    "bytes", "`kind = \"probe\"`: the right result by the settings: `fault` (null: none), `link` (its place from 0), `forward`, `backward` (in the end), and `forward_before`, `backward_before`, the sizes before the path shrank or grew"
    { EXPECTED: Value = "expected" }

    "", "`kind = \"probe\"`: the whole result of the investigation"
    { REPORT: Box<RawValue> = "report" }

    "", "`kind = \"probe\"`, backend `netns`: the sender's interface toward the receiver, its MTU and its address"
    { OUTGOING: Value = "outgoing" }

    "packets", "`kind = \"probe\"` with `reflector = \"on\"`, backend `netns`: test packets by what became of them"
    { REFLECTOR: Value = "reflector" }
}
