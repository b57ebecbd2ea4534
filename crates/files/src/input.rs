//! Inputs with a limit.

use std::fs::{self, File, Metadata};
use std::io::{self, BufRead, BufReader, ErrorKind, Read};
use std::os::unix::fs::{FileExt as _, MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use nix::fcntl::OFlag;
use nix::sys::stat::Mode;
use nix::unistd::{Uid, User, geteuid};
use zeroize::Zeroizing;

/// All permissions of the group and of others [inode(7)].
const OF_OTHERS: u32 = 0o077;

/// The permission of the group to read, which also stands for a list of single readers
/// [acl(5)].
const READ_BY_GROUP: u32 = 0o040;

/// The variable that names the folder in which systemd hands over credentials
/// [systemd.exec(5)].
const CREDENTIALS: &str = "CREDENTIALS_DIRECTORY";

/// The octets that are read at once of a line at an offset.
const BLOCK: usize = 1 << 14;

/// Reads the file at a path that the user named, of at most `most` octets. It
/// may be a pipe.
///
/// # Errors
/// It is larger, or cannot be read.
pub fn read(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    at_most(open(path)?, most)?.ok_or_else(|| too_large(most))
}

/// Reads the regular file at a path that the user named, as text. Unlike a pipe it never
/// makes its reader wait.
///
/// # Errors
/// As [`read_text`], or it is another kind of file.
pub fn read_regular_text(path: &Path, most: u64) -> io::Result<String> {
    text(at_most(open_regular(path)?, most)?.ok_or_else(|| too_large(most))?)
}

/// Reads a secret of at most `most` bytes. It is in a regular file that belongs to the user
/// of this process or to root, and that nobody else may open.
///
/// # Errors
/// It is larger, another kind of file, or open to others; the message has the command that
/// corrects this.
pub fn read_secret(path: &Path, most: usize) -> io::Result<Zeroizing<Vec<u8>>> {
    let file = open_regular(path)?;
    let found = file.metadata()?;
    let credentials = std::env::var_os(CREDENTIALS).map(PathBuf::from);
    refuse_shared(path, &found, geteuid().as_raw(), credentials.as_deref())?;
    // One allocation: a growing one leaves copies behind.
    let mut octets = Zeroizing::new(vec![0; most + 1]);
    let mut length = 0;
    while length <= most {
        match (&file).read(&mut octets[length..]) {
            Ok(0) => break,
            Ok(more) => length += more,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    octets.truncate(length);
    match length <= most {
        true => Ok(octets),
        false => Err(too_large(most as u64)),
    }
}

/// Refuses the file of a secret that others than `user` and root can open; `credentials` is
/// the folder of a service manager.
fn refuse_shared(
    path: &Path,
    found: &fs::Metadata,
    user: u32,
    credentials: Option<&Path>,
) -> io::Result<()> {
    let (owner, mode) = (found.uid(), found.permissions().mode());
    let others = match credentials.is_some() && path.parent() == credentials {
        // The service manager lists the user of the service as a reader.
        true => OF_OTHERS & !READ_BY_GROUP,
        false => OF_OTHERS,
    };
    let path = path.display();
    let why = if owner != user && owner != 0 {
        let new = User::from_uid(Uid::from_raw(user)).ok().flatten();
        let new = new.map_or_else(|| user.to_string(), |user| user.name);
        let sudo = if user == 0 { "" } else { "sudo " };
        format!("it belongs to another user; type: {sudo}chown {new} {path}; chmod 600 {path}")
    } else if mode & others != 0 {
        format!("other users may read or change it; type: chmod 600 {path}")
    } else {
        return Ok(());
    };
    Err(io::Error::new(ErrorKind::PermissionDenied, why))
}

/// Opens a file that the user named, which may be a pipe.
///
/// # Errors
/// It cannot be read.
pub fn open(path: &Path) -> io::Result<File> {
    File::open(path)
}

/// Opens a regular file that the user named. A pipe would block without O_NONBLOCK, which does nothing to
/// regular files [open(2)].
///
/// # Errors
/// It cannot be read, or is another kind of file.
pub fn open_regular(path: &Path) -> io::Result<File> {
    let flags = OFlag::O_RDONLY | OFlag::O_NONBLOCK | OFlag::O_NOCTTY | OFlag::O_CLOEXEC;
    let file: File = nix::fcntl::open(path, flags, Mode::empty())?.into();
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(io::Error::new(
            ErrorKind::InvalidInput,
            "it is not a regular file; name one",
        )),
    }
}

/// Reads a file as [`read`], as text.
///
/// # Errors
/// As [`read`], or it is not UTF-8.
pub fn read_text(path: &Path, most: u64) -> io::Result<String> {
    read_text_of(path, most).map(|(text, _)| text)
}

/// Reads a file as [`read_text`]. Also returns the owner and the permissions of the file that
/// was read; another one may be at the path by now.
///
/// # Errors
/// As [`read_text`].
pub fn read_text_of(path: &Path, most: u64) -> io::Result<(String, Metadata)> {
    let file = open(path)?;
    let found = file.metadata()?;
    let octets = at_most(file, most)?.ok_or_else(|| too_large(most))?;
    Ok((text(octets)?, found))
}

/// Whether `text`, the content of the file at `path`, may be a secret, so that messages do
/// not quote it: only its owner can read the file, and it has one or two lines, as a secret
/// in hexadecimal digits or base64.
pub fn may_be_secret(path: &Path, text: &str) -> bool {
    let found = fs::metadata(path);
    text.lines().nth(2).is_none()
        && found.is_ok_and(|found| found.is_file() && found.permissions().mode() & OF_OTHERS == 0)
}

fn text(octets: Vec<u8>) -> io::Result<String> {
    String::from_utf8(octets)
        .map_err(|_| io::Error::new(ErrorKind::InvalidData, "it is not text in UTF-8"))
}

/// All octets of `input`, unless there are more than `most`.
pub(crate) fn at_most(input: impl Read, most: u64) -> io::Result<Option<Vec<u8>>> {
    let mut octets = Vec::new();
    input.take(most + 1).read_to_end(&mut octets)?;
    Ok((octets.len() as u64 <= most).then_some(octets))
}

pub(crate) fn too_large(most: u64) -> io::Error {
    io::Error::new(
        ErrorKind::FileTooLarge,
        format!("it is larger than {}, the limit", size(most)),
    )
}

/// A limit in words.
fn size(octets: u64) -> String {
    match octets {
        whole if whole % (1 << 30) == 0 => format!("{} GiB", whole >> 30),
        whole if whole % (1 << 20) == 0 => format!("{} MiB", whole >> 20),
        other => format!("{other} octets"),
    }
}

/// The lines of an input, each within a limit and all together as well.
#[derive(Debug)]
pub struct Lines<R> {
    input: BufReader<io::Take<R>>,
    /// The maximum length of a line, newline included.
    longest: u64,
    /// The maximum length of the input.
    most: u64,
    line: Vec<u8>,
}

impl<R: Read> Lines<R> {
    /// The lines of `input`: at most `longest` octets each, at most `most`
    /// octets together.
    pub fn of(input: R, longest: u64, most: u64) -> Self {
        Self {
            input: BufReader::new(input.take(most + 1)),
            longest,
            most,
            line: Vec::new(),
        }
    }

    /// The next line with its newline; the last one may have none. `None` at
    /// the end.
    ///
    /// # Errors
    /// The line or the input exceeds its limit, or cannot be read.
    #[expect(
        clippy::should_implement_trait,
        reason = "the line is lent, which an iterator cannot do"
    )]
    pub fn next(&mut self) -> Option<io::Result<&[u8]>> {
        self.line.clear();
        let mut line = (&mut self.input).take(self.longest + 1);
        match line.read_until(b'\n', &mut self.line) {
            Err(error) => Some(Err(error)),
            Ok(0) => None,
            Ok(_) if self.input.get_ref().limit() == 0 => Some(Err(too_large(self.most))),
            Ok(length) if length as u64 > self.longest => {
                let why = format!("the line is longer than {}, the limit", size(self.longest));
                Some(Err(io::Error::new(ErrorKind::InvalidData, why)))
            }
            Ok(_) => Some(Ok(&self.line)),
        }
    }
}

