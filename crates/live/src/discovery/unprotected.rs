//! QUIC without protection: packets are as long as with TLS, but neither encrypted nor
//! authenticated. Both ends are in a test bed, and only the size of packets counts.
//!
//! The handshake has the flights of TLS [RFC9001 s4.1]: the client states its transport
//! parameters, the server answers with a hello and with its own parameters, and the
//! client finishes. The length of each message is in the two octets before it.

use std::any::Any;
use std::io::Cursor;
use std::sync::Arc;

use bytes::BytesMut;
use quinn_proto::crypto::{
    AeadKey, ClientConfig, CryptoError, ExportKeyingMaterialError, HandshakeTokenKey, HeaderKey,
    HmacKey, KeyPair, Keys, PacketKey, ServerConfig, Session, UnsupportedVersion,
};
use quinn_proto::transport_parameters::TransportParameters;
use quinn_proto::{ConnectError, ConnectionId, Side, TransportError};
use sha2::{Digest as _, Sha256};

/// Octets of the tag at the end of a packet [RFC9001 s5.3].
const TAG: usize = 16;

/// Octets of the sample that protects a header [RFC9001 s5.4.2].
const SAMPLE: usize = 16;

/// The messages of each end.
const MESSAGES: usize = 2;

/// All configurations and keys.
pub(super) struct Unprotected;

/// An end of the handshake.
struct Handshake {
    side: Side,
    own: Vec<u8>,
    other: Option<TransportParameters>,
    /// Received octets of a message that is not complete.
    received: Vec<u8>,
    /// Complete messages received so far.
    heard: usize,
    /// Steps taken by this end: messages and changes of keys.
    step: usize,
}

impl Handshake {
    fn boxed(side: Side, own: &TransportParameters) -> Box<dyn Session> {
        let mut octets = Vec::new();
        own.write(&mut octets);
        Box::new(Self {
            side,
            own: octets,
            other: None,
            received: Vec::new(),
            heard: 0,
            step: 0,
        })
    }

    /// Removes the first complete message.
    fn next_message(&mut self) -> Option<Vec<u8>> {
        let (length, rest) = self.received.split_first_chunk::<2>()?;
        let message = rest.get(..u16::from_be_bytes(*length).into())?.to_vec();
        self.received.drain(..2 + message.len());
        Some(message)
    }
}

impl Session for Handshake {
    fn initial_keys(&self, _: &ConnectionId, _: Side) -> Keys {
        keys()
    }

    fn handshake_data(&self) -> Option<Box<dyn Any>> {
        None
    }

    fn peer_identity(&self) -> Option<Box<dyn Any>> {
        None
    }

    fn early_crypto(&self) -> Option<(Box<dyn HeaderKey>, Box<dyn PacketKey>)> {
        None
    }

    fn early_data_accepted(&self) -> Option<bool> {
        None
    }

    fn is_handshaking(&self) -> bool {
        self.heard < MESSAGES
    }

    fn read_handshake(&mut self, octets: &[u8]) -> Result<bool, TransportError> {
        self.received.extend_from_slice(octets);
        while let Some(message) = self.next_message() {
            let with_parameters = usize::from(self.side.is_client());
            if self.heard == with_parameters {
                let read = TransportParameters::read(self.side, &mut Cursor::new(message));
                self.other = Some(read?);
            }
            self.heard += 1;
        }
        Ok(false)
    }

    fn transport_parameters(&self) -> Result<Option<TransportParameters>, TransportError> {
        Ok(self.other)
    }

    fn write_handshake(&mut self, octets: &mut Vec<u8>) -> Option<Keys> {
        let own: &[u8] = &self.own;
        let (message, has_keys) = match (self.side, self.step, self.heard) {
            (Side::Client, 0, _) => (Some(own), false),
            (Side::Client, 1, 1..) => (None, true),
            (Side::Client, 2, MESSAGES..) | (Side::Server, 0, 1..) => (Some(&[][..]), true),
            (Side::Server, 1, _) => (Some(own), true),
            _ => return None,
        };
        self.step += 1;
        if let Some(message) = message {
            let length = u16::try_from(message.len()).unwrap_or(u16::MAX);
            octets.extend_from_slice(&length.to_be_bytes());
            octets.extend_from_slice(message);
        }
        has_keys.then(keys)
    }

