//! The keys by which gateways know each other, and their text.

use std::fmt;
use std::str::FromStr;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use secret::noise::{agreed, public_of};
use units::{Bytes, IpMtu, Span};
use zeroize::Zeroizing;

pub use secret::noise::KEY_LEN;

/// Text that is no key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadKey {
    /// It is not 32 bytes in base64.
    #[error("a key has 44 characters of base64, as `jumbolab gateway keygen` prints it")]
    Text,
    /// Every key agreed upon with it would be the same [RFC7748 s6.1].
    #[error("it is no public key of X25519; write what `jumbolab gateway keygen` prints")]
    Weak,
}

/// The public key of a gateway, on Curve25519 [RFC7748].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PublicKey([u8; KEY_LEN]);

/// The private key of a gateway with its public key. It is never printed but by
/// [`Identity::text`], and its bytes become zeros when it is dropped.
#[derive(Clone)]
pub struct Identity {
    private: Zeroizing<[u8; KEY_LEN]>,
    public: PublicKey,
}

/// A key that two gateways share besides, against an attacker who can compute private
/// keys from public ones one day. All zeros are none.
#[derive(Clone, PartialEq, Eq)]
pub struct PresharedKey(Zeroizing<[u8; KEY_LEN]>);

/// The keys by which bundles to a peer are sealed, and how long they are used.
#[derive(Clone, Debug)]
pub struct Sealing {
    /// This gateway's key pair.
    pub identity: Identity,
    /// The peer's public key.
    pub peer: PublicKey,
    /// The key that both share besides.
    pub preshared: PresharedKey,
    /// The age at which the keys of a session are replaced. At three times this age they
    /// are erased.
    pub rekey_after: Span,
    /// The number of sent bundles after which they are replaced.
    pub rekey_bundles: u64,
    /// How bundles are lengthened.
    pub padding: Padding,
}

/// The zeros behind the packets of a sealed bundle, which hide its length: packets toward the
/// core have a multiple of this size, or that of the path MTU.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Padding(Bytes);

impl Padding {
    /// No zeros.
    pub const NONE: Self = Self(Bytes::new(1));
    /// All bundles have the size of the path MTU.
    pub const FULL: Self = Self(Bytes::new(IpMtu::LARGEST as u64));

    /// Sizes are multiples of `step`, and never zero.
    pub fn multiples_of(step: Bytes) -> Self {
        Self(step.max(Bytes::new(1)))
    }

    /// The size of a packet of `size` bytes where packets of `mtu` bytes pass.
    pub(in crate::machine) fn padded(self, size: Bytes, mtu: Bytes) -> Bytes {
        let multiple = size.get().next_multiple_of(self.0.get());
        size.max(mtu.min(Bytes::new(multiple)))
    }
}

impl Sealing {
    /// Keys of sessions that change every two minutes, or every 2^32 bundles.
    pub fn new(identity: Identity, peer: PublicKey) -> Self {
        Self {
            identity,
            peer,
            preshared: PresharedKey::default(),
            rekey_after: Span::from_secs(120),
            rekey_bundles: 1 << 32,
            padding: Padding::NONE,
        }
    }
}

/// The 32 bytes of a text in base64.
fn bytes_of(text: &str) -> Result<Zeroizing<[u8; KEY_LEN]>, BadKey> {
    let mut bytes = Zeroizing::new([0; KEY_LEN]);
    // The decoder estimates the length of its output before it knows of the padding.
    let mut room = Zeroizing::new([0; KEY_LEN + 1]);
    match STANDARD.decode_slice(text.trim_ascii(), &mut *room) {
        Ok(KEY_LEN) => {
            bytes.copy_from_slice(&room[..KEY_LEN]);
            Ok(bytes)
        }
        _ => Err(BadKey::Text),
    }
}

impl PublicKey {
    /// Its bytes.
    pub const fn bytes(&self) -> &[u8; KEY_LEN] {
        &self.0
    }
}

