"""What the tests share: a short study, a cluster, and waiting for a state."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from distributed import Client, LocalCluster

import jumbolab

#: mtu-and-queues in reduced size: four cells of trials that take some milliseconds.
STUDY = "mtu-and-queues"
SHORT: dict[str, Any] = {"traffic.duration": "20ms"}

#: What two results folders must have in common, byte by byte.
SAME = ["plan.toml", "trials.jsonl", "trials.parquet"]


def holds(state: Callable[[], bool], seconds: float = 60) -> bool:
    """Whether a state comes about; looks for a minute."""
    end = time.monotonic() + seconds
    while not state():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


def assert_same(one: jumbolab.Results, other: jumbolab.Results) -> None:
    for name in SAME:
        assert (one.path / name).read_bytes() == (other.path / name).read_bytes(), name


def rejected(call: Callable[[], Any]) -> jumbolab.JumbolabError:
    with pytest.raises(jumbolab.JumbolabError) as error:
        call()
    assert len(str(error.value).splitlines()) == 1, str(error.value)
    return error.value


def processes(mark: str) -> list[int]:
    """The processes with this mark in their environment."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                environment = (entry / "environ").read_bytes()
                status = (entry / "status").read_text()
            except OSError:
                continue
            if mark.encode() in environment and "\nState:\tZ" not in status:
                found.append(int(entry.name))
    return found


@contextmanager
def cluster(workers: int = 2, **environment: str) -> Iterator[Client]:
    """A cluster of this machine whose workers have this in their environment."""
    before = dict(os.environ)
    os.environ.update(environment)
    try:
        local = LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            dashboard_address="127.0.0.1:0",
            host="127.0.0.1",
            silence_logs=50,
        )
    finally:
        os.environ.clear()
        os.environ.update(before)
    with local, Client(local) as client:
        client.wait_for_workers(workers, timeout=60)
        yield client


@pytest.fixture(scope="session")
def client() -> Iterator[Client]:
    with cluster() as client:
        yield client


@pytest.fixture(scope="session")
def whole(tmp_path_factory: pytest.TempPathFactory) -> jumbolab.Results:
    """Forty trials of the short study, run at once."""
    output = tmp_path_factory.mktemp("whole") / "results"
    return jumbolab.run(STUDY, on="sim", set=SHORT, repeat=10, output=output, threads=2)
