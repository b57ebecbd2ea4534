"""Sweeps: a plan in shards on the workers of a Dask cluster."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict
from os import PathLike, fspath
from pathlib import Path
from typing import Any, Literal, overload

import pyarrow as pa
import pyarrow.parquet as pq

from . import _ranges
from ._commands import Plan, Settings, arguments, plan
from ._errors import JumbolabError, VersionMismatch
from ._program import finish, start
from ._progress import Bar
from ._ranges import Range
from ._results import Results, _dask, _duckdb
from ._shard import Job, run_shard
from ._store import Done, Options, Store, shard_name, whole_place

#: The folder inside of that of the results where shards are stored unless `storage` says
#: otherwise. The program leaves names alone that begin with a dot.
SHARDS = ".sweep"

#: The largest journal that the program reads: docs/formats.md, "Limits of input files".
LARGEST_JOURNAL = 4 << 30

#: How often a shard may be given to another worker because its worker was lost.
MOST_LOSSES = 100

#: Seconds between two looks at what is done.
LOOK = 0.05


class LostScheduler(JumbolabError):
    """The scheduler is lost; the same call goes on with what is stored."""


class Sweep:
    """The parts of one or more plans that a sweep ran, in storage: one file for each shard."""

    def __init__(self, stores: Sequence[Store], results: Sequence[Results]) -> None:
        self._stores = list(stores)
        #: The folders of the plans, if they were merged.
        self.results = list(results)

    def dataset(self) -> list[str]:
        """The addresses of all parts, in the order of the trials."""
        return [
            store.full_url(f"parts/{name}")
            for store in self._stores
            for name in store.names("parts")
        ]

    def dask(self) -> Any:
        """The trials as a ``dask.dataframe``, a partition for each part."""
        return _dask(self.dataset(), self._stores[0].options or None)

    def duckdb(self) -> Any:
        """The trials as a relation of DuckDB; of local storage."""
        return _duckdb([url.removeprefix("file://") for url in self.dataset()])

    def trials(self) -> pa.Table:
        """All trials in memory."""
        return pa.concat_tables(list(self.batches()), promote_options="default")

    def batches(self) -> Iterator[pa.Table]:
        """The parts, one after the other."""
        for store in self._stores:
            for name in store.names("parts"):
                content = store.read(f"parts/{name}")
                yield pq.read_table(pa.BufferReader(content))


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
    storage: str | None = ...,
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
    storage: str | None = ...,
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
    storage: str | None = None,
    storage_options: Options | None = None,
    target: float = _ranges.TARGET,
    parts: bool = False,
    progress: bool | None = None,
) -> Results | Sweep:
    """Runs an experiment in the world `sim` on the workers of a Dask cluster.

    The folder has the same octets as that of one run on one machine. What a stopped sweep
    stored is not run again: the same call goes on.

    Args:
        experiment: Name of a shipped experiment, or path of a TOML file.
        client: ``distributed.Client``; None: the one that was made last.
        set: As of `run`.
        seeds: A plan for each of these values of ``trials.seed``; gives a `Sweep`.
        on: World; only ``sim`` runs in parts.
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
    stores, results = [], []
    for seed in [None] if seeds is None else seeds:
        settings = dict(set or {})
        if seed is not None:
            settings["trials.seed"] = seed
        planned = plan(experiment, set=settings, on=on, repeat=repeat)
        folder = _folder(output, planned, seed)
        place = whole_place(storage or str(folder / SHARDS))
        place = place if storage is None or seed is None else f"{place.rstrip('/')}/seed-{seed}"
        words = arguments(experiment, settings, on, repeat)[1:]
        job = job_of(fspath(experiment), words, planned, place, storage_options)
        one = _PlanSweep(job, planned, client, target)
        if not parts and (done := _merged(folder, planned)):
            results.append(done)
            continue
        with Bar(f"{planned.plan} {planned.hash}", progress) as bar:
            one.run(bar.set)
        if parts:
            one.write_parts()
            stores.append(one.store)
        else:
            results.append(one.merge(folder))
            if storage is None:
                one.store.remove()
    if seeds is None and not parts:
        return results[0]
    return Sweep(stores, results)


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

    def run(self, shown: Callable[[int, int], None]) -> None:
        """Runs the shards that are not stored."""
        self._claim()
        first = self._calibration()
        self._finish(first, shown)
        self._finish(self._cut(first), shown)

    def _claim(self) -> None:
        """Writes what is swept, or compares it with what was begun here."""
        mine = {"format": 1, "plan": asdict(self.plan)}
        content = self.store.read("sweep.json")
        if content is None:
            self.store.write("sweep.json", json.dumps(mine).encode())
            return
        begun = json.loads(content)["plan"]
        if begun["hash"] != self.plan.hash:
            raise JumbolabError(
                f"{self.store.url} has the sweep of another plan ({begun['hash']}, this is "
                f"{self.plan.hash}); choose another storage"
            )
        if begun["binary"] != self.plan.binary:
            raise VersionMismatch(
                f"{self.store.url} was begun by jumbolab {begun['version']}, build "
                f"{begun['binary']}; this is {self.plan.version}, build {self.plan.binary}"
            )

    def _calibration(self) -> list[Range]:
        """The first shards. They are written down: a resumed sweep has other workers."""

        def first() -> list[Range]:
            return _ranges.calibration(self.plan.trials, self.plan.cells, slots_of(self.client))

        return self._written("calibration.json", first)

    def _cut(self, calibration: Sequence[Range]) -> list[Range]:
        """The other shards, likewise written down."""
        begin = calibration[-1][1] + 1

        def rest() -> list[Range]:
            done = [self._stored(one) for one in calibration]
            cost = sum(one.seconds for one in done) / sum(one.lines for one in done)
            return _ranges.cut(begin, self.plan.trials, slots_of(self.client), cost, self.target)

        return self._written("cut.json", rest)

    def _stored(self, one: Range) -> Done:
        done = self.store.done(one)
        if done is None:
            raise JumbolabError(f"{self.store.url} lacks trials {one[0]} to {one[1]}")
        return done

    def _written(self, name: str, made: Callable[[], list[Range]]) -> list[Range]:
        content = self.store.read(name)
        if content is None:
            self.store.write(name, json.dumps(made()).encode())
            content = self.store.read(name) or b""
        return [(first, last) for first, last in json.loads(content)]

    def ranges(self) -> list[Range]:
        """All shards in the order of the trials."""
        ranges = sorted(self.store.all_done())
        if not _ranges.is_partition(ranges, self.plan.trials):
            missing = _ranges.gaps(ranges, self.plan.trials)
            raise JumbolabError(f"{self.store.url} lacks trials {missing or 'in order'}")
        return ranges

    def _finish(self, wanted: Sequence[Range], shown: Callable[[int, int], None]) -> None:
        """Runs what is not stored of `wanted`."""
        stored = self.store.all_done()
        finished = sum(last - first + 1 for first, last in stored)
        shown(finished, self.plan.trials)
        missing = [one for one in wanted if one not in stored]
        for done in completed(self.client, self.job, run_shard, missing):
            finished += done.lines
            shown(finished, self.plan.trials)

    def merge(self, folder: Path) -> Results:
        """Puts all shards behind each other: the results folder of one run."""
        ranges = self.ranges()
        octets = sum(self._stored(one).octets for one in ranges)
        if octets > LARGEST_JOURNAL:
            raise JumbolabError(
                f"the journals have {octets} octets, more than {LARGEST_JOURNAL}: sweep again with "
                "parts=True; all trials are stored"
            )
        clear_folder(folder)
        partial = folder / f".trials.jsonl.{time.monotonic_ns()}.tmp"
        try:
            with partial.open("wb") as journal:
                for one in ranges:
                    for block in self.store.journal(self._stored(one)):
                        journal.write(block)
            for name in ["plan.toml", *self._others()]:
                (folder / name).parent.mkdir(exist_ok=True)
                (folder / name).write_bytes(self.store.read(name) or b"")
            partial.replace(folder / "trials.jsonl")
        except OSError as error:
            raise JumbolabError(f"{folder}: {error}; all shards are in {self.store.url}") from error
        finally:
            partial.unlink(missing_ok=True)
        results = Results(folder.absolute())
        results.__dict__["lines"] = finish(start(["report", str(folder), "--json"])).objects()
        return results

    def _others(self) -> list[str]:
        laws = [name for name in self.store.names("") if name.endswith(".txt")]
        return laws + [f"watch/{name}" for name in self.store.names("watch")]

    def write_parts(self) -> None:
        """Stores each shard as a part with the columns of all.

        The program takes for a factor the narrowest type of its levels in one file, and no
        column for a metric that no trial there has.
        """
        ranges = self.ranges()
        schemas = []
        for one in ranges:
            content = self.store.read(f"shards/{shard_name(one)}.parquet")
            schemas.append(pq.read_schema(pa.BufferReader(content)))
        schema = common_schema(schemas)
        stored = {*self.store.names("parts")}
        for one in ranges:
            name = f"{shard_name(one)}.parquet"
            if name not in stored:
                table = pq.read_table(pa.BufferReader(self.store.read(f"shards/{name}")))
                sink = pa.BufferOutputStream()
                pq.write_table(fitted(table, schema), sink, compression="lz4")
                self.store.write(f"parts/{name}", sink.getvalue().to_pybytes())


