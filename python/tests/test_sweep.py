"""Sweeps: the same bytes as one run, and nothing lost or run twice."""

from __future__ import annotations

import os
import socket
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from distributed import Client

import jumbolab
import jumbolab.sweep as command
from jumbolab._ranges import gaps
from jumbolab._store import Store

from .conftest import SHORT, STUDY, assert_same, cluster

#: Small enough for several shards of the short study.
TARGET = 0.01


def swept(client: Client, output: Path, **options: Any) -> Any:
    options = {"set": SHORT, "repeat": 10, "target": TARGET, **options}
    return jumbolab.sweep(STUDY, client=client, output=output, progress=False, **options)


def marks(storage: Path) -> dict[str, int]:
    """The marks of stored shards, each with the time when it was written."""
    return {path.name: path.stat().st_mtime_ns for path in (storage / "shards").glob("*.json")}


def test_a_sweep_leaves_the_bytes_of_one_run(
    client: Client, tmp_path: Path, whole: jumbolab.Results
) -> None:
    results = swept(client, tmp_path / "r")
    assert_same(results, whole)
    assert results.complete
    assert not (tmp_path / "r" / ".sweep").exists()
    # Asked for again, it is there.
    assert_same(swept(client, tmp_path / "r"), whole)


def test_what_is_stored_is_not_run_again(
    client: Client, tmp_path: Path, whole: jumbolab.Results
) -> None:
    storage = tmp_path / "store"
    swept(client, tmp_path / "r", storage=str(storage))
    before = marks(storage)
    assert len(before) >= 3
    lost = sorted(before)[1]
    (storage / "shards" / lost).unlink()
    assert_same(swept(client, tmp_path / "s", storage=str(storage)), whole)
    after = marks(storage)
    assert after.keys() == before.keys()
    assert {name for name in before if before[name] != after[name]} == {lost}


def test_a_shard_that_changed_in_storage_is_found(client: Client, tmp_path: Path) -> None:
    storage = tmp_path / "store"
    swept(client, tmp_path / "r", storage=str(storage))
    (journal, *_) = (storage / "shards").glob("*.jsonl")
    journal.write_bytes(journal.read_bytes().replace(b"repeat", b"Repeat", 1))
    with pytest.raises(jumbolab.JumbolabError, match=journal.name):
        swept(client, tmp_path / "s", storage=str(storage))
    assert not (tmp_path / "s" / "trials.jsonl").exists()


def test_a_file_of_one_s_own_is_swept_from_its_text(client: Client, tmp_path: Path) -> None:
    template = subprocess.run(
        [jumbolab.program(), "show", STUDY, "--template"], capture_output=True, check=True
    )
    path = tmp_path / "my.toml"
    path.write_bytes(template.stdout)
    one = jumbolab.run(path, on="sim", set=SHORT, repeat=2, output=tmp_path / "one")
    results = jumbolab.sweep(
        path, client=client, set=SHORT, repeat=2, output=tmp_path / "r", progress=False
    )
    assert_same(results, one)


def test_packets_that_trials_watch_are_there(client: Client, tmp_path: Path) -> None:
    settings = {**SHORT, "links.bottleneck.watch.drops": "on"}
    options: dict[str, Any] = {"set": settings, "repeat": 2}
    one = jumbolab.run(STUDY, on="sim", output=tmp_path / "one", **options)
    results = swept(client, tmp_path / "r", **options)
    assert_same(results, one)
    names = sorted(path.name for path in (one.path / "watch").iterdir())
    assert names
    assert sorted(path.name for path in (results.path / "watch").iterdir()) == names
    for name in names:
        data = [(folder / "watch" / name).read_bytes() for folder in (one.path, results.path)]
        assert data[0] == data[1]


def test_parts_of_several_seeds_are_one_table(client: Client, tmp_path: Path) -> None:
    sweep = swept(
        client, tmp_path / "r", storage=str(tmp_path / "store"), seeds=[1, 2], repeat=3, parts=True
    )
    assert not (tmp_path / "r").exists()
    assert len(sweep.dataset()) > 2
    trials = sweep.trials()
    assert trials.num_rows == 2 * 12
    frame = sweep.dask()
    assert len(frame) == 24
    mean = frame.groupby("mtu")["delay"].mean().compute()
    [(count, delay)] = (
        sweep.duckdb().query("t", "select count(*), avg(delay) from t where mtu = 9000").fetchall()
    )
    assert count == 12
    assert mean[9000] == pytest.approx(delay)
    one = jumbolab.run(STUDY, on="sim", set=SHORT, repeat=3, output=tmp_path / "one")
    assert trials.slice(0, 12)["delay"].to_pylist() == one.trials()["delay"].to_pylist()


