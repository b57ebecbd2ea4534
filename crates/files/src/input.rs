//! Inputs with a limit.

use std::fs::{File, Metadata};
use std::io::{self, BufRead, BufReader, ErrorKind, Read};
use std::os::unix::fs::{FileExt as _, PermissionsExt as _};
use std::path::Path;

/// The permission of the group to write, and all permissions of others [inode(7)]. That of
/// the group to read also stands for a list of single readers [acl(5)].
const OF_OTHERS: u32 = 0o027;

/// The octets that are read at once of a line at an offset.
const BLOCK: usize = 1 << 14;

/// Reads the file at a path that the user named, of at most `most` octets. It
/// may be a pipe.
///
/// # Errors
/// It is larger, or cannot be read.
pub fn read(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    at_most(File::open(path)?, most)?.ok_or_else(|| too_large(most))
}

/// Reads a file as [`read`] that nobody but its owner, and readers of its group, may open.
///
/// # Errors
/// As [`read`], or other users may.
pub fn read_private(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let file = File::open(path)?;
    let found = file.metadata()?;
    if found.is_file() && found.permissions().mode() & OF_OTHERS != 0 {
        let path = path.display();
        return Err(io::Error::new(
            ErrorKind::PermissionDenied,
            format!("other users may read or change it; type: chmod 600 {path}"),
        ));
    }
    at_most(file, most)?.ok_or_else(|| too_large(most))
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
    let file = File::open(path)?;
    let found = file.metadata()?;
    let octets = at_most(file, most)?.ok_or_else(|| too_large(most))?;
    let text = String::from_utf8(octets)
        .map_err(|_| io::Error::new(ErrorKind::InvalidData, "it is not text in UTF-8"))?;
    Ok((text, found))
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
    fn a_private_file_is_its_owners_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("key");
        let mut file = crate::create_private(&path).unwrap();
        std::io::Write::write_all(&mut file, b"octets").unwrap();
        assert_eq!(read_private(&path, 6).unwrap(), b"octets");
        assert!(crate::create_private(&path).is_err());
        for mode in [0o604, 0o620, 0o602] {
            file.set_permissions(std::fs::Permissions::from_mode(mode))
                .unwrap();
            let error = read_private(&path, 6).unwrap_err().to_string();
            assert!(error.contains("chmod 600"), "{error}");
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
