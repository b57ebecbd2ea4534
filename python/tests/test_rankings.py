"""Rankings and fronts with known answers."""

from __future__ import annotations

import itertools
import math
import random
from typing import Any

import pyarrow as pa
import pytest

import jumbolab
from jumbolab._statistics import difference, mean, quantile

from .conftest import rejected

#: A loss that is printed as 8 and falls by 2, and a throughput that is printed as 90 and
#: rises by 5; the loss may have been counted in frames or in packets.
PRINTED: dict[str, jumbolab.Printed] = {
    "frames": {"frame_loss": (8.0, -2.0), "throughput": (90.0, 5.0)},
    "packets": {"packet_loss": (8.0, -2.0), "throughput": (90.0, 5.0)},
}


class Study(jumbolab.Results):
    """Results with these trials."""

    def __init__(self, trials: list[dict[str, Any]]) -> None:
        super().__init__("nowhere")
        self._rows = [{"id": "c00-r01", "repeat": 1, "failure": None, **trial} for trial in trials]
        self.plan = {
            "compare": {"factor": "queue", "baseline": "red"},
            "sweep": {"setting": [0, 1], "queue": ["red", "mred"]},
        }

    def trials(self) -> pa.Table:
        return pa.Table.from_pylist(self._rows)


def trial(
    setting: int, repeat: int, loss: tuple[float, float], throughput: float | None
) -> dict[str, Any]:
    frames, packets = loss
    figures = {"frame_loss": frames, "packet_loss": packets, "throughput": throughput}
    return {"setting": setting, "queue": "red", "repeat": repeat, **figures}


def front_of(
    cells: list[tuple[int, float, float]], spread: float, within: tuple[str, ...] = ()
) -> list[int]:
    """The settings on the front of cost and gain, ten trials each."""
    chance = random.Random(7)
    trials = [
        {
            "setting": setting,
            "queue": "red",
            "repeat": repeat,
            "cost": chance.gauss(cost, spread),
            "gain": chance.gauss(gain, spread),
        }
        for setting, cost, gain in cells
        for repeat in range(1, 11)
    ]
    found = jumbolab.front(Study(trials), lower=["cost"], higher=["gain"], within=within)
    assert len(found) == len(cells)
    return [row["setting"] for row in found.to_pylist() if row["front"]]


def test_the_nearest_setting_comes_first_and_its_distance_is_in_printed_changes() -> None:
    trials = [
        one
        for repeat in range(1, 5)
        for one in (
            # Off by 3 changes of 2, and by 4 of 5.
            trial(0, repeat, (14.0, 14.0), 70.0),
            # Packets: off by 0.3 changes and by 0.4. Frames: 1.5 and 0.4.
            trial(1, repeat, (11.0, 8.6), 92.0),
        )
    ]
    rows = jumbolab.nearest(Study(trials), PRINTED).to_pylist()
    # If both ways give the same figures, there is one row for both.
    assert [(row["setting"], row["ways"]) for row in rows] == [
        (1, ["packets"]),
        (1, ["frames"]),
        (0, ["frames", "packets"]),
    ]
    for row, (one, other) in zip(rows, [(0.3, 0.4), (1.5, 0.4), (3.0, 4.0)], strict=True):
        root = math.sqrt((one**2 + other**2) / 2)
        for name in ("distance", "distance_low", "distance_high"):
            assert row[name] == pytest.approx(root), "no spread"
        assert row["trials"] == 4
    assert [row["tied"] for row in rows] == [True, False, False]
    assert (rows[0]["frame_loss"], rows[0]["packet_loss"]) == (None, pytest.approx(8.6))


def test_intervals_of_distances_hold_the_truth_in_about_95_of_100_runs() -> None:
    # The truth is off by 2 changes and by 1.
    truth = math.sqrt(2.5)
    chance = random.Random(3)

    def run() -> Study:
        losses = [chance.gauss(12.0, 2.0) for _ in range(20)]
        return Study(
            [
                trial(0, repeat, (loss, loss), chance.gauss(95.0, 4.0))
                for repeat, loss in enumerate(losses, 1)
            ]
        )

    rows = [jumbolab.nearest(run(), PRINTED).to_pylist()[0] for _ in range(300)]
    held = sum(row["distance_low"] <= truth <= row["distance_high"] for row in rows)
    assert 273 <= held <= 297


def test_what_failed_or_lacks_a_figure_is_in_no_distance() -> None:
    trials = [
        trial(0, 1, (8.0, 8.0), 90.0),
        trial(0, 2, (1e6, 1e6), 1e6) | {"failure": "the network broke"},
        trial(0, 3, (1e6, 1e6), 1e6) | {"queue": "mred"},
        trial(1, 1, (8.0, 8.0), None),
    ]
    [row] = jumbolab.nearest(Study(trials), PRINTED).to_pylist()
    assert (row["trials"], row["distance"]) == (1, 0.0)
    assert (row["distance_low"], row["tied"]) == (None, None)


