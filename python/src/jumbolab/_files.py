"""Files of folders that others may write to: results folders and local storage.

A folder is opened once, and its files are opened in it. Links in it are not followed, only
ordinary files are read, each up to a limit, and a file is replaced by renaming
(docs/reference/formats.md, "The results folder").
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import uuid
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import BinaryIO

from ._errors import JumbolabError

#: Bytes that are copied at once.
BLOCK = 1 << 20

#: Limits of files: docs/reference/formats.md, "Limits of input files".
LARGEST_JOURNAL = 4 << 30
LARGEST_TABLE = 4 << 30
LARGEST_EXPERIMENT = 1 << 20
#: `tomllib` needs up to 5 s for a megabyte of hostile text.
LARGEST_PLAN = 4 << 20
LARGEST_JSON = 64 << 20
LARGEST_PAGE = 64 << 20

# A pipe is opened without waiting for its other end, and rejected afterwards.
_READ = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_WRITE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC


class MissingFile(JumbolabError):
    """A file or its folder does not exist."""


class Folder:
    """An opened folder, which may be named by a link. A name in it is NAME or SUBFOLDER/NAME."""

    def __init__(self, path: Path, *, make: bool = False) -> None:
        self.path = path
        with _named(path):
            if make:
                path.mkdir(parents=True, exist_ok=True)
            self._fd = os.open(path, _FOLDER)

    def __enter__(self) -> Folder:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        os.close(self._fd)

    def names(self, subfolder: str = "") -> list[str]:
        """The names in it or in a subfolder, without hidden ones; none if that is missing."""
        try:
            with self._parent(f"{subfolder}/" if subfolder else "") as (fd, _):
                found = os.listdir(fd)  # noqa: PTH208 - of an opened folder
        except MissingFile:
            return []
        return sorted(name for name in found if not name.startswith("."))

    @contextmanager
    def open(self, name: str, limit: int) -> Iterator[BinaryIO]:
        """Opens an ordinary file of at most `limit` bytes."""
        place = self.path / name
        with self._parent(name) as (fd, last), _named(place):
            opened = os.open(last, _READ | os.O_NOFOLLOW, dir_fd=fd)
        with _ordinary(opened, place, limit) as file:
            yield file

    def blocks(self, name: str, limit: int) -> Iterator[bytes]:
        """The content of a file, block by block."""
        with self.open(name, limit) as file:
            yield from blocks_of(file, self.path / name, limit)

    def read(self, name: str, limit: int) -> bytes:
        """The content of a file.

        Raises:
            MissingFile: It does not exist.
        """
        return b"".join(self.blocks(name, limit))

    def write(self, name: str, content: Iterable[bytes]) -> None:
        """Writes a file whole or not at all; a link of its name is replaced."""
        place = self.path / name
        with self._parent(name, make=True) as (fd, last), _named(place):
            partial = f".{last[:50]}.{uuid.uuid4().hex}.tmp"
            try:
                with open(os.open(partial, _WRITE, 0o666, dir_fd=fd), "wb") as file:  # noqa: PTH123 - in an opened folder
                    file.writelines(content)
                    file.flush()
                    os.fsync(file.fileno())
                os.replace(partial, last, src_dir_fd=fd, dst_dir_fd=fd)
            except BaseException:
                with contextlib.suppress(OSError):
                    os.unlink(partial, dir_fd=fd)
                raise

    @contextmanager
    def _parent(self, name: str, *, make: bool = False) -> Iterator[tuple[int, str]]:
        """The opened folder of a file, and the file's name in it."""
        subfolder, _, last = name.rpartition("/")
        if not subfolder:
            yield self._fd, last
            return
        with _named(self.path / subfolder):
            if make:
                with contextlib.suppress(FileExistsError):
                    os.mkdir(subfolder, dir_fd=self._fd)
            fd = os.open(subfolder, _FOLDER | os.O_NOFOLLOW, dir_fd=self._fd)
        try:
            yield fd, last
        finally:
            os.close(fd)


def read_file(path: Path, limit: int) -> bytes:
    """The content of a file that the user named; it may be a link."""
    with _named(path):
        opened = os.open(path, _READ)
    with _ordinary(opened, path, limit) as file:
        return b"".join(blocks_of(file, path, limit))


def blocks_of(file: BinaryIO, place: str | Path, limit: int) -> Iterator[bytes]:
    """The content of a file that may grow meanwhile."""
    size = 0
    while block := file.read(min(BLOCK, limit + 1 - size)):
        size += len(block)
        check_size(place, size, limit)
        yield block


def check_size(place: str | Path, size: int, limit: int) -> None:
    """Rejects a file beyond its limit."""
    if size > limit:
        raise JumbolabError(f"{place} is larger than {limit} bytes, the limit", file=str(place))


@contextmanager
def _ordinary(opened: int, place: Path, limit: int) -> Iterator[BinaryIO]:
    state = os.fstat(opened)
    if not stat.S_ISREG(state.st_mode):
        os.close(opened)
        raise JumbolabError(f"{place} is no ordinary file", file=str(place))
    with open(opened, "rb") as file:
        check_size(place, state.st_size, limit)
        yield file


@contextmanager
def _named(place: Path) -> Iterator[None]:
    """Errors of the system as one line with the file."""
    try:
        yield
    except FileNotFoundError as error:
        raise MissingFile(f"{place} does not exist", file=str(place)) from error
    except OSError as error:
        reason = error.strerror or str(error)
        if error.errno == errno.ELOOP or (error.errno == errno.ENOTDIR and place.is_symlink()):
            reason = "it is a symbolic link, which is not followed; put the file itself there"
        raise JumbolabError(f"{place}: {reason}", file=str(place)) from error
    except ValueError as error:
        raise JumbolabError(f"{place}: {error}", file=str(place)) from error
