"""How plans are cut."""

from __future__ import annotations

import random

from jumbolab._ranges import calibration, cut, gaps, is_partition


def test_every_trial_is_in_one_shard_whatever_is_cut() -> None:
    draw = random.Random(1)
    for _ in range(300):
        trials = draw.choice([1, 2, 7, 100, 12_345])
        cells = draw.randint(1, min(trials, 10_000))
        slots = draw.choice([1, 2, 16, 10_000])
        first = calibration(trials, cells, slots)
        assert first[0][0] == 1
        cost = draw.choice([0.0, 1e-6, 1e-3, 0.1, 7.0, 1e4])
        ranges = first + cut(first[-1][1] + 1, trials, slots, cost)
        assert ranges == sorted(ranges)
        assert is_partition(ranges, trials), (trials, cells, slots, cost)


def test_shards_take_minutes_and_are_small_at_the_end() -> None:
    ranges = cut(1, 100_000, 10, 0.1, target=120)
    sizes = [last - first + 1 for first, last in ranges]
    assert sizes[0] == 1200
    assert max(sizes) == 1200
    assert all(size <= 50 for size in sizes[-5:])
    assert len(sizes) < 200


def test_many_slots_get_work_each() -> None:
    assert len(calibration(10_000, 50, 16)) == 16
    assert len(cut(51, 10_000, 16, 0.01)) >= 16


def test_gaps_are_what_is_missing() -> None:
    assert gaps([(3, 4), (7, 7)], 9) == [(1, 2), (5, 6), (8, 9)]
    assert gaps([], 3) == [(1, 3)]
    assert gaps([(1, 3)], 3) == []
    assert not is_partition([(1, 2), (2, 3)], 3)
