//! The probes that a socket has sent lately, so that answers which repeat little of them
//! are understood.

use std::collections::VecDeque;

use units::Bytes;

/// Probes that are remembered.
const REMEMBERED: usize = 64;

/// A probe that was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sent {
    /// Its identifier.
    pub(super) id: u64,
    /// The size of the whole packet.
    pub(super) size: Bytes,
    /// The number that the header of the transport repeats: the sequence number of an
    /// echo or of a segment.
    pub(super) number: u32,
}

/// The probe that an error quotes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Quoted {
    /// The probe.
    pub(super) sent: Sent,
    /// Whether the quote has what nobody off the path can guess [RFC8899 s4.6.1].
    pub(super) is_proven: bool,
}

/// The latest probes of a socket.
#[derive(Clone, Debug, Default)]
pub(super) struct Latest(VecDeque<Sent>);

impl Latest {
    pub(super) fn push(&mut self, sent: Sent) {
        if self.0.len() == REMEMBERED {
            self.0.pop_front();
        }
        self.0.push_back(sent);
    }

    /// The probe with this identifier.
    pub(super) fn by_id(&self, id: u64) -> Option<Sent> {
        self.0.iter().copied().find(|sent| sent.id == id)
    }

    /// The probe that an error quotes: that with the identifier in the quote. Routers may
    /// quote so little that there is none (`is_cut`) [RFC792]; the kernel has compared
    /// the ports, and of one flow one probe is under way.
    pub(super) fn quoted(&self, id: Option<u64>, is_cut: bool) -> Option<Quoted> {
        let sent = match id {
            Some(id) => self.by_id(id),
            None => self.latest(|_| is_cut),
        };
        sent.map(|sent| Quoted {
            sent,
            is_proven: id.is_some(),
        })
    }

    /// The latest probe for which this holds.
    pub(super) fn latest(&self, is: impl Fn(&Sent) -> bool) -> Option<Sent> {
        self.0.iter().rev().copied().find(is)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latest_probes_are_remembered_and_no_more() {
        let mut latest = Latest::default();
        let sent = |id: u64| Sent {
            id,
            size: Bytes::new(1000 + id),
            number: 7,
        };
        for id in 0..1000 {
            latest.push(sent(id));
        }
        assert_eq!(latest.0.len(), REMEMBERED);
        assert_eq!(latest.by_id(0), None);
        assert_eq!(latest.by_id(999), Some(sent(999)));
        assert_eq!(latest.latest(|sent| sent.number == 7), Some(sent(999)));
        assert_eq!(latest.latest(|sent| sent.number == 8), None);
        let quoted = |id, is_cut| {
            let quoted: Option<Quoted> = latest.quoted(id, is_cut);
            quoted.map(|quoted| (quoted.sent.id, quoted.is_proven))
        };
        assert_eq!(quoted(Some(998), false), Some((998, true)));
        assert_eq!(quoted(Some(5_000), false), None);
        assert_eq!(quoted(None, false), None, "a wrong guess");
        assert_eq!(quoted(None, true), Some((999, false)));
    }
}