impl FromStr for PublicKey {
    type Err = BadKey;

    fn from_str(text: &str) -> Result<Self, BadKey> {
        let bytes = *bytes_of(text)?;
        match agreed(&[1; KEY_LEN], &bytes) {
            Some(_) => Ok(Self(bytes)),
            None => Err(BadKey::Weak),
        }
    }
}

impl fmt::Display for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&STANDARD.encode(self.0))
    }
}

impl Identity {
    /// The identity with this private key.
    pub fn new(private: Zeroizing<[u8; KEY_LEN]>) -> Self {
        let public = PublicKey(public_of(&private));
        Self { private, public }
    }

    /// The identity with the private key of this text.
    ///
    /// # Errors
    /// If it is no key in base64.
    pub fn parse(text: &str) -> Result<Self, BadKey> {
        bytes_of(text).map(Self::new)
    }

    /// Its private key as text.
    pub fn text(&self) -> Zeroizing<String> {
        Zeroizing::new(STANDARD.encode(*self.private))
    }

    /// Its public key.
    pub const fn public(&self) -> &PublicKey {
        &self.public
    }

    pub(super) fn private(&self) -> &[u8; KEY_LEN] {
        &self.private
    }
}

impl fmt::Debug for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Identity({})", self.public)
    }
}

impl PresharedKey {
    /// The key of this text.
    ///
    /// # Errors
    /// If it is no key in base64.
    pub fn parse(text: &str) -> Result<Self, BadKey> {
        bytes_of(text).map(Self)
    }

    pub(super) fn bytes(&self) -> &[u8; KEY_LEN] {
        &self.0
    }
}

impl Default for PresharedKey {
    fn default() -> Self {
        Self(Zeroizing::new([0; KEY_LEN]))
    }
}

impl fmt::Debug for PresharedKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PresharedKey")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_owners_agree_as_in_the_standards_example() {
        // [RFC7748 s6.1], in base64.
        let alice = Identity::parse("dwdtCnMYpX08FsFyUbJmRd9ML4frwJkqsXf7pR25LCo=").unwrap();
        let public = "hSDwCYkwp1R0i33ctD73Wg2/Og0mOBr066SpjqqbTmo=";
        assert_eq!(alice.public().to_string(), public);
        let bob: PublicKey = "3p7bfXt9wbTTW2HC7OQ1Nz+DQ8hbeGdNrfx+FG+IK08="
            .parse()
            .unwrap();
        let shared = agreed(alice.private(), bob.bytes()).unwrap();
        let expected = "Sl2dW6TOLeFyjjv0gDUPJeB+IclH0Z4zdvCbPB4WF0I=";
        assert_eq!(STANDARD.encode(*shared), expected);
    }

    #[test]
    fn keys_are_read_as_they_are_written_and_private_ones_are_not_shown() {
        let identity = Identity::new(Zeroizing::new([7; 32]));
        let again = Identity::parse(&format!("{}\n", *identity.text())).unwrap();
        assert_eq!(again.public(), identity.public());
        let shown = format!("{identity:?} {:?}", PresharedKey::default());
        assert!(!shown.contains(&**identity.text()), "{shown}");
        let public = identity.public().to_string();
        assert_eq!(public.parse::<PublicKey>(), Ok(*identity.public()));
    }

    #[test]
    fn text_that_is_no_key_is_rejected() {
        let read = |text: &str| text.parse::<PublicKey>();
        for text in [
            "",
            "key",
            &"A".repeat(43),
            &"A".repeat(45),
            &"AAA=".repeat(11),
        ] {
            assert_eq!(read(text), Err(BadKey::Text), "{text}");
        }
        // Points of a small order [RFC7748 s6.1].
        let one = STANDARD.encode([[1].as_slice(), &[0; 31]].concat());
        for text in [STANDARD.encode([0; 32]), one] {
            assert_eq!(read(&text), Err(BadKey::Weak), "{text}");
        }
    }
}
