"""Sensitivity searches on a cluster: each round in parts, put together before the next one.

A round follows from the results of all before it. Part I of N runs the trials at the places I,
I + N, .. of the round (``jumbolab sensitivity --shard I/N``) and stops before the next one, so
that the parts laced together are the journal that one process would have written.
"""

from __future__ import annotations

import hashlib
import json
import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Any

from ._cluster import completed, last_client, slots_of
from ._commands import Settings, arguments, plan, settled
from ._errors import JumbolabError, VersionMismatch
from ._files import LARGEST_JOURNAL, LARGEST_PLAN, Folder
from ._program import finish, start
from ._progress import Bar
from ._results import Results
from ._shapes import WrongShape, read_json, record
from ._shard import Job, check_version, on_worker, put_shared, worker_name
from ._store import Done, Options, Store, agreed, whole_place
from ._sweep import (
    inside,
    job_of,
    write_results,
)

#: Parts of a round for each slot: the last ones are smaller than a round by that much.
PARTS_PER_SLOT = 2

#: The most parts of a round, and of trials of a search.
MOST_PARTS = 1_000_000

#: What all parts of a search write alike; the plan comes last.
SHARED = ("experiment.toml", "plan.toml")


@dataclass(frozen=True)
class _Claim:
    """What a storage has a search of: ``search.json``."""

    format: int
    hash: str
    binary: str
    parts: int


def sweep_search(
    experiment: str | PathLike[str],
    *,
    runs: int,
    output: str | PathLike[str],
    client: Any = None,
    set: Settings | None = None,
    storage: str | PathLike[str] | None = None,
    storage_options: Options | None = None,
    progress: bool | None = None,
) -> Results:
    """Searches like ``jumbolab sensitivity --on sim --max-trials RUNS``, on a Dask cluster.

    The journal has the bytes of one search. What a stopped search stored is not run again.

    Args:
        experiment: Name of a shipped experiment, or path of a TOML file.
        runs: The budget in trials.
        output: Folder for the results.
        client: ``distributed.Client``; None: the one that was made last.
        set: As of `sensitivity`.
        storage: As of `sweep`.
        storage_options: Options of its file system.
        progress: Show a bar; None: on terminals and in notebooks.

    Raises:
        JumbolabError: A worker, the storage or the scheduler could not do it.
        VersionMismatch: A worker has another build of the program.
    """
    if runs < 1:
        raise JumbolabError(f"runs = {runs}: at least 1 is needed")
    client = client or last_client()
    folder = Path(output)
    settings = settled(set)
    planned = plan(experiment, set=settings, on="sim")
    place = inside(folder) if storage is None else whole_place(storage)
    job = job_of(experiment, arguments(settings, "sim", None), planned, place, storage_options)
    store = job.store()
    parts = _claim(store, job, max(2, PARTS_PER_SLOT * slots_of(client)))
    rounds: list[list[bytes]] = []
    files: dict[str, str] = {}
    with Bar(f"{job.experiment} {job.hash}", progress) as bar:
        made = 0
        while made < runs:
            lines, files = _round(client, job, store, (len(rounds), parts), (made, runs))
            if not lines:
                break
            rounds.append(lines)
            made += len(lines)
            bar.set(made, runs)
    journal = (line for lines in rounds for line in lines)
    results = write_results(folder, store, None, files, journal)
    if storage is None:
        store.remove()
    return results


def _claim(store: Store, job: Job, parts: int) -> int:
    """Writes what is searched, or compares it; gives the number of parts of a round."""
    mine = json.dumps(asdict(_Claim(1, job.hash, job.binary, parts))).encode()
    content = store.claim("search.json", mine)

    def shape(value: Any) -> _Claim:
        begun = record(_Claim)(value)
        if not 1 <= begun.parts <= MOST_PARTS:
            raise WrongShape(f"parts = {begun.parts}: 1 to {MOST_PARTS} are needed")
        return begun

    with store.remedy("search.json"):
        begun = read_json(content, store.place("search.json"), shape)
    if begun.hash != job.hash:
        raise JumbolabError(f"{store.name} has another search; choose another storage")
    if begun.binary != job.binary:
        raise VersionMismatch(
            f"{store.name} was begun by build {begun.binary}; this is {job.binary}"
        )
    return begun.parts


