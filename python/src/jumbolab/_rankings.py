"""Settings by their distance from printed figures, and those to which no other is preferable."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import pyarrow as pa

from ._errors import JumbolabError
from ._results import Results
from ._statistics import NONE, Interval, Jackknife, Mean, difference, jackknife, mean

#: The figures that a study prints for one way of counting: by the metric that each of them may
#: be, its value, and how much the study prints that it changes at another level.
Printed = Mapping[str, tuple[float, float]]

#: The columns of a ranking besides factors and metrics, and that of a front.
RANKED = ("ways", "trials", "distance", "distance_low", "distance_high", "tied")
FRONT = "front"

#: The levels of a cell, in the order of the factors.
Levels = tuple[Any, ...]

#: Figures of the finished trials of a setting by their repeat.
Rows = dict[int, list[float]]


def nearest(results: Results, printed: Mapping[str, Printed]) -> pa.Table:
    """Ranks settings by how near they come to printed figures, the nearest first.

    A setting is a cell with the baseline of the compared factor. Its distance is the root of
    the mean square, over the figures, of (mean - value) / change. It has the interval of the
    jackknife over the seeds [Miller1974].

    Args:
        results: The run, in one backend.
        printed: For each way in which the study may have counted, its figures.

    Returns:
        A row for each setting and way: its factors; `ways`, those that give the same figures
        there; `trials`, those with all figures; `distance` with its interval; `tied`, whether
        chance allows that the first is no nearer, null where that is unknown; and the mean of
        each metric of the way.
    """
    metrics = list(dict.fromkeys(name for figures in printed.values() for name in figures))
    for figures in printed.values():
        for name, (_, change) in figures.items():
            if change == 0:
                raise JumbolabError(f"{name}: a distance is in printed changes; write one, not 0")
    names, cells = _cells(results, metrics, without=_compared(results))
    found = [
        one
        for levels, trials in cells.items()
        for one in _of_setting(dict(zip(names, levels, strict=True)), trials, printed, metrics)
    ]
    found.sort(key=lambda one: one[0]["distance"])
    for row, repeats, distance in found:
        row["tied"] = _is_tied((repeats, distance), found[0][1:])
    return pa.Table.from_pylist([row for row, *_ in found])


def front(
    results: Results,
    *,
    lower: Sequence[str] = (),
    higher: Sequence[str] = (),
    within: Collection[str] = (),
) -> pa.Table:
    """Finds the settings to which no other one is preferable [Pareto1906].

    One is preferable to another if its means are no worse, and one of them is better by more
    than chance: the 95 % interval of the difference is wholly on its side [Welch1947]. Below
    two trials the means decide.

    Args:
        results: The run, in one backend.
        lower: Metrics of which less is better.
        higher: Metrics of which more is better.
        within: Factors of which only cells with the same levels compete; none: all compete.

    Returns:
        A row for each cell in which all metrics were measured: its factors; `front`, whether
        no other one is preferable; and the mean of each metric with its interval, `_low` and
        `_high`. Cells that compete are together, the best of the first metric first.
    """
    metrics = [*lower, *higher]
    if len(metrics) < 2:
        raise JumbolabError("a front needs two metrics; name them in `lower` and `higher`")
    names, cells = _cells(results, metrics)
    for name in within:
        if name not in names:
            raise JumbolabError(f"within: {name} is no factor; the factors are {', '.join(names)}")
    signs = [-1] * len(lower) + [1] * len(higher)
    groups: dict[Levels, list[tuple[dict[str, Any], list[Mean]]]] = {}
    for levels, trials in cells.items():
        columns = [
            [figure for figure in column if figure is not None]
            for column in zip(*trials.values(), strict=True)
        ]
        if not all(columns):
            continue
        factors = dict(zip(names, levels, strict=True))
        group = tuple(factors[name] for name in within)
        groups.setdefault(group, []).append((factors, [mean(column) for column in columns]))
    rows = []
    for points in groups.values():
        points.sort(key=lambda point: -signs[0] * point[1][0].mean)
        for factors, means in points:
            beaten = any(_is_preferable(other, means, signs) for _, other in points)
            rows.append(_named(factors, [FRONT]) | {FRONT: not beaten} | _means(metrics, means))
    return pa.Table.from_pylist(rows)


def apart(values: Sequence[float], change: float) -> tuple[float, float | None, float | None]:
    """The probability that two trials which differ in the seed alone differ by a change or more.

    It is the share of all pairs of values, with the interval of the contributions of each value
    [Arvesen1969]; if all pairs agree, with that of as many pairs without common values
    [Clopper1934].

    Args:
        values: A metric in the trials of one cell, two at least.
        change: The change; its sign does not matter.

    Returns:
        The share and the ends of its 95 % interval, which fewer than three values do not have.
    """
    n = len(values)
    if n < 2:
        raise JumbolabError(f"{n} values have no pairs; run more trials")
    gap = abs(change)
    far = [
        sum(abs(one - other) >= gap for place, other in enumerate(values) if place != own)
        for own, one in enumerate(values)
    ]
    pairs = sum(far) / 2

    def share(left: int | None) -> float:
        if left is None:
            return pairs / math.comb(n, 2)
        return (pairs - far[left]) / math.comb(n - 1, 2)

    found = share(None)
    if n < 3:
        return (found, None, None)
    margin = 1 - 0.025 ** (1 / (n // 2))
    if pairs == 0:
        return (found, 0.0, margin)
    if pairs == math.comb(n, 2):
        return (found, 1 - margin, 1.0)
    low, high = _within(jackknife(n, share).interval, 0.0, 1.0)
    return (found, low, high)


def _within(interval: Interval, least: float, most: float) -> Interval:
    low, high = interval
    if low is None or high is None:
        return NONE
    return (max(low, least), min(high, most))


def _compared(results: Results) -> tuple[str, str]:
    """The compared factor and its baseline, as text."""
    compare = results.plan["compare"]
    return str(compare["factor"]), str(compare["baseline"])


def _cells(
    results: Results, metrics: Sequence[str], without: tuple[str, str] | None = None
) -> tuple[list[str], dict[Levels, dict[int, list[float | None]]]]:
    """The names of the factors; of the cells in their order the finished trials by repeat.

    With `without` they are the cells with this level of this factor, which is left out.
    """
    trials = results.trials()
    for name in metrics:
        if name not in trials.column_names:
            raise JumbolabError(
                f"no trial has a metric {name}; docs/reference/metrics.md lists the metrics"
            )
    columns = {name: _column(name, trials.column_names) for name in results.plan.get("sweep", {})}
    names = [name for name in columns if without is None or name != without[0]]
    level = None if without is None else columns[without[0]]
    chosen = {*columns.values(), "id", "repeat", "failure", *metrics}
    cells: dict[Levels, dict[int, list[float | None]]] = {}
    for row in sorted(trials.select([*chosen]).to_pylist(), key=_place):
        if row["failure"] is not None:
            continue
        if without is not None and str(row[level]) != without[1]:
            continue
        cell = cells.setdefault(tuple(row[columns[name]] for name in names), {})
        cell[row["repeat"]] = [row[name] for name in metrics]
    return names, cells


def _place(trial: Mapping[str, Any]) -> int:
    """The place of a trial's cell in the plan, with which its name begins: ``c03-r01``."""
    return int(trial["id"][1:].partition("-")[0])


