//! Random impairments of frames: loss, bit errors, jitter, reordering, duplication.

use rand::RngExt as _;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use rand_distr::{Distribution, Exp1, StandardNormal};
use units::{Bytes, Seed, Span};

use super::{JitterDistribution, Settings};

/// Independent random streams, one per impairment, with one deviate per frame for each
/// active impairment: activating one never changes the others.
#[derive(Debug)]
pub(super) struct LinkRng {
    loss: Stream,
    bit_errors: Stream,
    jitter: Stream,
    reorder: Stream,
    duplicate: Stream,
    /// The logarithm of the probability that a bit is right.
    bit_right: f64,
    jitter_distribution: JitterDistribution,
    jitter_scale: Span,
}

/// An impairment's probability and its generator.
#[derive(Debug)]
struct Stream {
    probability: f64,
    generator: ChaCha8Rng,
}

impl Stream {
    fn new(seed: Seed, name: &str, probability: f64) -> Self {
        Self {
            probability,
            generator: ChaCha8Rng::seed_from_u64(seed.derive(name).get()),
        }
    }

    /// A number uniform in [0, 1).
    fn draw(&mut self) -> f64 {
        self.generator.random()
    }

    fn occurs(&mut self) -> bool {
        self.probability > 0.0 && self.draw() < self.probability
    }
}

/// The outcome drawn for one frame.
#[derive(Debug, Default)]
pub(super) struct Chance {
    /// Whether the frame is lost.
    pub(super) lost: bool,
    /// Whether any of its bits is wrong.
    pub(super) damaged: bool,
    /// Its extra delay.
    pub(super) jitter: Span,
    /// Whether the frame is held back.
    pub(super) held: bool,
    /// Whether the frame arrives twice.
    pub(super) twice: bool,
}

impl LinkRng {
    /// The random streams of a link; `None` if no impairment is active, which keeps
    /// such links small.
    pub(super) fn new(settings: &Settings, seed: Seed) -> Option<Box<Self>> {
        let jitter = f64::from(u8::from(settings.jitter > Span::default()));
        let distributions = [
            settings.loss,
            settings.bit_error_rate,
            jitter,
            settings.reorder,
            settings.duplicate,
        ];
        if distributions
            .iter()
            .all(|distribution| *distribution <= 0.0)
        {
            return None;
        }
        Some(Box::new(Self {
            loss: Stream::new(seed, "loss", settings.loss),
            bit_errors: Stream::new(seed, "bit-errors", settings.bit_error_rate),
            jitter: Stream::new(seed, "jitter", jitter),
            reorder: Stream::new(seed, "reorder", settings.reorder),
            duplicate: Stream::new(seed, "duplicate", settings.duplicate),
            bit_right: (-settings.bit_error_rate).ln_1p(),
            jitter_distribution: settings.jitter_distribution,
            jitter_scale: settings.jitter,
        }))
    }

    /// The outcome for a frame of `size`. Every impairment draws for every frame,
    /// regardless of the others' outcomes.
    pub(super) fn draw(&mut self, size: Bytes) -> Chance {
        Chance {
            lost: self.lost(),
            damaged: self.damaged(size),
            jitter: self.jitter(),
            held: self.held_back(),
            twice: self.twice(),
        }
    }

    /// Whether the frame is lost.
    fn lost(&mut self) -> bool {
        self.loss.occurs()
    }

    /// Whether any bit of a frame of `size` bytes is wrong. Errors are independent:
    /// the probability is 1 - (1 - rate)^bits.
    fn damaged(&mut self, size: Bytes) -> bool {
        if self.bit_errors.probability <= 0.0 {
            return false;
        }
        let all_right = (self.bit_right * size.bits() as f64).exp();
        self.bit_errors.draw() >= all_right
    }

    /// The extra delay of a frame.
    fn jitter(&mut self) -> Span {
        if self.jitter.probability <= 0.0 {
            return Span::default();
        }
        let share: f64 = match self.jitter_distribution {
            JitterDistribution::Uniform => self.jitter.draw(),
            // A normal deviate with mean 0, cut off below 0, is distributed as the
            // magnitude of one.
            JitterDistribution::Normal => {
                let deviate: f64 = StandardNormal.sample(&mut self.jitter.generator);
                deviate.abs()
            }
            JitterDistribution::Exponential => Exp1.sample(&mut self.jitter.generator),
        };
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a multiple of a span, to f64's 53 bits; what is too long saturates"
        )]
        let picos = (share * self.jitter_scale.as_picos() as f64) as u64;
        Span::from_picos(picos)
    }

    /// Whether the frame is held back.
    fn held_back(&mut self) -> bool {
        self.reorder.occurs()
    }

    /// Whether the frame arrives twice.
    fn twice(&mut self) -> bool {
        self.duplicate.occurs()
    }
}
