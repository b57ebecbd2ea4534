//! Rings and coalescing that an experiment asks of a network card.

use os::host_changes::{WantedCoalescing, WantedRings};
use os::nic::{self, Nic, Rings};
use plan::setting::{Coalescing, NicSetting};

/// The rings to set on a card that is as `now`. Where nothing is asked for, they get the
/// sizes that they had `before` the run.
pub(super) fn rings(asked: &NicSetting, before: &Nic, now: &Nic) -> WantedRings {
    let wanted = |asked: Option<u32>, of: fn(&Rings) -> u32| {
        let wanted = asked.or_else(|| before.rings.as_ref().map(of));
        wanted.filter(|frames| now.rings.as_ref().map(of) != Some(*frames))
    };
    WantedRings {
        receive: wanted(asked.receive_ring, |rings| rings.receive),
        send: wanted(asked.send_ring, |rings| rings.send),
    }
}

/// Likewise the coalescing. A driver that adapts it takes no numbers, so these turn that off.
pub(super) fn coalescing(asked: &NicSetting, before: &Nic, now: &Nic) -> WantedCoalescing {
    let (before, now) = (before.coalescing, now.coalescing);
    let delay = match asked.coalescing {
        Some(Coalescing::Within(delay)) => Some(delay),
        _ => None,
    };
    let adaptive = match asked.coalescing {
        Some(Coalescing::Adaptive) => Some(true),
        Some(Coalescing::Within(_)) => Some(false),
        None => asked.coalescing_frames.map(|_| false),
    };
    let adaptive = adaptive.or_else(|| before.map(|before| before.adaptive));
    // What a driver adapts has no value to be put back to.
    let fixed = before.filter(|_| adaptive != Some(true));
    let same = |of: &dyn Fn(&nic::Coalescing) -> bool| now.as_ref().is_some_and(of);
    let delay = delay.or_else(|| fixed.map(|before| before.receive_delay));
    let frames = asked
        .coalescing_frames
        .or_else(|| fixed.map(|before| before.receive_frames));
    WantedCoalescing {
        receive_delay: delay.filter(|delay| !same(&|now| now.receive_delay == *delay)),
        receive_frames: frames.filter(|frames| !same(&|now| now.receive_frames == *frames)),
        adaptive: adaptive.filter(|adaptive| !same(&|now| now.adaptive == *adaptive)),
    }
}

/// Why a card of the name `nic` of `host` cannot be as asked for.
pub(super) fn unfit(asked: &NicSetting, nic: &Nic, host: &str) -> Option<String> {
    let name = &nic.name;
    if asked.has_coalescing() && nic.coalescing.is_none() {
        return Some(format!(
            "{name} of {host} has no interrupt coalescing to set"
        ));
    }
    if !asked.has_rings() {
        return None;
    }
    let Some(rings) = nic.rings else {
        return Some(format!("{name} of {host} has no rings to set"));
    };
    let limits = [
        ("receive", asked.receive_ring, rings.receive_limit),
        ("send", asked.send_ring, rings.send_limit),
    ];
    limits.into_iter().find_map(|(which, frames, limit)| {
        let above = frames.filter(|frames| *frames > limit)?;
        Some(format!(
            "the {which} ring of {name} of {host} has at most {limit} frames, not {above}"
        ))
    })
}

#[cfg(test)]
mod tests {
    use units::Span;

    use super::*;

    fn card(receive: u32, delay: u64, adaptive: bool) -> Nic {
        Nic {
            name: "eth1".into(),
            rings: Some(Rings {
                receive,
                receive_limit: 4_096,
                send: 512,
                send_limit: 1_024,
            }),
            coalescing: Some(nic::Coalescing {
                receive_delay: Span::from_micros(delay),
                receive_frames: 64,
                adaptive,
            }),
            ..Nic::default()
        }
    }

    #[test]
    fn only_what_differs_is_set_and_what_is_not_asked_for_is_as_before() {
        let (before, now) = (card(1_024, 8, false), card(2_048, 8, false));
        let mut asked = NicSetting {
            receive_ring: Some(2_048),
            ..NicSetting::default()
        };
        assert_eq!(rings(&asked, &before, &now), WantedRings::default());
        asked.receive_ring = None;
        let wanted = rings(&asked, &before, &now);
        assert_eq!((wanted.receive, wanted.send), (Some(1_024), None));
        assert_eq!(
            coalescing(&asked, &before, &now),
            WantedCoalescing::default()
        );
    }

    #[test]
    fn a_delay_turns_adaption_off_and_afterwards_it_is_on_again() {
        let adapting = card(512, 30, true);
        let mut asked = NicSetting {
            coalescing: Some(Coalescing::Within(Span::from_micros(50))),
            ..NicSetting::default()
        };
        let wanted = coalescing(&asked, &adapting, &adapting);
        let expected = WantedCoalescing {
            receive_delay: Some(Span::from_micros(50)),
            receive_frames: None,
            adaptive: Some(false),
        };
        assert_eq!(wanted, expected);
        asked.coalescing = None;
        let back = coalescing(&asked, &adapting, &card(512, 50, false));
        let expected = WantedCoalescing {
            adaptive: Some(true),
            ..WantedCoalescing::default()
        };
        assert_eq!(back, expected, "the driver finds its own delay");
        asked.coalescing_frames = Some(1);
        let wanted = coalescing(&asked, &adapting, &adapting);
        assert_eq!(
            (wanted.adaptive, wanted.receive_frames),
            (Some(false), Some(1))
        );
    }

    #[test]
    fn a_card_without_rings_or_with_smaller_ones_is_told_by_name() {
        let told = |asked: NicSetting, nic: &Nic| unfit(&asked, nic, "a");
        let virtual_one = Nic {
            name: "veth0".into(),
            ..Nic::default()
        };
        let ring = |receive_ring| NicSetting {
            receive_ring,
            ..NicSetting::default()
        };
        let frames = NicSetting {
            coalescing_frames: Some(1),
            ..NicSetting::default()
        };
        assert_eq!(told(NicSetting::default(), &virtual_one), None);
        let why = told(ring(Some(1)), &virtual_one);
        assert_eq!(why.as_deref(), Some("veth0 of a has no rings to set"));
        let why = told(frames, &virtual_one);
        let none = "veth0 of a has no interrupt coalescing to set";
        assert_eq!(why.as_deref(), Some(none));
        let card = card(1_024, 8, false);
        assert_eq!(told(ring(Some(4_096)), &card), None);
        let why = told(ring(Some(4_097)), &card);
        let limit = "the receive ring of eth1 of a has at most 4096 frames, not 4097";
        assert_eq!(why.as_deref(), Some(limit));
    }
}
