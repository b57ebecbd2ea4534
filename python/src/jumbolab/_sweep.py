"""Sweeps: a plan in shards on the workers of a Dask cluster."""

from __future__ import annotations

import contextlib
import json
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from os import PathLike
from pathlib import Path
from typing import Any, Literal, overload

import pyarrow as pa
import pyarrow.parquet as pq

from . import _ranges
from ._cluster import completed, last_client, slots_of
from ._commands import Plan, Settings, arguments, path_of, plan, settled
from ._errors import JumbolabError, VersionMismatch
from ._files import (
    LARGEST_EXPERIMENT,
    LARGEST_JOURNAL,
    LARGEST_JSON,
    LARGEST_PLAN,
    LARGEST_TABLE,
    Folder,
    MissingFile,
    read_file,
)
from ._parts import common_schema, fitted
from ._progress import Bar
from ._ranges import Range
from ._results import Results, _dask, _duckdb, plan_of, read_table
from ._shapes import Object, WrongShape, read_json, record, short
from ._shard import Job, run_shard
from ._store import Done, Options, Store, agreed, shard_name, whole_place

#: The folder inside of that of the results where shards are stored unless `storage` says
#: otherwise. The program leaves names alone that begin with a dot.
SHARDS = ".sweep"


class Sweep:
    """The parts of one or more plans that a sweep ran, in storage: one file for each shard."""

    def __init__(
        self, stored: Sequence[tuple[Store, Sequence[Range]]], results: Sequence[Results]
    ) -> None:
        self._stored = list(stored)
        #: The folders of the plans, if they were merged.
        self.results = list(results)

    def dataset(self) -> list[str]:
        """The addresses of all parts, in the order of the trials; of merged plans their tables."""
        return [store.full_url(name) for store, name in self._parts()] + [
            table for one in self.results for table in one.dataset()
        ]

    def dask(self) -> Any:
        """The trials as a ``dask.dataframe``, a partition for each part."""
        options = self._stored[0][0].options if self._stored else None
        return _dask(self.dataset(), options or None)

    def duckdb(self) -> Any:
        """The trials as a relation of DuckDB; of local storage."""
        return _duckdb([url.removeprefix("file://") for url in self.dataset()])

    def trials(self) -> pa.Table:
        """All trials in memory."""
        return pa.concat_tables(list(self.batches()), promote_options="default")

    def batches(self) -> Iterator[pa.Table]:
        """The parts, one after the other."""
        for store, name in self._parts():
            content = store.read(name, LARGEST_TABLE)
            if content is None:
                raise JumbolabError(f"{store.place(name)} does not exist; sweep again")
            yield read_table(pa.BufferReader(content), store.place(name))
        for one in self.results:
            yield one.trials()

    def _parts(self) -> Iterator[tuple[Store, str]]:
        for store, shards in self._stored:
            for one in shards:
                yield store, f"parts/{shard_name(one)}.parquet"


@overload
def sweep(
    experiment: str | PathLike[str],
    *,
    client: Any = ...,
    set: Settings | None = ...,
    seeds: None = ...,
    on: str = ...,
    repeat: int | None = ...,
    output: str | PathLike[str] | None = ...,
    storage: str | PathLike[str] | None = ...,
    storage_options: Options | None = ...,
    target: float = ...,
    parts: Literal[False] = ...,
    progress: bool | None = ...,
) -> Results: ...


@overload
def sweep(
    experiment: str | PathLike[str],
    *,
    client: Any = ...,
    set: Settings | None = ...,
    seeds: Iterable[int] | None = ...,
    on: str = ...,
    repeat: int | None = ...,
    output: str | PathLike[str] | None = ...,
    storage: str | PathLike[str] | None = ...,
    storage_options: Options | None = ...,
    target: float = ...,
    parts: bool = ...,
    progress: bool | None = ...,
) -> Results | Sweep: ...


