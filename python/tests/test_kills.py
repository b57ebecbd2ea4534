"""Workers, the scheduler and the client of a sweep are killed."""

from __future__ import annotations

import os
import random
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType

import pytest
from distributed.client import FutureCancelledError

import jumbolab
from jumbolab._cluster import LostScheduler, result_of
from jumbolab._store import Store

from .conftest import STUDY, assert_same, holds, processes

DASK = str(Path(sys.executable).parent / "dask")


class Cast:
    """The processes of a sweep, each of which is started again when it has ended."""

    def __init__(self, folder: Path, words: list[str]) -> None:
        self.mark = f"JUMBOLAB_TEST={folder}"
        self.folder = folder
        self.environment = {
            **os.environ,
            "JUMBOLAB_BIN": str(logging_program(folder)),
            "JUMBOLAB_TEST": str(folder),
        }
        address = f"tcp://127.0.0.1:{free_port()}"
        place = address.rsplit(":", 1)
        worker = [DASK, "worker", address, "--nthreads", "1", "--no-nanny", "--no-dashboard"]
        scheduler = [DASK, "scheduler", "--host", "127.0.0.1", "--port", place[1]]
        sweep = [sys.executable, "-m", "jumbolab.sweep", *words, "--scheduler", address, "-q"]
        self.commands = {
            "scheduler": [*scheduler, "--no-dashboard"],
            "worker 1": worker,
            "worker 2": worker,
            "client": sweep,
        }
        self.running: dict[str, subprocess.Popen[bytes]] = {}
        self.code: int | None = None

    def __enter__(self) -> Cast:
        self.heal()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for process in self.running.values():
            process.kill()
            process.wait()
        assert holds(lambda: not processes(self.mark)), processes(self.mark)

    def heal(self) -> None:
        """Starts what has ended; the client only if it was killed."""
        for name, command in self.commands.items():
            process = self.running.get(name)
            if process is not None:
                if process.poll() is None:
                    continue
                if name == "client" and process.returncode >= 0:
                    self.code = process.returncode
                    continue
            with (self.folder / f"{name}.log").open("ab") as log:
                self.running[name] = subprocess.Popen(
                    command,
                    cwd=self.folder,
                    env=self.environment,
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                )

    def kill(self, name: str) -> None:
        self.running[name].kill()
        self.running[name].wait()


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def logging_program(folder: Path) -> Path:
    """The program, which notes when it begins a shard."""
    path = folder / "jumbolab"
    path.write_text(
        f"""#!/bin/sh
        case "$*" in
            *--dry-run*) ;;
            *--shard*) echo "$(date +%s%N) $*" >> "{folder}/begun";;
        esac
        exec "{jumbolab.program()}" "$@"
"""
    )
    path.chmod(0o755)
    return path


def survives(folder: Path, victims: Iterator[str], kills: int, words: list[str]) -> None:
    """Kills `victims` one after the other, each when a further shard is stored."""
    storage = folder / "store"
    store = Store(str(storage))
    words = [STUDY, *words, "--storage", str(storage), "-o", "r"]
    with Cast(folder, words) as cast:

        def stored(more_than: int) -> bool:
            cast.heal()
            return cast.code is not None or len(store.all_done()) > more_than

        for number in range(kills):
            seen = len(store.all_done())
            assert holds(lambda seen=seen: stored(seen))  # type: ignore[misc]
            assert cast.code is None, f"the sweep ended after {number} kills"
            cast.kill(next(victims))

        def ended() -> bool:
            cast.heal()
            return cast.code is not None

        assert holds(ended, 600)
        assert cast.code == 0, (folder / "client.log").read_text()
    for line in (folder / "begun").read_text().splitlines():
        begun, words_of_it = line.split(" ", 1)
        part = words_of_it.split("--shard=")[1].split("/")[0]
        first, last = part.split("-")
        mark = storage / "shards" / f"{int(first):09}-{int(last):09}.json"
        late = int(begun) - mark.stat().st_mtime_ns
        # A worker may begin while another one, which lost the scheduler, writes its mark.
        assert late < 1e9, f"{part} was begun {late / 1e9} s after it was stored"


class Lost:
    """The future of a shard whose scheduler is lost before its result comes."""

    def result(self) -> None:
        raise FutureCancelledError("a shard", "scheduler-connection-lost")


def test_a_scheduler_that_is_lost_before_a_result_comes_is_looked_for_again() -> None:
    with pytest.raises(LostScheduler):
        result_of(Lost())


@pytest.mark.timeout(300)
def test_each_process_may_be_killed(tmp_path: Path) -> None:
    words = ["--set", "traffic.duration=100ms", "--repeat", "100", "--target", "0.05"]
    survives(tmp_path, iter(["worker 1", "scheduler", "client"]), 3, words)
    one = jumbolab.run(
        STUDY, on="sim", set={"traffic.duration": "100ms"}, repeat=100, output=tmp_path / "one"
    )
    assert_same(jumbolab.load(tmp_path / "r"), one)


@pytest.mark.large
@pytest.mark.timeout(1800)
def test_ten_random_kills_leave_the_bytes_of_one_run(tmp_path: Path) -> None:
    draw = random.Random(19)
    victims = iter(lambda: draw.choice(["worker 1", "worker 2", "scheduler", "client"]), "")
    words = ["--set", "traffic.duration=100ms", "--repeat", "5000", "--target", "0.1"]
    survives(tmp_path, victims, 10, words)
    one = jumbolab.run(
        STUDY, on="sim", set={"traffic.duration": "100ms"}, repeat=5000, output=tmp_path / "one"
    )
    assert_same(jumbolab.load(tmp_path / "r"), one)
