//! Reads the keys of a link, with defaults from `[network]`.

mod faults;
mod inherited;

use anyhow::Result;
use keyfile::quantity::{either, probability, rate, share, size_or, span, word};
use keyfile::{Origin, Parsed, Value};
use link::written::discipline;
use plan::Backend;
use plan::setting::{Counted, Impairments, JitterDistribution, Link, LinkKind, Narrow, Watched};
use queue::Choice;
use units::{Bytes, Framing, IpMtu, IpVersion, Rate, Span};

use super::medium::{LENGTH, MEDIA, Medium, length};
use super::queueing::{Buffer, Written, buffer};
use crate::reader::{Reader, Spanned};
use faults::Faults;
use inherited::Inherited;

/// The word for the rate of links that the machine decides. It is replaced before links are
/// read.
pub(crate) const AUTO: &str = "auto";

/// The maximum depth of a bucket or buffer: the kernel counts both in 32 bits.
pub const LARGEST_BUFFER: Bytes = Bytes::new(u32::MAX as u64);

const FRAMINGS: &[(&str, Framing)] = &[("ethernet", Framing::Ethernet), ("none", Framing::None)];

const JITTER_DISTRIBUTIONS: &[(&str, JitterDistribution)] = &[
    ("uniform", JitterDistribution::Uniform),
    ("normal", JitterDistribution::Normal),
    ("exponential", JitterDistribution::Exponential),
];

/// The values of the key that enables notifications of senders.
const ANSWERS: &[(&str, bool)] = &[("drop", false), ("icmp_error", true)];

/// The depth of a link's token bucket if `burst` is `auto`: the larger of two
/// frames and what the rate carries in 1 ms, in whole bytes. A smaller bucket
/// than a frame passes nothing. A slightly larger one starves the link whenever
/// the kernel wakes it late, which in a virtual machine is up to a millisecond.
/// A much larger one would have to be drained before counting.
pub fn auto_burst(mtu: IpMtu, rate: Option<Rate>) -> Bytes {
    const MICROSECONDS: u128 = 1_000;
    let frames = Framing::Ethernet.wire_size(mtu.bytes()) * 2;
    let carried = rate.map_or(0, |rate| {
        (u128::from(rate.bits_per_second()) * MICROSECONDS).div_ceil(8_000_000)
    });
    let carried = Bytes::new(u64::try_from(carried).unwrap_or(u64::MAX));
    frames.max(carried).min(LARGEST_BUFFER)
}

/// The keys of a link, or of all links.
pub(super) struct Keys {
    pub(super) mtu: Spanned<IpMtu>,
    pub(super) rate: Spanned<Option<Rate>>,
    burst: Spanned<Option<Bytes>>,
    pub(super) buffer: Spanned<Buffer>,
    pub(super) queue: Spanned<&'static Choice>,
    /// Parameters of disciplines.
    pub(super) parameters: Written,
    delay: Spanned<Span>,
    jitter: Spanned<Span>,
    loss: Spanned<f64>,
    bit_error_rate: Spanned<f64>,
    reorder: Spanned<f64>,
    duplicate: Spanned<f64>,
    pub(super) framing: Option<Spanned<Framing>>,
    medium: Option<Spanned<Medium>>,
    length: Option<Spanned<f64>>,
    jitter_distribution: Spanned<JitterDistribution>,
    /// `None`: that of the interfaces.
    link_mtu: Spanned<Option<IpMtu>>,
    too_big: Spanned<bool>,
    faults: Faults,
}