def sweep(
    experiment: str | PathLike[str],
    *,
    client: Any = None,
    set: Settings | None = None,
    seeds: Iterable[int] | None = None,
    on: str = "sim",
    repeat: int | None = None,
    output: str | PathLike[str] | None = None,
    storage: str | PathLike[str] | None = None,
    storage_options: Options | None = None,
    target: float = _ranges.TARGET,
    parts: bool = False,
    progress: bool | None = None,
) -> Results | Sweep:
    """Runs an experiment in the backend `sim` on the workers of a Dask cluster.

    The folder has the same bytes as that of one run on one machine. What a stopped sweep
    stored is not run again: the same call goes on.

    Args:
        experiment: Name of a shipped experiment, or path of a TOML file.
        client: ``distributed.Client``; None: the one that was made last.
        set: As of `run`.
        seeds: A plan for each of these values of ``trials.seed``; gives a `Sweep`.
        on: Backend; only ``sim`` runs in parts.
        repeat: Trials of each cell.
        output: Folder for the results instead of ``results/NAME-HASH``; of several seeds,
            with a folder for each: ``seed-1``.
        storage: Where workers store shards, as a URL of ``fsspec`` or a folder that all of
            them reach [default: a folder in `output`, which is removed at the end].
        storage_options: Options of its file system.
        target: Seconds that a shard should take.
        parts: Store a file of Parquet for each shard, with the columns of all, instead of
            merging them: for results beyond memory. Gives a `Sweep`.
        progress: Show a bar; None: on terminals and in notebooks.

    Raises:
        JumbolabError: A worker, the storage or the scheduler could not do it.
        VersionMismatch: A worker has another build of the program.
    """
    if client is None:
        client = last_client()
    if storage is None and output is None and parts:
        raise JumbolabError("parts need a place that stays: give storage")
    if not 0 < target < math.inf:
        raise JumbolabError(f"target = {target}: seconds above 0 are needed")
    common = settled(set)
    stored, results = [], []
    for seed in [None] if seeds is None else seeds:
        settings = dict(common)
        if seed is not None:
            settings["trials.seed"] = seed
        planned = plan(experiment, set=settings, on=on, repeat=repeat)
        folder = _folder(output, planned, seed)
        place = inside(folder) if storage is None else whole_place(storage)
        place = place if storage is None or seed is None else f"{place.rstrip('/')}/seed-{seed}"
        job = job_of(experiment, arguments(settings, on, repeat), planned, place, storage_options)
        if not parts and (done := _merged(folder, planned)):
            results.append(done)
            continue
        one = _PlanSweep(job, planned, client, target)
        with Bar(f"{planned.plan} {planned.hash}", progress) as bar:
            one.run(bar.set)
        if parts:
            one.write_parts()
            stored.append((one.store, one.shards))
        else:
            # Another client may have merged it meanwhile.
            results.append(_merged(folder, planned) or one.merge(folder))
            if storage is None:
                one.store.remove()
    if not stored and not results:
        raise JumbolabError("seeds is empty: at least one is needed")
    if seeds is None and not parts:
        return results[0]
    return Sweep(stored, results)


@dataclass(frozen=True)
class _Claim:
    """What a storage has a sweep of: ``sweep.json``."""

    format: int
    plan: Object


