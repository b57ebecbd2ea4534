"""Each file of a storage and of a results folder is damaged at random.

The outcome is the right result or one `JumbolabError` of one line, and nothing outside of the
folder changes. ``JUMBOLAB_FUZZ_CASES`` says how many cases there are of each kind.
"""

from __future__ import annotations

import json
import os
import random
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from distributed import Client

import jumbolab
from jumbolab._shapes import read_json, read_toml, record
from jumbolab._store import Done, Store

from .conftest import SAME, SHORT, STUDY
from .test_search import STUDY as PLANTED

CASES = int(os.environ.get("JUMBOLAB_FUZZ_CASES", "10"))

#: Values that a key of a JSON file does not have.
WRONG: list[Any] = [
    None, True, -1, 0, 1, 2**31, 2**64, 10**30, 1e308, 0.5, "", "x", "../../victim", [], [[]], {},
    [1, 2], {"a": 1}, "1", "\x1b[31m\n", "\udc80", float("nan"), float("inf"),
]  # fmt: skip

#: Texts that are inserted into TOML and JSON.
PIECES = [
    b"[", b"{", b'"', b"'", b".", b"=", b"\n", b"\\u", b'"""', b"9" * 5000, b"\xff", b"a.",
    b"[" * 3000, b"1e999", b"NaN", b"0x", b"1979-13-40",
]  # fmt: skip

PRECIOUS = b"precious\n"

pytestmark = pytest.mark.timeout(120 + 2 * CASES)


class Place:
    """A folder with a copy of files that are damaged, and files outside that must stay."""

    def __init__(self, path: Path, source: Path, other: Path) -> None:
        self.path = path / "damaged"
        self.output = path / "output"
        self.outside = path / "outside"
        self.other = other
        shutil.copytree(source, self.path)
        self.outside.mkdir()
        (self.outside / "victim").write_bytes(PRECIOUS)

    def assert_outside_is_as_it_was(self) -> None:
        assert [path.name for path in self.outside.iterdir()] == ["victim"]
        assert (self.outside / "victim").read_bytes() == PRECIOUS

    def damage(self, draw: random.Random) -> str:
        """Damages a file; gives what was done."""
        files = sorted(path for path in self.path.rglob("*") if path.is_file())
        # Each kind of file as often as the others.
        kinds_of_files = sorted({(path.parent, path.suffix) for path in files})
        kind_of_file = draw.choice(kinds_of_files)
        victim = draw.choice([path for path in files if (path.parent, path.suffix) == kind_of_file])
        kinds: list[Callable[[random.Random, Path], None]] = [
            flipped, cut, extended, emptied, removed, a_folder, a_pipe,
            self._linked, self._another, self._another,
        ]  # fmt: skip
        if victim.suffix == ".json":
            kinds += [retyped] * 6
        kind = draw.choice(kinds)
        kind(draw, victim)
        return f"{kind.__name__} {victim.relative_to(self.path)}"

    def _linked(self, draw: random.Random, path: Path) -> None:
        path.unlink()
        alike = self.other / path.relative_to(self.path)
        targets = [self.outside / name for name in ("victim", "", "missing")]
        path.symlink_to(draw.choice([*targets, alike, Path("/dev/zero"), Path(path.name)]))

    def _another(self, _: random.Random, path: Path) -> None:
        alike = [one for one in self.other.rglob(f"*{path.suffix}") if one.is_file()]
        same = self.other / path.relative_to(self.path)
        shutil.copy(same if same.is_file() else alike[0], path)


def flipped(draw: random.Random, path: Path) -> None:
    content = bytearray(path.read_bytes())
    for _ in range(draw.choice([1, 1, 2, 50])):
        if content:
            content[draw.randrange(len(content))] = draw.randrange(256)
    path.write_bytes(content)


def cut(draw: random.Random, path: Path) -> None:
    content = path.read_bytes()
    path.write_bytes(content[: draw.randrange(len(content) + 1)])


def extended(draw: random.Random, path: Path) -> None:
    content = path.read_bytes()
    path.write_bytes(
        content + draw.choice([b"\0", b"\n", b"{}\n", b"]" * 9, content, b"[" * 10**5])
    )


def emptied(_: random.Random, path: Path) -> None:
    path.write_bytes(b"")


def removed(_: random.Random, path: Path) -> None:
    path.unlink()


def a_folder(_: random.Random, path: Path) -> None:
    path.unlink()
    path.mkdir()