    fn next_1rtt_keys(&mut self) -> Option<KeyPair<Box<dyn PacketKey>>> {
        Some(keys().packet)
    }

    fn is_valid_retry(&self, _: &ConnectionId, _: &[u8], _: &[u8]) -> bool {
        false
    }

    fn export_keying_material(
        &self,
        _: &mut [u8],
        _: &[u8],
        _: &[u8],
    ) -> Result<(), ExportKeyingMaterialError> {
        Err(ExportKeyingMaterialError)
    }
}

/// The keys of a packet number space.
fn keys() -> Keys {
    Keys {
        header: KeyPair {
            local: Box::new(Unprotected),
            remote: Box::new(Unprotected),
        },
        packet: KeyPair {
            local: Box::new(Unprotected),
            remote: Box::new(Unprotected),
        },
    }
}

impl ClientConfig for Unprotected {
    fn start_session(
        self: Arc<Self>,
        _: u32,
        _: &str,
        own: &TransportParameters,
    ) -> Result<Box<dyn Session>, ConnectError> {
        Ok(Handshake::boxed(Side::Client, own))
    }
}

impl ServerConfig for Unprotected {
    fn initial_keys(&self, _: u32, _: &ConnectionId) -> Result<Keys, UnsupportedVersion> {
        Ok(keys())
    }

    fn retry_tag(&self, _: u32, _: &ConnectionId, _: &[u8]) -> [u8; 16] {
        [0; 16]
    }

    fn start_session(self: Arc<Self>, _: u32, own: &TransportParameters) -> Box<dyn Session> {
        Handshake::boxed(Side::Server, own)
    }
}

impl PacketKey for Unprotected {
    fn encrypt(&self, _: u64, _: &mut [u8], _: usize) {}

    fn decrypt(&self, _: u64, _: &[u8], payload: &mut BytesMut) -> Result<(), CryptoError> {
        let length = payload.len().checked_sub(TAG).ok_or(CryptoError)?;
        payload.truncate(length);
        Ok(())
    }

    fn tag_len(&self) -> usize {
        TAG
    }

    fn confidentiality_limit(&self) -> u64 {
        u64::MAX
    }

    fn integrity_limit(&self) -> u64 {
        u64::MAX
    }
}

impl HeaderKey for Unprotected {
    fn decrypt(&self, _: usize, _: &mut [u8]) {}

    fn encrypt(&self, _: usize, _: &mut [u8]) {}

    fn sample_size(&self) -> usize {
        SAMPLE
    }
}

/// Tokens of resets, which must differ from the ends of packets.
impl HmacKey for Unprotected {
    fn sign(&self, data: &[u8], signature: &mut [u8]) {
        signature.copy_from_slice(&Sha256::digest(data));
    }

    fn signature_len(&self) -> usize {
        Sha256::output_size()
    }

    fn verify(&self, data: &[u8], signature: &[u8]) -> Result<(), CryptoError> {
        let is_right = Sha256::digest(data).as_slice() == signature;
        is_right.then_some(()).ok_or(CryptoError)
    }
}

impl HandshakeTokenKey for Unprotected {
    fn aead_from_hkdf(&self, _: &[u8]) -> Box<dyn AeadKey> {
        Box::new(Self)
    }
}

impl AeadKey for Unprotected {
    fn seal(&self, _: &mut Vec<u8>, _: &[u8]) -> Result<(), CryptoError> {
        Ok(())
    }

    fn open<'a>(&self, data: &'a mut [u8], _: &[u8]) -> Result<&'a mut [u8], CryptoError> {
        Ok(data)
    }
}
