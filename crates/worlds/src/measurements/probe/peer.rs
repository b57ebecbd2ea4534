//! The score of another prober: its answer compared with the settings.

use std::net::IpAddr;

use plan::setting::Probe;
use plan::{Setting, evidence, metric};
use serde::Serialize;
use serde_json::json;
use units::{Bytes, Span};

use super::truth::{Fault, Truth};
use crate::measurements::Measurements;

/// The answer of another prober, as far as it gives one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct PeerAnswer {
    /// The path MTU towards the far end.
    pub(crate) mtu: Option<Bytes>,
    /// The prober stops where less than this is to be gained; 0: nowhere.
    pub(crate) step: Bytes,
    /// The place of the limit.
    pub(crate) limit: Option<PeerLimit>,
    /// The reason of the limit.
    pub(crate) verdict: Option<PeerVerdict>,
}

/// The place of the link that limits the path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum PeerLimit {
    /// There is none.
    Nowhere,
    /// Behind the router of this address.
    Router(IpAddr),
    /// Behind the hop of this number; 0 is the own host.
    Hop(usize),
}

/// The reason of the limit. Other probers tell no more than these apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum PeerVerdict {
    /// Everything passes.
    Clean,
    /// A router says that packets are too big.
    Refused,
    /// Large packets vanish.
    Vanish,
}

impl PeerVerdict {
    /// Whether it is the verdict on a path with `fault`.
    const fn is_right(self, fault: Option<Fault>) -> bool {
        match self {
            Self::Clean => matches!(fault, None | Some(Fault::Grows)),
            Self::Refused => matches!(fault, Some(Fault::Refused | Fault::AnswersLimited)),
            Self::Vanish => matches!(
                fault,
                Some(
                    Fault::FirstLink
                        | Fault::BlackHole(_)
                        | Fault::OneProtocol
                        | Fault::Branches
                        | Fault::Shrinks
                )
            ),
        }
    }
}

impl PeerAnswer {
    /// Whether its path MTU is right, in the end or, for a prober that looks once, before
    /// the path changed. No answer is wrong: every prober is asked for it.
    fn mtu_is_right(&self, truth: &Truth, up_to: Bytes) -> bool {
        let Some(mtu) = self.mtu.map(|mtu| mtu.min(up_to)) else {
            return false;
        };
        let is_near = |right: Bytes| mtu == right || (mtu < right && right - mtu < self.step);
        is_near(truth.forward) || truth.forward_before.is_some_and(is_near)
    }

    /// Whether its place of the limit is right; `None` if it names none, or the fault has
    /// none.
    fn hop_is_right(&self, truth: &Truth, routers: &[IpAddr]) -> Option<bool> {
        let link = match truth.fault {
            None => None,
            Some(fault) if fault.has_place() => Some(truth.link),
            Some(_) => return None,
        };
        Some(match self.limit? {
            PeerLimit::Nowhere => link.is_none(),
            PeerLimit::Hop(hop) => link == Some(hop),
            PeerLimit::Router(router) => {
                let place = routers.iter().position(|known| *known == router);
                link.is_some() && place.map(|place| place + 1) == link
            }
        })
    }
}

