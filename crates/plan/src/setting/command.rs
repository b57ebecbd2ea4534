//! Programs of the user, and the positions of the metrics in their output.

use units::{Bytes, Span};

use crate::command_line::CommandLine;
use crate::metric::Metric;

/// A program in the sender whose output is read, and optionally a server in the
/// receiver.
#[derive(Clone, Debug, PartialEq)]
pub struct Command {
    /// The program to start in the receiver first.
    pub receiver: Option<CommandLine>,
    /// The program to run in the sender; its stdout is one JSON document.
    pub sender: CommandLine,
    /// The position of each metric in the document; the values are in the units of
    /// the catalogue.
    pub read: Vec<(&'static Metric, Reading)>,
    /// The position of the bytes of payload, from which CPU time per byte is
    /// computed.
    pub bytes: Option<Reading>,
    /// The value of `{size}` in both command lines.
    pub size: Option<Bytes>,
    /// The time limit of the sender's program; the trial fails when it passes.
    pub timeout: Span,
}

impl Command {
    /// Whether one of the programs uses `{folder}`.
    pub fn needs_folder(&self) -> bool {
        let lines = self.receiver.iter().chain([&self.sender]);
        { lines }.any(CommandLine::names_folder)
    }
}

/// A number in a JSON document.
#[derive(Clone, Debug, PartialEq)]
pub struct Reading {
    /// The position, as a JSON pointer [RFC6901].
    pub pointer: String,
    /// The factor that converts the number to the unit of its metric.
    pub factor: f64,
}
