"""What a sweep stores: docs/python.md, "Storage"."""

from __future__ import annotations

import hashlib
import json
import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ._errors import JumbolabError
from ._ranges import Range

Options = dict[str, Any]

#: Octets that are copied at once.
BLOCK = 1 << 20


@dataclass(frozen=True)
class Done:
    """A shard that is stored whole."""

    first: int
    last: int
    lines: int
    octets: int
    sha256: str
    #: How long its trials took, without the start of the program and its page.
    seconds: float
    worker: str


class Store:
    """A folder on a local or remote file system, by ``fsspec``."""

    def __init__(self, url: str, options: Options | None = None) -> None:
        try:
            import fsspec  # noqa: PLC0415 - an extra
        except ImportError as error:
            raise JumbolabError(
                "fsspec is not installed: pip install 'jumbolab[cluster]'"
            ) from error
        self.url = url
        self.options = options or {}
        with _said(url):
            self._files, self._root = fsspec.core.url_to_fs(url, **self.options)

    @property
    def is_local(self) -> bool:
        """Whether it is a folder of this machine."""
        protocol = self._files.protocol
        return "file" in ((protocol,) if isinstance(protocol, str) else protocol)

    def place(self, name: str) -> str:
        """The path of a file in its file system."""
        return f"{self._root}/{name}"

    def full_url(self, name: str) -> str:
        """The address of a file for other readers."""
        return str(self._files.unstrip_protocol(self.place(name)))

    def write(self, name: str, content: bytes) -> None:
        """Writes a file whole or not at all."""
        with _said(self.url):
            if not self.is_local:
                # An object is there when its last octet is.
                self._files.pipe_file(self.place(name), content)
                return
            path = Path(self.place(name))
            path.parent.mkdir(parents=True, exist_ok=True)
            partial = path.with_name(f".{path.name}.{uuid.uuid4().hex}.tmp")
            try:
                with partial.open("wb") as file:
                    file.write(content)
                    file.flush()
                    os.fsync(file.fileno())
                partial.replace(path)
            finally:
                partial.unlink(missing_ok=True)

    def put(self, source: Path, name: str) -> None:
        """Copies a file whole or not at all."""
        if self.is_local:
            self.write(name, source.read_bytes())
            return
        with _said(self.url):
            self._files.put_file(str(source), self.place(name))

    def read(self, name: str) -> bytes | None:
        """The content of a file; None if it is not there."""
        with _said(self.url):
            try:
                content: bytes = self._files.cat_file(self.place(name))
            except FileNotFoundError:
                return None
        return content

    def blocks(self, name: str) -> Iterator[bytes]:
        """The content of a file, block by block."""
        with _said(self.url), self._files.open(self.place(name), "rb") as file:
            while block := file.read(BLOCK):
                yield block

    def names(self, folder: str) -> list[str]:
        """The names in a folder; none if it is not there."""
        with _said(self.url):
            self._files.invalidate_cache()
            try:
                found = self._files.ls(self.place(folder), detail=False)
            except FileNotFoundError:
                return []
        names = (str(path).rstrip("/").rsplit("/", 1)[-1] for path in found)
        return sorted(name for name in names if name and not name.startswith("."))

    def remove(self) -> None:
        """Removes all of it."""
        with _said(self.url):
            if self._files.exists(self._root):
                self._files.rm(self._root, recursive=True)

    def put_shard(self, done: Done, journal: Path, table: Path, others: dict[str, Path]) -> None:
        """Stores a shard; its mark comes last."""
        name = shard_name((done.first, done.last))
        self.put(journal, f"shards/{name}.jsonl")
        self.put(table, f"shards/{name}.parquet")
        for other, path in others.items():
            self.put(path, other)
        self.write(f"shards/{name}.json", json.dumps(done.__dict__).encode())

    def done(self, one: Range) -> Done | None:
        """A shard, if it is stored whole."""
        content = self.read(f"shards/{shard_name(one)}.json")
        return None if content is None else Done(**json.loads(content))

    def all_done(self) -> set[Range]:
        """The shards that are stored whole."""
        marks = (name for name in self.names("shards") if name.endswith(".json"))
        return {_range(name.removesuffix(".json")) for name in marks}

    def journal(self, done: Done) -> Iterator[bytes]:
        """The journal of a shard, compared with what its worker wrote."""
        name = f"shards/{shard_name((done.first, done.last))}.jsonl"
        digest = hashlib.sha256()
        for block in self.blocks(name):
            digest.update(block)
            yield block
        if digest.hexdigest() != done.sha256:
            raise JumbolabError(
                f"{self.full_url(name)} is not what its worker wrote; remove it and its mark "
                "(.json), and sweep again"
            )


def whole_place(storage: str) -> str:
    """A place as workers with other working folders find it."""
    return storage if "://" in storage or "::" in storage else str(Path(storage).absolute())


def shard_name(one: Range) -> str:
    """The name of a shard; names sort as shards do."""
    return f"{one[0]:09}-{one[1]:09}"


def _range(name: str) -> Range:
    first, last = name.split("-")
    return int(first), int(last)


@contextmanager
def _said(url: str) -> Iterator[None]:
    """Errors of storage as one line."""
    try:
        yield
    except (FileNotFoundError, JumbolabError):
        raise
    # Each file system has errors of its own.
    except Exception as error:
        first = str(error).splitlines()[0] if str(error) else ""
        raise JumbolabError(f"storage {url}: {type(error).__name__}: {first}") from error
