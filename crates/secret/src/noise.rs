//! What handshakes of the Noise protocol use [Perrin2018]: Curve25519, and the functions of the
//! library.

use curve25519_dalek::montgomery::MontgomeryPoint;
use snow::Error;
use snow::params::{CipherChoice, DHChoice, HashChoice};
use snow::resolvers::{CryptoResolver, DefaultResolver};
use snow::types::{Cipher, Dh, Hash, Random};
use zeroize::Zeroizing;

/// Bytes of a key.
pub const KEY_LEN: usize = 32;

/// A private key that is used once.
pub type Ephemeral = Zeroizing<[u8; KEY_LEN]>;

/// The public key of a private one [RFC7748 s6.1].
pub fn public_of(private: &[u8; KEY_LEN]) -> [u8; KEY_LEN] {
    MontgomeryPoint::mul_base_clamped(*private).to_bytes()
}

/// The bytes that the owners of both keys agree on; `None` if they would be zeros whatever
/// the private key is [RFC7748 s6.1].
pub fn agreed(private: &[u8; KEY_LEN], public: &[u8; KEY_LEN]) -> Option<Zeroizing<[u8; KEY_LEN]>> {
    let point = Zeroizing::new(MontgomeryPoint(*public).mul_clamped(*private).to_bytes());
    (*point != [0; KEY_LEN]).then_some(point)
}

/// The functions of the pattern. Those of the library are used but for two: private keys
/// are erased here, and the ephemeral key is one that the caller drew.
pub struct Functions {
    ephemeral: Ephemeral,
}

impl Functions {
    /// Functions for one handshake, with this ephemeral key.
    pub const fn new(ephemeral: Ephemeral) -> Self {
        Self { ephemeral }
    }
}

impl CryptoResolver for Functions {
    fn resolve_rng(&self) -> Option<Box<dyn Random>> {
        Some(Box::new(Once(Some(self.ephemeral.clone()))))
    }

    fn resolve_dh(&self, choice: &DHChoice) -> Option<Box<dyn Dh>> {
        matches!(choice, DHChoice::Curve25519).then(|| Box::<Curve>::default() as Box<dyn Dh>)
    }

    fn resolve_hash(&self, choice: &HashChoice) -> Option<Box<dyn Hash>> {
        DefaultResolver.resolve_hash(choice)
    }

    fn resolve_cipher(&self, choice: &CipherChoice) -> Option<Box<dyn Cipher>> {
        DefaultResolver.resolve_cipher(choice)
    }
}

/// Gives the bytes of one private key, once.
struct Once(Option<Ephemeral>);

impl Random for Once {
    fn try_fill_bytes(&mut self, to: &mut [u8]) -> Result<(), Error> {
        let key = self.0.take().filter(|key| key.len() == to.len());
        to.copy_from_slice(&*key.ok_or(Error::Rng)?);
        Ok(())
    }
}

/// A key pair of X25519, whose private key becomes zeros when it is dropped.
#[derive(Default)]
struct Curve {
    private: Zeroizing<[u8; KEY_LEN]>,
    public: [u8; KEY_LEN],
}

impl Dh for Curve {
    fn name(&self) -> &'static str {
        "25519"
    }

    fn pub_len(&self) -> usize {
        KEY_LEN
    }

    fn priv_len(&self) -> usize {
        KEY_LEN
    }

    fn set(&mut self, private: &[u8]) {
        self.private.copy_from_slice(private);
        self.public = public_of(&self.private);
    }

    fn generate(&mut self, random: &mut dyn Random) -> Result<(), Error> {
        random.try_fill_bytes(&mut *self.private)?;
        self.public = public_of(&self.private);
        Ok(())
    }

    fn pubkey(&self) -> &[u8] {
        &self.public
    }

    fn privkey(&self) -> &[u8] {
        &*self.private
    }

    fn dh(&self, public: &[u8], out: &mut [u8]) -> Result<(), Error> {
        let public = public.first_chunk().ok_or(Error::Dh)?;
        let shared = agreed(&self.private, public).ok_or(Error::Dh)?;
        out.get_mut(..KEY_LEN)
            .ok_or(Error::Dh)?
            .copy_from_slice(&*shared);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_that_makes_the_outcome_zero_is_rejected() {
        let mut out = [1; KEY_LEN];
        let mut curve = Curve::default();
        curve.set(&[3; KEY_LEN]);
        assert!(matches!(curve.dh(&[0; KEY_LEN], &mut out), Err(Error::Dh)));
        assert_eq!(out, [1; KEY_LEN]);
    }
}
