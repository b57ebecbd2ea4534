//! The user's programs.

use std::path::PathBuf;

use super::fact::{Fact, Row};

facts! {
    "", "`kind = \"command\"`: the command lines as they were run, addresses filled in"
    { COMMAND_SENDER: String = "command_sender", COMMAND_RECEIVER: String = "command_receiver" }

    "", "`kind = \"command\"`: of the sender's program"
    { EXIT_CODE: i32 = "exit_code" }

    "", "`kind = \"command\"`, where a line has `{folder}`: what is in the trial's folder in `files/`, as paths below the results folder"
    { FILES: Vec<PathBuf> = "files" }

    "", "`kind = \"command\"`: congestion control that both hosts begin with"
    { CONGESTION_DEFAULT: String = "congestion_default" }
}