def test_pairs_of_seeds_that_differ_by_the_change_are_counted() -> None:
    # 0-1, 0-3, 0-7, 1-3, 1-7, 3-7: differences 1, 3, 7, 2, 6, 4.
    values = [3.0, 0.0, 7.0, 1.0]
    for change, pairs in [(0, 6), (1, 6), (-2.5, 4), (4, 3), (7.5, 0)]:
        assert jumbolab.apart(values, change)[0] == pytest.approx(pairs / 6)
    assert jumbolab.apart([1.0, 2.0], 0.5) == (1.0, None, None)
    # Of 0 to 19, 55 pairs of 190 are 10 apart. Without a value that is in k of them, 55 - k of
    # 171 are; each k from 1 to 10 occurs twice. So the standard error is
    # sqrt(19/20 x 2 x 82.5) / 171, times t = 2.0930.
    steps = [float(step) for step in range(20)]
    known = (55 / 190, 0.13624, 0.44271)
    assert jumbolab.apart(steps, 10) == pytest.approx(known, abs=1e-4)
    # Ten pairs without a value in common, all or none of them apart: 1 - 0.025^(1/10).
    assert jumbolab.apart(steps, 0.5) == pytest.approx((1, 0.6915, 1), abs=1e-4)
    assert jumbolab.apart(steps, 20) == pytest.approx((0, 0, 0.3085), abs=1e-4)


def test_on_the_front_is_what_is_not_beaten_in_one_metric_and_equalled_in_the_other() -> None:
    cells = [
        (1500, 3.0, 900.0),
        (3000, 2.0, 800.0),
        # More expensive than 3000, and no better.
        (4000, 2.5, 800.0),
        (9000, 1.0, 700.0),
        (6000, 1.0, 600.0),
    ]
    assert front_of(cells, 0.0) == [9000, 3000, 1500]
    for order in itertools.permutations(cells):
        assert front_of([*order], 0.0) == [9000, 3000, 1500]


@pytest.mark.parametrize(("spread", "on"), [(0.01, 1), (5.0, 2)])
def test_what_chance_may_have_made_keeps_nothing_from_the_front(spread: float, on: int) -> None:
    assert len(front_of([(1500, 100.0, 900.0), (9000, 100.2, 899.8)], spread)) == on


def test_cells_compete_only_with_those_of_the_same_levels() -> None:
    cells = [(1500, 3.0, 800.0), (9000, 1.0, 900.0)]
    assert front_of(cells, 0.0) == [9000]
    assert front_of(cells, 0.0, ("setting",)) == [1500, 9000]


def test_quantiles_and_differences_are_those_of_printed_tables() -> None:
    for freedom, known in [(1, 12.706), (2, 4.303), (4, 2.776), (19, 2.093), (100, 1.984)]:
        assert quantile(freedom) == pytest.approx(known, abs=5e-4)
    # Variances of the means 1 and 2.5, with two and four degrees of freedom [Welch1947].
    one = mean([1.0, 1.0 - math.sqrt(3), 1.0 + math.sqrt(3)])
    other = mean([0.0, 10.0, 5.0, 5.0, 5.0])
    assert (one.variance, other.variance) == pytest.approx((1.0, 2.5))
    low, high = difference(one, other)
    half = quantile(3.5**2 / (1 / 2 + 2.5**2 / 4)) * math.sqrt(3.5)
    assert (low, high) == pytest.approx((-4 - half, -4 + half))


def test_what_cannot_be_ranked_is_rejected() -> None:
    study = Study([trial(0, 1, (8.0, 8.0), 90.0)])
    error = rejected(lambda: jumbolab.nearest(study, {"": {"throughput": (90.0, 0.0)}}))
    assert "write one, not 0" in error.message
    error = rejected(lambda: jumbolab.nearest(study, {"": {"carried": (90.0, 1.0)}}))
    assert "no trial has a metric carried" in error.message
    error = rejected(lambda: jumbolab.front(study, lower=["throughput"]))
    assert "two metrics" in error.message
    both = {"lower": ["frame_loss"], "higher": ["throughput"]}
    error = rejected(lambda: jumbolab.front(study, **both, within=["mtu"]))
    assert "the factors are setting, queue" in error.message
    assert "no pairs" in rejected(lambda: jumbolab.apart([1.0], 1.0)).message


def test_a_front_of_a_run_names_its_factors(whole: jumbolab.Results) -> None:
    found = jumbolab.front(whole, lower=["delay"], higher=["throughput"], within=["load"])
    rows = found.to_pylist()
    assert {(row["load"], row["mtu"]) for row in rows} == {
        (load, mtu) for load in ("30%", "70%") for mtu in (1500, 9000)
    }
    for load in ("30%", "70%"):
        assert any(row["front"] for row in rows if row["load"] == load)
    assert all(row["delay_low"] <= row["delay"] <= row["delay_high"] for row in rows)
