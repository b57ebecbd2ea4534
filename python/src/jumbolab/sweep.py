"""``python -m jumbolab.sweep``: a sweep from the command line."""

from __future__ import annotations

import argparse
import json
import math
import os
import sys
import time
from collections.abc import Sequence
from contextlib import ExitStack
from typing import Any

from ._cluster import LostScheduler
from ._errors import JumbolabError, one_line
from ._ranges import TARGET
from ._results import Results
from ._search import sweep_search
from ._sweep import Sweep, sweep

#: Seconds between two attempts to reach a scheduler.
PAUSE = 2.0

EPILOG = """\
A sweep that was stopped is gone on with by the same command. docs/guides/python.md of the
repository describes clusters and storage.
"""


def main(words: Sequence[str] | None = None) -> int:
    """Runs the command; gives its exit code."""
    args = _parser().parse_args(words)
    if args.search is not None and (args.output is None or args.seeds or args.parts or args.repeat):
        return _complain("--search: give -o DIR, and neither --seeds, --repeat nor --parts")
    settings: dict[str, str] = {}
    for assignment in args.set:
        key, equals, value = assignment.partition("=")
        if not equals:
            return _complain(f"--set {assignment}: write KEY=VALUE")
        settings[key] = value
    deadline = time.monotonic() + args.scheduler_timeout
    while True:
        try:
            found = _swept(args, settings)
        except (LostScheduler, OSError) as error:
            if isinstance(error, LostScheduler):
                # It was there, whenever this command began.
                deadline = time.monotonic() + args.scheduler_timeout
            if args.scheduler is None or time.monotonic() > deadline:
                return _complain(str(error))
            print("the scheduler is lost; trying again", file=sys.stderr)
            time.sleep(PAUSE)
            continue
        except JumbolabError as error:
            return _complain(error.message)
        except KeyboardInterrupt:
            _complain("stopped; the same command goes on")
            return 130
        break
    if isinstance(found, Results):
        lines = [*(found.headline if args.search is None else []), str(found.path)]
    else:
        lines = [*(str(one.path) for one in found.results), *found.dataset()]
    return _print(lines)


def _swept(args: argparse.Namespace, settings: dict[str, str]) -> Results | Sweep:
    try:
        from distributed import Client, LocalCluster  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise JumbolabError(
            "distributed is not installed: pip install 'jumbolab[cluster]'"
        ) from error
    with ExitStack() as stack:
        if args.scheduler is not None:
            client = stack.enter_context(_client(args.scheduler, args.timeout))
        else:
            cluster = stack.enter_context(
                LocalCluster(
                    n_workers=args.local,
                    threads_per_worker=1,
                    dashboard_address="127.0.0.1:0",
                    host="127.0.0.1",
                )
            )
            client = stack.enter_context(Client(cluster))
        if args.scheduler is not None:
            client.wait_for_workers(1, timeout=args.scheduler_timeout)
        if args.search is not None:
            return sweep_search(
                args.experiment,
                runs=args.search,
                output=args.output,
                client=client,
                set=settings,
                storage=args.storage,
                storage_options=args.storage_options,
                progress=False if args.quiet else None,
            )
        found: Results | Sweep = sweep(
            args.experiment,
            client=client,
            set=settings,
            seeds=args.seeds,
            on=args.on,
            repeat=args.repeat,
            output=args.output,
            storage=args.storage,
            storage_options=args.storage_options,
            target=args.target,
            parts=args.parts,
            progress=False if args.quiet else None,
        )
        return found


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m jumbolab.sweep",
        description="Runs an experiment in the backend sim on the workers of a Dask cluster.",
        epilog=EPILOG,
    )
    parser.add_argument("experiment", help="name of a shipped experiment, or path of a TOML file")
    where = parser.add_mutually_exclusive_group(required=True)
    where.add_argument("--scheduler", help="address of a Dask scheduler: tcp://host:8786")
    where.add_argument("--local", type=_count, metavar="N", help="N workers on this machine")
    parser.add_argument("--on", default="sim", help="backend; only sim runs in parts")
    parser.add_argument(
        "--set", action="append", default=[], metavar="KEY=VALUE", help="as of `jumbolab run`"
    )
    parser.add_argument("--repeat", type=_count, metavar="COUNT", help="trials of each cell")
    parser.add_argument(
        "--seeds", type=_seeds, metavar="FROM..TO", help="a plan for each of these seeds"
    )
    parser.add_argument("-o", "--output", metavar="DIR", help="folder for the results")
    parser.add_argument(
        "--storage", metavar="URL", help="where shards are stored: a folder, s3://.., gs://.."
    )
    parser.add_argument(
        "--storage-options", type=_options, metavar="JSON", help="options of fsspec for it"
    )
    parser.add_argument(
        "--target", type=float, default=TARGET, metavar="SECONDS", help="time of a shard"
    )
    parser.add_argument(
        "--search",
        type=_count,
        metavar="RUNS",
        help="search unstated settings with so many trials, as `jumbolab sensitivity` does",
    )
    parser.add_argument("--parts", action="store_true", help="keep a table for each shard")
    parser.add_argument(
        "--scheduler-timeout",
        type=_seconds,
        default=600.0,
        metavar="SECONDS",
        help="how long to look for a lost scheduler and for workers",
    )
    parser.add_argument("--timeout", type=float, default=10.0, help=argparse.SUPPRESS)
    parser.add_argument("-q", "--quiet", action="store_true", help="no progress")
    return parser


def _count(text: str) -> int:
    count = int(text)
    if count < 1:
        raise argparse.ArgumentTypeError(f"{text}: at least 1")
    return count


def _seconds(text: str) -> float:
    seconds = float(text)
    if not 0 <= seconds < math.inf:
        raise argparse.ArgumentTypeError(f"{text}: seconds of at least 0 are needed")
    return seconds


def _seeds(text: str) -> range:
    first, dots, last = text.partition("..")
    try:
        return range(int(first), int(last if dots else first) + 1)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text}: write FROM..TO, such as 1..100") from None


def _options(text: str) -> dict[str, Any]:
    # The error does not repeat the text: it may have a secret.
    try:
        options = json.loads(text)
    except (ValueError, RecursionError):
        options = None
    if not isinstance(options, dict):
        raise argparse.ArgumentTypeError('write an object of JSON, such as {"anon": true}')
    return options


def _client(address: str, timeout: float) -> Any:
    from distributed import Client  # noqa: PLC0415 - an extra

    try:
        return Client(address, timeout=timeout)
    except (ValueError, TypeError) as error:
        raise JumbolabError(f"--scheduler {address}: {error}; write tcp://host:8786") from error


def _print(lines: Sequence[str]) -> int:
    try:
        print(*(one_line(line) for line in lines), sep="\n", flush=True)
    except OSError as error:
        # The interpreter would write the rest again at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if not isinstance(error, BrokenPipeError):
            return _complain(f"stdout: {error.strerror}")
    return 0


def _complain(message: str) -> int:
    print(f"jumbolab.sweep: {one_line(message)}", file=sys.stderr)
    return 2


class _Callable(type(sys)):  # type: ignore[misc]
    """`import jumbolab.sweep` must not hide the function `jumbolab.sweep`."""

    def __call__(self, *words: Any, **options: Any) -> Results | Sweep:
        found: Results | Sweep = sweep(*words, **options)
        return found


if __name__ == "__main__":
    sys.exit(main())
sys.modules[__name__].__class__ = _Callable