/// The line of `file` that begins at `offset`, without its newline.
///
/// # Errors
/// There is none, it is longer than `longest` octets, or it cannot be read.
pub fn line_at(file: &File, offset: u64, longest: u64) -> io::Result<Vec<u8>> {
    let mut line = Vec::new();
    loop {
        let read = line.len();
        line.resize(read + BLOCK.max(read), 0);
        let more = file.read_at(&mut line[read..], offset + read as u64)?;
        line.truncate(read + more);
        let length = (&line[read..]).skip_until(b'\n')?;
        if line[..read + length].ends_with(b"\n") {
            line.truncate(read + length - 1);
            return Ok(line);
        }
        if more == 0 {
            return Err(ErrorKind::UnexpectedEof.into());
        }
        if line.len() as u64 > longest {
            return Err(too_large(longest));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_endless_file_is_refused_with_its_limit() {
        let error = read(Path::new("/dev/zero"), 1 << 20).unwrap_err();
        assert_eq!(error.to_string(), "it is larger than 1 MiB, the limit");
        assert_eq!(
            at_most(&b"abc"[..], 3).unwrap().as_deref(),
            Some(&b"abc"[..])
        );
        assert_eq!(at_most(&b"abcd"[..], 3).unwrap(), None);
        let text = read_text(Path::new("/dev/null"), 0).unwrap();
        assert_eq!(text, "");
    }

    #[test]
    fn the_file_of_a_secret_is_its_owners_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("key");
        let mut file = crate::create_private(&path).unwrap();
        io::Write::write_all(&mut file, b"octets").unwrap();
        assert_eq!(*read_secret(&path, 6).unwrap(), b"octets");
        assert!(may_be_secret(&path, "octets"));
        assert!(!may_be_secret(&path, "one\ntwo\nthree"));
        let large = read_secret(&path, 5).unwrap_err().to_string();
        assert_eq!(large, "it is larger than 5 octets, the limit");
        assert!(crate::create_private(&path).is_err());
        for mode in [0o604, 0o620, 0o602, 0o640, 0o610] {
            file.set_permissions(fs::Permissions::from_mode(mode))
                .unwrap();
            let error = read_secret(&path, 6).unwrap_err().to_string();
            assert!(error.contains("type: chmod 600"), "{error}");
            assert!(!may_be_secret(&path, "octets"));
        }
    }

    #[test]
    fn the_secret_of_another_user_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("key");
        let found = crate::create_private(&path).unwrap().metadata().unwrap();
        assert!(refuse_shared(&path, &found, found.uid(), None).is_ok());
        // What root owns is refused to nobody.
        let refused = refuse_shared(&path, &found, 4_001, None);
        match found.uid() {
            0 => assert!(refused.is_ok()),
            _ => {
                let error = refused.unwrap_err().to_string();
                assert!(error.contains("type: sudo chown 4001 "), "{error}");
            }
        }
    }

    #[test]
    fn a_service_manager_lists_its_reader_in_the_place_of_the_group() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("west.key");
        let file = crate::create_private(&path).unwrap();
        let refused = |mode, credentials: &Path| {
            file.set_permissions(fs::Permissions::from_mode(mode))
                .unwrap();
            let found = file.metadata().unwrap();
            refuse_shared(&path, &found, found.uid(), Some(credentials)).is_err()
        };
        assert!(!refused(0o440, folder.path()));
        assert!(refused(0o444, folder.path()));
        assert!(refused(0o460, folder.path()));
        assert!(refused(0o440, Path::new("/run/credentials/other")));
    }

    #[test]
    fn what_must_be_a_regular_file_never_makes_its_reader_wait() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pipe");
        nix::unistd::mkfifo(&path, Mode::S_IRUSR | Mode::S_IWUSR).unwrap();
        for path in [&path, folder.path(), Path::new("/dev/zero")] {
            let error = read_secret(path, 6).unwrap_err().to_string();
            assert_eq!(error, "it is not a regular file; name one");
            let error = read_regular_text(path, 6).unwrap_err().to_string();
            assert_eq!(error, "it is not a regular file; name one");
        }
    }

    /// The lines of `text`, or the refusal.
    fn lines(text: &[u8], longest: u64, most: u64) -> Result<Vec<Vec<u8>>, String> {
        let mut lines = Lines::of(text, longest, most);
        let mut all = Vec::new();
        while let Some(line) = lines.next() {
            all.push(line.map_err(|error| error.to_string())?.to_owned());
        }
        Ok(all)
    }

    #[test]
    fn lines_and_all_of_them_have_limits() {
        let whole = lines(b"ab\ncd\ne", 3, 7).unwrap();
        assert_eq!(whole, [&b"ab\n"[..], b"cd\n", b"e"]);
        assert_eq!(lines(b"", 3, 7).unwrap().len(), 0);
        let long = lines(b"ab\nabc\n", 3, 7).unwrap_err();
        assert_eq!(long, "the line is longer than 3 octets, the limit");
        let large = lines(b"ab\ncd\nef", 3, 7).unwrap_err();
        assert_eq!(large, "it is larger than 7 octets, the limit");
    }
}