def clear_folder(folder: Path) -> None:
    """Makes a folder for results.

    Raises:
        JumbolabError: It holds something else.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        names = [path.name for path in folder.iterdir()]
    except OSError as error:
        raise JumbolabError(f"{folder}: {error}; choose another folder") from error
    strangers = [name for name in names if not name.startswith((".", "trials.jsonl", "plan.toml"))]
    if strangers:
        raise JumbolabError(f"{folder} holds {strangers[0]}; choose another folder")


def slots_of(client: Any) -> int:
    """How many shards run at once."""
    return max(1, sum(int(threads) for threads in client.nthreads().values()))


def completed(
    client: Any, job: Job, function: Callable[[Job, Any], Done], tasks: Sequence[tuple[int, ...]]
) -> Iterator[Done]:
    """Calls `function` on workers for each of `tasks`, and gives what comes as it comes."""
    if not tasks:
        return
    from distributed import as_completed  # noqa: PLC0415 - an extra

    def submit(task: tuple[int, ...], loss: int) -> Any:
        place = "-".join(str(number) for number in task)
        key = f"jumbolab-{job.hash}-{place}-{loss}-{time.monotonic_ns()}"
        return client.submit(function, job, task, key=key, pure=False)

    futures = {submit(task, 0): task for task in tasks}
    losses: dict[tuple[int, ...], int] = {}
    waiting = as_completed(futures)
    try:
        for future in _while_connected(waiting, client):
            task = futures.pop(future)
            error = future.exception() if future.status == "error" else None
            if future.status == "finished":
                yield future.result()
            elif error is not None and type(error).__name__ == "KilledWorker":
                # Workers were lost with it, but a trial cannot bring a machine down.
                losses[task] = losses.get(task, 0) + 1
                if losses[task] > MOST_LOSSES:
                    raise JumbolabError(f"{task} lost its worker {MOST_LOSSES} times") from error
                again = submit(task, losses[task])
                futures[again] = task
                waiting.add(again)
            elif error is not None:
                raise _clear(error)
            else:
                raise LostScheduler("the scheduler is lost; the same call goes on")
    finally:
        if futures and client.status == "running":
            client.cancel(list(futures))


def common_schema(schemas: Sequence[pa.Schema]) -> pa.Schema:
    """The columns of all, each with the narrowest type that holds every value.

    Fixed columns and factors come first, then metrics by name, then the evidence.
    """
    types: dict[str, set[pa.DataType]] = {}
    heads: dict[str, None] = {}
    for schema in schemas:
        flags = schema.get_field_index("flags")
        heads.update(dict.fromkeys(schema.names[: flags + 1]))
        for column in schema:
            types.setdefault(column.name, set()).add(column.type)
    tails = sorted(name for name in types if name not in heads and name != "evidence")
    names = [*heads, *tails, "evidence"]
    return pa.schema([(name, _widest(types[name])) for name in names])


def fitted(table: pa.Table, schema: pa.Schema) -> pa.Table:
    """A table with these columns: absent ones are null."""
    columns = [
        table[column.name].cast(column.type)
        if column.name in table.column_names
        else pa.nulls(table.num_rows, column.type)
        for column in schema
    ]
    return pa.table(columns, schema=schema)


def _widest(types: set[pa.DataType]) -> pa.DataType:
    for kind in (pa.string(), pa.float64()):
        if kind in types:
            return kind
    return next(iter(types))


def _while_connected(waiting: Any, client: Any) -> Iterator[Any]:
    """What completes, until all is or the scheduler is lost."""
    while not waiting.is_empty():
        ready = waiting.next_batch(block=False)
        yield from ready
        if client.status != "running":
            raise LostScheduler("the scheduler is lost; the same call goes on")
        if not ready:
            time.sleep(LOOK)


def _clear(error: BaseException) -> BaseException:
    """An error of a worker as one exception."""
    if isinstance(error, JumbolabError):
        return error
    if isinstance(error, ModuleNotFoundError) and "jumbolab" in str(error):
        return VersionMismatch("workers lack the package jumbolab: install the same wheel there")
    return JumbolabError(f"a worker failed: {type(error).__name__}: {error}")


def job_of(
    name: str, words: Sequence[str], planned: Plan, storage: str, options: Options | None
) -> Job:
    is_path = name.endswith(".toml") or "/" in name
    return Job(
        experiment=Path(name).name if is_path else name,
        text=Path(name).read_text(encoding="utf-8") if is_path else None,
        options=tuple(words),
        hash=planned.hash,
        trials=planned.trials,
        binary=planned.binary,
        version=planned.version,
        storage=storage,
        storage_options=options or {},
    )


def _folder(output: str | PathLike[str] | None, planned: Plan, seed: int | None) -> Path:
    if output is None:
        return Path("results") / f"{planned.plan}-{planned.hash}"
    return Path(output) if seed is None else Path(output) / f"seed-{seed}"


def _merged(folder: Path, planned: Plan) -> Results | None:
    """The results in `folder`, if they are those of the whole plan."""
    if not (folder / "trials.jsonl").is_file():
        return None
    results = Results(folder.absolute())
    if results.plan["run"]["hash"] != planned.hash:
        raise JumbolabError(f"{folder} belongs to another experiment; choose another folder")
    if not results.complete:
        raise JumbolabError(
            f"{folder} holds an unfinished run; resume it, or choose another folder"
        )
    return results


def last_client() -> Any:
    try:
        from distributed import get_client  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise JumbolabError(
            "distributed is not installed: pip install 'jumbolab[cluster]'"
        ) from error
    try:
        return get_client()
    except ValueError as error:
        raise JumbolabError(
            "no cluster: make a distributed.Client first, or give client"
        ) from error
