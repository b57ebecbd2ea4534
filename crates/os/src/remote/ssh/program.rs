//! This program on another machine.

use std::process::{Command, Stdio};

use units::Span;

use super::failure::printable;
use super::{Output, Ssh};
use crate::error::{OperationContext, Result};
use crate::{machine, own_executable};

/// The time for a short command.
const SHORT: Span = Span::from_secs(30);

/// The time to copy the program: 30 MB at 1 Mbit/s.
const COPY: Span = Span::from_secs(240);

/// Prints the version of the program `$1` if it has `$2` bytes.
const CHECK: &str =
    r#"test "$(wc -c <"$1" 2>/dev/null)" -eq "$2" 2>/dev/null || exit 3; exec "$1" --version"#;

/// Writes its input of `$2` bytes to the file `$1`, which exists whole or not at all. Hosts
/// may share the folder, so the number of a process does not make a name unique.
const RECEIVE: &str = r#"umask 077; mkdir -p "${1%/*}" && new=$(mktemp "$1.XXXXXX") || exit; trap 'rm -f "$new"' EXIT
cat >"$new" || exit
test "$(wc -c <"$new")" -eq "$2" || { echo "the copy was cut off" >&2; exit 1; }
chmod 700 "$new" && mv -f "$new" "$1""#;

/// The exit code of [`CHECK`] for a file that is absent or another one.
const ABSENT: i32 = 3;

/// The path of this program there; see [`Ssh::program`].
pub(super) fn provide(ssh: &Ssh) -> Result<String> {
    let (here, version) = (machine::kind(), own_version()?);
    if ssh.host.kind != here {
        return installed(ssh, &here, &version);
    }
    let path = format!("{}/{}/jumbolab", ssh.host.cache, own_executable::hash()?);
    let file = own_executable::open()?;
    let length = file
        .metadata()
        .during(|| "reading the program itself")?
        .len();
    let length = length.to_string();
    let check = || {
        ssh.output(
            &["sh", "-c", CHECK, "sh", &path, &length],
            Stdio::null(),
            SHORT,
        )
    };
    let mut checked = check()?;
    if checked.code == Some(ABSENT) {
        let words = ["sh", "-c", RECEIVE, "sh", &path, &length];
        let copied = ssh.output(&words, file.into(), COPY)?;
        if copied.code != Some(0) {
            return Err(ssh.error(format!(
                "copying the program to {path} failed: {}; make room there, or set XDG_CACHE_HOME",
                last_line(&copied.complaint)
            )));
        }
        checked = check()?;
    }
    match is_ours(&checked, &version) {
        true => Ok(path),
        false => Err(ssh.error(format!(
            "the program does not start there ({path}): {}; if its folder is mounted with noexec, set \
             XDG_CACHE_HOME; if a library is missing, build jumbolab on the oldest system",
            last_line(&checked.complaint)
        ))),
    }
}

/// A program of this version that is installed on a machine of another kind.
fn installed(ssh: &Ssh, here: &str, version: &str) -> Result<String> {
    const NAME: &str = "jumbolab";
    let found = ssh.output(&[NAME, "--version"], Stdio::null(), SHORT);
    match found.is_ok_and(|output| is_ours(&output, version)) {
        true => Ok(NAME.to_owned()),
        false => Err(ssh.error(format!(
            "it runs {}, and this program is for {here}; install {version} there, in a folder of its PATH, \
             or choose a host that runs {here}",
            printable(&ssh.host.kind)
        ))),
    }
}

/// Whether a program of this version printed it.
fn is_ours(output: &Output, version: &str) -> bool {
    output.code == Some(0) && String::from_utf8_lossy(&output.bytes).trim() == version
}

/// What this program prints as its version, with the commit of its build: programs of two
/// commits need not understand each other.
fn own_version() -> Result<String> {
    let mut program = Command::new(own_executable::FILE);
    let output = program.arg("--version").stdin(Stdio::null()).output();
    let output = output.during(|| "asking the program itself for its version")?;
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

fn last_line(text: &str) -> String {
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    lines
        .next_back()
        .map_or_else(|| "no reason is given".to_owned(), printable)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock;
    use std::fs::{self, File};
    use std::io::Write as _;

    #[test]
    fn a_copy_is_whole_or_absent_and_replaces_another_file() {
        let folder = files::PrivateFolder::create().unwrap();
        let path = folder
            .path()
            .join("new folder/jumbolab")
            .to_string_lossy()
            .into_owned();
        let given = folder.path().join("given");
        fs::write(&given, "#!/bin/sh\necho its version\n").unwrap();
        let run = |script: &str, length: u64| {
            let length = length.to_string();
            let mut command = Command::new("sh");
            let command = command.args(["-c", script, "sh", &path, &length]);
            command.stdin(File::open(&given).unwrap()).output().unwrap()
        };
        let length = fs::metadata(&given).unwrap().len();
        assert_eq!(run(CHECK, length).status.code(), Some(ABSENT));
        let cut = run(RECEIVE, length + 1);
        assert_eq!(cut.status.code(), Some(1));
        assert_eq!(
            last_line(&String::from_utf8(cut.stderr).unwrap()),
            "the copy was cut off"
        );
        assert_eq!(
            fs::read_dir(folder.path().join("new folder"))
                .unwrap()
                .count(),
            0
        );
        fs::write(&path, "another version").unwrap();
        assert_eq!(run(CHECK, length).status.code(), Some(ABSENT));
        assert!(run(RECEIVE, length).status.success());
        assert_eq!(run(CHECK, length).stdout, b"its version\n");
        assert_eq!(
            fs::read_dir(folder.path().join("new folder"))
                .unwrap()
                .count(),
            1
        );
    }

    #[test]
    fn hosts_that_share_a_folder_do_not_write_one_copy_together() {
        let folder = files::PrivateFolder::create().unwrap();
        let [one, other] = ["one", "other"].map(|name| folder.path().join(name));
        let made = Command::new("mkfifo").args([&one, &other]).status();
        assert!(made.unwrap().success());
        let cached = folder.path().join("cached");
        // Both have one process number, as processes of two hosts may have.
        let script = format!("({RECEIVE}) <\"$3\" & ({RECEIVE}) <\"$4\"; wait");
        let mut command = Command::new("sh");
        let command = command.args(["-c", &script, "sh"]);
        let command = command.arg(cached.join("jumbolab")).arg("8");
        let mut both = command.args([&one, &other]).spawn().unwrap();
        let mut inputs = [one, other].map(|path| File::options().write(true).open(path).unwrap());
        for input in &mut inputs {
            input.write_all(b"half").unwrap();
        }
        let copies = || fs::read_dir(&cached).map_or(0, Iterator::count);
        let deadline = clock::monotonic() + SHORT;
        while copies() < 2 {
            assert!(clock::monotonic() < deadline, "{} copies", copies());
            clock::sleep(Span::from_millis(1));
        }
        for mut input in inputs {
            input.write_all(b"half").unwrap();
        }
        assert!(both.wait().unwrap().success());
        assert_eq!(fs::read(cached.join("jumbolab")).unwrap(), b"halfhalf");
        assert_eq!(copies(), 1);
    }

    #[test]
    fn the_kind_of_this_machine_is_that_of_uname() {
        let output = Command::new("uname").arg("-sm").output().unwrap();
        assert_eq!(
            String::from_utf8(output.stdout).unwrap().trim(),
            machine::kind()
        );
    }
}
