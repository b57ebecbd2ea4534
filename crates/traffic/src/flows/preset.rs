//! Presets: the traffic of well-known applications, as D-ITG 2.8.1 sends it.
//!
//! D-ITG's manual names the applications and not their distributions. Those here are of the
//! bytes and times of its packets; docs/guides/traffic.md lists them with their sources.

mod observed;

use meter::departures::{Bursts, Distribution};
use observed::{
    ACTIVE_GAPS, ACTIVE_SIZES, IDLE_GAPS, IDLE_SIZES, QUAKE3_GAPS, QUAKE3_SIZES, Sizes,
    TELNET_SIZES,
};
use wire::control::Codec;

/// Picoseconds of a millisecond, in which gaps are written here.
const MILLISECOND: f64 = 1e9;

/// Mean length of a talk spurt and of a pause, in milliseconds [P.59 Table 1].
const TALK: f64 = 1_004.0;
const PAUSE: f64 = 1_587.0;

/// Bytes of an RTP header [RFC3550 s5.1], and of what stands for it if it is compressed, without
/// UDP's checksum [RFC2508 s3.3].
const RTP: u16 = 12;
const CRTP: u16 = 2;

const CRTP_MARK: &str = "-crtp";
const VAD_MARK: &str = "-vad";

/// What a name stands for.
type Build = fn() -> Preset;

/// The names of presets without variants.
const APPLICATIONS: [(&str, Build); 5] = [
    ("telnet", telnet),
    ("dns", dns),
    ("quake3", quake3),
    ("counter-strike-active", active),
    ("counter-strike-idle", idle),
];

/// The traffic of an application.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Preset {
    /// The name of the protocol.
    pub(super) protocol: &'static str,
    /// Sizes in bytes.
    pub(super) sizes: Distribution,
    /// Gaps in picoseconds.
    pub(super) gaps: Distribution,
    /// Talk spurts and pauses.
    pub(super) bursts: Option<Bursts>,
    /// The codec of a call.
    pub(super) codec: Option<Codec>,
}

impl Preset {
    /// The preset with the name `text`.
    ///
    /// # Errors
    /// What would be right.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        if let Some((_, build)) = APPLICATIONS.iter().find(|(name, _)| *name == text) {
            return Ok(build());
        }
        call(text).ok_or_else(|| {
            let names: Vec<&str> = APPLICATIONS.iter().map(|(name, _)| *name).collect();
            let codecs: Vec<String> = Codec::ALL
                .iter()
                .map(|codec| format!("voip-{}", codec.name()))
                .collect();
            format!(
                "there is no such preset; write {}, or {}, the last ones also with {CRTP_MARK}, {VAD_MARK} or {CRTP_MARK}{VAD_MARK}",
                names.join(", "),
                codecs.join(", ")
            )
        })
    }
}

/// A call: `voip-CODEC`, then `-crtp` if its headers are compressed, then `-vad` if pauses are
/// not sent.
fn call(text: &str) -> Option<Preset> {
    let name = text.strip_prefix("voip-")?;
    let (name, has_pauses) = marked(name, VAD_MARK);
    let (name, is_compressed) = marked(name, CRTP_MARK);
    let codec = Codec::named(name)?;
    let header = if is_compressed { CRTP } else { RTP };
    let exponential = |mean| Distribution::Exponential(mean * MILLISECOND);
    Some(Preset {
        protocol: "udp",
        sizes: Distribution::Constant((codec.payload() + header).into()),
        gaps: Distribution::Constant(1e12 / f64::from(codec.packets_per_second())),
        bursts: has_pauses.then(|| Bursts {
            on: exponential(TALK),
            off: exponential(PAUSE),
        }),
        codec: Some(codec),
    })
}

/// The name in front of `mark`, and whether it ends so.
fn marked<'a>(name: &'a str, mark: &str) -> (&'a str, bool) {
    name.strip_suffix(mark)
        .map_or((name, false), |name| (name, true))
}

/// D-ITG's gaps have the tail that telnet sessions have [Paxson1995 s4], in milliseconds where
/// sessions have seconds.
fn telnet() -> Preset {
    Preset {
        protocol: "tcp",
        gaps: Distribution::Pareto(0.95, 1.11 * MILLISECOND),
        ..datagrams(shared(TELNET_SIZES), Distribution::Constant(0.0))
    }
}

