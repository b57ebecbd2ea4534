//! Investigations of a path.

use serde_json::Value;
use serde_json::value::RawValue;

use super::fact::{Fact, Row};

facts! {
    "octets", "`kind = \"probe\"`: the right result by the settings: `fault` (null: none), `link` (its place from 0), `forward`, `backward` (in the end), and `forward_before`, `backward_before`, the sizes before the path shrank or grew"
    { EXPECTED: Value = "expected" }

    "", "`kind = \"probe\"`: the whole result of the investigation"
    { REPORT: Box<RawValue> = "report" }

    "octets", "`kind = \"probe\"` with another `prober`: `mtu`, `step` (it stops where less is to be gained), `limit` (`nowhere`, a `router` or a `hop`) and `verdict` (`clean`, `refused` or `vanish`); null: it does not say"
    { ANSWER: Value = "answer" }

    "", "the same: the last command line, what the program printed, and whether `timeout` ended it"
    {
        COMMAND: String = "command",
        OUTPUT: String = "output",
        ENDED_BY_TIME_LIMIT: bool = "ended_by_time_limit",
    }

    "", "`kind = \"probe\"`, world `netns`: the sender's interface toward the receiver, its MTU and its address"
    { OUTGOING: Value = "outgoing" }

    "packets", "`kind = \"probe\"` with `reflector = \"on\"`, world `netns`: test packets by what became of them"
    { REFLECTOR: Value = "reflector" }
}
