"""Results folders."""

from __future__ import annotations

import glob
import html
import os
from collections.abc import Iterable
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

from . import _figures
from ._errors import JumbolabError
from ._files import LARGEST_PLAN, LARGEST_TABLE, Folder
from ._program import ask, ask_objects
from ._shapes import Object, read_toml

if TYPE_CHECKING:
    import plotly.graph_objects as go

#: The table of trials and the page in a results folder.
TABLE = "trials.parquet"
PAGE = "report.html"

#: Keys of a line of a metric that are intervals: two columns of a table.
INTERVALS = ("ci95", "change_ci95", "attribution")

#: The columns of verdicts.
VERDICTS = pa.schema(
    [
        ("kind", pa.string()),
        ("what", pa.string()),
        ("metric", pa.string()),
        ("factors", pa.map_(pa.string(), pa.string())),
        ("verdict", pa.string()),
        ("reason", pa.string()),
        ("source", pa.string()),
        ("change_percent", pa.float64()),
        ("published_change_percent", pa.float64()),
    ]
)


class Results:
    """A results folder: its trials, and what follows from them.

    All of it is computed by the program from the journal in the folder, when it is first
    asked for.
    """

    def __init__(self, path: str | PathLike[str]) -> None:
        self.path = Path(path)

    def trials(self) -> pa.Table:
        """All trials, one a row: docs/reference/formats.md, "trials.parquet"."""
        self._make()
        with Folder(self.path) as folder, folder.open(TABLE, LARGEST_TABLE) as file:
            return read_table(file, str(self.path / TABLE))

    @cached_property
    def lines(self) -> list[Object]:
        """The objects of ``jumbolab report --json``; it writes table and page anew."""
        return ask_objects(["report", "--json", "--", *self._paths()])

    def _paths(self) -> list[str]:
        return [str(self.path)]

    def _make(self) -> None:
        """Lets the program write table and page anew: those in the folder may be of another run.

        In a folder that is read-only, what is there is all there is.
        """
        if os.access(self.path, os.W_OK):
            _ = self.lines

    @cached_property
    def run(self) -> Object:
        """The object of the run: docs/reference/json.md, kind ``run``."""
        last = self.lines[-1] if self.lines else {}
        if last.get("kind") != "run":
            raise JumbolabError(f"{self.path} holds no run; a search has no object of a run")
        return last

    @cached_property
    def plan(self) -> Object:
        """The resolved experiment, and under ``run`` what ran it."""
        with Folder(self.path) as folder:
            content = folder.read("plan.toml", LARGEST_PLAN)
        return plan_of(content, str(self.path / "plan.toml"))

    @property
    def complete(self) -> bool:
        """Whether no trial is left to run."""
        return bool(self.run["counts"]["complete"])

    @property
    def state(self) -> str:
        """The quality_check: ``passed``, ``passed_with_warnings`` or ``failed``."""
        return str(self.run["state"])

    @property
    def headline(self) -> list[str]:
        """The answer, in sentences."""
        return [str(sentence) for sentence in self.run["headline"]]

    def comparisons(self) -> pa.Table:
        """A row for each metric and cell: means, changes against the baseline, verdicts.

        Intervals are two columns, ``_low`` and ``_high``; a factor that has the name of
        another column is called ``factor_NAME``.
        """
        rows = [line for line in self.lines if line["kind"] == "metric"]
        plain = {
            key for line in rows for key, value in line.items() if key not in ("kind", "factors")
        }
        return _table(_comparison(line, plain) for line in rows)

    def verdicts(self) -> pa.Table:
        """A row for each claim and for each published change, with its verdict.

        ``kind`` is ``claim`` or ``published``; ``what`` is the sentence of the claim, or the
        metric; ``factors`` is the cell of a published change.
        """
        return pa.Table.from_pylist(list(_verdicts(self.lines)), schema=VERDICTS)

    def figures(self) -> dict[str, go.Figure]:
        """The figures of the page by their names, as plotly draws them there."""
        self._make()
        return _figures.of_page(self.path / PAGE)

    def plot(self, name: str | None = None) -> go.Figure:
        """A figure of the page: the first one, or that of a metric.

        Args:
            name: Its name in `figures`, or a part of it such as a metric.
        """
        return _figures.chosen(self.figures(), name)

    def report(self, *, full: bool = False) -> str:
        """The report as text."""
        return ask(["report", *(["--full"] if full else []), "--", *self._paths()])

    @property
    def backends(self) -> dict[str, Results]:
        """The results by backend: of a run in one backend, itself."""
        return {str(self.plan["run"]["backend"]): self}

    def dataset(self) -> list[str]:
        """The files of trials, for readers of Parquet beyond memory."""
        self._make()
        return [str(self.path / TABLE)]

    def dask(self) -> Any:
        """The trials as a ``dask.dataframe``."""
        return _dask(self.dataset())

    def duckdb(self) -> Any:
        """The trials as a relation of DuckDB: ``.query("trials", "select ...")``."""
        return _duckdb(self.dataset())

    def __repr__(self) -> str:
        return f"Results({str(self.path)!r})"

    def _repr_html_(self) -> str:
        try:
            run = self.run
        except JumbolabError as error:
            return f"<p>{html.escape(repr(self))}: {html.escape(error.message)}</p>"
        counts = run["counts"]
        sentences = "".join(f"<p>{html.escape(text)}</p>" for text in self.headline)
        verdicts: dict[str, int] = {}
        for row in self.verdicts().to_pylist():
            verdicts[row["verdict"]] = verdicts.get(row["verdict"], 0) + 1
        counted = ", ".join(f"{count} {word}" for word, count in sorted(verdicts.items()))
        facts = [
            ("experiment", run["run"]),
            ("backend", run["backend"]),
            ("trials", f"{counts['finished']} of {counts['planned']} finished"),
            ("quality_check", run["quality_check"]["state"]),
            ("verdicts", counted or "nothing is claimed"),
            ("folder", str(self.path)),
        ]
        rows = "".join(
            f"<tr><th style='text-align:left'>{name}</th>"
            f"<td style='text-align:left'>{html.escape(value)}</td></tr>"
            for name, value in facts
        )
        return f"<div>{sentences}<table>{rows}</table></div>"


