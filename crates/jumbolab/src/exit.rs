//! How commands end: the exit codes.

use std::process::ExitCode;

use analysis::quality_check::State;
use anyhow::{Error, Result};
use os::interrupt;
use results::journal::Lost;

use crate::output;

/// The exit code of sound results.
const SOUND: u8 = 0;
/// The exit code of results that are not sound.
const UNSOUND: u8 = 1;
/// The exit code of a command that could not do its work.
pub(crate) const COULD_NOT: u8 = 2;
/// The exit code of a command that could not decide what it was asked.
const UNDECIDED: u8 = 3;
/// The exit code of a command that was stopped: that of shells for SIGINT.
const STOPPED: u8 = 130;

/// The exit codes with their meanings, as the manual prints them.
pub(crate) const CODES: [(u8, &str); 5] = [
    (
        SOUND,
        "Done. The results are sound, or have warnings, which are printed, and --strict was not given.",
    ),
    (
        UNSOUND,
        "Done, but a problem was found or the results are not sound: the quality check failed or there is no result (run, report); a path has a problem (probe); something is missing (doctor); a flow failed, or none of its messages arrived (send); a packet log or a recording is not complete (recv, emulate, decode); with --strict also if there are warnings.",
    ),
    (
        COULD_NOT,
        "Not done: wrong usage, or the command could not run. One line on stderr states the reason.",
    ),
    (
        UNDECIDED,
        "Undecided: the probes could not determine whether the path delivers the size (probe).",
    ),
    (
        STOPPED,
        "Stopped by SIGINT (Ctrl-C), SIGTERM or SIGHUP before it was done. Commands that run until then (recv, emulate, gateway, probe --watch) end with another code.",
    ),
];

/// How a command ended that printed its results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    /// Its results are sound.
    Sound,
    /// It ran, but its results are not sound.
    Unsound,
    /// It ran, and could not tell what it was asked.
    Undecided,
    /// A signal stopped it before it was done; it printed what it had.
    Stopped,
    /// As the user's program that it ran, with its exit code.
    #[cfg(target_os = "linux")]
    Program(u8),
}

impl Ending {
    /// The ending with results in this state. If `strict`, results with warnings are
    /// not sound.
    pub(crate) const fn of(state: State, strict: bool) -> Self {
        match state {
            State::Passed => Self::Sound,
            State::PassedWithWarnings if !strict => Self::Sound,
            State::PassedWithWarnings | State::Failed => Self::Unsound,
        }
    }

    const fn code(self) -> u8 {
        match self {
            Self::Sound => SOUND,
            Self::Unsound => UNSOUND,
            Self::Undecided => UNDECIDED,
            Self::Stopped => STOPPED,
            #[cfg(target_os = "linux")]
            Self::Program(code) => code,
        }
    }
}

/// The ending of a command that has no results to judge.
pub(crate) const fn done((): ()) -> Ending {
    Ending::Sound
}

/// The exit code of a command; prints the reason if it could not do its work.
pub(crate) fn code(result: Result<Ending>) -> ExitCode {
    match result {
        Ok(ending) => ending.code().into(),
        Err(error) if output::is_closed_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            output::report_error(&error);
            code_of(&error, interrupt::asked()).into()
        }
    }
}

/// The exit code of an error; whether a signal asked to stop.
fn code_of(error: &Error, is_stopped: bool) -> u8 {
    match is_stopped {
        // It ran, but its results are not what was asked for.
        _ if error.is::<Lost>() => UNSOUND,
        true => STOPPED,
        false => COULD_NOT,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strictness_turns_warnings_into_unsound_results_and_nothing_else() {
        for (state, codes) in [
            (State::Passed, [0, 0]),
            (State::PassedWithWarnings, [0, 1]),
            (State::Failed, [1, 1]),
        ] {
            let of = [false, true].map(|strict| Ending::of(state, strict).code());
            assert_eq!(of, codes, "{state}");
        }
        assert_eq!(Ending::Undecided.code(), 3);
        assert_eq!(Ending::Stopped.code(), 130);
        assert_eq!(Ending::Program(7).code(), 7);
    }
}