def _column(factor: str, columns: Sequence[str]) -> str:
    """The column of a factor: docs/reference/formats.md, "trials.parquet"."""
    return f"factor_{factor}" if f"factor_{factor}" in columns else factor


def _named(factors: Mapping[str, Any], taken: Collection[str]) -> dict[str, Any]:
    """The columns of factors; ``factor_NAME`` where another column has the name."""
    return {f"factor_{name}" if name in taken else name: level for name, level in factors.items()}


def _means(metrics: Sequence[str], means: Sequence[Mean]) -> dict[str, float | None]:
    row: dict[str, float | None] = {}
    for name, one in zip(metrics, means, strict=True):
        row[name] = one.mean
        row[f"{name}_low"], row[f"{name}_high"] = one.interval
    return row


def _of_setting(
    factors: Mapping[str, Any],
    trials: Mapping[int, list[float | None]],
    printed: Mapping[str, Printed],
    metrics: Sequence[str],
) -> list[tuple[dict[str, Any], list[int], Jackknife]]:
    """A row for each way whose figures differ here, its repeats, and its distance."""
    found: list[tuple[dict[str, Any], Rows, Jackknife]] = []
    for way, figures in printed.items():
        places = [metrics.index(name) for name in figures]
        rows = _complete(trials, places)
        if not rows:
            continue
        # Single packets count alike as frames and as packets.
        same = [row for row, other, _ in found if other == rows]
        if same:
            same[0]["ways"].append(way)
            continue
        each = list(rows.values())
        distance = _distance(each, list(figures.values()))
        low, high = _within(distance.interval, 0.0, math.inf)
        row = _named(factors, [*RANKED, *metrics])
        row |= {"ways": [way], "trials": len(each), "distance": distance.estimate}
        row |= {"distance_low": low, "distance_high": high, "tied": None}
        row |= dict.fromkeys(metrics)
        means = [mean(column).mean for column in zip(*each, strict=True)]
        row |= dict(zip(figures, means, strict=True))
        found.append((row, rows, distance))
    return [(row, list(rows), distance) for row, rows, distance in found]


def _complete(trials: Mapping[int, list[float | None]], places: Sequence[int]) -> Rows:
    """The trials with figures in all these places, by repeat."""
    rows: Rows = {}
    for repeat in sorted(trials):
        row = [figure for place in places if (figure := trials[repeat][place]) is not None]
        if len(row) == len(places):
            rows[repeat] = row
    return rows


def _distance(rows: Sequence[Sequence[float]], figures: Sequence[tuple[float, float]]) -> Jackknife:
    sums = [math.fsum(column) for column in zip(*rows, strict=True)]

    def of(left: int | None) -> float:
        n = len(rows) if left is None else len(rows) - 1
        less = [0.0] * len(sums) if left is None else rows[left]
        squares = [
            (((total - own) / n - value) / change) ** 2
            for total, own, (value, change) in zip(sums, less, figures, strict=True)
        ]
        return math.sqrt(math.fsum(squares) / len(squares))

    return jackknife(len(rows), of)


def _is_tied(one: tuple[list[int], Jackknife], first: tuple[list[int], Jackknife]) -> bool | None:
    """Whether chance allows that `first` is no nearer, by the same seeds of both."""
    if one[0] != first[0] or len(one[0]) < 2:
        return None
    pairs = zip(one[1].contributions, first[1].contributions, strict=True)
    low, _ = mean([own - other for own, other in pairs]).interval
    return low is not None and low <= 0


def _is_preferable(one: Sequence[Mean], other: Sequence[Mean], signs: Sequence[int]) -> bool:
    """Whether `one` is no worse in any metric, and better in one by more than chance."""
    better = False
    for own, its, sign in zip(one, other, signs, strict=True):
        if sign * own.mean < sign * its.mean:
            return False
        low, high = difference(own, its)
        better = better or (low > 0 if sign > 0 else high < 0)
    return better