def _round(
    client: Any, job: Job, store: Store, which: tuple[int, int], budget: tuple[int, int]
) -> tuple[list[bytes], dict[str, str]]:
    """The journal of a round, or of what the budget leaves of it, and the files beside it."""
    (number, parts), (made, runs) = which, budget
    stored = store.marked(f"{_round_name(number)}.json", job.hash)
    if stored is not None:
        content = _journal(store, _round_name(number), stored)
        return content.splitlines(keepends=True)[: runs - made], stored.of_results()
    # Each part makes its share of what is left; a little more is cut off.
    most = made + math.ceil((runs - made) / parts)
    wanted = [(number, part, parts, most) for part in range(1, parts + 1)]
    marks = {(done.first, done.last): done for done in completed(client, job, run_part, wanted)}
    found = [marks[number, part] for part in range(1, parts + 1)]
    lines = laced(
        [
            _journal(store, _part_name(task), done).splitlines(keepends=True)
            for task, done in zip(wanted, found, strict=True)
        ]
    )
    files = agreed(found)
    if len(lines) < runs - made and lines:
        # It is whole: the budget did not cut it.
        _put(store, _round_name(number), b"".join(lines), _done(job, (number, number), files))
    return lines[: runs - made], files


def _journal(store: Store, name: str, done: Done) -> bytes:
    return b"".join(store.checked(f"{name}.jsonl", done.files[f"{name}.jsonl"]))


def laced(parts: Sequence[Sequence[bytes]]) -> list[bytes]:
    """The lines of parts in the order of the round: one of each part in turn.

    It ends at the first part that has no more: a part that had a whole round to itself went on
    with the next one.
    """
    lines: list[bytes] = []
    while len(lines) // len(parts) < len(parts[len(lines) % len(parts)]):
        lines.append(parts[len(lines) % len(parts)][len(lines) // len(parts)])
    return lines


def run_part(job: Job, task: tuple[int, int, int, int]) -> Done:
    """Runs a part of a round on a worker and stores it, unless it is stored already."""
    with on_worker(f"round {task[0]}, part {task[1]}") as scratch:
        return _run(job, task, job.store(), scratch)


def _run(job: Job, task: tuple[int, int, int, int], store: Store, scratch: Path) -> Done:
    number, part, parts, most = task
    name = _part_name(task)
    check_version(job, scratch)
    stored = store.marked(f"{name}.json", job.hash)
    if stored is not None:
        if (stored.first, stored.last) != (number, part):
            raise JumbolabError(f"{store.place(name)}.json is of another part; remove it")
        return stored
    with Folder(scratch / "search", make=True) as made:
        if number:
            made.write("plan.toml", [store.read("plan.toml", LARGEST_PLAN) or b""])
            made.write("trials.jsonl", _history(job, store, number))
        options = [f"--shard={part}/{parts}", f"--max-trials={most}", "--threads=1", "--quiet"]
        begun = time.monotonic()
        words = job.words("sensitivity", scratch, *options, "--output=search")
        finish(start(words, folder=scratch))
        journal = f"trials.{part}of{parts}.jsonl"
        files = put_shared(store, made, SHARED)
        content = made.read(journal, LARGEST_JOURNAL)
    done = _done(job, (number, part), files, time.monotonic() - begun)
    return _put(store, name, content, done)


def _history(job: Job, store: Store, number: int) -> Iterator[bytes]:
    """The journal of all rounds before this one."""
    for one in range(number):
        done = store.marked(f"{_round_name(one)}.json", job.hash)
        if done is None:
            raise JumbolabError(f"{store.place(_round_name(one))}.json does not exist")
        yield _journal(store, _round_name(one), done)


def _done(job: Job, place: tuple[int, int], files: dict[str, str], seconds: float = 0.0) -> Done:
    """The mark of a part or a round whose journal is not stored yet."""
    return Done(job.hash, *place, 0, 0, seconds, worker_name(), files)


def _put(store: Store, name: str, journal: bytes, done: Done) -> Done:
    """Stores a journal and its mark."""
    store.write(f"{name}.jsonl", journal)
    digest = hashlib.sha256(journal).hexdigest()
    done = replace(
        done,
        lines=journal.count(b"\n"),
        size=len(journal),
        files={**done.files, f"{name}.jsonl": digest},
    )
    store.mark(f"{name}.json", done)
    return done


def _round_name(number: int) -> str:
    return f"rounds/{number:06}"


def _part_name(task: tuple[int, int, int, int]) -> str:
    number, part, _, most = task
    return f"parts/{number:06}-{part:06}-{most}"
