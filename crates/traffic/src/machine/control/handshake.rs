//! What both ends hash to prove that they know the secret.

use secret::Secret;

/// The contributions of both ends to a session.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Contributions {
    pub(super) sender_nonce: [u8; 16],
    pub(super) sender_clock: [u8; 8],
    pub(super) receiver_nonce: [u8; 16],
    pub(super) receiver_clock: [u8; 8],
}

impl Contributions {
    /// The pieces to hash for `purpose`.
    fn pieces<'a>(&'a self, purpose: &'a str) -> [&'a [u8]; 5] {
        [
            purpose.as_bytes(),
            &self.sender_nonce,
            &self.sender_clock,
            &self.receiver_nonce,
            &self.receiver_clock,
        ]
    }

    /// A proof or a key for `purpose`.
    pub(super) fn hash(&self, secret: &Secret, purpose: &str) -> [u8; 32] {
        secret.hash(&self.pieces(purpose))
    }

    /// Verifies a proof for `purpose`.
    pub(super) fn verify(&self, secret: &Secret, purpose: &str, proof: &[u8; 32]) -> bool {
        secret.verify(&self.pieces(purpose), proof)
    }
}

/// Labels that separate the uses of the hash.
pub(super) mod purpose {
    pub(in super::super) const SENDER_PROOF: &str = "jumbolab control 1: sender's proof";
    pub(in super::super) const RECEIVER_PROOF: &str = "jumbolab control 1: receiver's proof";
    pub(in super::super) const SENDER_FRAMES: &str = "jumbolab control 1: sender's frames";
    pub(in super::super) const RECEIVER_FRAMES: &str = "jumbolab control 1: receiver's frames";
}

#[cfg(test)]
mod tests {
    use units::Time;

    use super::super::{Client, Limits, ReceiverMessage, Request, Server, Settings};
    use super::*;

    #[test]
    fn a_sender_keeps_no_secret_after_the_handshake() {
        let secret = || Secret::new(b"nobody else knows".to_vec());
        let kept = secret();
        let mut client = Client::new(Some(kept.clone()), [1; 16], [2; 8]);
        let settings = Settings {
            secret: Some(secret()),
            limits: Limits::default(),
            nonce: [3; 16],
            clock: [4; 8],
        };
        let mut server = Server::new(Time::ZERO, settings);
        let mut news = Vec::new();
        while news.is_empty() {
            let asked = std::mem::take(client.output());
            for request in server.receive(0, &asked).unwrap() {
                assert_eq!(request, Request::Admit);
                server.admit(Time::ZERO);
            }
            news = client.receive(0, &std::mem::take(server.output())).unwrap();
        }
        assert!(matches!(news[..], [ReceiverMessage::Welcome { .. }]));
        assert_eq!(kept.clones(), 1);
    }
}
