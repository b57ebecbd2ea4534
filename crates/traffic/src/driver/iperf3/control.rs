//! The control connection with its deadlines.

use os::deadline::Deadline;
use os::error::{Error, Result};
use units::Span;

use crate::driver::control_port::{Connection, Room};
use crate::machine::iperf3::{Input, Malformed, State, framed};

/// The longest wait of one read, so that a deadline is seen.
const LOOK: Span = Span::from_millis(50);

/// A control connection at either end.
pub(super) struct Control {
    pub(super) connection: Connection,
    input: Input,
    room: Room,
}

impl Control {
    pub(super) fn new(connection: Connection) -> Self {
        Self {
            connection,
            input: Input::default(),
            room: Room::default(),
        }
    }

    /// Sends bytes.
    ///
    /// # Errors
    /// The connection is lost, or the other end does not read.
    pub(super) fn send(&self, bytes: &[u8]) -> Result<()> {
        self.connection.write(&mut bytes.to_vec())
    }

    /// Sends a state.
    pub(super) fn tell(&self, state: State) -> Result<()> {
        self.send(&[state.byte()])
    }

    /// Sends JSON.
    pub(super) fn send_json(&self, json: &[u8]) -> Result<()> {
        self.send(&framed(json))
    }

    /// The next state, if one arrives within `wait`.
    ///
    /// # Errors
    /// The connection is lost, or the deadline has passed.
    pub(super) fn poll(&mut self, wait: Span, deadline: &Deadline) -> Result<Option<State>> {
        if self.input.is_empty() {
            self.read(wait, deadline)?;
        }
        self.input.state().map_err(|why| self.malformed(why))
    }

    /// Waits for the next state.
    pub(super) fn state(&mut self, deadline: &Deadline) -> Result<State> {
        loop {
            if let Some(state) = self.poll(LOOK, deadline)? {
                return Ok(state);
            }
        }
    }

    /// Waits for JSON of `most` bytes at most.
    pub(super) fn json(&mut self, most: usize, deadline: &Deadline) -> Result<Vec<u8>> {
        loop {
            match self.input.json(most) {
                Ok(Some(json)) => return Ok(json),
                Ok(None) => self.read(LOOK, deadline)?,
                Err(why) => return Err(self.malformed(why)),
            }
        }
    }

    /// Waits for the two numbers of an error.
    pub(super) fn error(&mut self, deadline: &Deadline) -> Result<(u32, u32)> {
        loop {
            if let Some(numbers) = self.input.error() {
                return Ok(numbers);
            }
            self.read(LOOK, deadline)?;
        }
    }

    /// The error for what the other end sent.
    pub(super) fn malformed(&self, why: Malformed) -> Error {
        Error::new(self.listening(), why.to_string())
    }

    /// What a failed read was for.
    pub(super) fn listening(&self) -> String {
        format!("listening to {}", self.connection.peer().ip())
    }

    fn read(&mut self, wait: Span, deadline: &Deadline) -> Result<()> {
        let permit = deadline.permit().map_err(|ended| {
            let why = match ended {
                os::deadline::Ended::Late => "it did not answer in time",
                os::deadline::Ended::Stopped | os::deadline::Ended::Interrupted => {
                    "stopped by the user"
                }
            };
            Error::new(self.listening(), why)
        })?;
        let read = self.connection.read(&mut self.room, wait, permit)?;
        self.input.push(read);
        Ok(())
    }
}