class _PlanSweep:
    """The sweep of one plan."""

    def __init__(self, job: Job, planned: Plan, client: Any, target: float) -> None:
        if planned.until is not None:
            raise JumbolabError(
                f'trials.until = "{planned.until}" needs all trials, but a shard has only its own'
            )
        self.job = job
        self.plan = planned
        self.client = client
        self.target = target
        self.store = job.store()
        #: All shards in the order of the trials, and the marks of those that are stored.
        self.shards: list[Range] = []
        self.marks: dict[Range, Done] = {}

    def run(self, shown: Callable[[int, int], None]) -> None:
        """Runs the shards that are not stored."""
        self._claim()
        first = self._calibration()
        self._finish(first, shown)
        self._finish(self._cut(first), shown)

    def _claim(self) -> None:
        """Writes what is swept, or compares it with what was begun here."""
        mine = json.dumps({"format": 1, "plan": asdict(self.plan)}).encode()
        content = self.store.claim("sweep.json", mine)

        def shape(value: Any) -> Plan:
            return record(Plan)(record(_Claim)(value).plan)

        place = self.store.place("sweep.json")
        with self.store.remedy("sweep.json"):
            begun = read_json(content, place, shape)
        if begun.hash != self.plan.hash:
            raise JumbolabError(
                f"{self.store.name} has the sweep of another plan ({begun.hash}, this is "
                f"{self.plan.hash}); choose another storage"
            )
        if begun.binary != self.plan.binary:
            raise VersionMismatch(
                f"{self.store.name} was begun by jumbolab {begun.version}, build "
                f"{begun.binary}; this is {self.plan.version}, build {self.plan.binary}"
            )
        # Before anything is run for it.
        stored = self.store.read("plan.toml", LARGEST_PLAN)
        if stored is not None:
            _same_plan(stored, self.store.place("plan.toml"), self.plan.hash)

    def _calibration(self) -> list[Range]:
        """The first shards. They are written down: a resumed sweep has other workers."""

        def first() -> list[Range]:
            return _ranges.calibration(self.plan.trials, self.plan.cells, slots_of(self.client))

        return self._written("calibration.json", 1, first)

    def _cut(self, calibration: Sequence[Range]) -> list[Range]:
        """The other shards, likewise written down."""
        begin = calibration[-1][1] + 1

        def rest() -> list[Range]:
            done = [self.marks[one] for one in calibration]
            cost = sum(one.seconds for one in done) / sum(one.lines for one in done)
            return _ranges.cut(begin, self.plan.trials, slots_of(self.client), cost, self.target)

        return self._written("cut.json", begin, rest)

    def _written(self, name: str, begin: int, made: Callable[[], list[Range]]) -> list[Range]:
        content = self.store.read(name, LARGEST_JSON)
        if content is None:
            self.store.write(name, json.dumps(made()).encode())
            content = self.store.read(name, LARGEST_JSON) or b""
        last = self.plan.trials

        def shape(value: Any) -> list[Range]:
            if not isinstance(value, list):
                raise WrongShape(f"{short(value)}: a list of [first, last] is needed")
            ranges, expected = [], begin
            for one in value:
                match one:
                    case [int(first), int(end)] if first == expected and first <= end <= last:
                        ranges.append((first, end))
                        expected = end + 1
                    case _:
                        raise WrongShape(
                            f"{short(one)}: [first, last] with first = {expected} and last of at "
                            f"most {last} is needed"
                        )
            # The calibration ends anywhere, the cut with the plan.
            if expected == begin if begin == 1 else expected != last + 1:
                raise WrongShape(f"the shards end before trial {last}")
            return ranges

        with self.store.remedy(name):
            return read_json(content, self.store.place(name), shape)

    def _finish(self, wanted: Sequence[Range], shown: Callable[[int, int], None]) -> None:
        """Runs what is not stored of `wanted`."""
        self.shards += wanted
        stored = self.store.all_done()
        for one in wanted:
            if one in stored and (done := self.store.shard(one, self.plan.hash)):
                self.marks[one] = done
        missing = [one for one in wanted if one not in self.marks]
        finished = sum(done.lines for done in self.marks.values())
        shown(finished, self.plan.trials)
        for done in completed(self.client, self.job, run_shard, missing):
            self.marks[done.first, done.last] = done
            finished += done.lines
            shown(finished, self.plan.trials)

    def merge(self, folder: Path) -> Results:
        """Puts all shards behind each other: the results folder of one run."""
        marks = [self.marks[one] for one in self.shards]
        size = sum(done.size for done in marks)
        if size > LARGEST_JOURNAL:
            raise JumbolabError(
                f"the journals have {size} bytes, more than {LARGEST_JOURNAL}: sweep again with "
                "parts=True; all trials are stored"
            )

        def journal() -> Iterator[bytes]:
            for done in marks:
                name = f"shards/{shard_name((done.first, done.last))}.jsonl"
                yield from self.store.checked(name, done.files[name])

        results = write_results(folder, self.store, self.plan.hash, agreed(marks), journal())
        if not results.complete:
            raise JumbolabError(
                f"{folder}: the shards in {self.store.name} lack trials of the plan"
            )
        return results

    def write_parts(self) -> None:
        """Stores each shard as a part with the columns of all.

        The program takes for a factor the narrowest type of its levels in one file, and no
        column for a metric that no trial there has.
        """
        schemas = [self._table(one).schema for one in self.shards]
        schema = common_schema(schemas)
        for one in self.shards:
            sink = pa.BufferOutputStream()
            pq.write_table(fitted(self._table(one), schema), sink, compression="lz4")
            self.store.write(f"parts/{shard_name(one)}.parquet", sink.getvalue().to_pybytes())

    def _table(self, one: Range) -> pa.Table:
        """The table of a shard."""
        name = f"shards/{shard_name(one)}.parquet"
        place = self.store.place(name)
        sha256 = self.marks[one].files.get(name, "")
        content = b"".join(self.store.checked(name, sha256, LARGEST_TABLE))
        table = read_table(pa.BufferReader(content), place)
        if table.num_rows != self.marks[one].lines:
            raise JumbolabError(f"{place} has {table.num_rows} rows, not {self.marks[one].lines}")
        return table


