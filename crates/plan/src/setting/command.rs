//! Programs of the user's, and where their report says what a trial measures.

use units::{Bytes, Span};

use crate::command_line::CommandLine;

/// A program in the sender whose report is read, and perhaps one in the
/// receiver that serves it.
#[derive(Clone, Debug, PartialEq)]
pub struct Command {
    /// What is started in the receiver first.
    pub receiver: Option<CommandLine>,
    /// What is run in the sender; its stdout is one JSON document.
    pub sender: CommandLine,
    /// Where in it the figures stand, by the names of their metrics, each in
    /// the unit that the catalogue gives it.
    pub read: Vec<(&'static str, Reading)>,
    /// Where in it the octets of payload stand, so that CPU time can be stated per octet.
    pub octets: Option<Reading>,
    /// What stands for `{size}` in both command lines.
    pub size: Option<Bytes>,
    /// How long the sender's program may run before the trial is given up.
    pub timeout: Span,
}

impl Command {
    /// Whether one of the programs asks for a folder for its files.
    pub fn needs_folder(&self) -> bool {
        let lines = self.receiver.iter().chain([&self.sender]);
        { lines }.any(CommandLine::names_folder)
    }
}

/// A number in a JSON document.
#[derive(Clone, Debug, PartialEq)]
pub struct Reading {
    /// Where it stands [RFC6901].
    pub pointer: String,
    /// What it is multiplied by.
    pub factor: f64,
}