def a_pipe(_: random.Random, path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def retyped(draw: random.Random, path: Path) -> None:
    """Another value at a random place of a JSON file."""
    root = [json.loads(path.read_bytes())]
    where: Any = root
    key: Any = 0
    while isinstance(where[key], dict | list) and where[key] and draw.random() < 0.8:
        where = where[key]
        key = draw.choice(list(where) if isinstance(where, dict) else range(len(where)))
    where[key] = draw.choice(WRONG)
    path.write_text(json.dumps(root[0]), errors="surrogatepass")


def outcome(call: Callable[..., Any], *words: Any) -> Any:
    """What a call gives; None if it was rejected in one line."""
    try:
        return call(*words)
    except jumbolab.JumbolabError as error:
        said = str(error)
        assert said.isprintable(), said
        assert 0 < len(said) <= 4000
        return None


def swept(client: Client, output: Path, storage: Path, duration: str = "20ms") -> jumbolab.Results:
    return jumbolab.sweep(
        STUDY,
        client=client,
        set={**SHORT, "traffic.duration": duration, "links.bottleneck.watch.drops": "on"},
        repeat=4,
        target=0.005,
        output=output,
        storage=str(storage),
        progress=False,
    )


def searched(client: Client, study: Path, runs: int, output: Path, storage: Path) -> Any:
    return jumbolab.sweep_search(
        study, runs=runs, output=output, client=client, storage=str(storage), progress=False
    )


def contents(results: Path) -> dict[str, bytes]:
    names = [*SAME, *(f"watch/{one.name}" for one in (results / "watch").glob("*"))]
    return {name: (results / name).read_bytes() for name in names if (results / name).exists()}


@pytest.fixture(scope="module")
def sweeps(client: Client, tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("sweeps")
    swept(client, place / "one", place / "one.store")
    swept(client, place / "other", place / "other.store", "30ms")
    study = place / "planted.toml"
    study.write_text(PLANTED)
    searched(client, study, 30, place / "search", place / "search.store")
    return place


def places(path: Path, source: Path, other: Path) -> Iterator[tuple[random.Random, Place]]:
    for case in range(CASES):
        yield random.Random(f"{source.name} {case}"), Place(path / str(case), source, other)


def test_a_sweep_of_damaged_storage_is_right_or_rejected(
    client: Client, sweeps: Path, tmp_path: Path
) -> None:
    right = contents(sweeps / "one")
    assert any(name.startswith("watch/") for name in right)
    for draw, place in places(tmp_path, sweeps / "one.store", sweeps / "other.store"):
        what = [place.damage(draw) for _ in range(draw.choice([1, 1, 1, 3]))]
        results = outcome(swept, client, place.output, place.path)
        assert results is None or contents(results.path) == right, what
        place.assert_outside_is_as_it_was()


def test_a_search_of_damaged_storage_is_right_or_rejected(
    client: Client, sweeps: Path, tmp_path: Path
) -> None:
    right = contents(sweeps / "search")
    study = sweeps / "planted.toml"
    for draw, place in places(tmp_path, sweeps / "search.store", sweeps / "one.store"):
        what = place.damage(draw)
        results = outcome(searched, client, study, 30, place.output, place.path)
        assert results is None or contents(results.path) == right, what
        place.assert_outside_is_as_it_was()


def test_damaged_results_are_right_or_rejected(sweeps: Path, tmp_path: Path) -> None:
    right = jumbolab.load(sweeps / "one")
    trials, figures = right.trials(), right.figures().keys()
    for draw, place in places(tmp_path, sweeps / "one", sweeps / "other"):
        what = place.damage(draw)
        loaded = outcome(jumbolab.load, place.path)
        if loaded is None:
            continue
        # The truth may say something else now; what is made of it may not.
        is_truth = "trials.jsonl" in what or "plan.toml" in what
        found = outcome(loaded.trials)
        assert is_truth or found is None or found.equals(trials), what
        drawn = outcome(loaded.figures)
        assert is_truth or drawn is None or drawn.keys() == figures, what
        for call in (loaded._repr_html_, loaded.comparisons, loaded.verdicts, loaded.report):
            outcome(call)
        outcome(getattr, loaded, "backends")
        place.assert_outside_is_as_it_was()


def test_a_damaged_mark_is_read_or_rejected(sweeps: Path, tmp_path: Path) -> None:
    mark = sorted((sweeps / "one.store" / "shards").glob("*.json"))[0]
    path = tmp_path / "shards" / mark.name
    path.parent.mkdir()
    plan = json.loads(mark.read_bytes())["hash"]
    store = Store(str(tmp_path))
    for case in range(20 * CASES):
        draw = random.Random(case)
        shutil.copy(mark, path)
        draw.choice([flipped, cut, extended, retyped, retyped])(draw, path)
        done = outcome(store.marked, f"shards/{mark.name}", plan)
        if done is not None:
            assert done.hash == plan
            assert all(".." not in name for name in done.files)
            assert all(type(one) is int and one >= 0 for one in (done.first, done.last, done.size))
            assert 0 <= done.seconds < float("inf")


def test_damaged_text_is_read_or_rejected(sweeps: Path) -> None:
    plan = (sweeps / "one" / "plan.toml").read_bytes()
    claim = (sweeps / "one.store" / "sweep.json").read_bytes()
    for case in range(20 * CASES):
        draw = random.Random(case)
        for content in (plan, claim):
            damaged = bytearray(content)
            for _ in range(draw.choice([1, 2, 9])):
                at = draw.randrange(len(damaged))
                damaged[at : at + draw.choice([0, 1, 5])] = draw.choice(PIECES)
            outcome(read_toml, bytes(damaged), "plan.toml")
            outcome(read_json, bytes(damaged), "x.json", record(Done))