def write_results(
    folder: Path, store: Store, plan: str | None, files: dict[str, str], journal: Iterable[bytes]
) -> Results:
    """Makes a results folder of what is stored.

    Args:
        folder: The folder.
        store: Where everything is stored.
        plan: The hash that the plan must have; of a search it is not known before.
        files: The SHA-256 of each file but the journal.
        journal: The journal.

    Raises:
        JumbolabError: The folder holds something else, or a file is not what a worker wrote.
    """
    planned = b"".join(store.checked("plan.toml", files.get("plan.toml", ""), LARGEST_PLAN))
    plan = _same_plan(planned, store.place("plan.toml"), plan)
    # What is written here may be there: a merge before it was stopped.
    expected = {"trials.jsonl", *(name.partition("/")[0] for name in files)}
    with Folder(folder, make=True) as opened:
        for name in opened.names():
            if name not in expected:
                raise JumbolabError(f"{folder} holds {name}; choose another folder")
        with contextlib.suppress(MissingFile):
            content = opened.read("plan.toml", LARGEST_PLAN)
            _same_plan(content, str(folder / "plan.toml"), plan)
        try:
            for name, sha256 in files.items():
                opened.write(name, store.checked(name, sha256))
            opened.write("trials.jsonl", journal)
        except JumbolabError as error:
            raise JumbolabError(
                f"{error.message}; what was run is in {store.name}", file=error.file
            ) from error
    results = Results(folder.absolute())
    _ = results.lines
    return results


def _same_plan(content: bytes, place: str, plan: str | None) -> str:
    """The hash of a plan, which must be `plan`."""
    found = str(plan_of(content, place)["run"]["hash"])
    if plan not in (None, found):
        raise JumbolabError(
            f"{place} has the hash {short(found)} of another plan than {plan}; remove it, or "
            "choose another place",
            file=place,
        )
    return found


def inside(folder: Path) -> str:
    """The storage in a results folder."""
    place = folder / SHARDS
    if place.is_symlink():
        raise JumbolabError(
            f"{place} is a symbolic link, which is not followed; remove it, or give storage"
        )
    return str(place.absolute())


def job_of(
    experiment: str | PathLike[str],
    options: Sequence[str],
    planned: Plan,
    storage: str,
    storage_options: Options | None,
) -> Job:
    """What the workers of a sweep get."""
    name = path_of(experiment)
    path = Path(name) if name.endswith(".toml") or "/" in name else None
    return Job(
        experiment=path.name if path else name,
        text=read_text(path) if path else None,
        options=tuple(options),
        hash=planned.hash,
        trials=planned.trials,
        binary=planned.binary,
        version=planned.version,
        storage=storage,
        storage_options=storage_options or {},
    )


def read_text(path: Path) -> str:
    """The text of an experiment file."""
    try:
        return read_file(path, LARGEST_EXPERIMENT).decode()
    except UnicodeDecodeError as error:
        raise JumbolabError(f"{path} is no UTF-8: {error.reason}", file=str(path)) from error


def _folder(output: str | PathLike[str] | None, planned: Plan, seed: int | None) -> Path:
    if output is None:
        return Path("results") / f"{planned.plan}-{planned.hash}"
    return Path(output) if seed is None else Path(output) / f"seed-{seed}"


def _merged(folder: Path, planned: Plan) -> Results | None:
    """The results in `folder`, if they are those of the whole plan."""
    try:
        with Folder(folder) as opened, opened.open("trials.jsonl", LARGEST_JOURNAL):
            pass
    except MissingFile:
        return None
    results = Results(folder.absolute())
    if results.plan["run"]["hash"] != planned.hash:
        raise JumbolabError(f"{folder} belongs to another experiment; choose another folder")
    if not results.complete:
        raise JumbolabError(
            f"{folder} holds an unfinished run; resume it, or choose another folder"
        )
    return results
