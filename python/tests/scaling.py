"""Simulates the schedule of a sweep: how long it takes on so many cores.

``python -m tests.scaling``, in the folder ``python``, prints the table of
docs/evidence/benchmarks.md.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass

from jumbolab._ranges import PACE, Range, calibration, cut

#: Measured, in seconds (docs/evidence/benchmarks.md): a shard beside its trials, and the time of
#: client and scheduler for a task, which they have for one after the other.
SHARD = 0.11
TASK = PACE

#: A plan has at most so many trials; more are several plans, one after the other.
LARGEST_PLAN = 1_000_000

#: The cells of the plan: those of aqm-congestion.
CELLS = 16


@dataclass
class Schedule:
    """How a sweep went."""

    shards: int = 0
    seconds: float = 0.0

    def efficiency(self, trials: int, cost: float, cores: int) -> float:
        """The share of the time of all cores that trials took."""
        return trials * cost / (cores * self.seconds)


def simulate(trials: int, cost: float, cores: int) -> Schedule:
    """The schedule of `trials` of `cost` seconds each on `cores`."""
    whole = Schedule()
    plans = max(1, trials // LARGEST_PLAN)
    first = calibration(trials // plans, CELLS, cores)
    rest = cut(first[-1][1] + 1, trials // plans, cores, cost)
    for ranges in (first, rest):
        whole.shards += plans * len(ranges)
        whole.seconds += plans * makespan(ranges, cost, cores)
    return whole


def makespan(ranges: list[Range], cost: float, cores: int) -> float:
    """The time until the last of `ranges` is done; each goes to the first free core."""
    free = [0.0] * cores
    given = 0.0
    for first, last in ranges:
        begin = heapq.heappop(free)
        given = max(given, begin) + TASK
        heapq.heappush(free, given + SHARD + (last - first + 1) * cost)
    return max(free)


def table() -> str:
    """The table of docs/evidence/benchmarks.md."""
    lines = [
        "| a trial | trials | cores | shards | time | efficiency |",
        "|---|---|---|---|---|---|",
    ]
    for cost in (0.0126, 1.0):
        for trials in (10**4, 10**6):
            for cores in (16, 100, 10_000):
                done = simulate(trials, cost, cores)
                share = 100 * done.efficiency(trials, cost, cores)
                lines.append(
                    f"| {1000 * cost:g} ms | 10^{len(str(trials)) - 1} | {cores} | {done.shards} "
                    f"| {written(done.seconds)} | {share:.0f} % |"
                )
    return "\n".join(lines)


def written(seconds: float) -> str:
    """A time in a unit that one reads."""
    for unit, size in (("d", 86400), ("h", 3600), ("min", 60)):
        if seconds >= 2 * size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds:.3g} s"


if __name__ == "__main__":
    print(table())
