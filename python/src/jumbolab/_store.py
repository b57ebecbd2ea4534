"""What a sweep stores: docs/guides/python.md, "Storage"."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from ._errors import JumbolabError
from ._files import (
    LARGEST_JOURNAL,
    LARGEST_JSON,
    Folder,
    MissingFile,
    blocks_of,
    check_size,
)
from ._ranges import Range
from ._redact import Secrets, redacted
from ._shapes import WrongShape, read_json, record, short

Options = dict[str, Any]

#: What a mark may name beside its own files: what a results folder of the simulator has.
RESULT_FILE = re.compile(r"(plan|experiment)\.toml|[^./][^/]*\.txt|watch/[^./][^/]*")

_SHARD = re.compile(r"([0-9]{9,})-([0-9]{9,})\.json")


@dataclass(frozen=True)
class Done:
    """A shard, a part or a round that is stored whole: its mark."""

    #: The hash of the plan.
    hash: str
    first: int
    last: int
    lines: int
    #: The bytes of the journal.
    size: int
    #: How long its trials took, without the start of the program and its page.
    seconds: float
    worker: str
    #: The SHA-256 of each file that belongs to it, by its name in the storage.
    files: dict[str, str]

    def of_results(self) -> dict[str, str]:
        """Its files that belong into a results folder, without the journal."""
        return {name: sha for name, sha in self.files.items() if RESULT_FILE.fullmatch(name)}


class Copied:
    """What a file has that was copied."""

    def __init__(self) -> None:
        self._digest = hashlib.sha256()
        self.size = 0
        self.lines = 0

    @classmethod
    def of(cls, folder: Folder, name: str) -> Copied:
        """The same of a file that stays where it is."""
        copied = cls()
        for _ in copied.blocks(folder, name):
            pass
        return copied

    def blocks(self, folder: Folder, name: str) -> Iterator[bytes]:
        """The content of a file while it is copied."""
        for block in folder.blocks(name, LARGEST_JOURNAL):
            self._digest.update(block)
            self.size += len(block)
            self.lines += block.count(b"\n")
            yield block

    @property
    def sha256(self) -> str:
        """The digest of what was copied so far."""
        return self._digest.hexdigest()


class Store:
    """A folder on a local or remote file system, by ``fsspec``."""

    def __init__(self, url: str, options: Options | None = None) -> None:
        try:
            import fsspec  # noqa: PLC0415 - an extra
        except ImportError as error:
            raise JumbolabError(
                "fsspec is not installed: pip install 'jumbolab[cluster]'"
            ) from error
        #: The place in errors, without secrets.
        self.name = redacted(url)
        self.options = options or {}
        self._secrets = Secrets(url, self.options)
        with self._errors():
            self._files, self._root = fsspec.core.url_to_fs(url, **self.options)

    def __repr__(self) -> str:
        return f"Store({self.name!r})"

    @property
    def is_local(self) -> bool:
        """Whether it is a folder of this machine."""
        protocol = self._files.protocol
        return "file" in ((protocol,) if isinstance(protocol, str) else protocol)

    def place(self, name: str) -> str:
        """A file in errors."""
        return f"{self.name}/{name}"

    def full_url(self, name: str) -> str:
        """The address of a file for other readers."""
        return str(self._files.unstrip_protocol(self._path(name)))

    def write(self, name: str, content: bytes) -> None:
        """Writes a file whole or not at all."""
        with self._errors():
            if self.is_local:
                with Folder(Path(self._root), make=True) as folder:
                    folder.write(name, [content])
            else:
                # An object is there when its last byte is.
                self._files.pipe_file(self._path(name), content)

    def put(self, source: Folder, file: str, name: str) -> Copied:
        """Copies a file whole or not at all."""
        with self._errors():
            if not self.is_local:
                self._files.put_file(str(source.path / file), self._path(name))
                return Copied.of(source, file)
            copied = Copied()
            with Folder(Path(self._root), make=True) as folder:
                folder.write(name, copied.blocks(source, file))
            return copied

    def read(self, name: str, limit: int) -> bytes | None:
        """The content of a file; None if it is not there."""
        try:
            return b"".join(self.blocks(name, limit))
        except MissingFile:
            return None

    def blocks(self, name: str, limit: int) -> Iterator[bytes]:
        """The content of a file, block by block."""
        with self._errors():
            if self.is_local:
                with Folder(Path(self._root)) as folder:
                    yield from folder.blocks(name, limit)
                return
            self._files.invalidate_cache()
            try:
                with self._files.open(self._path(name), "rb") as file:
                    check_size(self.place(name), getattr(file, "size", None) or 0, limit)
                    yield from blocks_of(file, self.place(name), limit)
            except FileNotFoundError:
                raise MissingFile(f"{self.place(name)} does not exist") from None

    def names(self, folder: str = "") -> list[str]:
        """The names in a folder; none if it is not there."""
        with self._errors():
            if self.is_local:
                try:
                    with Folder(Path(self._root)) as opened:
                        return opened.names(folder)
                except MissingFile:
                    return []
            self._files.invalidate_cache()
            try:
                found = self._files.ls(self._path(folder), detail=False)
            except FileNotFoundError:
                return []
        names = (str(path).rstrip("/").rsplit("/", 1)[-1] for path in found)
        return sorted(name for name in names if name and not name.startswith("."))

    def remove(self) -> None:
        """Removes all of a local one."""
        with self._errors():
            shutil.rmtree(self._root, ignore_errors=False)

    def claim(self, name: str, content: bytes) -> bytes:
        """What is swept here: `content`, unless something was begun before.

        Raises:
            JumbolabError: The storage holds something else.
        """
        begun = self.read(name, LARGEST_JSON)
        if begun is not None:
            return begun
        others = [one for one in self.names() if not one.startswith("seed-")]
        if others:
            raise JumbolabError(
                f"{self.name} holds {others[0]} and no {name}; choose another storage"
            )
        self.write(name, content)
        return content

    def mark(self, name: str, done: Done) -> None:
        """Writes a mark, after all of its files."""
        self.write(name, json.dumps(asdict(done)).encode())

    def marked(self, name: str, plan: str) -> Done | None:
        """The mark of that name, if it is there.

        Raises:
            JumbolabError: It is damaged, or of another plan than that of this hash.
        """
        content = self.read(name, LARGEST_JSON)
        if content is None:
            return None
        own = name.removesuffix(".json") + "."

        def shape(value: Any) -> Done:
            done = record(Done)(value)
            if done.hash != plan:
                raise WrongShape(
                    f"hash = {short(done.hash)}: it belongs to another plan than {plan}"
                )
            for file in done.files:
                if not RESULT_FILE.fullmatch(file) and file not in (f"{own}jsonl", f"{own}parquet"):
                    raise WrongShape(f"files: {short(file)} is no file of it")
            if f"{own}jsonl" not in done.files:
                raise WrongShape("files: the journal is missing")
            if done.size > LARGEST_JOURNAL:
                raise WrongShape(f"size = {done.size}: at most {LARGEST_JOURNAL} are possible")
            return done

        with self.remedy(name):
            return read_json(content, self.place(name), shape)

    def shard(self, one: Range, plan: str) -> Done | None:
        """The mark of a shard, if it is stored whole."""
        name = f"shards/{shard_name(one)}.json"
        done = self.marked(name, plan)
        if done and ((done.first, done.last) != one or done.lines != one[1] - one[0] + 1):
            with self.remedy(name):
                raise JumbolabError(f"{self.place(name)} is not of trials {one[0]} to {one[1]}")
        return done

    def all_done(self) -> set[Range]:
        """The shards that have a mark."""
        found = (_SHARD.fullmatch(name) for name in self.names("shards"))
        ranges = {(int(match[1]), int(match[2])) for match in found if match}
        return {one for one in ranges if one[0] <= one[1]}

    def checked(self, name: str, sha256: str, limit: int = LARGEST_JOURNAL) -> Iterator[bytes]:
        """The content of a file, block by block, compared with its mark at the end."""
        digest = hashlib.sha256()
        remedy = "remove it and the marks (.json) that name it, and sweep again"
        try:
            for block in self.blocks(name, limit):
                digest.update(block)
                yield block
        except MissingFile as error:
            raise MissingFile(f"{error.message}; {remedy}", file=error.file) from None
        if digest.hexdigest() != sha256:
            place = self.place(name)
            raise JumbolabError(f"{place} is not what its worker wrote; {remedy}", file=place)

    @contextmanager
    def remedy(self, name: str) -> Iterator[None]:
        """Says of an error in a file of the storage what to do."""
        try:
            yield
        except JumbolabError as error:
            raise JumbolabError(
                f"{error.message}; remove it, and sweep again", file=self.place(name)
            ) from None

    def hide(self, text: str) -> str:
        """A text without the secrets of the storage."""
        return self._secrets.hide(text)

    def _path(self, name: str) -> str:
        return f"{self._root}/{name}" if name else str(self._root)

    @contextmanager
    def _errors(self) -> Iterator[None]:
        """Errors of storage as one line without secrets."""
        try:
            yield
        except JumbolabError:
            raise
        # Each file system has errors of its own.
        except Exception as error:
            first = self.hide(str(error).strip().partition("\n")[0])
            # The original error may have a secret.
            raise JumbolabError(f"storage {self.name}: {type(error).__name__}: {first}") from None


def agreed(marks: Iterable[Done]) -> dict[str, str]:
    """The files of a results folder that marks name, each with its SHA-256.

    Raises:
        JumbolabError: Two workers wrote different ones.
    """
    files: dict[str, str] = {}
    for done in marks:
        for name, sha256 in done.of_results().items():
            if files.setdefault(name, sha256) != sha256:
                raise JumbolabError(
                    f"the marks do not agree about {name}; choose another storage, and sweep again"
                )
    return files


def whole_place(storage: str | PathLike[str]) -> str:
    """A place as workers with other working folders find it."""
    storage = fspath(storage)
    return storage if "://" in storage or "::" in storage else str(Path(storage).absolute())


def shard_name(one: Range) -> str:
    """The name of a shard; names sort as shards do."""
    return f"{one[0]:09}-{one[1]:09}"