impl Keys {
    /// Reads `[table]`, with missing keys from `defaults` or the format.
    pub(super) fn read(
        reader: &mut Reader<'_>,
        table: &str,
        ip: IpVersion,
        defaults: Option<&Self>,
        backend: Backend,
    ) -> Result<Self> {
        let mtu = |value: &Value| mtu(value, ip);
        let link_mtu = |value: &Value| either(value, "mtu", mtu);
        let parameters = Written::read(reader, table)?;
        let mut table = Inherited {
            reader,
            table,
            defaults,
        };
        let own_medium = table.own("medium", word(MEDIA))?;
        let own_length = table.own("length", length)?;
        // If either is written here, it overrides the values for all links.
        let own = own_medium.is_some() || own_length.is_some();
        let medium = own_medium.or_else(|| defaults?.medium.clone());
        let long = own_length.or_else(|| defaults?.length.clone());
        let made = made_of(medium.as_ref(), long.as_ref())?;
        let preset = made.filter(|_| own);
        let cause = medium.as_ref().map(|medium| medium.origin.clone());
        let preset = |value: fn(Medium, f64) -> Value| -> Option<(Value, Origin)> {
            let (medium, metres) = preset?;
            Some((value(medium, metres), cause.clone()?))
        };
        let rate = preset(|medium, _| medium.rate().into());
        // No rate is the default where the network is as it is.
        let is_given = !backend.profile().builds_network && defaults.is_none();
        let rate = rate.or_else(|| is_given.then(|| ("none".into(), Origin::Default)));
        let delay = preset(|medium, metres| Value::Text(medium.delay(metres).to_string()));
        let bit_error_rate = preset(|medium, _| Value::Float(medium.bit_error_rate()));
        Ok(Self {
            mtu: table.key("mtu", mtu, |keys| &keys.mtu)?,
            rate: table.preset("rate", rate, link_rate, |keys| &keys.rate)?,
            burst: table.key("burst", size_or("auto"), |keys| &keys.burst)?,
            buffer: table.key("buffer", buffer, |keys| &keys.buffer)?,
            queue: table.key("queue", discipline, |keys| &keys.queue)?,
            parameters,
            delay: table.preset("delay", delay, span, |keys| &keys.delay)?,
            jitter: table.key("jitter", span, |keys| &keys.jitter)?,
            loss: table.key("loss", share, |keys| &keys.loss)?,
            bit_error_rate: table.preset(
                "bit_error_rate",
                bit_error_rate,
                probability,
                |keys| &keys.bit_error_rate,
            )?,
            medium,
            length: long,
            framing: table.if_written("framing", word(FRAMINGS), |keys| &keys.framing)?,
            reorder: table.key("reorder", share, |keys| &keys.reorder)?,
            duplicate: table.key("duplicate", share, |keys| &keys.duplicate)?,
            jitter_distribution: table.key(
                "jitter_distribution",
                word(JITTER_DISTRIBUTIONS),
                |keys| &keys.jitter_distribution,
            )?,
            link_mtu: table.key("link_mtu", link_mtu, |keys| &keys.link_mtu)?,
            too_big: table.key("oversize", word(ANSWERS), |keys| &keys.too_big)?,
            faults: Faults::read(&mut table)?,
        })
    }

    /// The link, if its kind supports every key, and its bucket and buffer hold
    /// the frames of its MTU. `all` has the keys for all links.
    pub(super) fn link(
        &self,
        name: String,
        kind: LinkKind,
        backend: Backend,
        all: &Self,
    ) -> Result<Link> {
        let mtu = self.mtu.value;
        match kind {
            LinkKind::Kernel | LinkKind::Mixed => self.reject_what_only_emulation_has(kind)?,
            LinkKind::Emulated => self.reject_a_bucket()?,
        }
        self.reject_what_has_no_effect()?;
        let framing = self.framing.as_ref();
        let framing = framing.map_or(Framing::Ethernet, |found| found.value);
        let frame = framing.wire_size(mtu.bytes());
        let check = |size: Bytes, frames: u64| {
            let least = frame * frames;
            let bounds = least..=LARGEST_BUFFER;
            let many = if frames == 1 { "a frame" } else { "two frames" };
            (!bounds.contains(&size)).then(|| {
                format!(
                    "{many} of MTU {} with framing are {} bytes; write from {} to {}",
                    mtu.get(),
                    least.get(),
                    least.get(),
                    LARGEST_BUFFER.get()
                )
            })
        };
        if let Some(why) = self.burst.value.and_then(|burst| check(burst, 1)) {
            return Err(self.burst.reject_with(&self.mtu.origin, why));
        }
        let packets = self.buffer.value.packets();
        let buffer = match self.buffer.value {
            Buffer::Bytes(bytes) => bytes,
            Buffer::Packets(packets) => frame * u64::from(packets),
        };
        if let (None, Some(why)) = (packets, check(buffer, 2)) {
            return Err(self.buffer.reject_with(&self.mtu.origin, why));
        }
        let burst = match kind {
            LinkKind::Emulated => Bytes::ZERO,
            LinkKind::Kernel | LinkKind::Mixed => self
                .burst
                .value
                .unwrap_or_else(|| auto_burst(mtu, self.rate.value)),
        };
        Ok(Link {
            name,
            mtu,
            rate: self.rate.value,
            burst,
            buffer,
            impairments: Impairments {
                queue: self.planned_queue(all)?,
                notices: self.notices(all, backend)?,
                packets,
                delay: self.delay.value,
                jitter: self.jitter.value,
                loss: self.loss.value,
                bit_error_rate: self.bit_error_rate.value,
                reorder: self.reorder.value,
                duplicate: self.duplicate.value,
                jitter_distribution: self.jitter_distribution.value,
                narrow: self.narrow()?,
                faults: self.faults.rules()?,
            },
            framing,
            cross: None,
            recorded: false,
            watch: Watched::default(),
            counted: Counted::default(),
        })
    }

