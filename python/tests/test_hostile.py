"""Damaged and hostile files, arguments and storage: one `JumbolabError`, nothing else changed."""

from __future__ import annotations

import base64
import json
import os
import shutil
import tracemalloc
import zlib
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from distributed import Client

import jumbolab
from jumbolab import _figures, _shapes
from jumbolab._store import Store

from .conftest import SHORT, STUDY, assert_same, rejected
from .test_search import STUDY as PLANTED

PRECIOUS = b"precious\n"


def swept(client: Client, output: Path, storage: Path, **options: Any) -> Any:
    options = {"set": SHORT, "repeat": 10, "target": 0.01, "progress": False, **options}
    return jumbolab.sweep(STUDY, client=client, output=output, storage=str(storage), **options)


@pytest.fixture(scope="session")
def stored(client: Client, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A storage with all shards of the short study."""
    place = tmp_path_factory.mktemp("stored")
    swept(client, place / "r", place / "store")
    return place / "store"


@pytest.fixture(scope="session")
def other(client: Client, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A storage of another plan with as many trials, cut alike."""
    place = tmp_path_factory.mktemp("other")
    swept(client, place / "r", place / "store", set={"traffic.duration": "30ms"})
    return place / "store"


@pytest.fixture
def storage(stored: Path, tmp_path: Path) -> Path:
    shutil.copytree(stored, tmp_path / "store")
    return tmp_path / "store"


@pytest.fixture
def victim(tmp_path: Path) -> Path:
    path = tmp_path / "victim"
    path.write_bytes(PRECIOUS)
    return path


@pytest.mark.parametrize("name", ["plan.toml", "trials.jsonl"])
def test_a_link_in_the_output_is_not_followed(
    name: str, client: Client, storage: Path, victim: Path, tmp_path: Path
) -> None:
    output = tmp_path / "r"
    output.mkdir()
    (output / name).symlink_to("../victim")
    assert "symbolic link" in str(rejected(lambda: swept(client, output, storage)))
    assert victim.read_bytes() == PRECIOUS


def test_a_link_in_the_output_of_a_search_is_not_followed(
    client: Client, victim: Path, tmp_path: Path
) -> None:
    study = tmp_path / "planted.toml"
    study.write_text(PLANTED)
    output = tmp_path / "r"
    output.mkdir()
    search = partial(
        jumbolab.sweep_search,
        study,
        runs=4,
        output=output,
        client=client,
        storage=str(tmp_path / "s"),
        progress=False,
    )
    # What is written whole replaces a link of its name.
    for name in ("experiment.toml", "trials.jsonl"):
        (output / name).symlink_to("../victim")
    search()
    assert not any(path.is_symlink() for path in output.iterdir())
    for path in output.iterdir():
        path.unlink()
    (output / "plan.toml").symlink_to("../victim")
    assert "symbolic link" in str(rejected(search))
    assert victim.read_bytes() == PRECIOUS


def test_a_subfolder_that_is_a_link_is_not_followed(client: Client, tmp_path: Path) -> None:
    watching = {**SHORT, "links.bottleneck.watch.drops": "on"}
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    output = tmp_path / "r"
    output.mkdir()
    (output / "watch").symlink_to("../elsewhere")
    call = lambda: swept(client, output, tmp_path / "store", set=watching, repeat=1)  # noqa: E731
    assert "watch" in str(rejected(call))
    assert not list(elsewhere.iterdir())


def test_storage_in_the_output_that_is_a_link_is_not_followed(
    client: Client, tmp_path: Path
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (tmp_path / "r").mkdir()
    (tmp_path / "r" / ".sweep").symlink_to("../elsewhere")
    call = lambda: jumbolab.sweep(STUDY, client=client, repeat=1, output=tmp_path / "r")  # noqa: E731
    assert ".sweep is a symbolic link" in str(rejected(call))
    assert not list(elsewhere.iterdir())


def test_a_file_in_storage_that_is_a_link_is_not_followed(
    client: Client, storage: Path, other: Path, tmp_path: Path
) -> None:
    for name in ("sweep.json", "cut.json", "plan.toml"):
        (storage / name).rename(storage / "kept")
        (storage / name).symlink_to(other / name)
        assert name in str(rejected(lambda: swept(client, tmp_path / "r", storage)))
        (storage / "kept").replace(storage / name)
    assert not (tmp_path / "r" / "trials.jsonl").exists()


@pytest.mark.parametrize("what", ["plan.toml", "shards", "a mark", "a journal", "sweep.json"])
def test_what_belongs_to_another_plan_is_rejected(
    what: str, client: Client, storage: Path, other: Path, tmp_path: Path
) -> None:
    names = sorted(path.name for path in (storage / "shards").glob("*.json"))
    if what == "shards":
        shutil.rmtree(storage / what)
        shutil.copytree(other / what, storage / what)
        shutil.copy(other / "cut.json", storage / "cut.json")
        shutil.copy(other / "calibration.json", storage / "calibration.json")
    elif what == "a mark":
        content = json.loads((storage / "shards" / names[1]).read_bytes())
        hash_ = json.loads((other / "sweep.json").read_bytes())["plan"]["hash"]
        (storage / "shards" / names[1]).write_text(json.dumps({**content, "hash": hash_}))
    elif what == "a journal":
        journal = sorted((other / "shards").glob("*.jsonl"))[0]
        (storage / "shards" / names[0]).with_suffix(".jsonl").write_bytes(journal.read_bytes())
    else:
        shutil.copy(other / what, storage / what)
    said = str(rejected(lambda: swept(client, tmp_path / "r", storage)))
    assert "another" in said or "not what its worker wrote" in said
    assert not (tmp_path / "r" / "trials.jsonl").exists()


def test_a_storage_that_holds_something_else_is_rejected(client: Client, tmp_path: Path) -> None:
    (tmp_path / "store").mkdir()
    (tmp_path / "store" / "thesis.tex").write_bytes(PRECIOUS)
    said = str(rejected(lambda: swept(client, tmp_path / "r", tmp_path / "store")))
    assert "thesis.tex" in said


def test_output_with_the_plan_of_another_experiment_is_not_overwritten(
    client: Client, storage: Path, other: Path, tmp_path: Path
) -> None:
    (tmp_path / "r").mkdir()
    shutil.copy(other / "plan.toml", tmp_path / "r")
    before = (tmp_path / "r" / "plan.toml").read_bytes()
    assert "another plan" in str(rejected(lambda: swept(client, tmp_path / "r", storage)))
    assert (tmp_path / "r" / "plan.toml").read_bytes() == before


#: Damages of a mark, and a part of the error.
MARKS: dict[str, tuple[Callable[[dict[str, Any]], Any], str]] = {
    "no JSON": (lambda _: b"}{", "is no JSON"),
    "no UTF-8": (lambda _: b"\xff\xfe\x00", "is no JSON"),
    "deep": (lambda _: b"[" * 200_000, "is no JSON"),
    "a list": (lambda one: [one], "an object is needed"),
    "null": (lambda _: None, "an object is needed"),
    "a key less": (lambda one: {k: v for k, v in one.items() if k != "lines"}, "lines is missing"),
    "a key more": (lambda one: {**one, "__class__": 1}, "__class__ is no key"),
    "a text for a number": (lambda one: {**one, "size": "12"}, "size = '12'"),
    "true for a number": (lambda one: {**one, "first": True}, "first = True"),
    "negative": (lambda one: {**one, "first": -3}, "first = -3"),
    "not finite": (lambda one: {**one, "seconds": float("inf")}, "Infinity"),
    "huge": (lambda one: {**one, "seconds": 10**400}, "is no JSON|seconds ="),
    "no trial": (lambda one: {**one, "lines": 0}, "is not of trials"),
    "other trials": (lambda one: {**one, "last": one["last"] + 7}, "is not of trials"),
    "a list of files": (lambda one: {**one, "files": list(one["files"])}, "files ="),
    "files outside": (
        lambda one: {**one, "files": {**one["files"], "../../victim": "00"}},
        "'../../victim' is no file of it",
    ),
    "hidden files": (
        lambda one: {**one, "files": {**one["files"], "watch/../x": "00"}},
        "'watch/../x' is no file of it",
    ),
    "no journal": (lambda one: {**one, "files": {}}, "the journal is missing"),
}


@pytest.mark.parametrize("damage", MARKS)
def test_a_damaged_mark_is_one_line_with_file_and_remedy(damage: str, storage: Path) -> None:
    change, part = MARKS[damage]
    mark = sorted((storage / "shards").glob("*.json"))[-1]
    one = json.loads(mark.read_bytes())
    made = change(one)
    mark.write_bytes(made if isinstance(made, bytes) else json.dumps(made).encode())
    store = Store(str(storage))
    error = rejected(lambda: store.shard((one["first"], one["last"]), one["hash"]))
    assert mark.name in str(error)
    assert "remove it" in str(error)
    assert any(piece in str(error) for piece in part.split("|")), str(error)


@pytest.mark.parametrize(
    "content",
    ["[[", "{}", '[["1","5"]]', "[[1,99999999]]", "[[1,1],[1,1]]", "[[2,40]]", "[[1.0,40]]", "[]"],
)
@pytest.mark.parametrize("name", ["calibration.json", "cut.json"])
def test_damaged_lists_of_shards_are_one_line(
    name: str, content: str, client: Client, storage: Path, tmp_path: Path
) -> None:
    (storage / name).write_text(content)
    error = rejected(lambda: swept(client, tmp_path / "r", storage))
    assert name in str(error)
    assert "remove it" in str(error)


def test_stray_files_in_storage_get_into_no_result(
    client: Client, storage: Path, tmp_path: Path, whole: jumbolab.Results
) -> None:
    for name in (
        "evil.json",
        "000000002-999999999999.json",
        "5-1.json",
        "000000001-000000040.json",
    ):
        (storage / "shards" / name).write_text("{}")
    (storage / "extra-distribution.txt").write_text("5\n")
    (storage / "watch").mkdir()
    (storage / "watch" / "c01-r01-x.queue.parquet").write_text("5\n")
    results = swept(client, tmp_path / "r", storage)
    assert_same(results, whole)
    assert not (results.path / "watch").exists()
    assert not (results.path / "extra-distribution.txt").exists()


def test_stray_parts_get_into_no_table(client: Client, tmp_path: Path) -> None:
    storage = tmp_path / "store"
    swept(client, tmp_path / "r", storage, repeat=2, parts=True)
    part = sorted((storage / "parts").iterdir())[0]
    shutil.copy(part, storage / "parts" / "000000000-000000000.parquet")
    part.write_bytes(b"PAR1 garbage")
    assert swept(client, tmp_path / "r", storage, repeat=2, parts=True).trials().num_rows == 8


def test_a_page_is_unpacked_up_to_a_limit(tmp_path: Path) -> None:
    packer = zlib.compressobj(1)
    blocks = [packer.compress(b"[" + b" " * (1 << 20)) for _ in range(400)]
    packed = base64.b64encode(b"".join([*blocks, packer.flush()]))
    page = tmp_path / "report.html"
    page.write_bytes(_figures.BEGIN + packed + _figures.END)
    assert page.stat().st_size < 3 << 20
    tracemalloc.start()
    try:
        assert "the limit" in str(rejected(lambda: _figures.of_page(page)))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 200 << 20


@pytest.mark.parametrize(
    "figures",
    [b"{}", b"[1]", b'[["a"]]', b'[["a",{"data":1,"layout":{}}]]', b'[[1,{"data":[],"layout":{}}]]',
     b"\xff", b"[" * 100_000],
)  # fmt: skip
def test_damaged_figures_are_one_line(figures: bytes, tmp_path: Path) -> None:
    packed = base64.b64encode(zlib.compress(figures))
    page = tmp_path / "report.html"
    page.write_bytes(_figures.BEGIN + packed + _figures.END)
    assert "report.html" in str(rejected(lambda: _figures.of_page(page)))


def test_a_table_and_a_page_of_another_run_are_made_anew(
    whole: jumbolab.Results, other: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "r"
    shutil.copytree(whole.path, folder)
    shutil.copy(sorted((other / "shards").glob("*.parquet"))[0], folder / "trials.parquet")
    (folder / "report.html").write_text("<p>nothing</p>")
    loaded = jumbolab.load(folder)
    assert loaded.trials().equals(whole.trials())
    assert loaded.figures().keys() == whole.figures().keys()


@pytest.mark.parametrize(
    "text",
    ["x = ", "[run]\nhash = 5\nbackend = 'sim'\n", "run = 3\n", "[run]\nhash = 'a'\n", "",
     ".".join("a" * 50_000) + " = 1\n", "x = " + "[" * 50_000, "x = " + "9" * 9_000],
)  # fmt: skip
def test_a_damaged_plan_is_one_line_at_once(text: str, tmp_path: Path) -> None:
    (tmp_path / "plan.toml").write_text(text)
    results = jumbolab.load(tmp_path)
    assert "plan.toml" in str(rejected(lambda: results.plan))
    assert "plan.toml" in str(rejected(lambda: results.backends))


def test_keys_of_a_plan_may_have_quoted_parts() -> None:
    content = b'sweep."network.mtu" = [1500]\ntext = "1.2.3. a.b.c, e.g. \'x\'."\n'
    assert _shapes.read_toml(content, "plan.toml")["sweep"] == {"network.mtu": [1500]}


@pytest.mark.parametrize("kind", ["link", "pipe", "folder", "device", "large"])
def test_a_plan_that_is_no_ordinary_file_is_rejected_at_once(
    kind: str, whole: jumbolab.Results, tmp_path: Path
) -> None:
    path = tmp_path / "plan.toml"
    if kind == "link":
        path.symlink_to(whole.path / "plan.toml")
    elif kind == "pipe":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    elif kind == "device":
        path.symlink_to("/dev/zero")
    else:
        with path.open("wb") as file:
            file.truncate((4 << 20) + 1)
    assert "plan.toml" in str(rejected(lambda: jumbolab.load(tmp_path)))


@pytest.mark.parametrize("target", [0, -1.5, float("nan"), float("inf")])
def test_a_target_that_is_no_time_is_rejected(
    target: float, client: Client, tmp_path: Path
) -> None:
    call = lambda: swept(client, tmp_path / "r", tmp_path / "s", target=target)  # noqa: E731
    assert "target" in str(rejected(call))


def test_a_search_of_no_trials_and_a_sweep_of_no_seeds_are_rejected(
    client: Client, tmp_path: Path
) -> None:
    options: dict[str, Any] = {"client": client, "output": tmp_path / "r", "progress": False}
    for runs in (0, -20):
        call = lambda runs=runs: jumbolab.sweep_search(STUDY, runs=runs, **options)  # noqa: E731
        assert "runs" in str(rejected(call))
    assert "seeds" in str(rejected(lambda: jumbolab.sweep(STUDY, seeds=[], **options)))
    assert not (tmp_path / "r").exists()


def test_a_table_of_duckdb_is_one_folder_s(
    whole: jumbolab.Results, other: Path, tmp_path: Path
) -> None:
    for name in ("r[1]", "r1", "r*", "r2?"):
        shutil.copytree(whole.path, tmp_path / name)
    for name in ("r[1]", "r*", "r2?"):
        relation = jumbolab.load(tmp_path / name).duckdb()
        assert relation.query("t", "select count(*) from t").fetchall() == [(40,)]
        assert len(jumbolab.load(tmp_path / name).dask()) == 40


def test_remote_storage_has_the_same_limits() -> None:
    store = Store("memory://limits")
    store.write("shards/a.json", b"x" * 300)
    store.write("empty", b"")
    assert "300" not in str(rejected(lambda: store.read("shards/a.json", 299)))
    assert store.read("shards/a.json", 300) == b"x" * 300
    assert store.read("empty", 10) == b""
    assert store.read("missing", 10) is None
    assert (store.names("shards"), store.names("none")) == (["a.json"], [])
    assert "not what its worker wrote" in str(rejected(lambda: list(store.checked("empty", "00"))))
    assert "remove it" in str(rejected(lambda: list(store.checked("missing", "00"))))
    assert "empty" in str(rejected(lambda: store.claim("sweep.json", b"{}")))


def test_nothing_stays_open_after_a_rejection(storage: Path, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "plan.toml")
    store = Store(str(storage))
    before = len(list(Path("/proc/self/fd").iterdir()))
    for _ in range(40):
        rejected(lambda: jumbolab.load(tmp_path))
        rejected(lambda: store.read("shards", 9))
        rejected(lambda: store.read("sweep.json", 9))
        next(store.blocks("plan.toml", 1 << 20)).decode()
    assert len(list(Path("/proc/self/fd").iterdir())) < before + 40
