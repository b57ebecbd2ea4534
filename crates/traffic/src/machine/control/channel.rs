//! Framing and authentication of control messages in a byte stream.

use wire::Error;
use wire::control::{Control, LONGEST, PREFIX_LEN, TAG_LEN, frame_length};

use super::Fault;
use super::handshake::{Contributions, purpose};
use secret::Secret;

/// Both directions of a connection.
#[derive(Debug, Default)]
pub(super) struct Channel {
    input: Vec<u8>,
    output: Vec<u8>,
    seal: Option<Seal>,
}

/// The keys and frame numbers of the authentication tags.
#[derive(Debug)]
struct Seal {
    ours: Secret,
    theirs: Secret,
    sent: u64,
    taken: u64,
}

/// The end of the connection that this is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    Sender,
    Receiver,
}

impl Channel {
    /// Takes received bytes. The caller reads all messages before the next call, so
    /// the buffer holds no more than one call's bytes and an incomplete frame.
    pub(super) fn receive(&mut self, bytes: &[u8]) {
        self.input.extend_from_slice(bytes);
    }

    /// The next whole message, if one has arrived.
    pub(super) fn next(&mut self) -> Result<Option<Control>, Fault> {
        let length = match frame_length(&self.input) {
            Ok(length) => length,
            Err(Error::Truncated { .. }) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        let Some(frame) = self.input.get(PREFIX_LEN..PREFIX_LEN + length) else {
            return Ok(None);
        };
        let body = match &mut self.seal {
            None => frame,
            Some(seal) => {
                let cut = length.checked_sub(TAG_LEN).ok_or(Fault::Forged)?;
                let (body, tag) = frame.split_at(cut);
                let number = seal.taken.to_be_bytes();
                if !seal.theirs.verify(&[&number, body], tag) {
                    return Err(Fault::Forged);
                }
                seal.taken += 1;
                body
            }
        };
        let message = Control::parse(body)?;
        self.input.drain(..PREFIX_LEN + length);
        Ok(Some(message))
    }

    /// Appends a message to the output buffer.
    pub(super) fn send(&mut self, message: &Control) {
        let mut room = [0; LONGEST];
        let length = message.emit(&mut room);
        let body = &room[..length];
        let tag = self.seal.as_mut().map(|seal| {
            let number = seal.sent.to_be_bytes();
            seal.sent += 1;
            seal.ours.hash(&[&number, body])
        });
        let tag = tag.as_ref().map_or(&[][..], |tag| &tag[..TAG_LEN]);
        let whole = u16::try_from(length + tag.len()).expect("a frame is short");
        self.output.extend(whole.to_be_bytes());
        self.output.extend(body);
        self.output.extend(tag);
    }

    /// Authenticates all further frames with keys derived from `secret`.
    pub(super) fn seal(&mut self, end: End, secret: &Secret, with: &Contributions) {
        let [sender, receiver] = [purpose::SENDER_FRAMES, purpose::RECEIVER_FRAMES]
            .map(|purpose| Secret::new(with.hash(secret, purpose).to_vec()));
        let (ours, theirs) = match end {
            End::Sender => (sender, receiver),
            End::Receiver => (receiver, sender),
        };
        self.seal = Some(Seal {
            ours,
            theirs,
            sent: 0,
            taken: 0,
        });
    }

    pub(super) fn output(&mut self) -> &mut Vec<u8> {
        &mut self.output
    }
}
