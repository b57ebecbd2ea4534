"""Robustness searches on a cluster: each round in parts, put together before the next one.

A round follows from the results of all before it. Part I of N runs the trials at the places I,
I + N, .. of the round (``jumbolab robustness --shard I/N``) and stops before the next one, so
that the parts laced together are the journal that one process would have written.
"""

from __future__ import annotations

import hashlib
import json
import math
import tempfile
import time
from collections.abc import Sequence
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from ._commands import Settings, arguments, plan
from ._errors import JumbolabError, VersionMismatch
from ._program import finish, start
from ._progress import Bar
from ._results import Results
from ._shard import Job, check_version, worker_name
from ._store import Done, Options, Store, whole_place
from ._sweep import SHARDS, clear_folder, completed, job_of, last_client, slots_of

#: Parts of a round for each slot: the last ones are smaller than a round by that much.
PARTS_PER_SLOT = 2


def sweep_search(
    experiment: str | PathLike[str],
    *,
    runs: int,
    output: str | PathLike[str],
    client: Any = None,
    set: Settings | None = None,
    storage: str | None = None,
    storage_options: Options | None = None,
    progress: bool | None = None,
) -> Results:
    """Searches like ``jumbolab robustness --on sim --budget runs=RUNS``, on a Dask cluster.

    The journal has the octets of one search. What a stopped search stored is not run again.

    Args:
        experiment: Name of a shipped experiment, or path of a TOML file.
        runs: The budget in trials.
        output: Folder for the results.
        client: ``distributed.Client``; None: the one that was made last.
        set: As of `robustness`.
        storage: As of `sweep`.
        storage_options: Options of its file system.
        progress: Show a bar; None: on terminals and in notebooks.

    Raises:
        JumbolabError: A worker, the storage or the scheduler could not do it.
        VersionMismatch: A worker has another build of the program.
    """
    client = client or last_client()
    folder = Path(output)
    words = arguments(fspath(experiment), set, "sim", None)[1:]
    place = whole_place(storage or str(folder / SHARDS))
    planned = plan(experiment, set=set, on="sim")
    job = job_of(fspath(experiment), words, planned, place, storage_options)
    store = job.store()
    parts = _claim(store, job, max(2, PARTS_PER_SLOT * slots_of(client)))
    rounds: list[list[bytes]] = []
    with Bar(f"{job.experiment} {job.hash}", progress) as bar:
        made = 0
        while made < runs:
            lines = _round(client, job, store, (len(rounds), parts), (made, runs))
            if not lines:
                break
            rounds.append(lines)
            made += len(lines)
            bar.set(made, runs)
    clear_folder(folder)
    for name in ("plan.toml", "experiment.toml"):
        (folder / name).write_bytes(store.read(name) or b"")
    (folder / "trials.jsonl").write_bytes(b"".join(line for lines in rounds for line in lines))
    results = Results(folder.absolute())
    results.__dict__["lines"] = finish(start(["report", str(folder), "--json"])).objects()
    if storage is None:
        store.remove()
    return results


def _claim(store: Store, job: Job, parts: int) -> int:
    """Writes what is searched, or compares it; gives the number of parts of a round."""
    content = store.read("search.json")
    if content is None:
        mine = {"format": 1, "hash": job.hash, "binary": job.binary, "parts": parts}
        store.write("search.json", json.dumps(mine).encode())
        return parts
    begun = json.loads(content)
    if begun["hash"] != job.hash:
        raise JumbolabError(f"{store.url} has another search; choose another storage")
    if begun["binary"] != job.binary:
        raise VersionMismatch(
            f"{store.url} was begun by build {begun['binary']}; this is {job.binary}"
        )
    return int(begun["parts"])


def _round(
    client: Any, job: Job, store: Store, which: tuple[int, int], budget: tuple[int, int]
) -> list[bytes]:
    """The journal of a round, or of what the budget leaves of it."""
    (number, parts), (made, runs) = which, budget
    stored = store.read(_round_name(number))
    if stored is not None:
        return stored.splitlines(keepends=True)[: runs - made]
    # Each part makes its share of what is left; a little more is cut off.
    most = made + math.ceil((runs - made) / parts)
    wanted = [(number, part, parts, most) for part in range(1, parts + 1)]
    for _ in completed(client, job, run_part, wanted):
        pass
    lines = laced([_part(store, task) for task in wanted])
    if len(lines) < runs - made and lines:
        # It is whole: the budget did not cut it.
        store.write(_round_name(number), b"".join(lines))
    return lines[: runs - made]


def _part(store: Store, task: tuple[int, int, int, int]) -> list[bytes]:
    name = _part_name(task)
    content = store.read(f"{name}.jsonl") or b""
    mark = json.loads(store.read(f"{name}.json") or b"{}")
    if hashlib.sha256(content).hexdigest() != mark.get("sha256"):
        raise JumbolabError(f"{store.url}: {name}.jsonl is not what its worker wrote")
    return content.splitlines(keepends=True)


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
    number, part, parts, most = task
    store = job.store()
    name = _part_name(task)
    with tempfile.TemporaryDirectory(prefix="jumbolab-") as made:
        scratch = Path(made)
        check_version(job, scratch)
        mark = store.read(f"{name}.json")
        if mark is not None:
            return Done(**json.loads(mark))
        folder = scratch / "search"
        if number:
            folder.mkdir()
            (folder / "plan.toml").write_bytes(store.read("plan.toml") or b"")
            with (folder / "trials.jsonl").open("wb") as journal:
                for one in range(number):
                    journal.write(store.read(_round_name(one)) or b"")
        words = ["robustness", *job.words(scratch), "--shard", f"{part}/{parts}"]
        words += ["--budget", f"runs={most}", "--threads", "1", "--quiet", "-o", "search"]
        begun = time.monotonic()
        finish(start(words, folder=scratch))
        content = (folder / f"trials.{part}of{parts}.jsonl").read_bytes()
        for file in ("plan.toml", "experiment.toml"):
            if store.read(file) is None:
                store.put(folder / file, file)
        done = Done(
            first=number,
            last=part,
            lines=content.count(b"\n"),
            octets=len(content),
            sha256=hashlib.sha256(content).hexdigest(),
            seconds=time.monotonic() - begun,
            worker=worker_name(),
        )
        store.write(f"{name}.jsonl", content)
        store.write(f"{name}.json", json.dumps(done.__dict__).encode())
        return done


def _round_name(number: int) -> str:
    return f"rounds/{number:06}.jsonl"


def _part_name(task: tuple[int, int, int, int]) -> str:
    number, part, _, most = task
    return f"parts/{number:06}-{part:06}-{most}"
