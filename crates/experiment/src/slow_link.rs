//! Parameters of a queue that a name of a discipline selects, in front of a slow
//! link.

use keyfile::quantity::rate;
use keyfile::{KeyPath, Node, Table, Value};
use link::written::visit;
use queue::{Choice, Field};
use units::{Bytes, Span};

/// The parameter of CoDel, FQ-CoDel and PIE for the delay that they accept.
const TARGET: &str = "target";

/// The MTU of a link of which the experiment does not state one.
const USUAL_MTU: i64 = 1500;

/// The target of the queue that is selected at `queue` and its key, where the
/// default is too short for the link and the experiment states none: one and a
/// half times the time that a packet of the link's MTU takes, in whole
/// milliseconds. A target that is shorter than a packet takes would be missed
/// without any queue [RFC8290 s5.2.2].
pub(super) fn target(tree: &Table, queue: &KeyPath) -> Option<(KeyPath, Node)> {
    let (_, link) = queue.0.split_last()?;
    let Node { value, origin } = tree.at(&queue.0)?;
    let Value::Text(name) = value else {
        return None;
    };
    let choice = Choice::named(name)?;
    let below = |table: &[String], keys: &[&str]| {
        let keys = keys.iter().map(|key| (*key).to_owned());
        KeyPath(table.iter().cloned().chain(keys).collect())
    };
    let stated = |keys: &[&str]| {
        let own = tree.at(&below(link, keys).0);
        own.or_else(|| tree.at(&below(&["network".to_owned()], keys).0))
    };
    if stated(&[choice.name, TARGET]).is_some() {
        return None;
    }
    let (rate, _) = rate(&stated(&["rate"])?.value).ok()?;
    let mtu = match stated(&["mtu"]).map(|node| &node.value) {
        Some(Value::Integer(mtu)) => *mtu,
        _ => USUAL_MTU,
    };
    let packet = rate.serialise(Bytes::new(u64::try_from(mtu).ok()?));
    let milli = Span::from_millis(1).as_picos();
    let millis = packet.as_picos().saturating_mul(3).div_ceil(2 * milli);
    let wanted = Span::from_millis(millis);
    let node = Node {
        value: Value::Text(wanted.to_string()),
        origin: origin.clone(),
    };
    (wanted > default_target(choice)?).then(|| (below(link, &[choice.name, TARGET]), node))
}

/// The default target of a discipline that has one.
fn default_target(choice: &Choice) -> Option<Span> {
    let mut found = None;
    visit(choice, |key, field| match field {
        Field::Span(span) if key.name == TARGET => found = Some(*span),
        _ => {}
    });
    found
}