fn dns() -> Preset {
    datagrams(
        Distribution::Uniform(100.0, 319.0),
        Distribution::Constant(1_787.1 * MILLISECOND),
    )
}

fn quake3() -> Preset {
    datagrams(shared(QUAKE3_SIZES), quantiles(&QUAKE3_GAPS))
}

fn active() -> Preset {
    datagrams(shared(ACTIVE_SIZES), quantiles(&ACTIVE_GAPS))
}

fn idle() -> Preset {
    datagrams(shared(IDLE_SIZES), quantiles(&IDLE_GAPS))
}

fn datagrams(sizes: Distribution, gaps: Distribution) -> Preset {
    Preset {
        protocol: "udp",
        sizes,
        gaps,
        bursts: None,
        codec: None,
    }
}

/// Sizes with these shares.
fn shared(sizes: Sizes) -> Distribution {
    let each = |(size, share): &(u16, u16)| vec![f64::from(*size); (*share).into()];
    let all: Vec<f64> = sizes.iter().flat_map(each).collect();
    Distribution::Empirical(all.into())
}

/// Gaps with these quantiles, in units of 10 us.
fn quantiles(gaps: &[u16]) -> Distribution {
    let unit = MILLISECOND / 100.0;
    let all: Vec<f64> = gaps.iter().map(|gap| f64::from(*gap) * unit).collect();
    Distribution::Empirical(all.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Mean bytes of a message, and mean gap in milliseconds.
    fn means(name: &str) -> (f64, f64) {
        let preset = Preset::parse(name).unwrap();
        let (sizes, gaps) = (preset.sizes.mean(), preset.gaps.mean());
        (sizes, gaps / MILLISECOND)
    }

    #[test]
    fn calls_have_the_bytes_of_their_codec_and_of_rtp() {
        for (name, bytes, per_second) in [
            ("voip-g711-1", 92.0, 100.0),
            ("voip-g711-1-crtp", 82.0, 100.0),
            ("voip-g711-2", 172.0, 50.0),
            ("voip-g729-2-crtp-vad", 22.0, 50.0),
            ("voip-g729-3", 42.0, 33.0),
            ("voip-g723-1", 42.0, 26.0),
        ] {
            let (size, gap) = means(name);
            assert_eq!(size, bytes, "{name}");
            assert!((gap * per_second - 1e3).abs() < 1e-6, "{name}: {gap} ms");
        }
    }

    #[test]
    fn only_calls_with_pauses_have_pauses() {
        let bursts = |name| Preset::parse(name).unwrap().bursts;
        assert_eq!(bursts("voip-g711-1-crtp"), None);
        assert_eq!(bursts("telnet"), None);
        let bursts = bursts("voip-g711-1-vad").unwrap();
        // Both talk 38.7 % of the time.
        let share = bursts.on.mean() / (bursts.on.mean() + bursts.off.mean());
        assert!((share - 0.3875).abs() < 1e-3, "{share}");
    }

    #[test]
    fn applications_have_the_means_that_were_seen() {
        for (name, bytes, milliseconds) in [
            ("telnet", 24.43, f64::INFINITY),
            ("dns", 209.5, 1_787.1),
            ("quake3", 63.65, 7.0),
            ("counter-strike-active", 43.5, 42.0),
            ("counter-strike-idle", 27.6, 41.9),
        ] {
            let (size, gap) = means(name);
            assert!((size - bytes).abs() < 0.1, "{name}: {size} bytes");
            let is_near = gap == milliseconds || (gap - milliseconds).abs() < 0.4;
            assert!(is_near, "{name}: {gap} ms");
        }
    }

    #[test]
    fn an_unknown_name_is_answered_with_all_names() {
        for name in ["", "voip", "voip-g711-3", "voip-g711-1-vad-crtp", "Telnet"] {
            let why = Preset::parse(name).unwrap_err();
            assert!(why.contains("counter-strike-idle") && why.contains("voip-g723-1"));
        }
    }

    #[test]
    fn shares_are_whole_and_quantiles_in_order() {
        for sizes in [TELNET_SIZES, QUAKE3_SIZES, ACTIVE_SIZES, IDLE_SIZES] {
            let all: u32 = sizes.iter().map(|(_, share)| u32::from(*share)).sum();
            assert_eq!(all, 1_000);
        }
        for gaps in [QUAKE3_GAPS, ACTIVE_GAPS, IDLE_GAPS] {
            assert!(gaps.is_sorted());
        }
    }
}