    /// A token bucket does not delay, lose or reorder frames.
    fn reject_what_only_emulation_has(&self, kind: LinkKind) -> Result<()> {
        let kind = match kind {
            LinkKind::Mixed => "; \"mixed\" measures goodput through the kernel's links",
            _ => "",
        };
        let why = |key: &str| format!("`{key}` needs link = \"emulated\"{kind}");
        for (key, found) in [("delay", &self.delay), ("jitter", &self.jitter)] {
            if found.value > Span::from_picos(0) {
                return Err(found.reject(why(key)));
            }
        }
        for (key, found) in [
            ("loss", &self.loss),
            ("bit_error_rate", &self.bit_error_rate),
            ("reorder", &self.reorder),
            ("duplicate", &self.duplicate),
        ] {
            if found.value > 0.0 {
                return Err(found.reject(why(key)));
            }
        }
        if self.queue.value != Choice::usual() {
            return Err(self.queue.reject(why("queue")));
        }
        if self.buffer.value.packets().is_some() {
            return Err(self.buffer.reject("a buffer in packets needs link = \"emulated\": write bytes, for instance \"500kB\""));
        }
        if self.link_mtu.value.is_some() {
            return Err(self.link_mtu.reject(why("link_mtu")));
        }
        self.faults.reject(why)
    }

    /// The link's lower MTU, if it is below that of its interfaces.
    fn narrow(&self) -> Result<Option<Narrow>> {
        let answers = self.too_big.value;
        match self.link_mtu.value {
            Some(wire) if wire > self.mtu.value => {
                let why = format!(
                    "the interfaces of this link send at most its mtu = {}; write less, or \"mtu\"",
                    self.mtu.value.get()
                );
                Err(self.link_mtu.reject(why))
            }
            Some(mtu) if mtu < self.mtu.value => Ok(Some(Narrow { mtu, answers })),
            _ if answers => {
                let why = "no packet is too big for a wire that supports its mtu; write a smaller link_mtu too";
                Err(self.too_big.reject(why))
            }
            _ => Ok(None),
        }
    }

    fn reject_what_has_no_effect(&self) -> Result<()> {
        if self.jitter_distribution.value != JitterDistribution::Uniform
            && self.jitter.value == Span::ZERO
        {
            let why = "without jitter there is nothing to spread; write for instance jitter = \"2ms\" too";
            return Err(self.jitter_distribution.reject(why));
        }
        Ok(())
    }

    fn reject_a_bucket(&self) -> Result<()> {
        if self.burst.value.is_some() {
            let why = "an emulated or simulated link has no token bucket; leave it out, or write \"auto\"";
            return Err(self.burst.reject(why));
        }
        Ok(())
    }
}

/// The medium and the length of a link, if written.
fn made_of(
    medium: Option<&Spanned<Medium>>,
    length: Option<&Spanned<f64>>,
) -> Result<Option<(Medium, f64)>> {
    match (medium, length) {
        (None, None) => Ok(None),
        (None, Some(length)) => Err(length.reject(
            "a length of what? write medium = \"cat5e\", \"fibre\" or \"wifi\", or a delay instead",
        )),
        (Some(medium), None) => Ok(Some((medium.value, LENGTH))),
        (Some(medium), Some(length)) if length.value > medium.value.longest() => Err(length
            .reject(format!(
                "this medium is not as long; write at most {} m",
                medium.value.longest()
            ))),
        (Some(medium), Some(length)) => Ok(Some((medium.value, length.value))),
    }
}

fn mtu(value: &Value, ip: IpVersion) -> Parsed<IpMtu> {
    let bytes = match value {
        Value::Integer(bytes) => u64::try_from(*bytes).unwrap_or(0),
        // An MTU as a size, such as "9kB".
        Value::Text(text) => match text.parse().map(Bytes::get) {
            Ok(bytes) if IpMtu::new(bytes, ip).is_ok() => {
                return Err(format!("write {bytes}"));
            }
            _ => 0,
        },
        _ => 0,
    };
    let mtu = IpMtu::new(bytes, ip).map_err(|error| error.to_string())?;
    Ok((mtu, i64::from(mtu.get()).into()))
}

/// The rate of a link, `none` for unlimited.
fn link_rate(value: &Value) -> Parsed<Option<Rate>> {
    match value {
        Value::Text(word) if word == AUTO => {
            Err("\"auto\" is no level of a sweep; write rates, for instance \"1gbit\"".into())
        }
        value => either(value, "none", rate),
    }
}
