//! The state of the secret shared with a peer, as far as arrivals of its address tell.

use gateway::machine::{Rejection, Traffic};

/// The judgement of an interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Judgement {
    /// Bundles of the peer were accepted.
    Agreed,
    /// None was, for this reason.
    Wrong(&'static str),
    /// Nothing came that tells.
    Unknown,
}

/// Judges the arrivals between two counts. `has_key` is `None` without a secret.
pub(super) fn judge(before: &Traffic, after: &Traffic, has_key: Option<bool>) -> Judgement {
    let (before, after) = (&before.inward, &after.inward);
    let more = |rejection| after.rejections.of(rejection) > before.rejections.of(rejection);
    if after.bundles > before.bundles {
        return Judgement::Agreed;
    }
    match has_key {
        Some(_) if more(Rejection::Forged) => Judgement::Wrong(
            "what comes from its address is sealed with another secret: give both gateways the same secret_file, unless somebody forges the address",
        ),
        Some(_) if more(Rejection::Unsealed) => Judgement::Wrong(
            "what comes from its address is not sealed: give the peer the secret, too, unless somebody forges the address",
        ),
        None if more(Rejection::UnknownKey) => Judgement::Wrong(
            "what comes from its address is sealed, and this gateway has no secret for it: name its secret_file",
        ),
        _ => Judgement::Unknown,
    }
}
