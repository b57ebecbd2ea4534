"""How a plan is cut into shards: ranges of its order of trials, from 1, ends included."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence

Range = tuple[int, int]

#: Trials from which the cost of one is measured, if the plan has no fewer cells. A block of
#: the order holds each cell once, in random order.
CALIBRATION = 64

#: How long a shard should take, in seconds. Short ones cost starts of the program, long ones
#: are lost with their worker.
TARGET = 120.0

#: Bounds of the shortest shard at the end of a sweep, in seconds: until there is less work than
#: that, no core waits for another one.
SHORTEST = (1.0, 5.0)

#: Seconds that client and scheduler take for a shard (docs/evidence/benchmarks.md). Shards of all
#: slots in less time than they take for as many would wait for them.
PACE = 0.0006

#: The least cost of a trial that is believed: a clock may not tell so few apart.
QUICKEST = 1e-4


def calibration(trials: int, cells: int, slots: int) -> list[Range]:
    """The first shards, about one for each slot, whose time gives the cost of a trial."""
    count = min(trials, max(slots, min(cells, CALIBRATION)))
    shards = min(slots, count)
    ends = [count * number // shards for number in range(shards + 1)]
    return [(before + 1, last) for before, last in itertools.pairwise(ends)]


def cut(first: int, trials: int, slots: int, cost: float, target: float = TARGET) -> list[Range]:
    """The trials from `first` on, in shards of `target` seconds and smaller ones at the end.

    Each shard is half of what a slot would get of the rest, as in guided self-scheduling
    [Polychronopoulos1987], within both bounds.

    Args:
        first: The first trial that is left.
        trials: The number of trials of the plan.
        slots: How many run at once.
        cost: Seconds of one trial.
        target: The longest shard, in seconds.
    """
    cost = max(cost, QUICKEST)
    longest = max(1, int(target / cost))
    least, most = SHORTEST
    shortest = max(1, min(longest, int(min(max(least, PACE * slots), most) / cost)))
    ranges = []
    while first <= trials:
        rest = trials - first + 1
        size = max(shortest, min(longest, math.ceil(rest / (2 * slots))))
        last = min(first + size - 1, trials)
        ranges.append((first, last))
        first = last + 1
    return ranges


def gaps(ranges: Iterable[Range], trials: int) -> list[Range]:
    """What `ranges`, which do not overlap, leave of 1 to `trials`."""
    found, expected = [], 1
    for first, last in sorted(ranges):
        if first > expected:
            found.append((expected, first - 1))
        expected = last + 1
    if expected <= trials:
        found.append((expected, trials))
    return found


def is_partition(ranges: Sequence[Range], trials: int) -> bool:
    """Whether `ranges` hold each of 1 to `trials` once."""
    lengths = sum(last - first + 1 for first, last in ranges)
    return lengths == trials and not gaps(ranges, trials)
