"""A shard of a sweep: what runs on a worker."""

from __future__ import annotations

import socket
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from ._commands import Plan
from ._errors import JumbolabError, VersionMismatch
from ._files import Folder
from ._program import PRINTED, finish, start
from ._ranges import Range
from ._shapes import Object, read_json, record
from ._store import Copied, Done, Options, Store, shard_name

#: The subfolder of a results folder that trials of the simulator leave.
WATCH = "watch"


@dataclass(frozen=True)
class Job:
    """What a sweep runs, as its workers get it."""

    #: The name of a shipped experiment, or of a file with `text`.
    experiment: str
    #: The text of an experiment file; None: a shipped one.
    text: str | None = field(repr=False)
    #: The options that choose what is run.
    options: tuple[str, ...]
    #: The plan's hash, its number of trials, and the build that planned it.
    hash: str
    trials: int
    binary: str
    version: str
    #: Where shards are stored. Dask logs the repr of what fails: secrets are left out.
    storage: str = field(repr=False)
    storage_options: Options = field(hash=False, repr=False, default_factory=dict)

    def words(self, command: str, folder: Path, *options: str) -> list[str]:
        """The words of the command line that run this in `folder`."""
        experiment = self.experiment
        if self.text is not None:
            # With a slash it is a path, whatever its end; the results have another folder.
            experiment = f"input/{experiment}"
            with Folder(folder) as opened:
                opened.write(experiment, [self.text.encode()])
        return [command, *self.options, *options, "--", experiment]

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
    with on_worker(f"trials {one[0]} to {one[1]}") as scratch:
        return _run(job, one, job.store(), scratch)


@contextmanager
def on_worker(what: str) -> Iterator[Path]:
    """A folder to work in; errors say where it happened, and at what."""
    try:
        with tempfile.TemporaryDirectory(prefix="jumbolab-") as scratch:
            yield Path(scratch)
    except VersionMismatch:
        raise
    except JumbolabError as error:
        raise error.at(f"worker {worker_name()}, {what}") from None
    except OSError as error:
        raise JumbolabError(f"worker {worker_name()}, {what}: {error}") from error


def _run(job: Job, one: Range, store: Store, scratch: Path) -> Done:
    check_version(job, scratch)
    stored = store.shard(one, job.hash)
    if stored is not None:
        return stored
    first, last = one
    options = [f"--shard={first}-{last}/{job.trials}", "--threads=1", "--output=shard"]
    progress: list[float] = []

    def listen(said: Object) -> None:
        if said["kind"] == "progress":
            progress.append(time.monotonic())

    finish(start(job.words("run", scratch, *options), listener=listen, folder=scratch))
    with Folder(scratch / "shard") as made:
        names = made.names()
        journals = [name for name in names if name.endswith(".jsonl")]
        if len(journals) != 1 or not progress:
            raise JumbolabError(f"the program left {len(journals)} journals; one was expected")
        own = f"shards/{shard_name(one)}"
        files = {
            name: store.put(made, name, name).sha256
            for name in (f"{WATCH}/{one}" for one in made.names(WATCH))
        }
        # plan.toml comes last: where it is, the others are.
        files |= put_shared(store, made, [*(n for n in names if n.endswith(".txt")), "plan.toml"])
        files[f"{own}.parquet"] = store.put(made, "trials.parquet", f"{own}.parquet").sha256
        journal = store.put(made, journals[0], f"{own}.jsonl")
        files[f"{own}.jsonl"] = journal.sha256
    if journal.lines != last - first + 1:
        raise JumbolabError(f"the program left {journal.lines} trials")
    done = Done(
        hash=job.hash,
        first=first,
        last=last,
        lines=journal.lines,
        size=journal.size,
        seconds=progress[-1] - progress[0],
        worker=worker_name(),
        files=files,
    )
    store.mark(f"{own}.json", done)
    return done


def put_shared(store: Store, made: Folder, names: Sequence[str]) -> dict[str, str]:
    """Stores what all workers write alike, unless it is there; gives the SHA-256 of each file."""
    stored = store.names()
    return {
        name: (Copied.of(made, name) if name in stored else store.put(made, name, name)).sha256
        for name in names
    }


def check_version(job: Job, scratch: Path) -> None:
    """Checks that the program here plans what the client's does, and is the same build.

    Raises:
        VersionMismatch: It does not.
    """
    words = job.words("run", scratch, "--dry-run", "--json")
    said = finish(start(words, folder=scratch)).stdout
    here = read_json(said, PRINTED, record(Plan, further=True))
    if here.binary != job.binary:
        raise VersionMismatch(
            f"worker {worker_name()} has jumbolab {here.version}, build {here.binary}; the "
            f"client has {job.version}, build {job.binary}: install the same wheel on both"
        )
    if here.hash != job.hash:
        raise VersionMismatch(
            f"worker {worker_name()} plans {here.hash}, the client {job.hash}: files that the "
            "experiment draws from differ"
        )
