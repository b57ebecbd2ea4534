//! Whether each packet that is too big is answered by a message.

use units::Span;

use super::super::asker::Asker;
use super::super::history::{at_most, share};
use super::super::kind::Kind;
use super::super::search::Found;

/// Probes in a row: at first, and if one of those was not answered.
const FEW: u32 = 10;
const MANY: u32 = 30;

/// The time between them.
const APART: Span = Span::from_millis(2);

/// Messages about a row of probes that were too big.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::machine) struct Rejections {
    pub(in crate::machine) size: u32,
    pub(in crate::machine) sent: u32,
    pub(in crate::machine) answered: u32,
    /// Whether more are missing than loss explains.
    pub(in crate::machine) is_limited: bool,
}

/// Sends a row of probes of the size that a router rejected.
pub(in crate::machine) fn walk(
    ask: &mut Asker<'_>,
    main: Kind,
    found: Found,
) -> Option<Rejections> {
    let mut messages = ask.history.messages();
    let is_of = |flow, protocol| flow == 0 && protocol == main.protocol;
    let rejected = messages.find(|one| is_of(one.flow, one.protocol) && one.size > found.mtu)?;
    let kind = main.with_size(rejected.size);
    if !ask.sends(kind, FEW, APART) {
        return None;
    }
    let few = ask.history.counts(kind);
    if few.rejected < few.sent && !ask.sends(kind, MANY, APART) {
        return None;
    }
    let counts = ask.history.counts(kind);
    let (sent, answered) = (counts.sent, counts.rejected);
    let chance = at_most(answered, sent, 1.0 - ask.history.assumed_loss());
    Some(Rejections {
        size: kind.size,
        sent,
        answered,
        is_limited: sent >= MANY && chance < share(ask.settings.false_alarm),
    })
}
