"""One experiment in several backends: predicted, simulated and measured beside each other."""

from __future__ import annotations

import html
import os
from collections.abc import Sequence
from functools import cached_property
from os import PathLike
from typing import TYPE_CHECKING

import pyarrow as pa

from . import _figures
from ._errors import JumbolabError
from ._files import LARGEST_PLAN, Folder, MissingFile
from ._results import Results, _factors, _table
from ._shapes import Object

if TYPE_CHECKING:
    import plotly.graph_objects as go

#: The page of several runs, in the folder that was named first.
PAGE = "backends.html"

#: What a quality_check may say, from the best to the worst.
STATES = ("passed", "passed with warnings", "failed")


class Backends(Results):
    """The results of one experiment in several backends.

    Tables have a column ``backend``; `backends` has the results of each backend alone.
    """

    def __init__(self, folders: Sequence[str | PathLike[str]]) -> None:
        super().__init__(folders[0])
        self._all = [Results(folder) for folder in folders]
        self._names = [str(one.plan["run"]["backend"]) for one in self._all]
        if len(set(self._names)) < len(self._names):
            raise JumbolabError(
                f"{', '.join(str(one.path) for one in self._all)}: two of these runs are of one "
                "backend; load each alone"
            )

    @property
    def backends(self) -> dict[str, Results]:
        """The results of each backend by its name."""
        return dict(zip(self._names, self._all, strict=True))

    @property
    def run(self) -> Object:
        """Not there: each backend has its own, ``backends["sim"].run``."""
        raise JumbolabError(f"each backend has its own run: {', '.join(self._names)}")

    @property
    def complete(self) -> bool:
        """Whether no trial of any backend is left to run."""
        return all(one.complete for one in self._all)

    @property
    def state(self) -> str:
        """The worst quality_check."""
        return max((one.state for one in self._all), key=STATES.index)

    @property
    def headline(self) -> list[str]:
        """The answers, each with its backend."""
        named = self.backends.items()
        return [f"{backend}: {text}" for backend, one in named for text in one.headline]

    def trials(self) -> pa.Table:
        """All trials of all backends."""
        return self._joined({backend: one.trials() for backend, one in self.backends.items()})

    def verdicts(self) -> pa.Table:
        """The verdicts of all backends."""
        return self._joined({backend: one.verdicts() for backend, one in self.backends.items()})

    def comparisons(self) -> pa.Table:
        """A row for each metric, cell and backend: its mean, its change, and what is printed."""
        rows = [line for line in self.lines if line["kind"] == "metric_by_backend"]
        return _table(
            {"backend": one["name"], "metric": row["metric"], "unit": row["unit"]}
            | _factors(row["factors"], {*row, *one, "backend"} - {"kind"})
            | {key: row[key] for key in ("published", "published_change_percent")}
            | _figures_of(one)
            for row in rows
            for one in row["backends"]
        )

    def figures(self) -> dict[str, go.Figure]:
        """The figures of the page of all backends."""
        if os.access(self.path, os.W_OK):
            _ = self._reported
        return _figures.of_page(self.path / PAGE)

    @cached_property
    def _reported(self) -> str:
        """The report; `lines` may come from a run, which writes no page of all backends."""
        return self.report()

    def dataset(self) -> list[str]:
        """The files of trials, one for each backend."""
        return [name for one in self._all for name in one.dataset()]

    def _paths(self) -> list[str]:
        return [str(one.path) for one in self._all]

    def _joined(self, tables: dict[str, pa.Table]) -> pa.Table:
        named = [
            table.add_column(0, "backend", pa.array([backend] * table.num_rows, pa.string()))
            for backend, table in tables.items()
        ]
        return pa.concat_tables(named, promote_options="permissive")

    def __repr__(self) -> str:
        return f"Backends({self._paths()!r})"

    def _repr_html_(self) -> str:
        sections = (
            f"<h4>{html.escape(backend)}</h4>{one._repr_html_()}"
            for backend, one in self.backends.items()
        )
        return f"<div>{''.join(sections)}</div>"


def _figures_of(one: Object) -> Object:
    """The figures of a backend, intervals as two columns."""
    found: Object = {}
    for key in ("n", "mean", "ci95", "change_percent", "change_ci95", "difference", "verdict"):
        if key.endswith("ci95"):
            found[f"{key}_low"], found[f"{key}_high"] = one[key] or (None, None)
        else:
            found[key] = one[key]
    return found


def load(path: str | PathLike[str], *others: str | PathLike[str]) -> Results:
    """The results in a folder that a run left; of several folders, runs in several backends.

    Raises:
        JumbolabError: One is no results folder, or two are of one backend.
    """
    folders = [Results(folder) for folder in (path, *others)]
    for results in folders:
        try:
            with Folder(results.path) as opened, opened.open("plan.toml", LARGEST_PLAN):
                pass
        except MissingFile as error:
            raise JumbolabError(
                f"{results.path} is no results folder: it has no plan.toml", file=error.file
            ) from error
    return Backends([results.path for results in folders]) if others else folders[0]
