"""A shard of a sweep: what runs on a worker."""

from __future__ import annotations

import hashlib
import json
import socket
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

from ._errors import JumbolabError, VersionMismatch
from ._program import Object, finish, start
from ._ranges import Range
from ._store import Done, Options, Store

#: The subfolders of a results folder that trials of the simulator leave.
SUBFOLDERS = ("watch",)


@dataclass(frozen=True)
class Job:
    """What a sweep runs, as its workers get it."""

    #: The name of a shipped experiment, or of a file with `text`.
    experiment: str
    #: The text of an experiment file; None: a shipped one.
    text: str | None
    #: The options that choose what is run.
    options: tuple[str, ...]
    #: The plan's hash, its number of trials, and the build that planned it.
    hash: str
    trials: int
    binary: str
    version: str
    #: Where shards are stored.
    storage: str
    storage_options: Options = field(hash=False, default_factory=dict)

    def words(self, folder: Path) -> list[str]:
        """The words of the command line that choose what is run from `folder`."""
        if self.text is not None:
            (folder / self.experiment).write_text(self.text, encoding="utf-8")
            # With a slash it is a path, whatever its end.
            return [f"./{self.experiment}", *self.options]
        return [self.experiment, *self.options]

    def store(self) -> Store:
        """The storage."""
        return Store(self.storage, self.storage_options)


def worker_name() -> str:
    """This worker's address, or this machine's name where no worker is."""
    try:
        from distributed import get_worker  # noqa: PLC0415 - an extra

        return str(get_worker().address)
    except (ImportError, ValueError):
        return socket.gethostname()


def run_shard(job: Job, one: Range) -> Done:
    """Runs a shard and stores it, unless it is stored already.

    Raises:
        VersionMismatch: The program here is another build than the client's.
        JumbolabError: The program or the storage could not do it.
    """
    try:
        store = job.store()
        with tempfile.TemporaryDirectory(prefix="jumbolab-") as scratch:
            return _run(job, one, store, Path(scratch))
    except JumbolabError as error:
        if not isinstance(error, VersionMismatch):
            error.args = (f"worker {worker_name()}, trials {one[0]} to {one[1]}: {error.message}",)
            error.message = str(error.args[0])
        raise
    except OSError as error:
        raise JumbolabError(
            f"worker {worker_name()}, trials {one[0]} to {one[1]}: {error}"
        ) from error


def _run(job: Job, one: Range, store: Store, scratch: Path) -> Done:
    check_version(job, scratch)
    stored = store.done(one)
    if stored is not None:
        return stored
    first, last = one
    words = ["run", *job.words(scratch), "--shard", f"{first}-{last}/{job.trials}"]
    progress: list[float] = []

    def listen(said: Object) -> None:
        if "progress" in said:
            progress.append(time.monotonic())

    finish(start([*words, "--threads", "1", "-o", "shard"], listener=listen, folder=scratch))
    folder = scratch / "shard"
    journal = next(folder.glob("trials.*.jsonl"), None)
    if journal is None:
        raise JumbolabError(f"the program left no journal in {folder}")
    content = journal.read_bytes()
    done = Done(
        first=first,
        last=last,
        lines=content.count(b"\n"),
        octets=len(content),
        sha256=hashlib.sha256(content).hexdigest(),
        seconds=progress[-1] - progress[0],
        worker=worker_name(),
    )
    if done.lines != last - first + 1:
        raise JumbolabError(f"the program left {done.lines} trials")
    others = {
        f"{sub}/{path.name}": path
        for sub in SUBFOLDERS
        if (folder / sub).is_dir()
        for path in (folder / sub).iterdir()
    }
    if store.read("plan.toml") is None:
        store.put(folder / "plan.toml", "plan.toml")
        for path in folder.glob("*-*.txt"):
            store.put(path, path.name)
    store.put_shard(done, journal, folder / "trials.parquet", others)
    return done


def check_version(job: Job, scratch: Path) -> None:
    """Checks that the program here plans what the client's does, and is the same build.

    Raises:
        VersionMismatch: It does not.
    """
    here = _planned(["run", *job.words(scratch)], scratch)
    if here["binary"] != job.binary:
        raise VersionMismatch(
            f"worker {worker_name()} has jumbolab {here['version']}, build {here['binary']}; the "
            f"client has {job.version}, build {job.binary}: install the same wheel on both"
        )
    if here["hash"] != job.hash:
        raise VersionMismatch(
            f"worker {worker_name()} plans {here['hash']}, the client {job.hash}: files that the "
            "experiment draws from differ"
        )


def _planned(words: list[str], scratch: Path) -> dict[str, str]:
    said = finish(start([*words, "--dry-run", "--json"], folder=scratch)).stdout
    plan: dict[str, str] = json.loads(said)
    return plan
