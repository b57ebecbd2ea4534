//! How commands end: the exit codes of docs/guides/reports.md.

use std::process::ExitCode;

use analysis::quality_check::State;
use anyhow::{Error, Result};
use os::interrupt;
use results::journal::Lost;

use crate::output;

/// The exit code of results that are not sound.
const UNSOUND: u8 = 1;
/// The exit code of a command that could not do its work, or could not tell.
pub(crate) const COULD_NOT: u8 = 2;
/// The exit code of a command that was stopped: that of shells for SIGINT.
const STOPPED: u8 = 130;

/// How a command ended that printed its results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    /// Its results are sound.
    Sound,
    /// It ran, but its results are not sound.
    Unsound,
    /// It ran, and could not tell what it was asked.
    #[cfg(target_os = "linux")]
    Undecided,
    /// A signal stopped it before it was done; it printed what it had.
    #[cfg(target_os = "linux")]
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
            Self::Sound => 0,
            Self::Unsound => UNSOUND,
            #[cfg(target_os = "linux")]
            Self::Undecided => COULD_NOT,
            #[cfg(target_os = "linux")]
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
            output::complain(&error);
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
        assert_eq!(Ending::Stopped.code(), 130);
        assert_eq!(Ending::Program(7).code(), 7);
    }
}
