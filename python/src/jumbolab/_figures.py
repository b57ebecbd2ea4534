"""The figures of a page as figures of plotly."""

from __future__ import annotations

import base64
import json
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ._errors import JumbolabError

if TYPE_CHECKING:
    import plotly.graph_objects as go

#: The element of the page that has the figures: docs/formats.md, "report.html".
BEGIN = '<script id="plots" type="text/plain">'
END = "</script>"


def of_page(page: Path) -> dict[str, go.Figure]:
    """The figures of a page by the ids of their elements."""
    text = page.read_text(encoding="utf-8")
    _, found, rest = text.partition(BEGIN)
    packed, ended, _ = rest.partition(END)
    if not found or not ended:
        raise JumbolabError(f"{page} has no figures; write it anew with `jumbolab report`")
    pairs: list[tuple[str, Any]] = json.loads(zlib.decompress(base64.b64decode(packed)))
    return {name.removeprefix("plot-"): _figure(plot) for name, plot in pairs}


def chosen(figures: dict[str, go.Figure], name: str | None) -> go.Figure:
    """The figure of that name, or the first whose name has it as a part."""
    if not figures:
        raise JumbolabError("these results have no figure: no trial has a metric to draw")
    if name is None:
        return next(iter(figures.values()))
    if name in figures:
        return figures[name]
    for known, figure in figures.items():
        if name in known:
            return figure
    raise JumbolabError(f"no figure {name!r}; there are {', '.join(figures)}")


def _figure(plot: dict[str, Any]) -> go.Figure:
    import plotly.graph_objects as go  # noqa: PLC0415 - workers draw nothing

    return go.Figure({"data": plot["data"], "layout": plot["layout"]}, skip_invalid=True)
