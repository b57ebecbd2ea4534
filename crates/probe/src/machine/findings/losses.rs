//! Loss by packet size.

use units::{Bytes, Framing};

use super::super::kind::{Kind, Purpose};
use super::super::loss_by_size::{Shape, shape};
use super::super::{Finding, FindingKind, ReplySize, SizeLoss};
use super::Facts;

/// The loss by size, the smallest first.
pub(super) fn by_size(facts: &Facts<'_>) -> Vec<SizeLoss> {
    let losses = facts.walked.losses.iter();
    let counts = losses.flat_map(|losses| &losses.counts);
    counts.filter_map(|one| one.with_loss()).collect()
}

/// The finding that larger packets are lost more often.
pub(super) fn finding(facts: &Facts<'_>) -> Option<Finding> {
    let losses = facts
        .walked
        .losses
        .as_ref()
        .filter(|losses| losses.is_uneven)?;
    let Kind { reply, .. } = losses.kind;
    let shape = shape(&losses.counts, |size| bits(size, reply))?;
    let (place, per_bit) = match shape {
        Shape::Break(place) => (place, None),
        Shape::BitErrors(per_bit) => (1, Some(per_bit)),
    };
    let kind = FindingKind::LossBySize {
        direction: losses.direction,
        small: losses.counts[place - 1].with_loss()?,
        large: losses.counts.last()?.with_loss()?,
        per_bit,
    };
    let evidence = facts.evidence(|kind| kind.purpose == Purpose::Loss);
    Some(super::finding(kind, evidence))
}

/// The bits that a probe of this size and its answer have on Ethernet.
fn bits(size: u32, reply: ReplySize) -> f64 {
    let frame = Bytes::new(u64::from(size)) + Framing::MAC_HEADER + Framing::FCS;
    let both = match reply {
        ReplySize::Same => 2.0,
        ReplySize::Small => 1.0,
    };
    both * frame.bits() as f64
}

impl Facts<'_> {
    pub(super) fn has_uneven_losses(&self) -> bool {
        self.walked
            .losses
            .as_ref()
            .is_some_and(|losses| losses.is_uneven)
    }
}
