"""The table of docs/evidence/benchmarks.md is what the simulation says."""

from __future__ import annotations

from pathlib import Path

from .scaling import simulate, table

PAGE = Path(__file__).parents[2] / "docs" / "evidence" / "benchmarks.md"


def test_the_page_has_the_table() -> None:
    assert table() in PAGE.read_text(encoding="utf-8")


def test_sixteen_cores_are_used_well_by_a_quarter_of_an_hour_of_work() -> None:
    assert simulate(10**6, 0.0126, 16).efficiency(10**6, 0.0126, 16) > 0.98
