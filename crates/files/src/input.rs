//! Inputs with a limit.

use std::fs::{self, File, Metadata};
use std::io::{self, BufRead, BufReader, ErrorKind, Read};
use std::path::Path;

use zeroize::Zeroizing;

use crate::system::{self, is_private, reject_shared};

/// The bytes that are read at once of a line at an offset.
const BLOCK: usize = 1 << 14;

/// Reads the file at a path that the user named, of at most `most` bytes. It
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
    reject_shared(path, &file.metadata()?)?;
    // One allocation: a growing one leaves copies behind.
    let mut bytes = Zeroizing::new(vec![0; most + 1]);
    let mut length = 0;
    while length <= most {
        match (&file).read(&mut bytes[length..]) {
            Ok(0) => break,
            Ok(more) => length += more,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    bytes.truncate(length);
    match length <= most {
        true => Ok(bytes),
        false => Err(too_large(most as u64)),
    }
}

/// Opens a file that the user named, which may be a pipe.
///
/// # Errors
/// It cannot be read.
pub fn open(path: &Path) -> io::Result<File> {
    File::open(path)
}

/// Opens a regular file that the user named. A pipe does not make its reader wait.
///
/// # Errors
/// It cannot be read, or is another kind of file.
pub fn open_regular(path: &Path) -> io::Result<File> {
    system::open_regular(path)
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
    let bytes = at_most(file, most)?.ok_or_else(|| too_large(most))?;
    Ok((text(bytes)?, found))
}

/// Whether `text`, the content of the file at `path`, may be a secret, so that messages do
/// not quote it: only its owner can read the file, and it has one or two lines, as a secret
/// in hexadecimal digits or base64.
pub fn may_be_secret(path: &Path, text: &str) -> bool {
    let found = fs::metadata(path);
    text.lines().nth(2).is_none() && found.is_ok_and(|found| found.is_file() && is_private(&found))
}

fn text(bytes: Vec<u8>) -> io::Result<String> {
    String::from_utf8(bytes).map_err(|_| {
        io::Error::new(
            ErrorKind::InvalidData,
            "it is not text in UTF-8; save it as such",
        )
    })
}

/// All bytes of `input`, unless there are more than `most`.
pub(crate) fn at_most(input: impl Read, most: u64) -> io::Result<Option<Vec<u8>>> {
    let mut bytes = Vec::new();
    input.take(most + 1).read_to_end(&mut bytes)?;
    Ok((bytes.len() as u64 <= most).then_some(bytes))
}

pub(crate) fn too_large(most: u64) -> io::Error {
    io::Error::new(
        ErrorKind::FileTooLarge,
        format!(
            "it is larger than {}, the limit; name a smaller one",
            size(most)
        ),
    )
}

/// A limit in words.
fn size(bytes: u64) -> String {
    match bytes {
        whole if whole % (1 << 30) == 0 => format!("{} GiB", whole >> 30),
        whole if whole % (1 << 20) == 0 => format!("{} MiB", whole >> 20),
        other => format!("{other} bytes"),
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
    /// The lines of `input`: at most `longest` bytes each, at most `most`
    /// bytes together.
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
                let why = format!(
                    "the line is longer than {}, the limit; break it",
                    size(self.longest)
                );
                Some(Err(io::Error::new(ErrorKind::InvalidData, why)))
            }
            Ok(_) => Some(Ok(&self.line)),
        }
    }

    /// The next line as text, without its end, and whether it has one. `None` at the end.
    ///
    /// # Errors
    /// As [`Lines::next`], or it is not UTF-8.
    pub fn next_text(&mut self) -> io::Result<Option<(&str, bool)>> {
        let Some(line) = self.next().transpose()? else {
            return Ok(None);
        };
        let bad = |_| io::Error::new(ErrorKind::InvalidData, "not text in UTF-8; save it as such");
        let whole = str::from_utf8(line).map_err(bad)?;
        let line = whole.strip_suffix('\n').unwrap_or(whole);
        let is_ended = line.len() < whole.len();
        Ok(Some((line.strip_suffix('\r').unwrap_or(line), is_ended)))
    }
}

/// The line of `file` that begins at `offset`, without its newline.
///
/// # Errors
/// There is none, it is longer than `longest` bytes, or it cannot be read.
pub fn line_at(file: &File, offset: u64, longest: u64) -> io::Result<Vec<u8>> {
    let mut line = Vec::new();
    loop {
        let read = line.len();
        line.resize(read + BLOCK.max(read), 0);
        let more = system::read_at(file, &mut line[read..], offset + read as u64)?;
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
    fn what_is_larger_than_its_limit_is_rejected() {
        let bytes = |most| at_most(&b"abc"[..], most).unwrap();
        assert_eq!(bytes(3).as_deref(), Some(&b"abc"[..]));
        assert_eq!(bytes(2), None);
    }

    /// The lines of `text`, or the rejection.
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
        assert_eq!(long, "the line is longer than 3 bytes, the limit; break it");
        let large = lines(b"ab\ncd\nef", 3, 7).unwrap_err();
        assert_eq!(
            large,
            "it is larger than 7 bytes, the limit; name a smaller one"
        );
    }
}