def test_the_module_runs_a_sweep_and_hides_no_function(
    tmp_path: Path, whole: jumbolab.Results
) -> None:
    assert callable(jumbolab.sweep)
    assert command.main is not None
    words = ["--local", "2", "--set", "traffic.duration=20ms", "--repeat", "10", "-q"]
    ran = subprocess.run(
        [sys.executable, "-m", "jumbolab.sweep", STUDY, *words, "-o", "r"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.splitlines()[-1] == str(tmp_path / "r")
    assert_same(jumbolab.load(tmp_path / "r"), whole)


def test_the_module_says_what_is_wrong_in_one_line(tmp_path: Path) -> None:
    ran = subprocess.run(
        [sys.executable, "-m", "jumbolab.sweep", "nosuch", "--local", "1"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 2
    assert len(ran.stderr.splitlines()) == 1, ran.stderr
    assert "nosuch" in ran.stderr


def test_an_unknown_experiment_is_one_exception(client: Client, tmp_path: Path) -> None:
    with pytest.raises(jumbolab.JumbolabError, match="nosuch"):
        jumbolab.sweep("nosuch", client=client, output=tmp_path / "r")
    assert not (tmp_path / "r").exists()


def test_a_plan_that_ends_by_its_results_is_rejected(client: Client, tmp_path: Path) -> None:
    with pytest.raises(jumbolab.JumbolabError, match=r"trials\.until"):
        swept(client, tmp_path / "r", set={**SHORT, "trials.until": "ci<=5%"})


def test_storage_that_cannot_be_written_is_one_exception(client: Client, tmp_path: Path) -> None:
    with pytest.raises(jumbolab.JumbolabError, match="/sys/jumbolab"):
        swept(client, tmp_path / "r", storage="/sys/jumbolab")


def test_storage_of_another_plan_is_rejected(client: Client, tmp_path: Path) -> None:
    storage = str(tmp_path / "store")
    swept(client, tmp_path / "r", storage=storage, repeat=1)
    with pytest.raises(jumbolab.JumbolabError, match="another plan"):
        swept(client, tmp_path / "s", storage=storage, repeat=2)


def test_a_worker_with_another_build_is_one_exception(tmp_path: Path) -> None:
    other = tmp_path / "jumbolab"
    other.write_text(
        f'#!/bin/sh\n\'{jumbolab.program()}\' "$@" | sed \'s/"binary":"[^"]*"/"binary":"0123"/\'\n'
    )
    other.chmod(other.stat().st_mode | stat.S_IXUSR)
    with (
        cluster(1, JUMBOLAB_BIN=str(other)) as client,
        pytest.raises(jumbolab.VersionMismatch, match="build 0123"),
    ):
        swept(client, tmp_path / "r", storage=str(tmp_path / "store"))
    assert not marks(tmp_path / "store")


def test_a_worker_whose_disk_is_full_is_one_exception(tmp_path: Path) -> None:
    # A file system of 4 kB in a mount namespace of the worker's programs.
    full = tmp_path / "jumbolab"
    disk = tmp_path / "disk"
    disk.mkdir()
    real = jumbolab.program()
    full.write_text(
        f"""#!/bin/sh
        case "$*" in
            *--dry-run*) exec "{real}" "$@";;
        esac
        exec unshare -Urm sh -c 'mount -t tmpfs -o size=4k tmpfs "{disk}" && cd "{disk}" &&
            exec "{real}" "$@"' sh "$@"
"""
    )
    full.chmod(full.stat().st_mode | stat.S_IXUSR)
    with (
        cluster(1, JUMBOLAB_BIN=str(full)) as client,
        pytest.raises(
            jumbolab.JumbolabError, match=r"No space left on device|the disk is full"
        ) as rejected,
    ):
        swept(client, tmp_path / "r", repeat=200, storage=str(tmp_path / "store"), target=60)
    assert "worker tcp://" in str(rejected.value)
    # With room the same call goes on.
    with cluster(1) as client:
        swept(client, tmp_path / "r", repeat=200, storage=str(tmp_path / "store"), target=60)


def test_an_object_store_is_storage(tmp_path: Path, whole: jumbolab.Results) -> None:
    import boto3
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    try:
        host, port = server.get_host_and_port()
        options = {
            "key": "test",
            "secret": "test",
            "endpoint_url": f"http://{host}:{port}",
            "client_kwargs": {"region_name": "us-east-1"},
        }
        boto3.client(
            "s3",
            aws_access_key_id="test",
            aws_secret_access_key="test",
            endpoint_url=options["endpoint_url"],
            region_name="us-east-1",
        ).create_bucket(Bucket="sweeps")
        with cluster(2) as client:
            results = swept(
                client, tmp_path / "r", storage="s3://sweeps/one", storage_options=options
            )
        store = Store("s3://sweeps/one", options)
        assert gaps(store.all_done(), 40) == []
    finally:
        server.stop()
    assert_same(results, whole)


def test_a_bucket_of_google_is_storage(tmp_path: Path, whole: jumbolab.Results) -> None:
    from gcp_storage_emulator.server import create_server

    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    server = create_server("127.0.0.1", port, in_memory=True, default_bucket="sweeps")
    server.start()
    options = {"token": "anon", "project": "test", "endpoint_url": f"http://127.0.0.1:{port}"}
    # Otherwise gcsfs asks for the kind of the bucket by gRPC, which the server does not have.
    over_http = {"GCSFS_EXPERIMENTAL_ZB_HNS_SUPPORT": "false"}
    try:
        with cluster(2, **over_http) as client, pytest.MonkeyPatch.context() as patch:
            for name, value in over_http.items():
                patch.setenv(name, value)
            results = swept(
                client, tmp_path / "r", storage="gs://sweeps/one", storage_options=options
            )
            assert gaps(Store("gs://sweeps/one", options).all_done(), 40) == []
    finally:
        server.stop()
    assert_same(results, whole)


def test_an_object_store_that_is_not_there_is_one_exception(client: Client, tmp_path: Path) -> None:
    options: dict[str, Any] = {"key": "test", "secret": "test"}
    options["endpoint_url"] = "http://127.0.0.1:9"
    options["config_kwargs"] = {"retries": {"max_attempts": 1}}
    with pytest.raises(jumbolab.JumbolabError, match="storage s3://sweeps"):
        swept(client, tmp_path / "r", storage="s3://sweeps/one", storage_options=options)


def test_the_tests_run_the_program_of_the_wheel() -> None:
    wanted = os.environ.get("JUMBOLAB_BIN")
    assert wanted or jumbolab.program().parent == Path(sys.executable).parent