def plan_of(content: bytes, place: str) -> Object:
    """The plan of a results folder.

    Raises:
        JumbolabError: It is damaged.
    """
    plan = read_toml(content, place)
    run = plan.get("run")
    for key in ("hash", "backend"):
        if not isinstance(run, dict) or not isinstance(run.get(key), str):
            raise JumbolabError(f"{place}: run.{key} is missing; restore the file", file=place)
    return plan


def read_table(file: Any, place: str) -> pa.Table:
    """A table of Parquet in an opened file.

    Raises:
        JumbolabError: It is damaged.
    """
    try:
        return pq.read_table(file)
    except (pa.ArrowException, OSError, ValueError) as error:
        raise JumbolabError(f"{place} is damaged: {error}", file=place) from error


def _comparison(line: Object, taken: set[str]) -> Object:
    row: Object = {"metric": line["metric"], "unit": line["unit"]}
    row |= _factors(line["factors"], taken)
    for key, value in line.items():
        if key in INTERVALS:
            row[f"{key}_low"], row[f"{key}_high"] = value or (None, None)
        elif key == "split":
            row.update({f"split_{part}": figure for part, figure in value.items()})
        elif key not in ("kind", "factors"):
            row[key] = value
    return row


def _factors(factors: Object, taken: set[str]) -> Object:
    """The columns of factors; ``factor_NAME`` where another column has the name."""
    return {f"factor_{name}" if name in taken else name: level for name, level in factors.items()}


def _verdicts(lines: Iterable[Object]) -> Iterable[Object]:
    for line in lines:
        if line["kind"] == "claim":
            yield {
                "kind": "claim",
                "what": line["claim"],
                "metric": line["metric"],
                "verdict": line["verdict"],
                "reason": line["not_measured"],
                "source": line["source"],
            }
        elif (
            line["kind"] == "metric"
            and line["published_change_percent"] is not None
            and line["verdict"] is not None
        ):
            yield {
                "kind": "published",
                "what": line["metric"],
                "metric": line["metric"],
                "factors": [(name, str(level)) for name, level in line["factors"].items()],
                "verdict": line["verdict"],
                "reason": line["reason"],
                "change_percent": line["change_percent"],
                "published_change_percent": line["published_change_percent"],
            }


def _table(rows: Iterable[Object]) -> pa.Table:
    """A table of rows; a column has texts where its values are of several types.

    Integers that 64 bits do not hold are floats.
    """
    rows = list(rows)
    names = dict.fromkeys(name for row in rows for name in row)
    columns = {}
    for name in names:
        values = [row.get(name) for row in rows]
        kinds = {type(value) for value in values if value is not None}
        is_large = kinds == {int} and not all(abs(value or 0) < 2**63 for value in values)
        if kinds == {int, float} or is_large:
            values = [None if value is None else float(value) for value in values]
        elif len(kinds) > 1:
            values = [None if value is None else str(value) for value in values]
        columns[name] = pa.array(values)
    return pa.table(columns)


def _dask(files: list[str], options: Object | None = None) -> Any:
    try:
        import dask.dataframe as dd  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise JumbolabError("dask is not installed: pip install 'jumbolab[frames]'") from error
    # Dask takes a path for a pattern if it has an asterisk.
    literal = [glob.escape(file) if "*" in file else file for file in files]
    return dd.read_parquet(literal, storage_options=options)


def _duckdb(files: list[str]) -> Any:
    try:
        import duckdb  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise JumbolabError("duckdb is not installed: pip install 'jumbolab[frames]'") from error
    # It takes paths for patterns.
    return duckdb.read_parquet([glob.escape(file) for file in files], union_by_name=True)
