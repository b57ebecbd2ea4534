//! The question to the user. Backends that need no Linux do nothing outside.

use std::env;
use std::fs::Metadata;
use std::io::{self, BufRead as _, IsTerminal, Read as _, Write as _};
use std::os::unix::fs::MetadataExt as _;

use anyhow::{Result, bail};
use experiment::Experiment;
use os::effective_user;
use plan::{NamedHosts, Plan, SideEffect};

use super::side_effects;
use crate::output;

/// The maximum number of lines that are shown before a start.
const MOST_SHOWN: usize = 16;

/// The most characters of what a user is asked to agree to: more would be cut where it is shown.
const LONGEST: usize = 2_000;

/// The bit of a file's mode that lets everybody write it [inode(7)].
const WRITABLE_BY_ALL: u32 = 0o002;

/// The user who owns the system.
const ROOT: u32 = 0;

/// Lists what `plan` does outside when it runs between the hosts `named`. Asks for consent if
/// others could have written the experiment, unless it is `allowed`. A sandbox has other user
/// numbers, and a bench connects to hosts, so this is called before both.
///
/// # Errors
/// The user does not consent, or cannot be asked.
pub(in crate::command) fn ask(
    experiment: &Experiment,
    plan: &Plan,
    named: Option<&NamedHosts>,
    allowed: bool,
) -> Result<()> {
    let all = side_effects(plan, named);
    if all.is_empty() {
        return Ok(());
    }
    output::info("this experiment will:");
    for line in all.iter().take(MOST_SHOWN) {
        output::info(&format!("  {}", output::one_line(&line.to_string())));
    }
    if all.len() > MOST_SHOWN {
        let more = all.len() - MOST_SHOWN;
        output::info(&format!("  and {more} more: see --dry-run"));
    }
    let is_by_others = experiment.file().is_some_and(|file| !is_own(file))
        && all.iter().any(|effect| !effect.is_option);
    if !is_by_others || allowed {
        return Ok(());
    }
    let warning = "the experiment file belongs to another user, or everybody can write it";
    let is_cut = |effect: &SideEffect| effect.to_string().chars().count() > LONGEST;
    if all.len() > MOST_SHOWN || all.iter().any(is_cut) {
        bail!(
            "{warning}, and the list above is not whole; read it with --dry-run, and add --allow-commands to start it"
        );
    }
    if !io::stdin().is_terminal() || !io::stderr().is_terminal() {
        bail!("{warning}; read the list above, and add --allow-commands to start it");
    }
    output::info(&format!("{warning}."));
    match is_consent()? {
        true => Ok(()),
        false => bail!("nothing was started; run it again and answer `y` to start it"),
    }
}

/// Whether only the user, or root, can have written the file. With sudo, the
/// user is also the one who called it.
pub(in crate::command) fn is_own(file: &Metadata) -> bool {
    let called_by = env::var("SUDO_UID").ok().and_then(|id| id.parse().ok());
    let own = [Some(effective_user()), Some(ROOT), called_by];
    own.contains(&Some(file.uid())) && file.mode() & WRITABLE_BY_ALL == 0
}

/// Asks on the terminal.
fn is_consent() -> Result<bool> {
    let mut stderr = io::stderr();
    write!(stderr, "Start this experiment? [y/N] ")?;
    stderr.flush()?;
    let mut answer = String::new();
    let mut line = io::stdin().lock().take(16);
    line.read_line(&mut answer)?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}

#[cfg(test)]
mod tests {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn a_file_that_everybody_can_write_is_not_the_users_own() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("x.toml");
        fs::write(&file, "").unwrap();
        for (mode, own) in [(0o600, true), (0o664, true), (0o666, false), (0o602, false)] {
            fs::set_permissions(&file, Permissions::from_mode(mode)).unwrap();
            assert_eq!(is_own(&fs::metadata(&file).unwrap()), own, "{mode:o}");
        }
        assert!(is_own(&fs::metadata("/proc/self/status").unwrap()));
    }
}
