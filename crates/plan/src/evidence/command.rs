//! The user's programs.

use std::path::PathBuf;

use super::fact::{Fact, Row};

facts! {
    "", "`kind = \"command\"`: the command lines with addresses"
    { COMMAND_SENDER: String = "command_sender", COMMAND_RECEIVER: String = "command_receiver" }

    "", "`kind = \"command\"`: exit code of the sender's program"
    { EXIT_CODE: i32 = "exit_code" }

    "", "`kind = \"command\"` with `{folder}`: the trial's files in `files/`, as paths below the results folder"
    { FILES: Vec<PathBuf> = "files" }

    "", "`kind = \"command\"`: default congestion control of both hosts"
    { CONGESTION_DEFAULT: String = "congestion_default" }
}
