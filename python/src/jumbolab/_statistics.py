"""Means, jackknives and shares of pairs with their 95 % intervals."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cache
from typing import NamedTuple

#: The ends of an interval; none where there are too few values.
Interval = tuple[float, float] | tuple[None, None]

NONE: Interval = (None, None)


class Mean(NamedTuple):
    """A mean, the variance of this mean (of a single value none), and the number of values."""

    mean: float
    variance: float | None
    n: int

    @property
    def interval(self) -> Interval:
        """Student's interval [Student1908]."""
        if self.variance is None:
            return NONE
        return around(self.mean, self.variance, self.n - 1)


class Jackknife(NamedTuple):
    """A statistic of several values, and the contribution of each of them [Miller1974].

    A contribution is `n` times the statistic less `n - 1` times that of the other values.
    """

    estimate: float
    contributions: list[float]

    @property
    def interval(self) -> Interval:
        """Student's interval of the contributions, around the statistic."""
        if len(self.contributions) < 2:
            return NONE
        spread = mean(self.contributions)
        return around(self.estimate, spread.variance or 0.0, spread.n - 1)


def mean(values: Sequence[float]) -> Mean:
    """The mean of at least one value."""
    n = len(values)
    middle = math.fsum(values) / n
    squares = math.fsum((value - middle) ** 2 for value in values)
    return Mean(middle, squares / (n - 1) / n if n > 1 else None, n)


def jackknife(n: int, statistic: Callable[[int | None], float]) -> Jackknife:
    """The jackknife of a statistic of all `n` values, or of all but one."""
    estimate = statistic(None)
    if n < 2:
        return Jackknife(estimate, [])
    each = [n * estimate - (n - 1) * statistic(left) for left in range(n)]
    return Jackknife(estimate, each)


def difference(one: Mean, other: Mean) -> tuple[float, float]:
    """The interval of `one` less `other` [Welch1947]; of single values, their difference."""
    apart = one.mean - other.mean
    if one.variance is None or other.variance is None:
        return (apart, apart)
    variance = one.variance + other.variance
    squares = one.variance**2 / (one.n - 1) + other.variance**2 / (other.n - 1)
    half = quantile(variance**2 / squares if squares > 0 else 1.0) * math.sqrt(variance)
    return (apart - half, apart + half)


def around(estimate: float, variance: float, freedom: float) -> tuple[float, float]:
    """The interval around an estimate with this variance."""
    half = quantile(freedom) * math.sqrt(variance)
    return (estimate - half, estimate + half)


@cache
def quantile(freedom: float) -> float:
    """How many standard errors an interval of Student's t reaches to each side.

    The probability beyond `t` falls with `t`: halving the range finds where it is 5 %.
    """
    low, high = 0.0, 16.0
    while _beyond(high, freedom) > 0.05:
        high *= 2
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if _beyond(middle, freedom) > 0.05 else (low, middle)
    return high


def _beyond(t: float, freedom: float) -> float:
    """The probability that Student's t is further from 0 than `t`.

    It is the incomplete beta function of `freedom / (freedom + t**2)`, whose continued fraction
    converges fast below the mean of the beta distribution.
    """
    x = freedom / (freedom + t * t)
    a, b = freedom / 2, 0.5
    if x < (a + 1) / (a + b + 2):
        return _incomplete_beta(a, b, x)
    return 1 - _incomplete_beta(b, a, 1 - x)


def _incomplete_beta(a: float, b: float, x: float) -> float:
    if x <= 0:
        return 0.0
    front = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b)
    front = math.exp(front + a * math.log(x) + b * math.log1p(-x))
    fraction = 1.0
    for m in range(200, 0, -1):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        fraction = 1 + even / (1 + odd / fraction)
    first = -(a + b) * x / (a + 1)
    return front / a / (1 + first / fraction)
