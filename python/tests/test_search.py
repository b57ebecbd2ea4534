"""Sensitivity searches on a cluster."""

from __future__ import annotations

import random
from pathlib import Path

from distributed import Client

import jumbolab
from jumbolab._search import laced

from .conftest import assert_same

#: A study whose claim is undecided at some settings, which further rounds look at again.
STUDY = """
format = 1
name = "planted"
backend = "sim"
[network]
shape = "routed"
link = "emulated"
loss = "1%"
[traffic]
size = "100kB"
warmup = "0B"
echo = "off"
cpu_bytes = "0B"
[sweep]
"network.mtu" = [1500, 9000]
[trials]
repeat = 20
[[claim]]
text = "more than 600 Mbit/s"
source = "here"
metric = "throughput"
at_least = 600
[[unstated]]
name = "network.rate"
values = ["1gbit", "10mbit"]
reason = "it is not said"
[[unstated]]
name = "tcp.agent"
values = ["standard", "linux", "sack1", "tahoe"]
reason = "none is named"
[[unstated]]
name = "network.delay"
values = ["10us"]
range = { from = "20us", to = "80us", steps = 3, scale = "log" }
reason = "one building"
"""

#: More than there is to run.
RUNS = 5000


def test_parts_of_a_round_are_laced_to_the_round() -> None:
    draw = random.Random(1)
    for _ in range(500):
        size, parts = draw.randint(0, 40), draw.randint(2, 7)
        lines = [b"%d\n" % number for number in range(size)]
        shares = [lines[part::parts] for part in range(parts)]
        assert laced(shares) == lines


def test_what_a_part_made_of_the_next_round_is_left_out() -> None:
    assert laced([[b"a", b"of the next"], [], []]) == [b"a"]


def test_a_search_on_a_cluster_leaves_the_bytes_of_one(client: Client, tmp_path: Path) -> None:
    study = tmp_path / "planted.toml"
    study.write_text(STUDY)
    one = jumbolab.sensitivity(study, on="sim", max_trials=RUNS, output=tmp_path / "one", threads=2)
    storage = str(tmp_path / "store")

    def searched(runs: int, folder: str) -> jumbolab.Results:
        return jumbolab.sweep_search(
            study,
            runs=runs,
            client=client,
            output=tmp_path / folder,
            storage=storage,
            progress=False,
        )

    # A smaller budget first: the larger one goes on.
    fewer = searched(30, "fewer")
    journal = (one.path / "trials.jsonl").read_bytes()
    lines = journal.splitlines(keepends=True)
    assert (fewer.path / "trials.jsonl").read_bytes() == b"".join(lines[:30])
    assert_same(searched(RUNS, "all"), one)
    assert len(list((tmp_path / "store" / "rounds").iterdir())) > 1