impl Measurements {
    /// The score of another prober's answer, and the answer as evidence. The path has
    /// these `routers`.
    pub(crate) fn put_peer(
        &mut self,
        (setting, probe): (&Setting, &Probe),
        answer: &PeerAnswer,
        routers: &[IpAddr],
        took: Span,
    ) {
        let truth = Truth::of(setting, probe);
        let percent = |right: bool| if right { 100.0 } else { 0.0 };
        let verdict = answer.verdict.map(|verdict| verdict.is_right(truth.fault));
        self.put(&metric::VERDICT_RIGHT, verdict.map(percent));
        let mtu = answer.mtu_is_right(&truth, probe.up_to);
        self.put(&metric::MTU_RIGHT, Some(percent(mtu)));
        self.put(
            &metric::HOP_RIGHT,
            answer.hop_is_right(&truth, routers).map(percent),
        );
        self.put(&metric::PROBE_TIME, Some(took.as_millis_f64()));
        self.note(evidence::EXPECTED, json!(truth));
        self.note(evidence::ANSWER, json!(answer));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROUTERS: [&str; 3] = ["198.18.0.2", "198.18.1.2", "198.18.2.2"];

    fn routers() -> Vec<IpAddr> {
        ROUTERS.map(|router| router.parse().unwrap()).to_vec()
    }

    fn truth(fault: Option<Fault>) -> Truth {
        Truth {
            fault,
            link: 2,
            forward: Bytes::new(1_500),
            backward: Bytes::new(9_000),
            forward_before: None,
            backward_before: None,
        }
    }

    #[test]
    fn a_path_mtu_is_right_within_the_step_of_the_prober() {
        let is_right = |mtu: Option<u64>, step| {
            let answer = PeerAnswer {
                mtu: mtu.map(Bytes::new),
                step: Bytes::new(step),
                ..PeerAnswer::default()
            };
            answer.mtu_is_right(&truth(None), Bytes::new(9_000))
        };
        assert!(is_right(Some(1_500), 0) && is_right(Some(1_493), 8));
        assert!(!is_right(Some(1_492), 8) && !is_right(Some(1_501), 8));
        assert!(!is_right(Some(1_499), 0) && !is_right(None, 8));
        // What passes beyond the size asked for does not count.
        let more = PeerAnswer {
            mtu: Some(Bytes::new(9_000)),
            ..PeerAnswer::default()
        };
        assert!(more.mtu_is_right(&truth(None), Bytes::new(1_500)));
        let before = Truth {
            forward_before: Some(Bytes::new(9_000)),
            ..truth(None)
        };
        assert!(more.mtu_is_right(&before, Bytes::new(9_000)));
    }

    #[test]
    fn a_hop_is_right_by_number_and_by_router_and_absent_without_a_place() {
        let is_right = |limit, fault| {
            let answer = PeerAnswer {
                limit,
                ..PeerAnswer::default()
            };
            answer.hop_is_right(&truth(fault), &routers())
        };
        let hole = Some(Fault::BlackHole(link::Direction::Forward));
        let router = |number: usize| Some(PeerLimit::Router(routers()[number]));
        assert_eq!(is_right(Some(PeerLimit::Hop(2)), hole), Some(true));
        assert_eq!(is_right(Some(PeerLimit::Hop(1)), hole), Some(false));
        assert_eq!(is_right(router(1), hole), Some(true));
        assert_eq!(is_right(router(2), hole), Some(false));
        let stranger = PeerLimit::Router("192.0.2.1".parse().unwrap());
        assert_eq!(is_right(Some(stranger), hole), Some(false));
        assert_eq!(is_right(Some(PeerLimit::Nowhere), hole), Some(false));
        assert_eq!(is_right(Some(PeerLimit::Nowhere), None), Some(true));
        assert_eq!(is_right(Some(PeerLimit::Hop(2)), None), Some(false));
        assert_eq!(is_right(None, hole), None);
        let clamped = Some(Fault::MssClamped);
        assert_eq!(is_right(Some(PeerLimit::Nowhere), clamped), None);
    }

    #[test]
    fn verdicts_are_right_for_the_faults_that_they_mean() {
        let hole = Some(Fault::FirstLink);
        assert!(PeerVerdict::Vanish.is_right(hole) && !PeerVerdict::Clean.is_right(hole));
        assert!(PeerVerdict::Clean.is_right(None) && !PeerVerdict::Refused.is_right(None));
        assert!(PeerVerdict::Refused.is_right(Some(Fault::Refused)));
        assert!(!PeerVerdict::Refused.is_right(Some(Fault::AnnouncedTooSmall)));
        assert!(!PeerVerdict::Vanish.is_right(Some(Fault::MssClamped)));
    }
}
