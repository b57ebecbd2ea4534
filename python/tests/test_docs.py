"""The page docs/guides/python.md does what it says: its code and commands run, in reduced size."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from distributed import Client
from distributed.client import default_client

import jumbolab

PAGE = Path(__file__).parents[2] / "docs" / "guides" / "python.md"

#: Sizes and places of the page, and those of the test.
REDUCED = {
    "repeat=60000": "repeat=1",
    "repeat=1000": "repeat=1",
    "--repeat 1000": "--repeat 1",
    # A search of fewer settings, because each is resolved again in every round.
    "aqm-congestion --local 2 --search 20000": "jumbogram-simulated --local 2 --search 40",
    'jumbolab.run("aqm-interpretations", output="interpretations")': (
        'jumbolab.run("aqm-interpretations", output="interpretations", repeat=2, set={'
        '"packets": "500B", "buffer": 20, "count": "frames", "curve": ["text", "fixed"], '
        '"min_rto": "200ms", "long": "open", "duration": "6s", "h1": "0s..3s", '
        '"h2": "3s..6s", "all": "0s..6s", "start_interval": "20ms", '
        '"small_flows": 5, "small_start": "3s"})'
    ),
    'jumbolab.run("jumbogen-scaling", output="scaling")': (
        'jumbolab.run("jumbogen-scaling", output="scaling", repeat=2, set={'
        '"traffic": ["flood2k", "down100m"], "frame": 9000, "aggregation": ["off", "t900us"]})'
    ),
    '"server.example"': '"127.0.0.1"',
    '"/shared/aqm"': '"shared"',
    "s3://bucket/aqm": "stored",
}

#: How blocks begin that need a cluster, a registry or a package index. The gate installs the
#: package and runs its tests.
ELSEWHERE = (
    "pip install ./python",
    "from dask_jobqueue import",
    "from dask_kubernetes.operator import",
    "python3 -m venv",
)

COMMAND = "python -m jumbolab.sweep "


def blocks() -> list[str]:
    """The indented blocks of the page."""
    found = re.findall(r"(?:^ {4}.*\n(?:\n(?= {4}))?)+", PAGE.read_text(), re.MULTILINE)
    return [re.sub(r"^ {4}", "", block, flags=re.MULTILINE).strip() for block in found]


def reduced(text: str, client: Client) -> str:
    for written, here in REDUCED.items():
        text = text.replace(written, here)
    return text.replace("tcp://host:8786", str(client.scheduler_info()["address"]))


def here() -> Iterator[str]:
    for block in blocks():
        if not block.startswith(ELSEWHERE):
            yield block


def test_every_block_that_is_run_elsewhere_is_on_the_page() -> None:
    for start in ELSEWHERE:
        assert any(block.startswith(start) for block in blocks()), start


@pytest.mark.parametrize("block", here())
def test_a_block_runs(
    block: str, client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    lines = reduced(block, client).splitlines()
    commands = [line for line in lines if line.startswith(COMMAND)]
    if not commands:
        exec("\n".join(lines), {"jumbolab": jumbolab, "client": client})
        if (made := default_client()) is not client:
            made.close()
        return
    assert all(line.startswith((COMMAND, "pip install ")) for line in lines)
    for command in commands:
        words = [sys.executable, *shlex.split(command)[1:]]
        ran = subprocess.run(words, capture_output=True, text=True, check=False)
        assert ran.returncode == 0, ran.stderr
        output = Path(words[words.index("-o") + 1])
        assert (output / "trials.jsonl").stat().st_size
        assert not (output / ".sweep").exists()


def test_the_page_names_what_is_there() -> None:
    text = PAGE.read_text()
    functions, results = (
        re.findall(r"`(\w+)(?:\(|`)", table)
        for table in (
            column(text, "| function | gives |"),
            column(text, "| of `Results` | gives |"),
        )
    )
    assert {"run", "sweep_search"} <= {*functions}
    assert {"trials", "path"} <= {*results}
    for name in functions:
        assert callable(getattr(jumbolab, name)), name
    for name in results:
        assert hasattr(jumbolab.Results, name) or name == "path", name
    assert {*jumbolab.__all__} >= {*functions}


def column(text: str, heading: str) -> str:
    """The first column of the table with this heading."""
    rows = text.split(heading, 1)[1].split("\n\n", 1)[0].splitlines()[2:]
    return "\n".join(row.split("|")[1] for row in rows)


def test_what_the_page_asks_predict_has_rows(tmp_path: Path) -> None:
    calls = re.findall(r"`(predict\([^`]+\))`", PAGE.read_text())
    calls = [call for call in calls if ".." not in call and "command" not in call]
    assert len(calls) == 2
    for call in calls:
        assert eval(call, {"predict": jumbolab.predict}).num_rows, call
