//! Programs that an experiment starts: they are named before they start, and a
//! file of somebody else's needs the user's consent.

use std::env;
use std::fs;
use std::io::{self, BufRead as _, IsTerminal, Read as _, Write as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use anyhow::{Context, Result, bail};
use live::effective_user;
use plan::Plan;
use plan::setting::Traffic;

use crate::output;

/// The maximum number of command lines that are shown.
const MOST_SHOWN: usize = 16;

/// The bit of a file's mode that lets everybody write it [inode(7)].
const WRITABLE_BY_ALL: u32 = 0o002;

/// The user who owns the system.
const ROOT: u32 = 0;

/// The programs of an experiment.
pub(super) struct Programs {
    /// Their command lines, each once.
    lines: Vec<String>,
    /// Why the user must consent to them.
    doubt: Option<String>,
}

impl Programs {
    /// The programs that `plan` starts, of the shipped experiment or the file
    /// that `experiment` names. A sandbox has other user numbers, so this is
    /// called before one is entered.
    ///
    /// # Errors
    /// The file has gone.
    pub(super) fn of(plan: &Plan, experiment: &str) -> Result<Self> {
        let lines = command_lines(plan);
        let is_trusted = lines.is_empty()
            || experiment::is_shipped(experiment)
            || is_own(Path::new(experiment))?;
        let doubt = (!is_trusted)
            .then(|| format!("{experiment} belongs to another user, or everybody can write it"));
        Ok(Self { lines, doubt })
    }

    /// Names the programs. Asks for consent if others could have written the
    /// experiment, unless they are `allowed`.
    ///
    /// # Errors
    /// The user does not consent, or cannot be asked.
    pub(super) fn announce(&self, allowed: bool) -> Result<()> {
        let Self { lines, doubt } = self;
        if lines.is_empty() {
            return Ok(());
        }
        output::say("this experiment starts programs:");
        for line in lines.iter().take(MOST_SHOWN) {
            output::say(&format!("  {}", output::one_line(line)));
        }
        if lines.len() > MOST_SHOWN {
            let more = lines.len() - MOST_SHOWN;
            output::say(&format!("  and {more} more: see --dry-run"));
        }
        let Some(doubt) = doubt.as_ref().filter(|_| !allowed) else {
            return Ok(());
        };
        if !io::stdin().is_terminal() || !io::stderr().is_terminal() {
            bail!("{doubt}; read its programs, and add --allow-commands to start them");
        }
        output::say(&format!("{doubt}."));
        match is_consent()? {
            true => Ok(()),
            false => bail!("no program was started, as you wished"),
        }
    }
}

/// The command lines of all cells, each once.
fn command_lines(plan: &Plan) -> Vec<String> {
    let mut lines = Vec::new();
    for cell in &plan.cells {
        let Ok(setting) = &cell.setting else { continue };
        let Traffic::Command(command) = &setting.traffic else {
            continue;
        };
        let receiver = command.receiver.iter().map(|line| ("receiver", line));
        for (node, line) in receiver.chain([("sender", &command.sender)]) {
            let line = format!("{node}: {line}");
            if !lines.contains(&line) {
                lines.push(line);
            }
        }
    }
    lines
}

/// Whether only the user, or root, can have written the file. With sudo, the
/// user is also the one who called it.
fn is_own(file: &Path) -> Result<bool> {
    let facts = fs::metadata(file).with_context(|| file.display().to_string())?;
    let called_by = env::var("SUDO_UID").ok().and_then(|id| id.parse().ok());
    let own = [Some(effective_user()), Some(ROOT), called_by];
    Ok(own.contains(&Some(facts.uid())) && facts.mode() & WRITABLE_BY_ALL == 0)
}

/// Asks on the terminal.
fn is_consent() -> Result<bool> {
    let mut stderr = io::stderr();
    write!(stderr, "Start these programs? [y/N] ")?;
    stderr.flush()?;
    let mut answer = String::new();
    let mut line = io::stdin().lock().take(16);
    line.read_line(&mut answer)?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}

#[cfg(test)]
mod tests {
    use std::fs::Permissions;
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn a_file_that_everybody_can_write_is_not_the_users_own() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("x.toml");
        fs::write(&file, "").unwrap();
        for (mode, own) in [(0o600, true), (0o664, true), (0o666, false), (0o602, false)] {
            fs::set_permissions(&file, Permissions::from_mode(mode)).unwrap();
            assert_eq!(is_own(&file).unwrap(), own, "{mode:o}");
        }
        assert!(is_own(Path::new("/proc/self/status")).unwrap());
    }
}
