"""The workers of a Dask cluster."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from typing import Any

from ._errors import JumbolabError, VersionMismatch
from ._shard import Job
from ._store import Done

#: How often a shard may be given to another worker because its worker was lost.
MOST_LOSSES = 100

#: Seconds between two looks at what is done.
LOOK = 0.05


class LostScheduler(JumbolabError):
    """The scheduler is lost; the same call goes on with what is stored."""

    def __init__(self) -> None:
        super().__init__("the scheduler is lost; the same call goes on")


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
                yield result_of(future)
            elif error is not None and type(error).__name__ == "KilledWorker":
                # Workers were lost with it, but a trial cannot bring a machine down.
                losses[task] = losses.get(task, 0) + 1
                if losses[task] > MOST_LOSSES:
                    raise JumbolabError(f"{task} lost its worker {MOST_LOSSES} times") from error
                again = submit(task, losses[task])
                futures[again] = task
                waiting.add(again)
            elif error is not None:
                raise _clear(error, job)
            else:
                raise LostScheduler
    finally:
        if futures and client.status == "running":
            client.cancel(list(futures))


def result_of(future: Any) -> Done:
    """What a finished shard gave; the scheduler may be lost before it comes."""
    try:
        return future.result()  # type: ignore[no-any-return]
    except CancelledError as error:
        raise LostScheduler from error


def _while_connected(waiting: Any, client: Any) -> Iterator[Any]:
    """What completes, until all is or the scheduler is lost."""
    while not waiting.is_empty():
        ready = waiting.next_batch(block=False)
        yield from ready
        if client.status != "running":
            raise LostScheduler
        if not ready:
            time.sleep(LOOK)


def _clear(error: BaseException, job: Job) -> BaseException:
    """An error of a worker as one exception."""
    if isinstance(error, JumbolabError):
        return error
    if isinstance(error, ModuleNotFoundError) and "jumbolab" in str(error):
        return VersionMismatch("workers lack the package jumbolab: install the same wheel there")
    hidden = job.store().hide(str(error))
    return JumbolabError(f"a worker failed: {type(error).__name__}: {hidden}")
