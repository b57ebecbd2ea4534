//! Whether the keys of both gateways fit, as far as arrivals of a peer's address tell.

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

/// Judges the arrivals between two counts. `has_key` is `None` without a public
/// key of the peer.
pub(super) fn judge(before: &Traffic, after: &Traffic, has_key: Option<bool>) -> Judgement {
    let (before, after) = (&before.inward, &after.inward);
    let more = |rejection| after.rejections.of(rejection) > before.rejections.of(rejection);
    if after.bundles > before.bundles {
        return Judgement::Agreed;
    }
    match has_key {
        Some(_) if more(Rejection::Forged) => Judgement::Wrong(
            "what comes from its address is sealed with other keys: give each gateway the public_key that the other one printed, and both the same preshared_key_file or none, unless somebody forges the address",
        ),
        Some(_) if more(Rejection::Unsealed) => Judgement::Wrong(
            "what comes from its address is not sealed: give the peer the public_key of this gateway, unless somebody forges the address",
        ),
        None if more(Rejection::UnknownKey) => Judgement::Wrong(
            "what comes from its address is sealed, and this gateway has no key for it: name its public_key",
        ),
        _ => Judgement::Unknown,
    }
}
