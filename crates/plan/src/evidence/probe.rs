//! Investigations of a path.

use serde_json::Value;
use serde_json::value::RawValue;

use super::fact::{Fact, Row};

facts! {
    "bytes", "`kind = \"probe\"`: the right result: `fault` (null: none), `link` (from 0), the sizes `forward` and `reverse` at the end, and `forward_before` and `reverse_before` a change"
    { EXPECTED: Value = "expected" }

    "", "`kind = \"probe\"`: the whole result of the investigation"
    { REPORT: Box<RawValue> = "report" }

    "", "`kind = \"probe\"`, backend `netns`: the sender's interface, its MTU and address"
    { OUTGOING: Value = "outgoing" }

    "packets", "`kind = \"probe\"` with `reflector = \"on\"`, backend `netns`: test packets by outcome"
    { REFLECTOR: Value = "reflector" }
}
