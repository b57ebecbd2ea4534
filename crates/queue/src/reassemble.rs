//! Joining the pieces of packets that were cut to fit bundles [RFC9347 s2.2].

use units::{Span, Time};

use crate::{Packet, Part};

/// The time for which a packet waits for its next piece. The next bundle brings it at once,
/// so a longer time means that the path failed.
pub const PIECE_WAIT: Span = Span::from_secs(1);

/// What comes out of bundles whose pieces were joined.
#[derive(Debug, PartialEq, Eq)]
pub enum Reassembled<P> {
    /// A whole packet.
    Whole {
        /// The packet.
        packet: P,
        /// How long it had waited when the bundle with its last piece left.
        waited: Span,
        /// The entries that it travelled in.
        pieces: u32,
    },
    /// Pieces of a packet that cannot become whole any more.
    Lost {
        /// The pieces, joined.
        packet: P,
        /// Their number.
        pieces: u32,
    },
}

/// The packet of one sender that is not whole yet. The pieces of a packet end one bundle
/// and begin the next, so there is one such packet at most, of no more than the bytes that
/// its IP header states.
#[derive(Debug)]
pub struct Reassembler<P> {
    partial: Option<Partial<P>>,
}

#[derive(Debug)]
struct Partial<P> {
    packet: P,
    pieces: u32,
    /// When the latest piece came.
    latest: Time,
}

impl<P> Default for Reassembler<P> {
    fn default() -> Self {
        Self { partial: None }
    }
}

impl<P: Packet> Reassembler<P> {
    /// Takes the packets and pieces of a bundle that arrived at `now`, each with how long it
    /// waited. `follows`: it is the next bundle of its sender behind the latest one.
    pub fn receive(
        &mut self,
        now: Time,
        follows: bool,
        entries: impl IntoIterator<Item = (P, Span)>,
        mut out: impl FnMut(Reassembled<P>),
    ) {
        let mut entries = entries.into_iter().peekable();
        let continues = entries
            .peek()
            .is_some_and(|(piece, _)| matches!(piece.part(), Part::Rest { .. }));
        if !follows || !continues {
            out_of(self.partial.take(), &mut out);
        }
        self.expire(now, &mut out);
        for (packet, waited) in entries {
            if let Part::Rest { last } = packet.part() {
                self.append(now, (packet, last), waited, &mut out);
                continue;
            }
            // The packet before it has no more pieces.
            out_of(self.partial.take(), &mut out);
            let partial = Partial {
                packet,
                pieces: 1,
                latest: now,
            };
            self.keep(partial, waited, &mut out);
        }
    }

    /// Gives the packet up whose next piece did not come in time.
    pub fn expire(&mut self, now: Time, out: impl FnOnce(Reassembled<P>)) {
        if self.next_timeout().is_some_and(|at| at <= now) {
            out_of(self.partial.take(), out);
        }
    }

    /// When a packet is given up; then [`Reassembler::expire`] is to be called.
    pub fn next_timeout(&self) -> Option<Time> {
        Some(self.partial.as_ref()?.latest + PIECE_WAIT)
    }

    /// The number of pieces that wait for others.
    pub fn waiting(&self) -> u32 {
        self.partial.as_ref().map_or(0, |partial| partial.pieces)
    }

    fn append(
        &mut self,
        now: Time,
        (rest, last): (P, bool),
        waited: Span,
        out: &mut impl FnMut(Reassembled<P>),
    ) {
        let size = rest.view().size;
        let fits = |part| match part {
            Part::First { missing } if last => size == missing,
            Part::First { missing } => size < missing,
            Part::Whole | Part::Rest { .. } => false,
        };
        match self.partial.take() {
            Some(mut partial) if fits(partial.packet.part()) => {
                partial.packet.join(rest);
                partial.pieces += 1;
                partial.latest = now;
                self.keep(partial, waited, out);
            }
            contradiction => {
                out_of(contradiction, &mut *out);
                out(Reassembled::Lost {
                    packet: rest,
                    pieces: 1,
                });
            }
        }
    }

    /// Hands a whole packet on, or waits for its next piece.
    fn keep(&mut self, partial: Partial<P>, waited: Span, out: &mut impl FnMut(Reassembled<P>)) {
        match partial.packet.part() {
            Part::First { .. } => self.partial = Some(partial),
            Part::Whole | Part::Rest { .. } => out(Reassembled::Whole {
                packet: partial.packet,
                waited,
                pieces: partial.pieces,
            }),
        }
    }
}

/// Hands a packet on that stays incomplete.
fn out_of<P>(partial: Option<Partial<P>>, out: impl FnOnce(Reassembled<P>)) {
    if let Some(Partial { packet, pieces, .. }) = partial {
        out(Reassembled::Lost { packet, pieces });
    }
}

#[cfg(test)]
mod tests;
